package org.jfabric.driver.resource;

import java.util.Arrays;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * The registered regions of one client, by the index that its addresses carry.
 *
 * <p>Owner: progress agent.
 */
public final class RegionTable {
    private RegisteredRegion[] regions = new RegisteredRegion[16];
    private byte[] generations = new byte[16];
    private final Long2ObjectHashMap<KeyTable> keys = new Long2ObjectHashMap<>();
    private int count;
    private int highest;

    /** An empty table. */
    public RegionTable() {
    }

    /**
     * Adds a region.
     *
     * @param region to be found under the returned index.
     * @return index from 1; {@code -FI_ENOMEM} if the client has {@link MemoryRegionDescriptor#MAX_REGIONS}, {@code
     *     -FI_ENOKEY} if another region of the domain has its key.
     */
    public int add(RegisteredRegion region) {
        int index = 1;
        // an address of a closed region must not name the next one by chance: 8 bits of the generation are too few
        while (index < regions.length
            && (regions[index] != null || index <= highest && generations[index] == (byte) region.generation())) {
            index++;
        }
        if (index > MemoryRegionDescriptor.MAX_REGIONS) {
            return -FabricErrno.ENOMEM;
        }
        int refusal = region.key().access() == 0 ? 0 : keys(region.key().domain()).add(region);
        if (refusal != 0) {
            return refusal;
        }
        if (index == regions.length) {
            int length = Math.min(regions.length * 2, MemoryRegionDescriptor.MAX_REGIONS + 1);
            regions = Arrays.copyOf(regions, length);
            generations = Arrays.copyOf(generations, length);
        }
        regions[index] = region;
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
        if (index < 1 || index >= regions.length || regions[index] == null) {
            return false;
        }
        RegisteredRegion region = regions[index];
        regions[index] = null;
        count--;
        if (region.key().access() != 0) {
            keys(region.key().domain()).remove(region);
        }
        region.close();
        return true;
    }

    /**
     * The regions of a domain that peers may access.
     *
     * @param domain number of the domain.
     * @return the same object always.
     */
    public KeyTable keys(long domain) {
        KeyTable table = keys.get(domain);
        if (table == null) {
            table = new KeyTable();
            keys.put(domain, table);
        }
        return table;
    }

    /** Closes all regions. */
    public void closeAll() {
        for (int i = 1; i < regions.length; i++) {
            close(i);
        }
    }

    /**
     * Finds the region of an address range.
     *
     * @param address packed as in {@link MemoryRegionDescriptor}.
     * @param length  bytes, read as unsigned.
     * @return the region if it is open, of the same generation, and holds the whole range; else null.
     */
    public RegisteredRegion find(long address, long length) {
        int index = MemoryRegionDescriptor.region(address);
        RegisteredRegion[] table = regions;
        if (index >= table.length) {
            return null;
        }
        RegisteredRegion region = table[index];
        if (region == null || (byte) (address >>> 40) != generations[index]) {
            return null;
        }
        long offset = MemoryRegionDescriptor.offset(address);
        // written so that neither a huge length nor a huge offset can overflow
        if (length < 0 || offset > region.lengthBytes() || length > region.lengthBytes() - offset) {
            return null;
        }
        return region;
    }

    /**
     * Open regions.
     *
     * @return number of regions.
     */
    public int size() {
        return count;
    }
}
