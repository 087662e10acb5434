package org.jfabric.driver.link.verbs;

import org.jfabric.ffi.Libc;

/**
 * Zeroed memory for a card, in huge pages where the system has some: the card then needs fewer translations, and
 * pinning is quicker. Tried in this order: pages that the administrator has reserved, an aligned mapping with advice to
 * the kernel to back it by huge pages, and ordinary pages. Resource thread.
 */
final class HugePages {
    /**
     * Size of a huge page on x86_64 and most other processors. Where pages have 16 or 64 KiB the default is 32 or 512
     * MiB, but pages of this size can be reserved, too.
     */
    static final int HUGE_BYTES = 2 << 20;
    /** Without the size the system would map its default, and refuse to unmap a part of that. */
    static final int HUGE_FLAGS = Libc.MAP_HUGETLB | Libc.MAP_HUGE_2MB;

    private static final int PROT = Libc.PROT_READ | Libc.PROT_WRITE;
    private static final int FLAGS = Libc.MAP_PRIVATE | Libc.MAP_ANONYMOUS;

    /** The calls of the operating system; each returns what the call of {@link Libc} returns. */
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
     * Maps memory of whole pages.
     *
     * @param bytes least size.
     * @throws org.jfabric.info.FabricException if the system does not have that much memory.
     */
    HugePages(long bytes) {
        this(bytes, new Calls());
    }

    HugePages(long bytes, Calls calls) {
        this.calls = calls;
        // a smaller block would waste most of a huge page
        if (bytes < HUGE_BYTES || !mapSetAside(bytes) && !mapAligned(bytes)) {
            mappedBytes = PinnedMemory.pages(bytes);
            mapping = VerbsDevice.checked("mmap of " + mappedBytes + " bytes", calls.map(mappedBytes, FLAGS));
            address = mapping;
        }
    }

    private boolean mapSetAside(long bytes) {
        mappedBytes = roundUp(bytes, HUGE_BYTES);
        mapping = calls.map(mappedBytes, FLAGS | HUGE_FLAGS);
        // a control group may forbid reserved pages: this call fails then, where a first access would raise a signal
        if (mapping > 0 && calls.populate(mapping, mappedBytes) < 0) {
            calls.unmap(mapping, mappedBytes);
            mapping = 0;
        }
        address = mapping;
        return mapping > 0;
    }

    private boolean mapAligned(long bytes) {
        mappedBytes = PinnedMemory.pages(bytes) + HUGE_BYTES;
        mapping = calls.map(mappedBytes, FLAGS);
        if (mapping < 0) {
            return false;
        }
        address = roundUp(mapping, HUGE_BYTES);
        // a kernel without huge pages refuses; the mapping is usable all the same
        calls.advise(address, PinnedMemory.pages(bytes), Libc.MADV_HUGEPAGE);
        return true;
    }

    private static long roundUp(long value, long unit) {
        return (value + unit - 1) / unit * unit;
    }

    /** Address of the memory, aligned to a page. */
    long address() {
        return address;
    }

    /** Unmaps the memory; idempotent. */
    void close() {
        if (mapping > 0) {
            calls.unmap(mapping, mappedBytes);
            mapping = 0;
        }
    }
}
