package org.jfabric.feed;

import java.util.Arrays;

/**
 * Which of the latest messages of one sender have arrived: one bit for each. Messages that leave the window without
 * having arrived are lost. What was sent before the first message that arrived is not expected. Owner: one thread.
 */
final class FeedWindow {
    /** Takes the messages that are lost. */
    interface Losses {
        void onLost(FeedWindow window, long first, long count);
    }

    /** What {@link #arrive} says. */
    enum Arrival {
        /** No copy has arrived before. */
        FIRST,
        /** A copy has arrived before. */
        REPEATED,
        /** So old that it has left the window. */
        LATE
    }

    private final long sender;
    private final long[] bits;
    private final int mask;
    private final Losses losses;
    /** Sequence of the first message that has arrived. */
    private long start = -1;
    /** Behind the latest message that has arrived. */
    private long next;
    /** Counts up with each arrival of any sender, to find the one that was quiet for the longest time. */
    private long lastUse;

    /**
     * An empty window.
     *
     * @param sender of the messages.
     * @param length messages, a power of two from 64 on.
     * @param losses takes the messages that are lost.
     */
    FeedWindow(long sender, int length, Losses losses) {
        this.sender = sender;
        this.bits = new long[length >>> 6];
        this.mask = length - 1;
        this.losses = losses;
    }

    long sender() {
        return sender;
    }

    long lastUse() {
        return lastUse;
    }

    void lastUse(long use) {
        lastUse = use;
    }

    /**
     * A message has arrived.
     *
     * @param sequence from 0 to 2^62.
     */
    Arrival arrive(long sequence) {
        if (start < 0) {
            start = sequence;
            next = sequence;
        }
        if (sequence >= next) {
            advance(sequence);
        } else if (sequence < next - bits.length * 64L) {
            return Arrival.LATE;
        } else if (isSet(sequence)) {
            return Arrival.REPEATED;
        }
        bits[(int) (sequence & mask) >>> 6] |= 1L << sequence;
        return Arrival.FIRST;
    }

    /** Moves the window so that it ends with a message. */
    private void advance(long sequence) {
        int length = mask + 1;
        long left = sequence + 1 - length;
        long lostFrom = -1;
        // those that leave it; a run of them is reported at once
        for (long i = Math.max(start, next - length); i < Math.min(left, next); i++) {
            boolean isLost = !isSet(i);
            if (isLost && lostFrom < 0) {
                lostFrom = i;
            } else if (!isLost && lostFrom >= 0) {
                losses.onLost(this, lostFrom, i - lostFrom);
                lostFrom = -1;
            }
        }
        if (left > next && lostFrom < 0) {
            // those that were never in it
            lostFrom = next;
        }
        if (sequence + 1 - next >= length) {
            Arrays.fill(bits, 0);
        } else {
            for (long i = next; i <= sequence; i++) {
                bits[(int) (i & mask) >>> 6] &= ~(1L << i);
            }
        }
        next = sequence + 1;
        if (lostFrom >= 0) {
            losses.onLost(this, lostFrom, left - lostFrom);
        }
    }

    private boolean isSet(long sequence) {
        return (bits[(int) (sequence & mask) >>> 6] & 1L << sequence) != 0;
    }
}
