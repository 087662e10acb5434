package org.jfabric.driver.resource;

import org.agrona.concurrent.NanoClock;

/**
 * The time of the duty cycle. To read the system's clock costs about as much as the rest of an idle cycle, so short
 * cycles share one time. Owner: the thread that runs the cycle.
 */
public final class CycleClock {
    private final NanoClock source;
    private long nowNs;

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
        this.source = source;
        this.nowNs = source.nanoTime();
    }

    /**
     * Reads the source.
     *
     * @return nanoseconds, as of {@link System#nanoTime()}.
     */
    public long update() {
        nowNs = source.nanoTime();
        return nowNs;
    }

    /**
     * The clock that is read at each {@link #update()}, for times that the cycle does not share.
     *
     * @return as given.
     */
    public NanoClock source() {
        return source;
    }

    /**
     * The time of this cycle, or of one shortly before it.
     *
     * @return nanoseconds as last read.
     */
    public long nowNs() {
        return nowNs;
    }
}
