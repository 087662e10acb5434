package org.jfabric.driver.ffi;

import org.agrona.UnsafeApi;

/**
 * Room for what one poll of a completion queue takes: an array of {@code struct ibv_wc}. Owner: the thread that polls.
 */
public final class WorkCompletions {
    private final int capacity;
    private final long address;

    /**
     * Room for some entries.
     *
     * @param capacity entries.
     */
    public WorkCompletions(int capacity) {
        this.capacity = capacity;
        this.address = NativeMemory.allocate(capacity * VerbsLayout.WC_SIZE);
    }

    /**
     * Most entries of one poll.
     *
     * @return entries.
     */
    public int capacity() {
        return capacity;
    }

    /**
     * Where the entries are.
     *
     * @return native address.
     */
    public long address() {
        return address;
    }

    /**
     * What the work request carried.
     *
     * @param index of the entry.
     * @return its number.
     */
    public long id(int index) {
        return UnsafeApi.getLong(at(index) + VerbsLayout.WC_ID);
    }

    /**
     * How it went.
     *
     * @param index of the entry.
     * @return {@link VerbsConstants#WC_SUCCESS} or an error.
     */
    public int status(int index) {
        return UnsafeApi.getInt(at(index) + VerbsLayout.WC_STATUS);
    }

    /**
     * What was done; not valid for errors.
     *
     * @param index of the entry.
     * @return {@link VerbsConstants#WC_RECV} or another.
     */
    public int opcode(int index) {
        return UnsafeApi.getInt(at(index) + VerbsLayout.WC_OPCODE);
    }

    /**
     * The vendor's code of an error.
     *
     * @param index of the entry.
     * @return code.
     */
    public int vendorError(int index) {
        return UnsafeApi.getInt(at(index) + VerbsLayout.WC_VENDOR_ERROR);
    }

    /**
     * Bytes received.
     *
     * @param index of the entry.
     * @return bytes.
     */
    public int length(int index) {
        return UnsafeApi.getInt(at(index) + VerbsLayout.WC_LENGTH);
    }

    /**
     * Whether the message has 32 bits besides.
     *
     * @param index of the entry.
     * @return true if {@link #immediate} is valid.
     */
    public boolean hasImmediate(int index) {
        return (UnsafeApi.getInt(at(index) + VerbsLayout.WC_FLAGS) & VerbsConstants.WC_WITH_IMM) != 0;
    }

    /**
     * The 32 bits besides the message.
     *
     * @param index of the entry.
     * @return as the sender gave it.
     */
    public int immediate(int index) {
        return Integer.reverseBytes(UnsafeApi.getInt(at(index) + VerbsLayout.WC_IMMEDIATE));
    }

    /**
     * The queue pair that it is of; the only word that says so of receives that several share.
     *
     * @param index of the entry.
     * @return its number, as {@link Ibverbs#queuePairNumber}.
     */
    public int queuePairNumber(int index) {
        return UnsafeApi.getInt(at(index) + VerbsLayout.WC_QP_NUMBER);
    }

    /**
     * Whether a received datagram has its route in front: in the first 40 bytes of the receive, which are there in any
     * case.
     *
     * @param index of the entry.
     * @return true if they are valid.
     */
    public boolean hasRoute(int index) {
        return (UnsafeApi.getInt(at(index) + VerbsLayout.WC_FLAGS) & VerbsConstants.WC_GRH) != 0;
    }

    /**
     * Who has sent a datagram.
     *
     * @param index of the entry.
     * @return number of the queue pair there.
     */
    public int sourceQueuePair(int index) {
        return UnsafeApi.getInt(at(index) + VerbsLayout.WC_SOURCE_QUEUE_PAIR);
    }

    /** Gives the memory back. */
    public void close() {
        NativeMemory.free(address);
    }

    private long at(int index) {
        return address + (long) index * VerbsLayout.WC_SIZE;
    }
}
