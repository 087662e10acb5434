package org.jfabric.driver.engine;

/**
 * The budget of an endpoint's memory for messages without a receive. Peers that are not in the address vector,
 * <em>unknown peers</em>, can use one half of it at most, so the other half stays available for the peers that the
 * application knows. The receives that their unfinished messages hold are counted here, too.
 *
 * <p>Messages of known peers may use {@link #BEYOND} times as much again while a posted receive may wait for a message
 * behind them ({@link Streams}).
 *
 * <p>Owner: progress agent.
 */
final class MessageBudget {
    /** Approximate memory of the record of an announced message. */
    private static final int ANNOUNCEMENT_BYTES = 256;

    /** Budgets that may be used beyond the first one. */
    private static final long BEYOND = 15;

    private final int windowBytes;
    private final long unknownQuota;
    private final long beyondBytes;
    private long unreservedBytes;
    private long unknownBytes;
    private int unknownReceives;

    MessageBudget(int budgetBytes, int windowBytes) {
        this.windowBytes = windowBytes;
        this.unknownQuota = budgetBytes / 2;
        this.beyondBytes = BEYOND * budgetBytes;
        this.unreservedBytes = budgetBytes;
    }

    /** Bytes of one window. */
    int windowBytes() {
        return windowBytes;
    }

    /** Takes bytes even beyond the budget; returns false if its second bound is reached. */
    boolean takeBeyond(long bytes) {
        if (bytes > unreservedBytes + beyondBytes) {
            return false;
        }
        unreservedBytes -= bytes;
        return true;
    }

    /** Bytes that are not reserved for any peer; negative if more than the budget is in use. */
    long unreservedBytes() {
        return unreservedBytes;
    }

    /**
     * Takes the credit for a new channel: a window, or half of what is left. With 0 bytes the peer can only announce
     * messages.
     *
     * @param isUnknown whether the peer is in no address vector.
     * @return bytes; the caller returns them with {@link #give}.
     */
    long takeWindow(boolean isUnknown) {
        long left = isUnknown ? Math.min(unknownQuota - unknownBytes, unreservedBytes) : unreservedBytes;
        // a peer without credit may use more than the budget
        long window = left >= 2L * windowBytes ? windowBytes : Math.max(0, left / 2) & -64L;
        unreservedBytes -= window;
        unknownBytes += isUnknown ? window : 0;
        return window;
    }

    /** Takes bytes beyond the window for a peer without credit; returns false if the budget has too few left. */
    boolean take(long bytes, boolean isUnknown) {
        if (bytes > unreservedBytes || isUnknown && bytes > unknownQuota - unknownBytes) {
            return false;
        }
        unreservedBytes -= bytes;
        unknownBytes += isUnknown ? bytes : 0;
        return true;
    }

    /**
     * Returns credit to the budget.
     *
     * @param bytes      that no stored message uses.
     * @param isUnknown whether their peer is unknown now.
     */
    void give(long bytes, boolean isUnknown) {
        unreservedBytes += bytes;
        unknownBytes -= isUnknown ? bytes : 0;
    }

    /**
     * Takes the budget for one announcement of an unknown peer beyond the normal limit.
     *
     * @return false if the quota of unknown peers is used up.
     */
    boolean takeAnnouncement() {
        if (ANNOUNCEMENT_BYTES > unknownQuota - unknownBytes) {
            return false;
        }
        unknownBytes += ANNOUNCEMENT_BYTES;
        return true;
    }

    /** Reverses {@link #takeAnnouncement}. */
    void giveAnnouncement() {
        unknownBytes -= ANNOUNCEMENT_BYTES;
    }

    /** Counts receives that unfinished messages of unknown peers have begun to hold, or hold no longer if negative. */
    void countUnknownReceives(int more) {
        unknownReceives += more;
    }

    /** Receives that unfinished messages of unknown peers hold. */
    int unknownReceives() {
        return unknownReceives;
    }

    /**
     * Moves the reservations of a peer that was inserted into the address vector, or removed from it.
     *
     * @param bytes         reserved for it.
     * @param announcements taken by {@link #takeAnnouncement}, which count for unknown peers only.
     * @param receives      that its unfinished messages hold.
     * @param isUnknown     whether it is unknown now.
     */
    void move(long bytes, int announcements, int receives, boolean isUnknown) {
        long moved = bytes + (long) announcements * ANNOUNCEMENT_BYTES;
        // may exceed the quota, if the bytes were granted while the peer was known
        unknownBytes += isUnknown ? moved : -moved;
        unknownReceives += isUnknown ? receives : -receives;
    }
}
