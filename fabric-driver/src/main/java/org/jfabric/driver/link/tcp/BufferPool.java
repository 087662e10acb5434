package org.jfabric.driver.link.tcp;

import org.agrona.UnsafeApi;

import java.util.Arrays;

/**
 * Native buffers for bytes that connections have read ahead or not written yet. Only connections in use have buffers,
 * so that a thousand idle connections cost nothing. Owner: progress agent.
 */
final class BufferPool {
    private final int length;
    private long[] free = new long[8];
    private int freeCount;
    private int taken;

    /** A pool of buffers of {@code length} bytes. */
    BufferPool(int length) {
        this.length = length;
    }

    int length() {
        return length;
    }

    /** Number of buffers in use. */
    int taken() {
        return taken;
    }

    long take() {
        taken++;
        return freeCount == 0 ? UnsafeApi.allocateMemory(length) : free[--freeCount];
    }

    void give(long buffer) {
        taken--;
        if (freeCount == free.length) {
            free = Arrays.copyOf(free, 2 * freeCount);
        }
        free[freeCount++] = buffer;
    }

    /** Frees all buffers; none may be in use. */
    void close() {
        while (freeCount > 0) {
            UnsafeApi.freeMemory(free[--freeCount]);
        }
    }
}
