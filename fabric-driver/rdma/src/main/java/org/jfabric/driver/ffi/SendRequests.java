package org.jfabric.driver.ffi;

import org.agrona.UnsafeApi;

/**
 * Pre-built work requests of one send queue: an array of {@code struct ibv_send_wr}, each with its scatter-gather list.
 * Constant fields are written once. Owner: the thread that sends.
 */
public final class SendRequests {
    private final int count;
    private final int pieces;
    private final long requests;
    private final long sges;

    /**
     * Makes requests, each with a number.
     *
     * @param firstId number of the first; the others follow.
     */
    public SendRequests(int count, int pieces, long firstId) {
        this.count = count;
        this.pieces = pieces;
        this.requests = NativeMemory.allocate(count * VerbsLayout.SEND_SIZE);
        this.sges = NativeMemory.allocate(count * pieces * VerbsLayout.SGE_SIZE);
        for (int i = 0; i < count; i++) {
            UnsafeApi.putLong(address(i) + VerbsLayout.SEND_ID, firstId + i);
            UnsafeApi.putLong(address(i) + VerbsLayout.SEND_SGES, sge(i, 0));
        }
    }

    public int count() {
        return count;
    }

    public int pieces() {
        return pieces;
    }

    /** Address of a request. Returns the native address. */
    public long address(int index) {
        return requests + (long) index * VerbsLayout.SEND_SIZE;
    }

    /**
     * Begins a request that nothing follows.
     *
     * @param opcode {@link VerbsConstants#WR_SEND} or another.
     * @param flags  {@link VerbsConstants#SEND_INLINE} and others.
     */
    public void begin(int index, int opcode, int flags) {
        long at = address(index);
        UnsafeApi.putLong(at + VerbsLayout.SEND_NEXT, 0);
        UnsafeApi.putInt(at + VerbsLayout.SEND_OPCODE, opcode);
        UnsafeApi.putInt(at + VerbsLayout.SEND_FLAGS, flags);
    }

    /** Sets the 32 bits of immediate data. */
    public void immediate(int index, int data) {
        UnsafeApi.putInt(address(index) + VerbsLayout.SEND_IMMEDIATE, Integer.reverseBytes(data));
    }

    /** Sets the memory of the peer. */
    public void remote(int index, long remote, int key) {
        UnsafeApi.putLong(address(index) + VerbsLayout.SEND_REMOTE_ADDRESS, remote);
        UnsafeApi.putInt(address(index) + VerbsLayout.SEND_RKEY, key);
    }

    /**
     * Sets the memory of the peer and the operands of an atomic operation.
     *
     * @param remote     address there, a multiple of 8.
     * @param compareAdd operand of an addition, or the value to compare with.
     */
    public void atomic(int index, long remote, int key, long compareAdd, long swap) {
        long at = address(index);
        UnsafeApi.putLong(at + VerbsLayout.SEND_REMOTE_ADDRESS, remote);
        UnsafeApi.putLong(at + VerbsLayout.SEND_ATOMIC_COMPARE_ADD, compareAdd);
        UnsafeApi.putLong(at + VerbsLayout.SEND_ATOMIC_SWAP, swap);
        UnsafeApi.putInt(at + VerbsLayout.SEND_ATOMIC_RKEY, key);
    }

    /**
     * Sets the destination of a datagram.
     *
     * @param addressHandle of {@link Ibverbs#createAddressHandle}.
     */
    public void destination(int index, long addressHandle, int queuePair, int key) {
        UnsafeApi.putLong(address(index) + VerbsLayout.SEND_ADDRESS_HANDLE, addressHandle);
        UnsafeApi.putInt(address(index) + VerbsLayout.SEND_REMOTE_QUEUE_PAIR, queuePair);
        UnsafeApi.putInt(address(index) + VerbsLayout.SEND_REMOTE_QKEY, key);
    }

    /**
     * Sets a piece of memory.
     *
     * @param piece  of it, in order.
     * @param start  native address.
     */
    public void piece(int index, int piece, long start, int length, int key) {
        long at = sge(index, piece);
        UnsafeApi.putLong(at + VerbsLayout.SGE_ADDRESS, start);
        UnsafeApi.putInt(at + VerbsLayout.SGE_LENGTH, length);
        UnsafeApi.putInt(at + VerbsLayout.SGE_LKEY, key);
    }

    /**
     * Sets the number of pieces of a request.
     *
     * @param used  0 to {@link #pieces()}.
     */
    public void pieceCount(int index, int used) {
        UnsafeApi.putInt(address(index) + VerbsLayout.SEND_SGE_COUNT, used);
    }

    /** Requests a completion from the card even if the request succeeds. */
    public void signal(int index) {
        long at = address(index) + VerbsLayout.SEND_FLAGS;
        UnsafeApi.putInt(at, UnsafeApi.getInt(at) | VerbsConstants.SEND_SIGNALED);
    }

    /** Puts one request behind another. */
    public void follow(int index, int next) {
        UnsafeApi.putLong(address(index) + VerbsLayout.SEND_NEXT, address(next));
    }

    /** Frees the memory. */
    public void close() {
        NativeMemory.free(requests);
        NativeMemory.free(sges);
    }

    private long sge(int index, int piece) {
        return sges + ((long) index * pieces + piece) * VerbsLayout.SGE_SIZE;
    }
}
