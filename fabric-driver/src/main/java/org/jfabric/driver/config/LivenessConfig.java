package org.jfabric.driver.config;

import java.util.List;

/**
 * When a client's pause is reported and how long closing may take. There is no client time-out: only the end of file of
 * a client's socket means that it is dead. Immutable.
 */
public final class LivenessConfig {

    /** {@code jfabric.liveness.clientPauseThresholdNs}. */
    public static final Option<Long> CLIENT_PAUSE_THRESHOLD_NS = Option
        .durationNs("jfabric.liveness.clientPauseThresholdNs")
        .defaultsTo(1_000_000_000L)
        .range(1_000_000L, 3_600_000_000_000L)
        .why("A client whose own thread overslept by more than this (stopped process, long collection) is "
            + "reported once, with the length of the pause; it keeps everything. Lower it to hear of shorter pauses.");

    /** {@code jfabric.liveness.closeDrainTimeoutNs}. */
    public static final Option<Long> CLOSE_DRAIN_TIMEOUT_NS = Option.durationNs("jfabric.liveness.closeDrainTimeoutNs")
        .defaultsTo(2_000_000_000L)
        .range(0L, 600_000_000_000L)
        .why("How long a closing driver goes on for messages already submitted; what is left is counted and given "
            + "up. Raise it for slow peers, 0 closes at once.");

    /** {@code jfabric.liveness.helloTimeoutNs}. */
    public static final Option<Long> HELLO_TIMEOUT_NS = Option.durationNs("jfabric.liveness.helloTimeoutNs")
        .defaultsTo(5_000_000_000L)
        .range(1_000_000L, 600_000_000_000L)
        .why("How long a connection to the driver's socket may take to say who it is before it is closed, so that "
            + "programs that only connect do not use up the descriptors. Who has said hello may be silent for ever. "
            + "Raise it where processes are stopped for long just while they connect.");

    static final OptionGroup GROUP = new OptionGroup(
        "liveness", "Pauses and closing",
        List.of(CLIENT_PAUSE_THRESHOLD_NS, CLOSE_DRAIN_TIMEOUT_NS, HELLO_TIMEOUT_NS));

    private final long clientPauseThresholdNs;
    private final long closeDrainTimeoutNs;
    private final long helloTimeoutNs;

    LivenessConfig(ConfigSource source) {
        clientPauseThresholdNs = source.value(CLIENT_PAUSE_THRESHOLD_NS);
        closeDrainTimeoutNs = source.value(CLOSE_DRAIN_TIMEOUT_NS);
        helloTimeoutNs = source.value(HELLO_TIMEOUT_NS);
    }

    /**
     * Oversleeping of a client that is reported as a pause.
     *
     * @return nanoseconds, from 1 ms to 1 h.
     */
    public long clientPauseThresholdNs() {
        return clientPauseThresholdNs;
    }

    /**
     * How long a closing driver goes on with submitted messages.
     *
     * @return nanoseconds, 0 for not at all.
     */
    public long closeDrainTimeoutNs() {
        return closeDrainTimeoutNs;
    }

    /**
     * How long a connection may take to say hello.
     *
     * @return nanoseconds, from 1 ms to 600 s.
     */
    public long helloTimeoutNs() {
        return helloTimeoutNs;
    }
}
