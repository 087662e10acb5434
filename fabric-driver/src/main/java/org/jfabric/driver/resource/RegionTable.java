package org.jfabric.driver.resource;

import java.util.Arrays;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * The registered regions of one client, by the index that its addresses carry.
 *
 * <p>Regions whose bytes are copied are found by methods of their own, so that nothing that knows only of regions in
 * place can take one, and finding those costs nothing more.
 *
 * <p>Owner: progress agent.
 */
public final class RegionTable {
    private RegisteredRegion[] regions = new RegisteredRegion[16];
    private byte[] generations = new byte[16];
    /** Regions whose bytes are copied, by the same indices; null until there is one. */
    private RegisteredRegion[] copied;
    private final Long2ObjectHashMap<KeyTable> keys = new Long2ObjectHashMap<>();
    private int count;
    private int highest;

    /** An empty table. */
    public RegionTable() {
    }

    /**
     * Adds a region. Returns the index from 1; {@code -FI_ENOMEM} if the client has {@link
     * MemoryRegionDescriptor#MAX_REGIONS}, {@code -FI_ENOKEY} if another region of the domain has its key.
     */
    public int add(RegisteredRegion region) {
        int index = 1;
        // an address of a closed region must not name the next one by chance: 8 bits of the generation are too few
        while (index < regions.length
            && (at(index) != null || index <= highest && generations[index] == (byte) region.generation())) {
            index++;
        }
        return index > MemoryRegionDescriptor.MAX_REGIONS ? -FabricErrno.ENOMEM : add(region, index);
    }

    /**
     * Adds a region under an index that its client has chosen, because its addresses have it already.
     *
     * @param index  1 to {@link MemoryRegionDescriptor#MAX_REGIONS}.
     * @return the index; {@code -FI_EBUSY} if another region is there, {@code -FI_ENOKEY} as above.
     */
    public int add(RegisteredRegion region, int index) {
        if (index < regions.length && at(index) != null) {
            return -FabricErrno.EBUSY;
        }
        // before the key: if there is no memory for it, nothing was added
        if (index >= regions.length) {
            int length = Math.min(Math.max(regions.length * 2, index + 1), MemoryRegionDescriptor.MAX_REGIONS + 1);
            generations = Arrays.copyOf(generations, length);
            regions = Arrays.copyOf(regions, length);
        }
        if (region.isCopied()) {
            copied = copied == null ? new RegisteredRegion[regions.length] : Arrays.copyOf(copied, regions.length);
        }
        int refusal = region.key().access() == 0 ? 0 : keys(region.key().domain()).add(region);
        if (refusal != 0) {
            return refusal;
        }
        (region.isCopied() ? copied : regions)[index] = region;
        generations[index] = (byte) region.generation();
        highest = Math.max(highest, index);
        count++;
        return index;
    }

    /**
     * Takes a region out, so that no new operation finds it, and closes it.
     *
     * @param index from {@link #add}.
     * @return true if there was one.
     */
    public boolean close(int index) {
        RegisteredRegion region = index < 1 || index >= regions.length ? null : at(index);
        if (region == null) {
            return false;
        }
        regions[index] = null;
        if (region.isCopied()) {
            copied[index] = null;
        }
        count--;
        if (region.key().access() != 0 || region.isExposed()) {
            keys(region.key().domain()).remove(region);
        }
        region.close();
        return true;
    }

    private RegisteredRegion at(int index) {
        RegisteredRegion region = regions[index];
        return region != null || copied == null || index >= copied.length ? region : copied[index];
    }

    /** The regions of a domain that peers may access. Returns the same object always. */
    public KeyTable keys(long domain) {
        KeyTable table = keys.get(domain);
        if (table == null) {
            table = new KeyTable();
            keys.put(domain, table);
        }
        return table;
    }

    public void closeAll() {
        for (int i = 1; i < regions.length; i++) {
            close(i);
        }
    }

    /**
     * Finds the region of an address range.
     *
     * @param address packed as in {@link MemoryRegionDescriptor}.
     * @return the region if it is open, of the same generation, and holds the whole range; else null.
     */
    public RegisteredRegion find(long address, long length) {
        int index = MemoryRegionDescriptor.region(address);
        RegisteredRegion[] table = regions;
        if (index >= table.length) {
            return null;
        }
        RegisteredRegion region = table[index];
        return region == null || (byte) (address >>> 40) != generations[index] || !holds(region, address, length)
            ? null : region;
    }

    private static boolean holds(RegisteredRegion region, long address, long length) {
        long offset = MemoryRegionDescriptor.offset(address);
        // written so that neither a huge length nor a huge offset can overflow
        return length >= 0 && offset <= region.lengthBytes() && length <= region.lengthBytes() - offset;
    }

    /**
     * Finds the region of an address range where {@link #find} has found none: one whose bytes are copied. Returns null
     * if there is none.
     */
    public RegisteredRegion findCopied(long address, long length) {
        int index = MemoryRegionDescriptor.region(address);
        RegisteredRegion[] table = copied;
        RegisteredRegion region = table == null || index >= table.length ? null : table[index];
        return region == null || (byte) (address >>> 40) != generations[index] || !holds(region, address, length)
            ? null : region;
    }

    /**
     * As {@link #findCopied}, for an operation that sends the range: its bytes are here when this returns. Returns null
     * if there is none, or if the client's memory is not there any more.
     */
    public RegisteredRegion fetch(long address, long length) {
        RegisteredRegion region = findCopied(address, length);
        return region == null || region.fetch(MemoryRegionDescriptor.offset(address), length) ? region : null;
    }

    public int size() {
        return count;
    }
}
