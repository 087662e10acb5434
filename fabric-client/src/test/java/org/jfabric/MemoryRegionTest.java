package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.Arena;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.Test;

class MemoryRegionTest {
    private final MemoryRegion region =
        new MemoryRegion(null, Arena.ofAuto().allocate(1000, 64), 5, 0x1234_56ABL, new MemoryRegionAttr(), null);

    @Test
    void shouldNameItsBytesByAddresses() {
        assertEquals(0x0005_AB00_0000_0000L, region.address());
        assertEquals(region.address() + 1000, region.address(1000));
        assertThrows(FabricException.class, () -> region.address(1001));
        assertThrows(FabricException.class, () -> region.address(-1));
        assertEquals(0x5ABL, region.key());
        region.slice(8, 16).buffer().putLong(8, 99);
        assertEquals(99, region.buffer().getLong(16));
        assertThrows(FabricException.class, () -> region.buffer(990, 11));
        assertThrows(FabricException.class, () -> region.buffer(-1, 1));
    }

    @Test
    void shouldHandOutEachSliceOnce() {
        MemoryPool pool = new MemoryPool(region, 100);
        assertEquals(7 + 1, pool.size());
        MemorySlice first = pool.take();
        assertEquals(0, first.index());
        assertEquals(0, first.address() % 64);
        assertEquals(100, first.lengthBytes());
        for (int i = 1; i < pool.size(); i++) {
            assertEquals(region.address(i * 128L), pool.take().address());
        }
        assertNull(pool.take());
        pool.give(first);
        pool.give(first);
        assertEquals(1, pool.available());
        assertSame(first, pool.take());
        assertSame(first, pool.slice(0));
        MemorySlice foreign = new MemoryPool(region, 100).take();
        assertThrows(FabricException.class, () -> pool.give(foreign));
        assertThrows(FabricException.class, () -> new MemoryPool(region, 1001));
        assertThrows(FabricException.class, () -> new MemoryPool(region, 0));
    }
}
