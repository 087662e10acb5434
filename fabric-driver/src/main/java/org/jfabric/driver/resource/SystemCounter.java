package org.jfabric.driver.resource;

/** Counters of the driver itself; each constant is one counter in the {@code cnc} file. */
public enum SystemCounter {
    /** Clients attached now. */
    CLIENTS("clients"),
    /** Endpoints enabled now. */
    ENDPOINTS("endpoints"),
    /** Completion queues open now. */
    COMPLETION_QUEUES("completion queues"),
    /** Counters of clients open now. */
    COUNTERS("counters"),
    /** Memory regions registered now. */
    REGIONS("memory regions"),
    /** Times that a persistent region was written to stable storage. */
    REGION_SYNCS("syncs of persistent regions"),
    /** Bytes of shared files mapped now. */
    MAPPED_BYTES("bytes mapped"),
    /** Commands taken from clients. */
    COMMANDS("commands"),
    /** Commands that were refused with an errno. */
    COMMANDS_FAILED("commands refused"),
    /** Clients that were ended because of invalid records or truncated files. */
    CLIENTS_ENDED("clients ended by the driver"),
    /** Clients whose socket ended before they had closed. */
    CLIENTS_DIED("clients that died"),
    /** Refused connections: another user, another version, invalid data. */
    CONNECTIONS_REFUSED("connections refused"),
    /** Accesses to a shared file that failed because it was truncated. */
    FAULTS("memory faults"),
    /** Errors recorded in the distinct error log, repetitions included. */
    ERRORS("errors"),
    /** Work requests taken from transmit and receive queues. */
    REQUESTS("work requests"),
    /** Times the thread went to sleep because there was nothing to do. */
    PARKED("times parked"),
    /**
     * Longest time between two reads of the clock while the thread was awake, in nanoseconds. Up to 32 short duty
     * cycles share one read, so it is never less than the longest cycle, and more by the other cycles at most.
     */
    CYCLE_MAX_NS("longest duty cycle ns"),
    /** Times between two reads of the clock that were longer than {@code jfabric.metrics.slowCycleNs}. */
    SLOW_CYCLES("slow duty cycles"),
    /** When the last of {@link #SLOW_CYCLES} ended, milliseconds since 1970; 0 if there was none. */
    SLOW_CYCLE_TIME_MS("time of the last slow duty cycle ms");

    private static final SystemCounter[] VALUES = values();

    private final String label;

    SystemCounter(String label) {
        this.label = label;
    }

    /** Name for people. */
    public String label() {
        return label;
    }

    /** Number of constants. */
    static int count() {
        return VALUES.length;
    }
}
