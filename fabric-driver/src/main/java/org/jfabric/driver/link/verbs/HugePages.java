package org.jfabric.driver.link.verbs;

import org.jfabric.ffi.Libc;

/**
 * Zeroed memory for a card, in huge pages where the system has some: the card then needs fewer translations, and
 * pinning is quicker. Tried in this order: pages that the administrator has set aside, an aligned mapping that the
 * kernel is asked to back by huge pages, and what there is. Resource thread.
 */
final class HugePages {
    /** Of the size that x86_64 and most others have. */
    static final int HUGE_BYTES = 2 << 20;

    private static final int PAGE_BYTES = 4096;
    private static final int PROT = Libc.PROT_READ | Libc.PROT_WRITE;
    private static final int FLAGS = Libc.MAP_PRIVATE | Libc.MAP_ANONYMOUS;

    /** The calls of the operating system; each answers as that of {@link Libc}. */
    static class Calls {
        long map(long lengthBytes, int flags) {
            return Libc.mmap(lengthBytes, PROT, flags, -1, 0);
        }

        int populate(long address, long lengthBytes) {
            return Libc.populate(address, lengthBytes, true);
        }

        int advise(long address, long lengthBytes, int advice) {
            return Libc.madvise(address, lengthBytes, advice);
        }

        void unmap(long address, long lengthBytes) {
            Libc.munmap(address, lengthBytes);
        }
    }

    private final Calls calls;
    private long mapping;
    private long mappedBytes;
    private long address;

    /**
     * Memory of whole pages.
     *
     * @param bytes at least.
     * @throws org.jfabric.FabricException if there is not as much.
     */
    HugePages(long bytes) {
        this(bytes, new Calls());
    }

    HugePages(long bytes, Calls calls) {
        this.calls = calls;
        // what is much smaller would waste most of a huge page
        if (bytes < HUGE_BYTES || !mapSetAside(bytes) && !mapAligned(bytes)) {
            mappedBytes = roundUp(bytes, PAGE_BYTES);
            mapping = VerbsDevice.checked("mmap of " + mappedBytes + " bytes", calls.map(mappedBytes, FLAGS));
            address = mapping;
        }
    }

    private boolean mapSetAside(long bytes) {
        mappedBytes = roundUp(bytes, HUGE_BYTES);
        mapping = calls.map(mappedBytes, FLAGS | Libc.MAP_HUGETLB);
        // a control group may forbid what is set aside; that is told here, and by a signal at the first access
        if (mapping > 0 && calls.populate(mapping, mappedBytes) < 0) {
            calls.unmap(mapping, mappedBytes);
            mapping = 0;
        }
        address = mapping;
        return mapping > 0;
    }

    private boolean mapAligned(long bytes) {
        mappedBytes = roundUp(bytes, PAGE_BYTES) + HUGE_BYTES;
        mapping = calls.map(mappedBytes, FLAGS);
        if (mapping < 0) {
            return false;
        }
        address = roundUp(mapping, HUGE_BYTES);
        // a kernel without huge pages refuses, which changes nothing
        calls.advise(address, roundUp(bytes, PAGE_BYTES), Libc.MADV_HUGEPAGE);
        return true;
    }

    private static long roundUp(long value, long unit) {
        return (value + unit - 1) / unit * unit;
    }

    /** Where it begins, at a page. */
    long address() {
        return address;
    }

    /** Gives it back; again does nothing. */
    void close() {
        if (mapping > 0) {
            calls.unmap(mapping, mappedBytes);
            mapping = 0;
        }
    }
}
