package org.jfabric.client;

/**
 * Says which calls of an application come after a pause, so that they do what has waited meanwhile. Owner: the thread
 * that calls.
 *
 * <p>The time between two calls includes what the first one took. That is much where an idle driver has hundreds of
 * quiet endpoints, and yet no pause: hence the limit far above the length of a cycle, and no more than an eighth of the
 * time for what is done after pauses.
 */
public final class PollPauses {
    /** Mean time between calls from which on the last one came after a pause. */
    private static final long PAUSE_NS = 500_000;
    /** Mean time between calls from which on a reading of the clock costs next to nothing. */
    private static final long SELDOM_NS = 10_000;
    /** A share of the time that may be spent after pauses. */
    private static final int REST = 7;
    /** What a call counts for at most: a listener of the application may have waited in it. */
    private static final long MOST_NS = 10_000_000;

    private long readNs;
    private long resumeNs;
    private boolean isSeldom;

    /**
     * The first call comes after a pause.
     *
     * @param nowNs nanoseconds of any clock.
     */
    public PollPauses(long nowNs) {
        readNs = nowNs - PAUSE_NS;
        resumeNs = nowNs;
    }

    /** Asked at the beginning of a call. Returns true if it is to do what has waited; {@link #onEnd} follows then. */
    public boolean isAfterPause(long nowNs, int calls) {
        long elapsedNs = nowNs - readNs;
        readNs = nowNs;
        isSeldom = elapsedNs >= SELDOM_NS * calls;
        return elapsedNs >= PAUSE_NS * calls && nowNs - resumeNs >= 0;
    }

    /** A call after a pause ends. */
    public void onEnd(long nowNs) {
        resumeNs = nowNs + REST * Math.min(nowNs - readNs, MOST_NS);
    }

    /** Whether calls are so far apart that each of them may ask. */
    public boolean isSeldom() {
        return isSeldom;
    }
}
