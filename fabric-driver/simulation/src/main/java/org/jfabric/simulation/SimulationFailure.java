package org.jfabric.simulation;

/** A program, a driver or a check has failed; the message has the seed, the step and the last events. */
public final class SimulationFailure extends AssertionError {
    private static final long serialVersionUID = 1L;

    private final long seed;
    private final long timeNs;

    SimulationFailure(long seed, long timeNs, String message, Throwable cause) {
        super(message, cause);
        this.seed = seed;
        this.timeNs = timeNs;
    }

    public long seed() {
        return seed;
    }

    /** When it occurred. Returns the nanoseconds of virtual time since the begin. */
    public long timeNs() {
        return timeNs;
    }
}
