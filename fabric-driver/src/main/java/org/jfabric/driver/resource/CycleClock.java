package org.jfabric.driver.resource;

/**
 * The time of the duty cycle, read once per cycle. Owner: the thread that runs the cycle.
 */
public final class CycleClock {
    private long nowNs = System.nanoTime();

    /** A clock that shows the time of its making. */
    public CycleClock() {
    }

    /**
     * Reads the system's clock.
     *
     * @return nanoseconds of {@link System#nanoTime()}.
     */
    public long update() {
        nowNs = System.nanoTime();
        return nowNs;
    }

    /**
     * The time of this cycle.
     *
     * @return nanoseconds as last read.
     */
    public long nowNs() {
        return nowNs;
    }
}
