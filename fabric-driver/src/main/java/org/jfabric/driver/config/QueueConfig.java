package org.jfabric.driver.config;

/**
 * Sizes of the queues between clients and driver. They are reserved in full when a queue is made, so they decide how
 * much shared memory a client takes; see {@link Sizing}.
 */
public final class QueueConfig {
    static final OptionGroup GROUP = new OptionGroup("queue", "Queues between clients and driver", QueueConfig::check);

    /** {@code jfabric.queue.txSize}. */
    public static final Option<Integer> TX_SIZE = GROUP.count("jfabric.queue.txSize")
        .defaultsTo(256)
        .range(1, 1 << 16)
        .why("Default of tx_attr.size: transmit operations that an endpoint may have outstanding. Raise it for "
            + "bursts of sends to slow peers; each costs a record in .tq and one of inject_size in the driver. Hints "
            + "may ask for up to 65536.");

    /** {@code jfabric.queue.rxSize}. */
    public static final Option<Integer> RX_SIZE = GROUP.count("jfabric.queue.rxSize")
        .defaultsTo(1024)
        .range(1, 1 << 20)
        .why("Default of rx_attr.size: receives that an endpoint may have posted. Raise it where more messages "
            + "than this may be awaited at once. Hints may ask for up to 1048576.");

    /** {@code jfabric.queue.injectSizeBytes}. */
    public static final Option<Integer> INJECT_SIZE_BYTES = GROUP.intBytes("jfabric.queue.injectSizeBytes")
        .defaultsTo(128)
        .range(64, 4096)
        .multipleOf(64)
        .why("Largest message that inject takes, because it is copied into the transmit queue. Raise it where "
            + "your usual message is a little larger; each step adds a cache line to every outstanding operation. "
            + "Hints may ask for up to 4096, if the eager limit and the link are not smaller.");

    /** {@code jfabric.queue.tqLengthBytes}. */
    public static final Option<Long> TQ_LENGTH_BYTES = GROUP.bytes("jfabric.queue.tqLengthBytes")
        .derived(-1L, "room for tx_attr.size records of the largest kind, next power of two")
        .range(4L << 10, 1L << 30)
        .powerOfTwo()
        .why("Ring of a transmit queue without its header. Make it smaller to save shared memory: submission then "
            + "answers -FI_EAGAIN while the driver is behind, although operations are left.");

    /** {@code jfabric.queue.rqLengthBytes}. */
    public static final Option<Long> RQ_LENGTH_BYTES = GROUP.bytes("jfabric.queue.rqLengthBytes")
        .derived(-1L, "room for rx_attr.size records, next power of two")
        .range(4L << 10, 1L << 30)
        .powerOfTwo()
        .why("Ring of a receive queue without its header. Make it smaller to save shared memory, as with "
            + "tqLengthBytes.");

    /** {@code jfabric.queue.cqSize}. */
    public static final Option<Integer> CQ_SIZE = GROUP.count("jfabric.queue.cqSize")
        .defaultsTo(1536)
        .range(1, 1 << 20)
        .why("Default of cq_attr.size: the client's share, one slot per outstanding operation. Raise it above the "
            + "sum of tx and rx sizes of all endpoints bound to one CQ, or posting answers -FI_EAGAIN before they "
            + "are used up.");

    /** {@code jfabric.queue.cqDriverShare}. */
    public static final Option<Integer> CQ_DRIVER_SHARE = GROUP.count("jfabric.queue.cqDriverShare")
        .derived(-1, "max(16, size / 4)")
        .range(1, 1 << 20)
        .why("Slots of a CQ for entries without an operation of the client: messages in multi-receive buffers, "
            + "buffered receives, remote CQ data. Raise it where such entries come in bursts; none free leaves "
            + "messages unexpected.");

    /** {@code jfabric.queue.slabLengthBytes}. */
    public static final Option<Integer> SLAB_LENGTH_BYTES = GROUP.intBytes("jfabric.queue.slabLengthBytes")
        .defaultsTo(1 << 20)
        .range(64 << 10, 1 << 30)
        .powerOfTwo()
        .why("Receive slab of an endpoint with mode FI_BUFFERED_RECV; others have none. It is cut into cells of "
            + "FI_OPT_BUFFERED_LIMIT bytes each, 16 at least, so a sixteenth is the greatest limit. Raise it for more "
            + "messages or longer ones in the application's hands at once; none free leaves messages unexpected.");

    /** {@code jfabric.queue.bufferedLimitBytes}. */
    public static final Option<Integer> BUFFERED_LIMIT_BYTES = GROUP.intBytes("jfabric.queue.bufferedLimitBytes")
        .defaultsTo(4 << 10)
        .range(64, 64 << 10)
        .multipleOf(64)
        .why("Default of FI_OPT_BUFFERED_LIMIT: longest message that a buffered receive shows whole. Lower it where "
            + "messages are short, so that the slab has more cells; longer ones are claimed into a buffer.");

    /** {@code jfabric.queue.lentLimitBytes}. */
    public static final Option<Long> LENT_LIMIT_BYTES = GROUP.bytes("jfabric.queue.lentLimitBytes")
        .defaultsTo(1L << 30)
        .range(0L, 1L << 40)
        .why("Bytes of one sender that a receiver may have at a time in messages that it reads in the sender's memory. "
            + "Further ones are copied. Lower it where receivers keep messages for long; 0: all are copied.");

    /** {@code jfabric.queue.ctlRingBytes}. */
    public static final Option<Integer> CTL_RING_BYTES = GROUP.intBytes("jfabric.queue.ctlRingBytes")
        .defaultsTo(64 << 10)
        .range(16 << 10, 16 << 20)
        .powerOfTwo()
        .why("Length of each of a client's two control rings, commands and events. Raise it for clients that open "
            + "thousands of endpoints or insert thousands of addresses in one go.");

    private QueueConfig() {
    }

    private static void check(DriverConfig config, ConfigSource source) {
        int twoRecordsBytes = Sizing.twoWorkRecordsBytes(config.get(INJECT_SIZE_BYTES));
        source.check(
            config.get(TQ_LENGTH_BYTES) == -1 || config.get(TQ_LENGTH_BYTES) >= twoRecordsBytes,
            "a transmit queue has to hold two records with inject_size bytes each, " + twoRecordsBytes + " bytes",
            TQ_LENGTH_BYTES, INJECT_SIZE_BYTES);
        source.check(
            config.get(BUFFERED_LIMIT_BYTES) <= Sizing.maxBufferedLimitBytes(config),
            "a receive slab has at least " + Sizing.MIN_SLAB_CELLS + " cells, which are as long as the buffered limit",
            BUFFERED_LIMIT_BYTES, SLAB_LENGTH_BYTES);
        source.check(
            config.get(INJECT_SIZE_BYTES) <= config.get(EngineConfig.EAGER_LIMIT_BYTES),
            "an injected message has to fit the eager limit, because its sender does not wait for an answer",
            INJECT_SIZE_BYTES, EngineConfig.EAGER_LIMIT_BYTES);
    }
}
