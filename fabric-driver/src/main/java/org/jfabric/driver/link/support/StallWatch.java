package org.jfabric.driver.link.support;

/**
 * Detects that a transfer with a peer makes no progress. A message is stalled if neither {@link #LEAST_BYTES} more of
 * it nor its end arrive within the time allowed. Time without checks does not count, because the connection is not read
 * then either.
 *
 * <p>Owner: progress agent.
 */
public final class StallWatch {
    /**
     * Fewer bytes in the time allowed are no progress: a peer that sends a byte now and then could occupy resources for
     * ever.
     */
    public static final int LEAST_BYTES = 16 << 10;
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
     * @param waits      whether a transfer waits for the peer now.
     * @param newNumber  number of the transfer; each message has a number of its own.
     * @param newBytes   bytes transferred so far, of this message or in total.
     * @param nowNs      current time in nanoseconds.
     * @param timeoutNs  nanoseconds allowed without progress.
     * @return true if the transfer has made no progress for longer than that.
     */
    public boolean isStalled(boolean waits, long newNumber, long newBytes, long nowNs, long timeoutNs) {
        boolean wasAsked = isWatching && nowNs - askedNs <= timeoutNs / 2;
        askedNs = nowNs;
        if (waits && wasAsked && newNumber == number && newBytes - bytes < LEAST_BYTES) {
            return nowNs - sinceNs > timeoutNs;
        }
        isWatching = waits;
        number = newNumber;
        bytes = newBytes;
        sinceNs = nowNs;
        return false;
    }
}
