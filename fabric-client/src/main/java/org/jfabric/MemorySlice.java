package org.jfabric;

import org.agrona.concurrent.UnsafeBuffer;

/**
 * A part of a memory region, with the address that operations take and the buffer that the application uses.
 *
 * <pre>{@code
 * MemorySlice slice = memory.slice(64, 128);
 * endpoint.tsend(slice.address(), slice.lengthBytes(), peer, 7, 1);
 * }</pre>
 *
 * <p>Immutable; it keeps the memory mapped. Owner: the thread that took it from its {@link MemoryPool}.
 */
public final class MemorySlice {
    private final UnsafeBuffer buffer;
    private final long address;
    private final int index;
    private boolean taken;

    MemorySlice(UnsafeBuffer buffer, long address, int index) {
        this.buffer = buffer;
        this.address = address;
        this.index = index;
    }

    /**
     * Address of the first byte, as operations take it.
     *
     * @return address in registered memory.
     */
    public long address() {
        return address;
    }

    /**
     * The bytes.
     *
     * @return the same buffer each time; its capacity is the slice's length.
     */
    public UnsafeBuffer buffer() {
        return buffer;
    }

    /**
     * Bytes of the slice.
     *
     * @return length, 1 or more.
     */
    public int lengthBytes() {
        return buffer.capacity();
    }

    /**
     * Number of the slice in its pool, useful as operation context; 0 outside of pools.
     *
     * @return index from 0.
     */
    public int index() {
        return index;
    }

    boolean isTaken() {
        return taken;
    }

    void taken(boolean value) {
        taken = value;
    }
}
