package org.jfabric.driver.resource;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.ByteRange;
import net.jqwik.api.constraints.LongRange;
import org.jfabric.layout.MemoryRegionDescriptor;

import java.math.BigInteger;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

/** Addresses and bounds, for all values: nothing outside a region is ever found, whatever overflows. */
class RegionTablePropertyTest {
    private static final long GENERATION = 0x77AA_0000_0000_0042L;

    @Property
    void shouldFindARangeExactlyWhenItLiesInTheRegion(
        @ForAll @LongRange(min = 1, max = MemoryRegionDescriptor.MAX_LENGTH) long regionLength,
        @ForAll long anyOffset,
        @ForAll long length) {
        RegionTable table = new RegionTable();
        RegisteredRegion region = new RegisteredRegion(1, GENERATION, 1 << 20, regionLength, () -> { });
        int index = table.add(region);
        long offset = anyOffset & MemoryRegionDescriptor.OFFSET_MASK;
        long address = MemoryRegionDescriptor.address(index, (int) GENERATION & 0xFF, offset);
        // as the page says, a length is unsigned: computed here without the width that could overflow
        BigInteger end = BigInteger.valueOf(offset).add(new BigInteger(Long.toUnsignedString(length)));
        boolean inside = end.compareTo(BigInteger.valueOf(regionLength)) <= 0;
        assertSame(inside ? region : null, table.find(address, length));
    }

    @Property
    void shouldNotFindARegionOfAnotherIndexOrGeneration(@ForAll int index, @ForAll int generation) {
        RegionTable table = new RegionTable();
        RegisteredRegion region = new RegisteredRegion(1, GENERATION, 1 << 20, 4096, () -> { });
        int own = table.add(region);
        long address = MemoryRegionDescriptor.address(index & 0xFFFF, generation, 8);
        boolean same = (index & 0xFFFF) == own && (generation & 0xFF) == (GENERATION & 0xFF);
        assertSame(same ? region : null, table.find(address, 8));
        table.close(own);
        assertNull(table.find(MemoryRegionDescriptor.address(own, (int) GENERATION & 0xFF, 8), 8));
    }

    @Property
    void shouldPackAndUnpackEveryAddress(@ForAll int region, @ForAll int generation, @ForAll long offset) {
        long address = MemoryRegionDescriptor.address(region & 0xFFFF, generation, offset);
        assertEquals(region & 0xFFFF, MemoryRegionDescriptor.region(address));
        assertEquals(generation & 0xFF, MemoryRegionDescriptor.generation(address));
        assertEquals(offset & MemoryRegionDescriptor.OFFSET_MASK, MemoryRegionDescriptor.offset(address));
    }

    @Property
    void shouldNotFindTheNextRegionByTheAddressOfAClosedOne(@ForAll List<@ByteRange Byte> generations) {
        RegionTable table = new RegionTable();
        for (byte generation : generations) {
            long whole = GENERATION & -256L | generation & 0xFF;
            RegisteredRegion first = new RegisteredRegion(1, whole, 1 << 20, 4096, () -> { });
            int index = table.add(first);
            long address = MemoryRegionDescriptor.address(index, generation & 0xFF, 0);
            assertSame(first, table.find(address, 1));
            table.close(index);
            // another region whose generation happens to end with the same 8 bits
            int next = table.add(new RegisteredRegion(2, whole ^ 1L << 63, 2 << 20, 4096, () -> { }));
            assertNull(table.find(address, 1));
            table.close(next);
        }
    }
}
