package org.jfabric.driver.resource;

/** What the driver counts about itself; each constant is one counter in the {@code cnc} file. */
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
    /** Bytes of shared files mapped now. */
    MAPPED_BYTES("bytes mapped"),
    /** Commands taken from clients. */
    COMMANDS("commands"),
    /** Commands that were refused with an errno. */
    COMMANDS_FAILED("commands refused"),
    /** Clients that were ended because of what they wrote or cut. */
    CLIENTS_ENDED("clients ended by the driver"),
    /** Clients whose socket ended although they had not closed. */
    CLIENTS_DIED("clients that died"),
    /** Connections turned away: another user, another version, garbage. */
    CONNECTIONS_REFUSED("connections refused"),
    /** Accesses to a shared file that failed because it was cut. */
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
    CYCLE_MAX_NS("longest duty cycle ns");

    private static final SystemCounter[] VALUES = values();

    private final String label;

    SystemCounter(String label) {
        this.label = label;
    }

    /**
     * Name for people.
     *
     * @return the label in the {@code cnc} file.
     */
    public String label() {
        return label;
    }

    /**
     * How many there are.
     *
     * @return number of constants.
     */
    static int count() {
        return VALUES.length;
    }
}
