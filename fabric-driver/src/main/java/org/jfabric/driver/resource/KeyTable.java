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

    KeyTable() {
    }

    /** Adds an open region; {@code -FI_ENOKEY} if another one has its key. */
    int add(RegisteredRegion region) {
        return regions.putIfAbsent(region.key().key(), region) == null ? 0 : -FabricErrno.ENOKEY;
    }

    void remove(RegisteredRegion region) {
        regions.remove(region.key().key());
    }

    /**
     * Finds the region that an access may use.
     *
     * @param key      of the region.
     * @param right    {@code Flags.REMOTE_READ}, {@code Flags.REMOTE_WRITE} or both.
     * @param offset   of the first byte in the region; any value.
     * @param length   bytes; any value.
     * @param endpoint id of the endpoint whose peer accesses it.
     * @return the region; null if {@link #refusal} has the reason why there is none.
     */
    public RegisteredRegion find(long key, long right, long offset, long length, long endpoint) {
        RegisteredRegion region = regions.get(key);
        return region != null && (region.key().access() & right) == right && holds(region, offset, length)
            && (region.binding() == null || region.binding().admits(endpoint)) ? region : null;
    }

    /**
     * Why {@link #find} found nothing.
     *
     * @param key      of the region.
     * @param right    as for {@link #find}.
     * @param endpoint as for {@link #find}.
     * @return {@code FI_EKEYREJECTED}: no region of the domain that is open and enabled has the key; {@code FI_EACCES}:
     *     not with that right, or not by that endpoint; {@code FI_EFAULT}: the range is not inside the region.
     */
    public int refusal(long key, long right, long endpoint) {
        RegisteredRegion region = regions.get(key);
        if (region == null || region.binding() == RegionBinding.DISABLED) {
            return FabricErrno.EKEYREJECTED;
        }
        boolean allowed = (region.key().access() & right) == right
            && (region.binding() == null || region.binding().admits(endpoint));
        return allowed ? FabricErrno.EFAULT : FabricErrno.EACCES;
    }

    private static boolean holds(RegisteredRegion region, long offset, long length) {
        // written so that neither a huge length nor a huge offset can overflow
        return offset >= 0 && length >= 0 && offset <= region.lengthBytes() && length <= region.lengthBytes() - offset;
    }
}
