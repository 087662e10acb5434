package org.jfabric.driver.resource;

import org.jfabric.FabricErrno;
import org.jfabric.layout.MemoryRegionDescriptor;

import java.util.Arrays;

/**
 * The registered regions of one client, by the index that its addresses carry.
 *
 * <p>Owner: progress agent.
 */
public final class RegionTable {
    private RegisteredRegion[] regions = new RegisteredRegion[16];
    private byte[] generations = new byte[16];
    private int count;
    private int highest;

    /** An empty table. */
    public RegionTable() {
    }

    /**
     * Adds a region.
     *
     * @param region to be found under the returned index.
     * @return index from 1, or {@code -FI_ENOMEM} if the client has {@link MemoryRegionDescriptor#MAX_REGIONS}.
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
        region.close();
        return true;
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
     * @return how many.
     */
    public int size() {
        return count;
    }
}
