package org.jfabric;

import static org.jfabric.layout.CompletionQueueDescriptor.BODY_OFFSET;

import org.agrona.UnsafeApi;
import org.jfabric.codec.queue.TimeCellDecoder;
import org.jfabric.info.Codes;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;
import org.jfabric.info.Mode;
import org.jfabric.info.TimestampClock;
import org.jfabric.layout.CompletionQueueDescriptor;

/**
 * View of one success entry where the driver wrote it, for {@link CompletionHandler}s and of a {@link CompletionBatch}.
 *
 * <pre>{@code
 * queue.poll(entry -> System.out.println(entry.opContext() + ": " + entry.len() + " bytes"), 16);
 * }</pre>
 *
 * <p>It shows all members whatever the queue's format, because the driver writes all of them: the poorer formats leave
 * members out of what {@link CompletionQueue#read} copies. Valid inside the handler, or until the batch is released;
 * afterwards every member reads 0. Source: fi_cq(3), section Completion Fields. Owner: the thread that polls.
 */
public final class Completion {
    private static final long NOTHING = UnsafeApi.allocateMemory(CompletionQueueDescriptor.RECORD_LENGTH);
    private static final int CELLS_PER_RECORD =
        CompletionQueueDescriptor.ERROR_CELL_LENGTH / CompletionQueueDescriptor.RECORD_LENGTH;
    private static final int FLAGS = BODY_OFFSET + 8;
    private static final int LEN = BODY_OFFSET + 16;
    private static final int BUF = BODY_OFFSET + 24;
    private static final int DATA = BODY_OFFSET + 32;
    private static final int TAG = BODY_OFFSET + 40;

    static {
        UnsafeApi.setMemory(NOTHING, CompletionQueueDescriptor.RECORD_LENGTH, (byte) 0);
    }

    private long record = NOTHING;
    /** Added to twice the address of a record it gives that of its cell: cells are twice as long as records. */
    private long toCell;
    /** Only the address of the entry is used: what it points into must live as long as this view. */
    private Object kept;

    Completion() {
    }

    void wrap(long recordAddress) {
        record = recordAddress;
    }

    void keep(Object memory) {
        if (kept != memory) {
            kept = memory;
        }
    }

    /** Sets where the queue's records and their cells begin. */
    void cells(long records, long cells) {
        toCell = cells - CELLS_PER_RECORD * records;
    }

    void unwrap() {
        record = NOTHING;
    }

    /**
     * Context of the operation, 0 for an entry that belongs to none.
     *
     * @return as posted.
     */
    public long opContext() {
        return UnsafeApi.getLong(record + BODY_OFFSET);
    }

    /**
     * Completion flags, {@link Flags} of the kind {@link Flags.Kind#COMPLETION}.
     *
     * @return the bits.
     */
    public long flags() {
        return UnsafeApi.getLong(record + FLAGS);
    }

    /**
     * Length of a received message as it was placed in the buffer; of a peek, and of an entry with {@link Flags#MORE},
     * the length of the whole message. It includes the prefix of an endpoint with {@link Mode#MSG_PREFIX}.
     *
     * @return bytes; 0 for sends.
     */
    public long len() {
        long field = UnsafeApi.getLong(record + LEN);
        return (flags() & Flags.MULTICAST) == 0 ? field : CompletionQueueDescriptor.length(field);
    }

    /**
     * Where the message starts, for entries that have such a position: in a buffer for many messages, where a peek has
     * copied it to, or in the driver's slab of an endpoint with buffered receives.
     *
     * @return the position, else 0.
     */
    public long buf() {
        return UnsafeApi.getLong(record + BUF);
    }

    /**
     * CQ data of the peer, if {@link #flags()} has {@link Flags#REMOTE_CQ_DATA}.
     *
     * @return the data, else 0.
     */
    public long data() {
        return UnsafeApi.getLong(record + DATA);
    }

    /**
     * Tag of a received tagged message.
     *
     * @return the sender's tag, else 0.
     */
    public long tag() {
        return UnsafeApi.getLong(record + TAG);
    }

    /**
     * Source of a received message.
     *
     * @return address in the endpoint's address vector, {@link FabricAddress#ADDR_NOTAVAIL} if unknown, for an
     *     endpoint without {@link Flags#SOURCE}, or if the entry is no receive's.
     */
    public long srcAddr() {
        long field = UnsafeApi.getLong(record + CompletionQueueDescriptor.SOURCE_OFFSET);
        return (flags() & Flags.MULTICAST) == 0 ? field : CompletionQueueDescriptor.source(field);
    }

    /**
     * Position of a message of a group over link shm, in the group's log: the number that its writer has given it. It
     * has no room in libfabric's formats, so that {@link CompletionQueue#read} leaves it out; this view shows it
     * whatever the queue's format.
     *
     * @return the number from 0; -1 of other entries.
     */
    public long position() {
        return (flags() & Flags.MULTICAST) == 0 ? -1 : CompletionQueueDescriptor.position(
            UnsafeApi.getLong(record + LEN), UnsafeApi.getLong(record + CompletionQueueDescriptor.SOURCE_OFFSET));
    }

    /**
     * When the message arrived, or, of a send, when it left: on an endpoint with {@link Flags#TIMESTAMP}, of an entry
     * whose {@link #flags()} have that bit. It has no room in libfabric's formats, as {@link #position()}.
     *
     * @return nanoseconds of the endpoint's {@link TimestampClock}; 0 of entries without a time.
     */
    public long timeNs() {
        return (flags() & Flags.TIMESTAMP) == 0 ? 0
            : UnsafeApi.getLong(CELLS_PER_RECORD * record + toCell + TimeCellDecoder.timeNsEncodingOffset());
    }

    /** Whether it hands out a cell of a receive slab; what the driver says of it, and no context of an application. */
    boolean isBuffered() {
        // the flag is the word's sign
        return UnsafeApi.getLong(record) < 0;
    }

    @Override
    public String toString() {
        return "Completion{opContext=" + opContext() + ", flags=" + Flags.toString(flags(), Flags.Kind.COMPLETION)
            + ", len=" + len() + ", buf=" + Codes.hex(buf()) + ", data=" + Codes.hex(data()) + ", tag="
            + Codes.hex(tag()) + ", srcAddr=" + srcAddr() + (timeNs() == 0 ? "" : ", timeNs=" + timeNs()) + '}';
    }
}
