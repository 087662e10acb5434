package org.jfabric.driver.ffi;

import org.agrona.UnsafeApi;

/**
 * Pre-built receives of one queue: an array of {@code struct ibv_recv_wr}, each with one piece of memory. Owner: the
 * thread that receives.
 */
public final class ReceiveRequests {
    private final long requests;
    private final long sges;

    /**
     * Makes receives, each with a number and a slot of one block of memory.
     *
     * @param firstId   number of the first; the others follow.
     * @param memory    native address of the first slot.
     */
    public ReceiveRequests(int count, long firstId, long memory, int slotBytes, int key) {
        requests = NativeMemory.allocate(count * VerbsLayout.RECV_SIZE);
        sges = NativeMemory.allocate(count * VerbsLayout.SGE_SIZE);
        for (int i = 0; i < count; i++) {
            long sge = sges + (long) i * VerbsLayout.SGE_SIZE;
            UnsafeApi.putLong(sge + VerbsLayout.SGE_ADDRESS, memory + (long) i * slotBytes);
            UnsafeApi.putInt(sge + VerbsLayout.SGE_LENGTH, slotBytes);
            UnsafeApi.putInt(sge + VerbsLayout.SGE_LKEY, key);
            UnsafeApi.putLong(address(i) + VerbsLayout.RECV_ID, firstId + i);
            UnsafeApi.putLong(address(i) + VerbsLayout.RECV_SGES, sge);
            UnsafeApi.putInt(address(i) + VerbsLayout.RECV_SGE_COUNT, 1);
        }
    }

    /** Address of a receive. Returns the native address. */
    public long address(int index) {
        return requests + (long) index * VerbsLayout.RECV_SIZE;
    }

    /**
     * Puts one receive behind another.
     *
     * @param next  that follows, -1 for none.
     */
    public void follow(int index, int next) {
        UnsafeApi.putLong(address(index) + VerbsLayout.RECV_NEXT, next < 0 ? 0 : address(next));
    }

    /** Frees the memory. */
    public void close() {
        NativeMemory.free(requests);
        NativeMemory.free(sges);
    }
}
