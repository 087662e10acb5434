package org.jfabric.driver.link.rxm;

import org.agrona.BitUtil;
import org.agrona.UnsafeApi;

/**
 * Whole packets that wait for a place in the link below, in order: answers to a peer's atomic operations. They are kept
 * here because a side that stopped reading until it can write would wait for ever for a peer that does the same.
 *
 * <p>The memory grows with what waits and does not shrink. Owner: progress agent.
 */
final class RxmAnswers {
    /**
     * When so much waits the peer is not read until some is sent. No JFabric peer has that many operations outstanding,
     * and C peers read while they cannot write.
     */
    private static final int LIMIT_BYTES = 8 << 20;
    private static final int FIRST_BYTES = 4096;

    private long memory;
    private int capacity;
    /** Offset of the oldest packet: its length in a word, then its bytes, padded to whole words. */
    private int head;
    private int tail;

    /** An empty queue, without memory. */
    RxmAnswers() {
    }

    boolean isEmpty() {
        return head == tail;
    }

    /** Whether the peer has too many answers waiting. */
    boolean isFull() {
        return tail - head >= LIMIT_BYTES;
    }

    /** Adds a packet and returns the native address at which the caller writes it, good until the next call. */
    long add(int length) {
        int needed = Long.BYTES + BitUtil.align(length, Long.BYTES);
        if (needed > capacity - tail) {
            makeRoom(needed);
        }
        UnsafeApi.putLong(memory + tail, length);
        long packet = memory + tail + Long.BYTES;
        tail += needed;
        return packet;
    }

    /** Native address of the oldest packet; the queue is not empty. */
    long first() {
        return memory + head + Long.BYTES;
    }

    /** Bytes of the oldest packet. */
    int firstLength() {
        return (int) UnsafeApi.getLong(memory + head);
    }

    /** Removes the oldest packet. */
    void removeFirst() {
        head += Long.BYTES + BitUtil.align(firstLength(), Long.BYTES);
        if (head == tail) {
            head = 0;
            tail = 0;
        }
    }

    /** Moves what waits to the begin, into more memory if more than half of it would be in use. */
    private void makeRoom(int needed) {
        int waiting = tail - head;
        int wanted = Math.max(FIRST_BYTES, BitUtil.findNextPositivePowerOfTwo(2 * (waiting + needed)));
        long target = wanted > capacity ? UnsafeApi.allocateMemory(wanted) : memory;
        if (waiting != 0) {
            UnsafeApi.copyMemory(memory + head, target, waiting);
        }
        if (target != memory) {
            free();
            memory = target;
            capacity = wanted;
        }
        head = 0;
        tail = waiting;
    }

    /** Drops everything, because the channel is closed. */
    void close() {
        free();
        head = 0;
        tail = 0;
    }

    private void free() {
        if (memory != 0) {
            UnsafeApi.freeMemory(memory);
            memory = 0;
            capacity = 0;
        }
    }
}
