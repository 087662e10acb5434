package org.jfabric.driver.resource;

import org.agrona.concurrent.NanoClock;

/**
 * The time of the duty cycle. To read the system's clock costs about as much as the rest of an idle cycle, so short
 * cycles share one time. Owner: the thread that runs the cycle.
 */
public final class CycleClock {
    private final NanoClock source;
    private final long longestWaitNs;
    private long nowNs;
    private long attendedNs;
    private boolean isCatchingUp;

    /** A clock that shows the time of its making. */
    public CycleClock() {
        this(Environment.SYSTEM);
    }

    /**
     * A clock that shows the time of its making.
     *
     * @param source read at each {@link #update()}.
     */
    public CycleClock(NanoClock source) {
        this(source, Long.MAX_VALUE);
    }

    /**
     * A clock that shows the time of its making.
     *
     * @param source        read at each {@link #update()}.
     * @param longestWaitNs what a time without an update counts for at most in {@link #attendedNs()}.
     */
    public CycleClock(NanoClock source, long longestWaitNs) {
        this.source = source;
        this.longestWaitNs = longestWaitNs;
        this.nowNs = source.nanoTime();
        this.attendedNs = nowNs;
    }

    /** Reads the source. Returns the nanoseconds, as of {@link System#nanoTime()}. */
    public long update() {
        long last = nowNs;
        nowNs = source.nanoTime();
        attendedNs += Math.min(nowNs - last, longestWaitNs);
        return nowNs;
    }

    /** The clock that is read at each {@link #update()}, for times that the cycle does not share. */
    public NanoClock source() {
        return source;
    }

    /** The time of this cycle, or of one shortly before it. Returns the nanoseconds as last read. */
    public long nowNs() {
        return nowNs;
    }

    /**
     * The time for which cycles were run, as of {@link #nowNs()}: a pause between two of them counts for a short time
     * only, because nothing was read and answered meanwhile. Returns the nanoseconds of a time of its own.
     */
    public long attendedNs() {
        return attendedNs;
    }

    /** As {@link #attendedNs()} if the clock were read now. Returns the nanoseconds of the same time. */
    public long readAttendedNs() {
        return attendedNs + Math.min(source.nanoTime() - nowNs, longestWaitNs);
    }

    /** Begins or ends a cycle after a pause. */
    public void catchUp(boolean begins) {
        isCatchingUp = begins;
    }

    /** Whether this cycle does what has waited in a pause, also what other cycles do now and then only. */
    public boolean isCatchingUp() {
        return isCatchingUp;
    }
}
