package org.jfabric.driver.link.support;

/**
 * Detects that a transfer with a peer makes no progress. A message is stalled if neither a {@link #PARTS}th more of it
 * nor its end arrive within the time allowed, so that it holds a receive for a bounded time. Time without checks does
 * not count, because the connection is not read then either.
 *
 * <p>Owner: progress agent.
 */
public final class StallWatch {
    /** Each of so many parts of a message has to arrive within the time allowed. */
    public static final int PARTS = 16;
    /** Fewer bytes in the time allowed are no progress, however short the message is. */
    public static final int LEAST_BYTES = 16 << 10;
    /** So many bytes in the time allowed are progress, however long the message is. */
    public static final int ENOUGH_BYTES = 4 << 20;
    /** Number of checks in the time allowed. */
    public static final int CHECKS = 4;

    private boolean isWatching;
    private long number;
    private long bytes;
    private long sinceNs;
    private long askedNs;

    /** Makes an object that watches nothing yet. */
    public StallWatch() {
    }

    /**
     * Checks the progress. To be called {@link #CHECKS} times in the time allowed.
     *
     * @param newBytes   bytes transferred so far, of this message or in total.
     * @param nowNs      current time in nanoseconds.
     * @param timeoutNs  nanoseconds allowed without progress.
     * @return true if the transfer has made no progress for longer than that.
     */
    public boolean isStalled(
        boolean waits, long newNumber, long newBytes, long length, long nowNs, long timeoutNs) {
        boolean wasAsked = isWatching && nowNs - askedNs <= timeoutNs / 2;
        askedNs = nowNs;
        long least = Math.clamp(length / PARTS, LEAST_BYTES, ENOUGH_BYTES);
        if (waits && wasAsked && newNumber == number && newBytes - bytes < least) {
            return nowNs - sinceNs > timeoutNs;
        }
        isWatching = waits;
        number = newNumber;
        bytes = newBytes;
        sinceNs = nowNs;
        return false;
    }
}
