package org.jfabric;

import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.Words;

import java.lang.ref.Reference;
import java.util.Arrays;

/**
 * Where the registered memory of one domain is in this process, for operations that take its bytes before they return.
 *
 * <p>Regions are added and removed by control calls, under the fabric's lock; any thread finds them.
 */
final class LocalMemory {
    /** By the index that addresses carry; replaced by a longer one when it is too short. */
    private volatile MemoryRegion[] regions = new MemoryRegion[16];

    void add(MemoryRegion region) {
        MemoryRegion[] table = regions;
        int index = region.index();
        if (index >= table.length) {
            table = Arrays.copyOf(table, Math.max(index + 1, table.length * 2));
        }
        table[index] = region;
        // also where only an element has changed: readers find what was stored before
        regions = table;
    }

    void remove(MemoryRegion region) {
        MemoryRegion[] table = regions;
        if (table[region.index()] == region) {
            table[region.index()] = null;
        }
    }

    /**
     * Copies pieces of registered memory one after the other.
     *
     * @param pieces address and length of each.
     * @param count  of pieces.
     * @param dest   native address, with room for all of them.
     * @return false if one of them is not inside an open region of this domain.
     */
    boolean gather(long[] pieces, int count, long dest) {
        long next = dest;
        for (int i = 0; i < count; i++) {
            long length = pieces[2 * i + 1];
            if (length == 0) {
                continue;
            }
            long address = pieces[2 * i];
            MemoryRegion region = find(address);
            if (region == null || !region.holds(address, length)) {
                return false;
            }
            Words.copy(region.nativeAddress(address), next, length);
            // the mapping goes with its last user, which may be this call
            Reference.reachabilityFence(region);
            next += length;
        }
        return true;
    }

    /** Whether a range of at least one byte is inside an open region of this domain. */
    boolean holds(long address, long length) {
        MemoryRegion region = find(address);
        return region != null && region.holds(address, length);
    }

    private MemoryRegion find(long address) {
        MemoryRegion[] table = regions;
        int index = MemoryRegionDescriptor.region(address);
        return index < table.length ? table[index] : null;
    }
}
