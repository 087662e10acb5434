package org.jfabric.driver.ffi;

import org.agrona.UnsafeApi;

/**
 * A buffer for the entries of one poll of a completion queue: an array of {@code struct ibv_wc}. Owner: the thread that
 * polls.
 */
public final class WorkCompletions {
    private final int capacity;
    private final long address;

    /** Allocates a buffer. */
    public WorkCompletions(int capacity) {
        this.capacity = capacity;
        this.address = NativeMemory.allocate(capacity * VerbsLayout.WC_SIZE);
    }

    /** Limit of the entries of one poll. */
    public int capacity() {
        return capacity;
    }

    /** Address of the entries. Returns the native address. */
    public long address() {
        return address;
    }

    /** Number of the work request. */
    public long id(int index) {
        return UnsafeApi.getLong(at(index) + VerbsLayout.WC_ID);
    }

    /** Status of the operation. Returns {@link VerbsConstants#WC_SUCCESS} or an error. */
    public int status(int index) {
        return UnsafeApi.getInt(at(index) + VerbsLayout.WC_STATUS);
    }

    /** Opcode of the operation; not valid for errors. Returns {@link VerbsConstants#WC_RECV} or another. */
    public int opcode(int index) {
        return UnsafeApi.getInt(at(index) + VerbsLayout.WC_OPCODE);
    }

    /** The vendor's code of an error. */
    public int vendorError(int index) {
        return UnsafeApi.getInt(at(index) + VerbsLayout.WC_VENDOR_ERROR);
    }

    /** Bytes received. */
    public int length(int index) {
        return UnsafeApi.getInt(at(index) + VerbsLayout.WC_LENGTH);
    }

    /** Checks whether the message has 32 bits of immediate data. Returns true if {@link #immediate} is valid. */
    public boolean hasImmediate(int index) {
        return (UnsafeApi.getInt(at(index) + VerbsLayout.WC_FLAGS) & VerbsConstants.WC_WITH_IMM) != 0;
    }

    /** The 32 bits of immediate data. */
    public int immediate(int index) {
        return Integer.reverseBytes(UnsafeApi.getInt(at(index) + VerbsLayout.WC_IMMEDIATE));
    }

    /**
     * Queue pair of the entry; for a shared receive no other field identifies the queue pair. Returns its number, as
     * {@link Ibverbs#queuePairNumber}.
     */
    public int queuePairNumber(int index) {
        return UnsafeApi.getInt(at(index) + VerbsLayout.WC_QP_NUMBER);
    }

    /**
     * Checks whether a received datagram has a valid route in front (GRH): the first 40 bytes of the receive, which are
     * reserved in any case. Returns true if they are valid.
     */
    public boolean hasRoute(int index) {
        return (UnsafeApi.getInt(at(index) + VerbsLayout.WC_FLAGS) & VerbsConstants.WC_GRH) != 0;
    }

    /** Queue pair of a datagram's sender. */
    public int sourceQueuePair(int index) {
        return UnsafeApi.getInt(at(index) + VerbsLayout.WC_SOURCE_QUEUE_PAIR);
    }

    /** Frees the memory. */
    public void close() {
        NativeMemory.free(address);
    }

    private long at(int index) {
        return address + (long) index * VerbsLayout.WC_SIZE;
    }
}
