package org.jfabric.driver.link.verbs;

import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.ffi.Libc;

/** Zeroed memory that one device may write. Made and given back on the resource thread. */
final class PinnedMemory {
    private static final int PAGE_BYTES = 4096;

    private final Ibverbs verbs;
    private final long bytes;
    private long address;
    private long registration;

    /**
     * Memory of whole pages.
     *
     * @param verbs  library.
     * @param domain protection domain.
     * @param bytes  at least.
     * @throws org.jfabric.FabricException if there is none, or it cannot be pinned; nothing is left of it then.
     */
    PinnedMemory(Ibverbs verbs, long domain, long bytes) {
        this.verbs = verbs;
        this.bytes = pages(bytes);
        try {
            address = VerbsDevice.checked("mmap of " + this.bytes + " bytes", Libc.mmap(
                this.bytes, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_PRIVATE | Libc.MAP_ANONYMOUS, -1, 0));
            registration = VerbsDevice.checked("ibv_reg_mr of " + this.bytes + " bytes", verbs.register(
                domain, address, this.bytes, VerbsConstants.ACCESS_LOCAL_WRITE));
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** What is pinned for so many bytes. */
    static long pages(long bytes) {
        return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    }

    long address() {
        return address;
    }

    /** For work requests of this side. */
    int key() {
        return verbs.localKey(registration);
    }

    /** Gives it back; again does nothing. */
    void close() {
        if (registration > 0) {
            verbs.deregister(registration);
            registration = 0;
        }
        if (address > 0) {
            Libc.munmap(address, bytes);
            address = 0;
        }
    }
}
