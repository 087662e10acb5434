package org.jfabric.driver.engine;

/**
 * Who may fill how much of an endpoint's memory for messages without a receive. Peers that are not in the address
 * vector, <em>strangers</em>, share one half of it: whatever they send, the other half is there for those that the
 * application knows.
 *
 * <p>Owner: progress agent.
 */
final class MessageBudget {
    /** What a record of a message that waits at its sender takes, about. */
    private static final int ANNOUNCEMENT_BYTES = 256;

    private final int windowBytes;
    private final long strangersShare;
    private long unreservedBytes;
    private long strangersBytes;

    MessageBudget(int budgetBytes, int windowBytes) {
        this.windowBytes = windowBytes;
        this.strangersShare = budgetBytes / 2;
        this.unreservedBytes = budgetBytes;
    }

    /** Bytes of one window. */
    int windowBytes() {
        return windowBytes;
    }

    /** Bytes that are nobody's. */
    long unreservedBytes() {
        return unreservedBytes;
    }

    /**
     * Credit for a new channel: a window, or half of what is left; 0 when nothing is: the peer may only announce.
     *
     * @param isStranger whether the peer is in no address vector.
     * @return bytes, to be given back.
     */
    long takeWindow(boolean isStranger) {
        long left = isStranger ? Math.min(strangersShare - strangersBytes, unreservedBytes) : unreservedBytes;
        // a peer that knows no credit may hold more than the budget
        long window = left >= 2L * windowBytes ? windowBytes : Math.max(0, left / 2) & -64L;
        unreservedBytes -= window;
        strangersBytes += isStranger ? window : 0;
        return window;
    }

    /** More than its window for a peer that knows no credit; false if the budget has not that much left. */
    boolean take(long bytes, boolean isStranger) {
        if (bytes > unreservedBytes || isStranger && bytes > strangersShare - strangersBytes) {
            return false;
        }
        unreservedBytes -= bytes;
        strangersBytes += isStranger ? bytes : 0;
        return true;
    }

    /**
     * Takes credit back.
     *
     * @param bytes      that no stored message holds.
     * @param isStranger what their peer is now.
     */
    void give(long bytes, boolean isStranger) {
        unreservedBytes += bytes;
        strangersBytes -= isStranger ? bytes : 0;
    }

    /**
     * A stranger announces more than most peers do.
     *
     * @return false if strangers hold all that they may.
     */
    boolean takeAnnouncement() {
        if (ANNOUNCEMENT_BYTES > strangersShare - strangersBytes) {
            return false;
        }
        strangersBytes += ANNOUNCEMENT_BYTES;
        return true;
    }

    /** Ends {@link #takeAnnouncement}. */
    void giveAnnouncement() {
        strangersBytes -= ANNOUNCEMENT_BYTES;
    }

    /**
     * A peer has got a place in the address vector, or lost it.
     *
     * @param bytes         reserved for it.
     * @param announcements of {@link #takeAnnouncement}, which only count for strangers.
     * @param isStranger    what it is now.
     */
    void move(long bytes, int announcements, boolean isStranger) {
        long moved = bytes + (long) announcements * ANNOUNCEMENT_BYTES;
        // may be more than the share, if what it holds was granted to somebody who was known
        strangersBytes += isStranger ? moved : -moved;
    }
}
