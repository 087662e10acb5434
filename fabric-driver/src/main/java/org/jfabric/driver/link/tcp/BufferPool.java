package org.jfabric.driver.link.tcp;

import org.agrona.UnsafeApi;

import java.util.Arrays;

/**
 * Native memory for what connections have read ahead or not yet written: only those in use have any, so that a thousand
 * idle ones cost nothing. Owner: progress agent.
 */
final class BufferPool {
    private final int length;
    private long[] free = new long[8];
    private int freeCount;
    private int taken;

    /** Of buffers with that many bytes. */
    BufferPool(int length) {
        this.length = length;
    }

    /** Bytes of each buffer. */
    int length() {
        return length;
    }

    /** Buffers that are in use. */
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

    /** Frees what is not in use; nothing may be. */
    void close() {
        while (freeCount > 0) {
            UnsafeApi.freeMemory(free[--freeCount]);
        }
    }
}
