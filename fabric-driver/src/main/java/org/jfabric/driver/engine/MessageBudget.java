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
    /** A channel begins with so many bytes, or with some of the longest eager messages; who uses them gets more. */
    private static final int FIRST_WINDOW_BYTES = 64 << 10;
    /** Windows grow while the budget has this part left, for channels that begin, and shrink below half of that. */
    private static final int SPARE_PART = 8;
    /** A channel that begins where there is little gets this part of it. */
    private static final int FEW_PART = 16;

    /** Approximate memory of the record of an announced message. */
    private static final int ANNOUNCEMENT_BYTES = 256;

    /** Budgets that may be used beyond the first one. */
    private static final long BEYOND = 15;

    private final int budgetBytes;
    private final int windowBytes;
    private final int firstWindowBytes;
    /** Unknown peers are often many, and have half of the budget. */
    private final int firstUnknownBytes;
    private final long unknownQuota;
    private final long beyondBytes;
    private long unreservedBytes;
    private long unknownBytes;
    private int unknownReceives;

    MessageBudget(int budgetBytes, int windowBytes, int eagerLimitBytes) {
        this.budgetBytes = budgetBytes;
        this.windowBytes = windowBytes;
        long message = ByteCredit.cost(eagerLimitBytes);
        this.firstWindowBytes = (int) Math.min(windowBytes, Math.max(FIRST_WINDOW_BYTES, 4 * message));
        this.firstUnknownBytes = (int) Math.min(windowBytes, Math.max(FIRST_WINDOW_BYTES / 4, 2 * message));
        this.unknownQuota = budgetBytes / 2;
        this.beyondBytes = BEYOND * budgetBytes;
        this.unreservedBytes = budgetBytes;
    }

    /** Bytes of the greatest window. */
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
     * Takes the credit for a new channel: a small window, or a sixteenth of what is left. Idle peers would keep more
     * from those that send. With 0 bytes the peer can only announce messages.
     *
     * @param isUnknown whether the peer is in no address vector.
     * @return bytes; the caller returns them with {@link #give}.
     */
    long takeWindow(boolean isUnknown) {
        long left = left(isUnknown);
        long first = isUnknown ? firstUnknownBytes
            : left >= budgetBytes / 2 ? firstWindowBytes : firstWindowBytes / 2;
        boolean isPlenty = left >= 2 * first && left >= budgetBytes(isUnknown) / SPARE_PART;
        // a peer without credit may use more than the budget
        long window = isPlenty ? first : Math.max(0, Math.min(first, left / FEW_PART)) & -64L;
        unreservedBytes -= window;
        unknownBytes += isUnknown ? window : 0;
        return window;
    }

    /**
     * How the window of a peer changes that has used half of it, or whose messages are longer than it: it is doubled
     * while there is enough for others, and halved where there is not.
     *
     * @param isUnknown whether the peer is in no address vector.
     * @return bytes that the window grows by, which were taken, or shrinks by if negative, which the caller returns.
     */
    long resize(long window, boolean isUnknown) {
        long spare = budgetBytes(isUnknown) / SPARE_PART;
        long left = left(isUnknown);
        if (left < spare / 2) {
            long least = isUnknown ? firstUnknownBytes : firstWindowBytes;
            return -Math.max(0, Math.min(window / 2, window - least) & -64L);
        }
        long more = Math.min(Math.max(window, 64), windowBytes - window) & -64L;
        if (more <= 0 || left - more < spare) {
            return 0;
        }
        unreservedBytes -= more;
        unknownBytes += isUnknown ? more : 0;
        return more;
    }

    private long budgetBytes(boolean isUnknown) {
        return isUnknown ? unknownQuota : budgetBytes;
    }

    private long left(boolean isUnknown) {
        return isUnknown ? Math.min(unknownQuota - unknownBytes, unreservedBytes) : unreservedBytes;
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
     */
    void give(long bytes, boolean isUnknown) {
        unreservedBytes += bytes;
        unknownBytes -= isUnknown ? bytes : 0;
    }

    /**
     * Takes the budget for one announcement of an unknown peer beyond the normal limit. Returns false if the quota of
     * unknown peers is used up.
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
     * @param announcements taken by {@link #takeAnnouncement}, which count for unknown peers only.
     */
    void move(long bytes, int announcements, int receives, boolean isUnknown) {
        long moved = bytes + (long) announcements * ANNOUNCEMENT_BYTES;
        // may exceed the quota, if the bytes were granted while the peer was known
        unknownBytes += isUnknown ? moved : -moved;
        unknownReceives += isUnknown ? receives : -receives;
    }
}
