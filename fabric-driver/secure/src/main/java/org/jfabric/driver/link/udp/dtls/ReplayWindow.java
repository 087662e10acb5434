package org.jfabric.driver.link.udp.dtls;

/**
 * The numbers of the records of a session that were opened (RFC 6347, section 4.1.2.6), so that a datagram that is
 * repeated on the way is not delivered again. The JDK's engine opens such a record as often as it comes.
 *
 * <p>Owner: progress agent.
 */
final class ReplayWindow {
    /** Records behind the newest one that are still accepted, so that datagrams may overtake each other. */
    static final int SIZE = 1024;

    private static final int MASK = SIZE - 1;

    /** A bit for each of the last numbers. */
    private final long[] seen = new long[SIZE / Long.SIZE];
    /** All lower numbers were seen or are too old. */
    private long next;

    /** Whether a record with this number was not opened yet, and is not too old. */
    boolean isNew(long number) {
        return number >= next || number >= next - SIZE && !isSet(number);
    }

    /** A record was opened: its number is the peer's. */
    void add(long number) {
        if (number >= next) {
            long first = Math.max(next, number - SIZE + 1);
            for (long skipped = first; skipped < number; skipped++) {
                set(skipped, false);
            }
            next = number + 1;
        }
        set(number, true);
    }

    private boolean isSet(long number) {
        return (seen[(int) (number & MASK) >> 6] >>> number & 1) != 0;
    }

    private void set(long number, boolean isSeen) {
        long bit = 1L << number;
        int word = (int) (number & MASK) >> 6;
        seen[word] = isSeen ? seen[word] | bit : seen[word] & ~bit;
    }
}
