package org.jfabric.driver.link.tcp;

/**
 * The acknowledgements that this side owes to the peer. They carry no id and go in the order of the peer's messages. So
 * behind a write that waits for stable storage those of all later messages wait too.
 *
 * <p>The list grows to the largest number of such writes that waited at once. Owner: progress agent.
 */
final class OwedAcks {
    /** In a word of {@link #held}: the write is on stable storage. The other bits count those behind it. */
    private static final long ENDED = 1;
    private static final long ONE_BEHIND = 2;

    private int ready;
    /** A word for each write that waits, by its number. */
    private long[] held = new long[8];
    private long firstHeld;
    private long nextHeld;

    OwedAcks() {
    }

    /** How many may be sent now. */
    int ready() {
        return ready;
    }

    /** How many writes wait for {@link #release}, or behind such a one. */
    int held() {
        return (int) (nextHeld - firstHeld);
    }

    /** One of those that were ready is sent. */
    void sent() {
        ready--;
    }

    /** A message is to be acknowledged. */
    void add() {
        if (firstHeld == nextHeld) {
            ready++;
        } else {
            held[index(nextHeld - 1)] += ONE_BEHIND;
        }
    }

    /** A write is to be acknowledged after {@link #release}. Returns its number. */
    long hold() {
        if (nextHeld - firstHeld == held.length) {
            grow();
        }
        held[index(nextHeld)] = 0;
        return nextHeld++;
    }

    /** A write may be acknowledged; with it are those behind it, unless an earlier one still waits. */
    void release(long number) {
        held[index(number)] |= ENDED;
        while (firstHeld != nextHeld && (held[index(firstHeld)] & ENDED) != 0) {
            ready += 1 + (int) (held[index(firstHeld)] / ONE_BEHIND);
            firstHeld++;
        }
    }

    /** The connection has ended: nothing is owed any more. */
    void clear() {
        ready = 0;
        firstHeld = nextHeld;
    }

    private int index(long number) {
        return (int) number & held.length - 1;
    }

    private void grow() {
        long[] more = new long[2 * held.length];
        for (long number = firstHeld; number != nextHeld; number++) {
            more[(int) number & more.length - 1] = held[index(number)];
        }
        held = more;
    }
}
