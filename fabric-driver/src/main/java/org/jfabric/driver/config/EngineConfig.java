package org.jfabric.driver.config;

/**
 * Limits of the engine: sizes for the choice of a protocol, budgets for messages without a receive, and polling of
 * submission queues.
 */
public final class EngineConfig {
    static final OptionGroup GROUP = new OptionGroup("engine", "Protocols, budgets and polling", EngineConfig::check);

    /** {@code jfabric.engine.eagerLimitBytes}. */
    public static final Option<Integer> EAGER_LIMIT_BYTES = GROUP.intBytes("jfabric.engine.eagerLimitBytes")
        .defaultsTo(8 << 10)
        .range(64, 1 << 20)
        .why("Largest message that is sent at once, and copied on the way. Raise it where a copy costs less than "
            + "a round trip to the receiver; lower it to spend less of the unexpected budget on early messages.");

    /** {@code jfabric.engine.unexpectedBudgetBytes}. */
    public static final Option<Long> UNEXPECTED_BUDGET_BYTES = GROUP.bytes("jfabric.engine.unexpectedBudgetBytes")
        .defaultsTo(4L << 20)
        .range(64L << 10, 64L << 30)
        .why("Driver memory, per endpoint, for messages that arrived before their receive. Raise it where "
            + "receivers post late; without it senders wait and only announcements go. Over tcp and rxm, up to 16 "
            + "times as much is used while a posted receive may wait for a message that is not read yet.");

    /** {@code jfabric.engine.creditWindowBytes}. */
    public static final Option<Long> CREDIT_WINDOW_BYTES = GROUP.bytes("jfabric.engine.creditWindowBytes")
        .defaultsTo(256L << 10)
        .range(4L << 10, 16L << 30)
        .why("Bytes that one busy peer may send to an endpoint ahead of its receives; each begins with fewer, 64 KiB "
            + "by default. Raise it for bursts from few peers; lower it where many busy peers share one endpoint's "
            + "budget.");

    /** {@code jfabric.engine.announcementLimit}. */
    public static final Option<Integer> ANNOUNCEMENT_LIMIT = GROUP.count("jfabric.engine.announcementLimit")
        .defaultsTo(64)
        .range(1, 1 << 16)
        .why("Messages that a peer without credit may announce (tag, length, id), so that later tags still match. "
            + "Raise it where receivers pick tags far out of order.");

    /** {@code jfabric.engine.queuePollBatch}. */
    public static final Option<Integer> QUEUE_POLL_BATCH = GROUP.count("jfabric.engine.queuePollBatch")
        .defaultsTo(16)
        .range(1, 4096)
        .why("Work requests taken from one queue before the next queue has its turn. Raise it for throughput of "
            + "few endpoints, lower it for fairness between many.");

    /** {@code jfabric.engine.coldRotationCycles}. */
    public static final Option<Integer> COLD_ROTATION_CYCLES = GROUP.count("jfabric.engine.coldRotationCycles")
        .defaultsTo(16384)
        .range(1, 1 << 24)
        .why("Cycles between two polls of a quiet queue whose activity byte is not set, in case the byte was missed. "
            + "Raise it with thousands of idle endpoints.");

    /** {@code jfabric.engine.backlog}. */
    public static final Option<Integer> BACKLOG = GROUP.count("jfabric.engine.backlog")
        .defaultsTo(128)
        .range(1, 1 << 16)
        .why("Requests for connections that may wait for their answers at a passive endpoint that sets no backlog of "
            + "its own; more are refused. Raise it where many connect at the same time to a slow listener.");

    private EngineConfig() {
    }

    private static void check(DriverConfig config, ConfigSource source) {
        long creditWindowBytes = config.get(CREDIT_WINDOW_BYTES);
        source.check(
            creditWindowBytes >= config.get(EAGER_LIMIT_BYTES),
            "the credit window has to hold at least one eager message, or none could ever be sent",
            CREDIT_WINDOW_BYTES, EAGER_LIMIT_BYTES);
        source.check(
            config.get(UNEXPECTED_BUDGET_BYTES) >= creditWindowBytes,
            "the unexpected budget has to cover the credit of at least one peer",
            UNEXPECTED_BUDGET_BYTES, CREDIT_WINDOW_BYTES);
    }
}
