package org.jfabric.driver.config;

import java.util.regex.Pattern;

/** Which counters the driver publishes, and where. */
public final class MetricsConfig {
    static final OptionGroup GROUP = new OptionGroup("metrics", "Metrics");

    /** {@code jfabric.metrics.port}. */
    public static final Option<Integer> PORT = GROUP.count("jfabric.metrics.port")
        .defaultsTo(-1)
        .range(-1, 65_535)
        .why("TCP port of 127.0.0.1 at which the driver answers GET /metrics with all counters in the text format of "
            + "OpenMetrics or Prometheus. -1 is off, 0 chooses a free port. Each process of this host can "
            + "read it.");

    /** Value of {@link #JMX_NAME} of a driver without an MBean. */
    public static final String NO_JMX = "off";

    /** {@code jfabric.metrics.jmxName}. */
    public static final Option<String> JMX_NAME = GROUP.name("jfabric.metrics.jmxName")
        .defaultsTo(NO_JMX)
        .rule("off, or 1 to 64 of the characters A-Z a-z 0-9 . _ -",
            Pattern.compile("[A-Za-z0-9._-]{1,64}").asMatchPredicate())
        .why("Set it where only JMX is collected: all metrics are then attributes of the MBean "
            + "org.jfabric:type=Driver,name= with this name, in the process of the driver. Each driver of a process "
            + "needs another one.");

    /** {@code jfabric.metrics.endpointLimit}. */
    public static final Option<Integer> ENDPOINT_LIMIT = GROUP.count("jfabric.metrics.endpointLimit")
        .defaultsTo(64)
        .range(0, 1 << 20)
        .why("Endpoints with counters of their own, 13 each, and so many groups that are written, 7 each; the counters "
            + "of the links count all. Raise it together with jfabric.cnc.countersLengthBytes.");

    /** {@code jfabric.metrics.peerLimit}. */
    public static final Option<Integer> PEER_LIMIT = GROUP.count("jfabric.metrics.peerLimit")
        .defaultsTo(64)
        .range(0, 1 << 20)
        .why("Peers with counters of their own, 13 each, those of all endpoints together, and so many readers of "
            + "groups, 3 each; the counters of endpoints and links count all. Raise it together "
            + "with jfabric.cnc.countersLengthBytes.");

    /** {@code jfabric.metrics.slowCycleNs}. */
    public static final Option<Long> SLOW_CYCLE_NS = GROUP.durationNs("jfabric.metrics.slowCycleNs")
        .defaultsTo(1_000_000L)
        .range(1_000L, 60_000_000_000L)
        .why("Duty cycles that take longer are counted as slow, and the time of the last one is kept. In INVOKER the "
            + "application's own time between two cycles is part of it.");

    /** {@code jfabric.metrics.stageSampling}. */
    public static final Option<Integer> STAGE_SAMPLING = GROUP.count("jfabric.metrics.stageSampling")
        .defaultsTo(0)
        .range(0, 1 << 20)
        .rule("0 or a power of two from 64", value -> value == 0 || value >= 64 && Integer.bitCount(value) == 1)
        .why("Measures how long one message of so many takes in each stage of its way; 1024 costs too little to be "
            + "measured. 0 is off. See docs/metrics.md.");

    private MetricsConfig() {
    }
}
