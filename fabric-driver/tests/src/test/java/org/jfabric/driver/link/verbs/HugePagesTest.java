package org.jfabric.driver.link.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.ffi.Libc;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.junit.jupiter.api.Test;

class HugePagesTest {
    private static final long LENGTH = 3 * HugePages.HUGE_BYTES + 5000;
    private static final long SET_ASIDE = 0x4000_0000L;
    /** Aligned to a page only. */
    private static final long USUAL = 0x5000_3000L;
    private static final int PLAIN = Libc.MAP_PRIVATE | Libc.MAP_ANONYMOUS;

    /** An operating system that keeps what it is asked for. */
    private static final class Asked extends HugePages.Calls {
        private final List<String> calls = new ArrayList<>();
        private long setAside = SET_ASIDE;
        private long usual = USUAL;
        private int populated;
        private int advised;

        @Override
        long map(long lengthBytes, int flags) {
            boolean isHuge = (flags & Libc.MAP_HUGETLB) != 0;
            // the size is named: elsewhere the default is another one, of which no part can be unmapped
            assertEquals(isHuge ? PLAIN | Libc.MAP_HUGETLB | Libc.MAP_HUGE_2MB : PLAIN, flags);
            calls.add((isHuge ? "mmap MAP_HUGETLB " : "mmap ") + lengthBytes);
            return isHuge ? setAside : usual;
        }

        @Override
        int populate(long address, long lengthBytes) {
            calls.add("populate " + address + ' ' + lengthBytes);
            return populated;
        }

        @Override
        int advise(long address, long lengthBytes, int advice) {
            calls.add("madvise " + advice + ' ' + address + ' ' + lengthBytes);
            return advised;
        }

        @Override
        void unmap(long address, long lengthBytes) {
            calls.add("munmap " + address + ' ' + lengthBytes);
        }
    }

    private final Asked system = new Asked();

    private List<String> aligned() {
        long usual = 3L * HugePages.HUGE_BYTES + PinnedMemory.pages(5000);
        return List.of("mmap " + (usual + HugePages.HUGE_BYTES),
            "madvise " + Libc.MADV_HUGEPAGE + ' ' + 0x5020_0000L + ' ' + usual);
    }

    @Test
    void shouldTakePagesThatAreSetAside() {
        HugePages pages = new HugePages(LENGTH, system);
        assertEquals(SET_ASIDE, pages.address());
        long huge = 4L * HugePages.HUGE_BYTES;
        List<String> calls = new ArrayList<>(
            List.of("mmap MAP_HUGETLB " + huge, "populate " + SET_ASIDE + ' ' + huge));
        assertEquals(calls, system.calls);
        pages.close();
        pages.close();
        calls.add("munmap " + SET_ASIDE + ' ' + huge);
        assertEquals(calls, system.calls);
    }

    @Test
    void shouldAskForHugePagesInAnAlignedMappingIfNoneAreSetAside() {
        system.setAside = -FabricErrno.ENOMEM;
        HugePages pages = new HugePages(LENGTH, system);
        assertEquals(0x5020_0000L, pages.address());
        assertEquals(aligned(), system.calls.subList(1, 3));
        pages.close();
        long mapped = 4L * HugePages.HUGE_BYTES + PinnedMemory.pages(5000);
        assertEquals("munmap " + USUAL + ' ' + mapped, system.calls.getLast());
    }

    @Test
    void shouldLeaveSetAsidePagesThatTheProcessMayNotHave() {
        system.populated = -FabricErrno.EFAULT;
        HugePages pages = new HugePages(LENGTH, system);
        assertEquals("munmap " + SET_ASIDE + ' ' + 4L * HugePages.HUGE_BYTES, system.calls.get(2));
        assertEquals(aligned(), system.calls.subList(3, 5));
        assertEquals(0x5020_0000L, pages.address());
    }

    @Test
    void shouldGoOnWithUsualPagesWhereTheKernelHasNoHugeOnes() {
        system.setAside = -FabricErrno.EINVAL;
        system.advised = -FabricErrno.EINVAL;
        assertEquals(0x5020_0000L, new HugePages(LENGTH, system).address());
    }

    @Test
    void shouldNotWasteAHugePageOnLittle() {
        assertEquals(USUAL, new HugePages(HugePages.HUGE_BYTES - 1, system).address());
        assertEquals(List.of("mmap " + HugePages.HUGE_BYTES), system.calls);
    }

    @Test
    void shouldSayWhatThereIsNotEnoughOf() {
        system.setAside = -FabricErrno.ENOMEM;
        system.usual = -FabricErrno.ENOMEM;
        FabricException refused = assertThrows(FabricException.class, () -> new HugePages(LENGTH, system));
        assertEquals(FabricErrno.ENOMEM, refused.errno());
        assertFalse(system.calls.stream().anyMatch(call -> call.startsWith("munmap")), system.calls::toString);
    }

    /** Whatever this machine has. */
    @Test
    void shouldGiveZeroedMemoryOfThisSystem() {
        HugePages pages = new HugePages(LENGTH);
        for (long at = 0; at < LENGTH; at += 4096) {
            assertEquals(0, UnsafeApi.getByte(pages.address() + at));
            UnsafeApi.putByte(pages.address() + at, (byte) 1);
        }
        UnsafeApi.putByte(pages.address() + LENGTH - 1, (byte) 1);
        pages.close();
    }
}
