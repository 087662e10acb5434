package org.jfabric.driver.link.support;

/**
 * Notes whether something that waits for a peer makes progress: a message has {@link #LEAST_BYTES} or its end within
 * the time allowed, or it is stalled. Time without a check does not count, since the connection is not read then
 * either.
 *
 * <p>Owner: progress agent.
 */
public final class StallWatch {
    /** Fewer bytes in the time allowed are no progress: one now and then would hold what waits for ever. */
    public static final int LEAST_BYTES = 16 << 10;
    /** Askings in the time allowed. */
    public static final int CHECKS = 4;

    private boolean isWatching;
    private long number;
    private long bytes;
    private long sinceNs;
    private long askedNs;

    /** Watches nothing yet. */
    public StallWatch() {
    }

    /**
     * Asks, {@link #CHECKS} times in the time allowed.
     *
     * @param waits      whether something waits for the peer now.
     * @param newNumber  of what waits: a message more is another number.
     * @param newBytes   that have come so far, of this message or of all.
     * @param nowNs      time.
     * @param timeoutNs  allowed without progress.
     * @return true if what waits has made none for so long.
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
