package org.jfabric.driver.config;

import java.util.List;

/** Which counters the driver publishes, and where. Immutable. */
public final class MetricsConfig {

    /** {@code jfabric.metrics.endpointLimit}. */
    public static final Option<Integer> ENDPOINT_LIMIT = Option.count("jfabric.metrics.endpointLimit")
        .defaultsTo(64)
        .range(0, 1 << 20)
        .why("Endpoints with counters of their own, 13 each; the counters of the links count all. Raise it together "
            + "with jfabric.cnc.countersLengthBytes.");

    /** {@code jfabric.metrics.peerLimit}. */
    public static final Option<Integer> PEER_LIMIT = Option.count("jfabric.metrics.peerLimit")
        .defaultsTo(64)
        .range(0, 1 << 20)
        .why("Peers with counters of their own, 13 each, those of all endpoints together; the counters of endpoints "
            + "and links count all. Raise it together with jfabric.cnc.countersLengthBytes.");

    /** {@code jfabric.metrics.slowCycleNs}. */
    public static final Option<Long> SLOW_CYCLE_NS = Option.durationNs("jfabric.metrics.slowCycleNs")
        .defaultsTo(1_000_000L)
        .range(1_000L, 60_000_000_000L)
        .why("Duty cycles that take longer are counted as slow, and the time of the last one is kept. In INVOKER the "
            + "application's own time between two cycles is part of it.");

    /** {@code jfabric.metrics.port}. */
    public static final Option<Integer> PORT = Option.count("jfabric.metrics.port")
        .defaultsTo(-1)
        .range(-1, 65_535)
        .why("TCP port of 127.0.0.1 at which the driver answers GET /metrics with all counters in the text format of "
            + "OpenMetrics, for Prometheus and others. -1 is off, 0 chooses a free port. Each process of this host can "
            + "read it.");

    /** {@code jfabric.metrics.stageSampling}. */
    public static final Option<Integer> STAGE_SAMPLING = Option.count("jfabric.metrics.stageSampling")
        .defaultsTo(0)
        .range(0, 1 << 20)
        .rule("0 or a power of two from 64", value -> value == 0 || value >= 64 && Integer.bitCount(value) == 1)
        .why("Measures how long one message of so many takes in each stage of its way; 1024 costs too little to be "
            + "measured. 0 is off. See docs/metrics.md.");

    static final OptionGroup GROUP = new OptionGroup(
        "metrics", "Metrics", List.of(PORT, ENDPOINT_LIMIT, PEER_LIMIT, SLOW_CYCLE_NS, STAGE_SAMPLING));

    private final int endpointLimit;
    private final int peerLimit;
    private final long slowCycleNs;
    private final int port;
    private final int stageSampling;

    MetricsConfig(ConfigSource source) {
        endpointLimit = source.value(ENDPOINT_LIMIT);
        peerLimit = source.value(PEER_LIMIT);
        slowCycleNs = source.value(SLOW_CYCLE_NS);
        port = source.value(PORT);
        stageSampling = source.value(STAGE_SAMPLING);
    }

    /**
     * Endpoints with counters of their own.
     *
     * @return a count.
     */
    public int endpointLimit() {
        return endpointLimit;
    }

    /**
     * Peers with counters of their own.
     *
     * @return a count.
     */
    public int peerLimit() {
        return peerLimit;
    }

    /**
     * Time from which a duty cycle is slow.
     *
     * @return nanoseconds, exclusive.
     */
    public long slowCycleNs() {
        return slowCycleNs;
    }

    /**
     * Port of the page for monitoring systems.
     *
     * @return -1 for none, 0 for a free one.
     */
    public int port() {
        return port;
    }

    /**
     * Distance of the messages whose stages are measured.
     *
     * @return a power of two, or 0 for none.
     */
    public int stageSampling() {
        return stageSampling;
    }
}
