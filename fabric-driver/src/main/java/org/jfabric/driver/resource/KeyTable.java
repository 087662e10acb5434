package org.jfabric.driver.resource;

import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.info.FabricErrno;

/**
 * The regions of one domain that peers may access, by key (fi_mr(3), requested_key).
 *
 * <p>Owner: progress agent.
 */
public final class KeyTable {
    private final Long2ObjectHashMap<RegisteredRegion> regions = new Long2ObjectHashMap<>();
    /** Regions whose bytes are copied. */
    private final Long2ObjectHashMap<RegisteredRegion> copied = new Long2ObjectHashMap<>();

    /** Regions under the keys that a card gave them, for accesses that do not go by the card. */
    private final Long2ObjectHashMap<CardRegion> ofCard = new Long2ObjectHashMap<>();

    private RegisteredRegion last;
    private long lastKey;

    /** A region whose places are virtual addresses. */
    private record CardRegion(RegisteredRegion region, long access) {
    }

    KeyTable() {
    }

    /**
     * Adds a region with the key that a card gave it.
     *
     * @param access {@code Flags.REMOTE_READ}, {@code Flags.REMOTE_WRITE} or both.
     */
    public void addOfCard(long key, RegisteredRegion region, long access) {
        ofCard.put(key, new CardRegion(region, access));
    }

    /**
     * The offset of a place in its region. Under a key of a card peers name places by their virtual addresses.
     *
     * @param place as a peer has named it; any value.
     */
    public long offset(long key, long place) {
        CardRegion found = ofCard.get(key);
        return found == null ? place : place - found.region.address();
    }

    /** Adds an open region; {@code -FI_ENOKEY} if another one has its key. */
    int add(RegisteredRegion region) {
        long key = region.key().key();
        if (regions.containsKey(key) || copied.containsKey(key)) {
            return -FabricErrno.ENOKEY;
        }
        (region.isCopied() ? copied : regions).put(key, region);
        return 0;
    }

    void remove(RegisteredRegion region) {
        last = null;
        if (region.key().access() != 0) {
            (region.isCopied() ? copied : regions).remove(region.key().key());
        }
        ofCard.values().removeIf(each -> each.region == region);
    }

    /**
     * Finds the region that an access may use, if its bytes are in place.
     *
     * @param right    {@code Flags.REMOTE_READ}, {@code Flags.REMOTE_WRITE} or both.
     * @param offset   of the first byte in the region; any value.
     * @param length   bytes; any value.
     * @return the region; null if {@link #refusal} has the reason why there is none.
     */
    public RegisteredRegion find(long key, long right, long offset, long length, long endpoint) {
        RegisteredRegion region = last;
        if (region == null || lastKey != key) {
            region = regions.get(key);
            last = region;
            lastKey = key;
        }
        if (region == null) {
            return findOfCard(key, right, offset, length);
        }
        return isAllowed(region, right, endpoint) && holds(region, offset, length) ? region : null;
    }

    private RegisteredRegion findOfCard(long key, long right, long offset, long length) {
        CardRegion found = ofCard.get(key);
        return found != null && (found.access & right) == right && holds(found.region, offset, length)
            ? found.region : null;
    }

    /** As {@link #find}, for a region whose bytes are copied. Returns null if there is none. */
    public RegisteredRegion findCopied(long key, long right, long offset, long length, long endpoint) {
        RegisteredRegion region = copied.get(key);
        return region != null && isAllowed(region, right, endpoint) && holds(region, offset, length) ? region : null;
    }

    /**
     * Why {@link #find} found nothing. Returns {@code FI_EKEYREJECTED}: no region of the domain that is open and
     * enabled has the key; {@code FI_EACCES}: not with that right, or not by that endpoint; {@code FI_EFAULT}: the
     * range is not inside the region.
     */
    public int refusal(long key, long right, long endpoint) {
        CardRegion known = ofCard.get(key);
        if (known != null) {
            return (known.access & right) == right ? FabricErrno.EFAULT : FabricErrno.EACCES;
        }
        RegisteredRegion region = regions.get(key);
        if (region == null) {
            region = copied.get(key);
        }
        if (region == null || region.binding() == RegionBinding.DISABLED) {
            return FabricErrno.EKEYREJECTED;
        }
        return isAllowed(region, right, endpoint) ? FabricErrno.EFAULT : FabricErrno.EACCES;
    }

    private static boolean isAllowed(RegisteredRegion region, long right, long endpoint) {
        return (region.key().access() & right) == right
            && (region.binding() == null || region.binding().admits(endpoint));
    }

    private static boolean holds(RegisteredRegion region, long offset, long length) {
        // written so that neither a huge length nor a huge offset can overflow
        return offset >= 0 && length >= 0 && offset <= region.lengthBytes() && length <= region.lengthBytes() - offset;
    }
}
