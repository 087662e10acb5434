package org.jfabric.driver.config;

import java.util.List;

import org.jfabric.codec.queue.WorkRequestDecoder;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * Sizes of the queues between clients and driver. They are reserved in full when a queue is made, so they decide how
 * much shared memory a client takes; see {@link Sizing}. Immutable.
 */
public final class QueueConfig {

    /** {@code jfabric.queue.txSize}. */
    public static final Option<Integer> TX_SIZE = Option.count("jfabric.queue.txSize")
        .defaultsTo(256)
        .range(1, 1 << 16)
        .why("Default of tx_attr.size: transmit operations that an endpoint may have outstanding. Raise it for "
            + "bursts of sends to slow peers; each costs a record in .tq and one of inject_size in the driver.");

    /** {@code jfabric.queue.rxSize}. */
    public static final Option<Integer> RX_SIZE = Option.count("jfabric.queue.rxSize")
        .defaultsTo(1024)
        .range(1, 1 << 20)
        .why("Default of rx_attr.size: receives that an endpoint may have posted. Raise it where more messages "
            + "than this may be awaited at once.");

    /** {@code jfabric.queue.injectSizeBytes}. */
    public static final Option<Long> INJECT_SIZE_BYTES = Option.bytes("jfabric.queue.injectSizeBytes")
        .defaultsTo(128L)
        .range(64L, 4096L)
        .multipleOf(64)
        .why("Largest message that inject takes, because it is copied into the transmit queue. Raise it where "
            + "your usual message is a little larger; each step adds a cache line to every outstanding operation.");

    /** {@code jfabric.queue.tqLengthBytes}. */
    public static final Option<Long> TQ_LENGTH_BYTES = Option.bytes("jfabric.queue.tqLengthBytes")
        .derived(-1L, "room for tx_attr.size records of the largest kind, next power of two")
        .range(4L << 10, 1L << 30)
        .powerOfTwo()
        .why("Ring of a transmit queue without its header. Make it smaller to save shared memory: submission then "
            + "answers -FI_EAGAIN while the driver is behind, although operations are left.");

    /** {@code jfabric.queue.rqLengthBytes}. */
    public static final Option<Long> RQ_LENGTH_BYTES = Option.bytes("jfabric.queue.rqLengthBytes")
        .derived(-1L, "room for rx_attr.size records, next power of two")
        .range(4L << 10, 1L << 30)
        .powerOfTwo()
        .why("Ring of a receive queue without its header. Make it smaller to save shared memory, as with "
            + "tqLengthBytes.");

    /** {@code jfabric.queue.cqSize}. */
    public static final Option<Integer> CQ_SIZE = Option.count("jfabric.queue.cqSize")
        .defaultsTo(1536)
        .range(1, 1 << 20)
        .why("Default of cq_attr.size: the client's share, one slot per outstanding operation. Raise it above the "
            + "sum of tx and rx sizes of all endpoints bound to one CQ, or posting answers -FI_EAGAIN before they "
            + "are used up.");

    /** {@code jfabric.queue.cqDriverShare}. */
    public static final Option<Integer> CQ_DRIVER_SHARE = Option.count("jfabric.queue.cqDriverShare")
        .derived(-1, "max(16, size / 4)")
        .range(1, 1 << 20)
        .why("Slots of a CQ for entries without an operation of the client: messages in multi-receive buffers, "
            + "buffered receives, remote CQ data. Raise it where such entries come in bursts; none free leaves "
            + "messages unexpected.");

    /** {@code jfabric.queue.slabLengthBytes}. */
    public static final Option<Long> SLAB_LENGTH_BYTES = Option.bytes("jfabric.queue.slabLengthBytes")
        .defaultsTo(1L << 20)
        .range(64L << 10, 1L << 30)
        .powerOfTwo()
        .why("Receive slab of an endpoint with mode FI_BUFFERED_RECV; others have none. It is cut into cells of "
            + "FI_OPT_BUFFERED_LIMIT bytes each, 16 at least, so a sixteenth is the greatest limit. Raise it for more "
            + "messages or longer ones in the application's hands at once; none free leaves messages unexpected.");

    /** {@code jfabric.queue.bufferedLimitBytes}. */
    public static final Option<Long> BUFFERED_LIMIT_BYTES = Option.bytes("jfabric.queue.bufferedLimitBytes")
        .defaultsTo(4L << 10)
        .range(64L, 64L << 10)
        .multipleOf(64)
        .why("Default of FI_OPT_BUFFERED_LIMIT: longest message that a buffered receive shows whole. Lower it where "
            + "messages are short, so that the slab has more cells; longer ones are claimed into a buffer.");

    /** {@code jfabric.queue.lentLimitBytes}. */
    public static final Option<Long> LENT_LIMIT_BYTES = Option.bytes("jfabric.queue.lentLimitBytes")
        .defaultsTo(1L << 30)
        .range(0L, 1L << 40)
        .why("Bytes of one sender that a receiver may have at a time in messages that it reads in the sender's memory. "
            + "Further ones are copied. Lower it where receivers keep messages for long; 0: all are copied.");

    /** {@code jfabric.queue.ctlRingBytes}. */
    public static final Option<Long> CTL_RING_BYTES = Option.bytes("jfabric.queue.ctlRingBytes")
        .defaultsTo(64L << 10)
        .range(16L << 10, 16L << 20)
        .powerOfTwo()
        .why("Length of each of a client's two control rings, commands and events. Raise it for clients that open "
            + "thousands of endpoints or insert thousands of addresses in one go.");

    static final OptionGroup GROUP = new OptionGroup(
        "queue", "Queues between clients and driver",
        List.of(TX_SIZE, RX_SIZE, INJECT_SIZE_BYTES, TQ_LENGTH_BYTES, RQ_LENGTH_BYTES, CQ_SIZE, CQ_DRIVER_SHARE,
            SLAB_LENGTH_BYTES, BUFFERED_LIMIT_BYTES, LENT_LIMIT_BYTES, CTL_RING_BYTES));

    /** Least number of cells of a slab, whatever the limit. */
    private static final int MIN_SLAB_CELLS = 16;

    /** Record word and body of a send request: one cache line; injected bytes follow. */
    private static final int SEND_RECORD_BYTES = 64;
    /** Record word and body of a request with a list of buffers: two cache lines. */
    private static final int VECTOR_RECORD_BYTES = 128;
    private static final int WORK_RECORD_BYTES = RecordRingDescriptor.WORD_LENGTH + WorkRequestDecoder.BLOCK_LENGTH;
    private static final long MIN_RING_BYTES = 4L << 10;

    private final int txSize;
    private final int rxSize;
    private final int injectSizeBytes;
    private final long tqLengthBytes;
    private final long rqLengthBytes;
    private final int cqSize;
    private final int cqDriverShare;
    private final int slabLengthBytes;
    private final int bufferedLimitBytes;
    private final long lentLimitBytes;
    private final long ctlRingBytes;

    QueueConfig(ConfigSource source) {
        txSize = source.value(TX_SIZE);
        rxSize = source.value(RX_SIZE);
        injectSizeBytes = Math.toIntExact(source.value(INJECT_SIZE_BYTES));
        tqLengthBytes = source.value(TQ_LENGTH_BYTES);
        rqLengthBytes = source.value(RQ_LENGTH_BYTES);
        cqSize = source.value(CQ_SIZE);
        cqDriverShare = source.value(CQ_DRIVER_SHARE);
        slabLengthBytes = Math.toIntExact(source.value(SLAB_LENGTH_BYTES));
        bufferedLimitBytes = Math.toIntExact(source.value(BUFFERED_LIMIT_BYTES));
        lentLimitBytes = source.value(LENT_LIMIT_BYTES);
        ctlRingBytes = source.value(CTL_RING_BYTES);
        int twoRecordsBytes = 2 * (WORK_RECORD_BYTES + injectSizeBytes);
        source.check(
            tqLengthBytes == -1 || tqLengthBytes >= twoRecordsBytes,
            "a transmit queue has to hold two records with inject_size bytes each, " + twoRecordsBytes + " bytes",
            TQ_LENGTH_BYTES, INJECT_SIZE_BYTES);
        source.check(
            bufferedLimitBytes <= maxBufferedLimitBytes(),
            "a receive slab has at least " + MIN_SLAB_CELLS + " cells, which are as long as the buffered limit",
            BUFFERED_LIMIT_BYTES, SLAB_LENGTH_BYTES);
    }

    /**
     * Default of {@code tx_attr.size}.
     *
     * @return operations, 1 or more.
     */
    public int txSize() {
        return txSize;
    }

    /**
     * Default of {@code rx_attr.size}.
     *
     * @return operations, 1 or more.
     */
    public int rxSize() {
        return rxSize;
    }

    /**
     * Largest message that inject takes.
     *
     * @return bytes, a multiple of 64.
     */
    public int injectSizeBytes() {
        return injectSizeBytes;
    }

    /**
     * Ring length of a transmit queue, as set or derived.
     *
     * @param txSize {@code tx_attr.size} of the endpoint or context, 1 or more.
     * @return bytes without the file's header, a power of two.
     */
    public long tqLengthBytes(int txSize) {
        // operations that counters start have longer records; all of them at once need not find room
        return tqLengthBytes != -1 ? tqLengthBytes : Math.max(ringBytes(txSize, largestSendRecordBytes()),
            nextPowerOfTwo(2L * (WORK_RECORD_BYTES + injectSizeBytes)));
    }

    /**
     * Ring length of a receive queue, as set or derived.
     *
     * @param rxSize {@code rx_attr.size} of the endpoint or context, 1 or more.
     * @return bytes without the file's header, a power of two.
     */
    public long rqLengthBytes(int rxSize) {
        return rqLengthBytes != -1 ? rqLengthBytes : ringBytes(rxSize, VECTOR_RECORD_BYTES);
    }

    /**
     * Default of {@code cq_attr.size}.
     *
     * @return the client's share in entries, 1 or more.
     */
    public int cqSize() {
        return cqSize;
    }

    /**
     * The driver's reservation in a completion queue, as set or derived.
     *
     * @param cqSize the client's share, 1 or more.
     * @return entries, 1 or more.
     */
    public int cqDriverShare(int cqSize) {
        return cqDriverShare != -1 ? cqDriverShare : Math.max(16, cqSize / 4);
    }

    /**
     * Entries in the ring of a completion queue: the next power of two of the sum of both reservations.
     *
     * @param cqSize the client's reservation, 1 or more.
     * @return entries, a power of two.
     */
    public long cqRingEntries(int cqSize) {
        return nextPowerOfTwo((long) cqSize + cqDriverShare(cqSize));
    }

    /**
     * Bytes of one sender that a receiver may have in messages that are lent to it.
     *
     * @return bytes, 0 or more.
     */
    public long lentLimitBytes() {
        return lentLimitBytes;
    }

    /**
     * Length of the receive slab of an endpoint with buffered receives.
     *
     * @return bytes of its cells, a power of two.
     */
    public int slabLengthBytes() {
        return slabLengthBytes;
    }

    /**
     * Default of {@code FI_OPT_BUFFERED_LIMIT}.
     *
     * @return bytes, at most {@link #maxBufferedLimitBytes()}.
     */
    public int bufferedLimitBytes() {
        return bufferedLimitBytes;
    }

    /**
     * Greatest {@code FI_OPT_BUFFERED_LIMIT} and {@code FI_OPT_BUFFERED_MIN}.
     *
     * @return bytes.
     */
    public int maxBufferedLimitBytes() {
        return slabLengthBytes / MIN_SLAB_CELLS;
    }

    /**
     * Length of each of a client's two control rings.
     *
     * @return bytes without trailer, a power of two.
     */
    public long ctlRingBytes() {
        return ctlRingBytes;
    }

    private int largestSendRecordBytes() {
        return Math.max(VECTOR_RECORD_BYTES, SEND_RECORD_BYTES + injectSizeBytes);
    }

    private static long ringBytes(long records, long recordBytes) {
        long bytes = nextPowerOfTwo(records * recordBytes);
        return Math.clamp(bytes, MIN_RING_BYTES, RecordRingDescriptor.MAX_CAPACITY);
    }

    private static long nextPowerOfTwo(long value) {
        return value <= 1 ? 1 : Long.highestOneBit(value - 1) << 1;
    }
}
