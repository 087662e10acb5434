package org.jfabric.driver.link.verbs;

import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.ffi.Libc;

/**
 * Zeroed memory that one device may write, in huge pages if there are some. Made and freed on the resource thread.
 */
final class PinnedMemory {
    private final Ibverbs verbs;
    private HugePages memory;
    private long registration;

    /**
     * Maps and registers memory of whole pages.
     *
     * @param bytes  least size.
     * @throws org.jfabric.info.FabricException if there is no memory, or it cannot be pinned; all has been freed then.
     */
    PinnedMemory(Ibverbs verbs, long domain, long bytes) {
        this.verbs = verbs;
        long whole = pages(bytes);
        try {
            memory = new HugePages(whole);
            registration = VerbsDevice.checked("ibv_reg_mr of " + whole + " bytes", verbs.register(
                domain, memory.address(), whole, VerbsConstants.ACCESS_LOCAL_WRITE));
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Bytes that are pinned for memory of a size: whole pages. */
    static long pages(long bytes) {
        long pageBytes = Libc.pageBytes();
        return bytes + pageBytes - 1 & -pageBytes;
    }

    long address() {
        return memory.address();
    }

    /** Local key, for work requests of this side. */
    int key() {
        return verbs.localKey(registration);
    }

    /** Frees the memory; idempotent. */
    void close() {
        if (registration > 0) {
            verbs.deregister(registration);
            registration = 0;
        }
        if (memory != null) {
            memory.close();
        }
    }
}
