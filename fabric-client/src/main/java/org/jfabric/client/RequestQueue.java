package org.jfabric.client;

import java.lang.ref.Reference;
import org.agrona.UnsafeApi;
import org.jfabric.codec.queue.CancelRequestEncoder;
import org.jfabric.codec.queue.SlabReturnRequestEncoder;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.VectorRequestDescriptor;

/**
 * The client's end of a queue of work requests: a record ring and the count of operations that have not ended.
 *
 * <p>At most {@code size} operations are outstanding; the driver ends a client that submits more. Nothing here blocks
 * or allocates. Owner: the one submitting thread of the completion queue that the queue reports to.
 */
public abstract sealed class RequestQueue permits TransmitQueue, ReceiveQueue {
    private static final int CANCEL_LENGTH = RecordRingDescriptor.WORD_LENGTH + CancelRequestEncoder.BLOCK_LENGTH;
    private static final int CANCEL_TYPE = CancelRequestEncoder.TEMPLATE_ID;

    static final int RETURN_TYPE = SlabReturnRequestEncoder.TEMPLATE_ID;

    final RecordProducer producer;
    final long ring;
    private final long consumerPositionAddress;
    private final long completedAddress;
    private final QueueSignal signal;
    private final Object memory;
    private final long size;
    private long submitted;
    private long limit;

    RequestQueue(long fileAddress, int ringLength, int size, QueueSignal signal, Object memory) {
        this.ring = fileAddress + RecordRingDescriptor.HEADER_LENGTH;
        this.consumerPositionAddress = fileAddress + RecordRingDescriptor.CONSUMER_POSITION_OFFSET;
        this.producer = new RecordProducer(ring, ringLength, consumerPositionAddress);
        this.completedAddress = fileAddress + RecordRingDescriptor.COMPLETED_OFFSET;
        this.signal = signal;
        this.memory = memory;
        this.size = size;
        this.limit = size;
    }

    /**
     * Cancels one operation with that context, of this queue or of the endpoint's other one, if it has not begun. One
     * request does for both, so that it is taken whole or not at all and never cancels twice.
     *
     * @param context       as posted.
     * @param otherPosition {@link #position()} of the endpoint's other queue, 0 if there is none: what was posted there
     *                      before is executed before the request, so that it cannot overtake what it is meant for.
     * @return 0 if the request was submitted, {@code -FI_EAGAIN} if the queue is full.
     */
    public final int cancel(long context, long otherPosition) {
        int offset = producer.claim(CANCEL_LENGTH);
        if (offset < 0) {
            return offset;
        }
        long body = ring + offset + RecordRingDescriptor.WORD_LENGTH;
        UnsafeApi.putLong(body + CancelRequestEncoder.contextEncodingOffset(), context);
        UnsafeApi.putLong(body + CancelRequestEncoder.otherPositionEncodingOffset(), otherPosition);
        producer.commit(offset, CANCEL_LENGTH, CANCEL_TYPE);
        signalled();
        return 0;
    }

    /**
     * Where the next request goes; any thread may ask. Another one than the submitting thread sees at least what had
     * been submitted when it last heard of that one.
     *
     * @return bytes since the start of the queue's life.
     */
    public final long position() {
        return producer.position();
    }

    /**
     * Operations that have not ended.
     *
     * @return a count, 0 to the size.
     */
    public final long outstanding() {
        refresh();
        return submitted - (limit - size);
    }

    /**
     * Operations that may still be submitted, as far as this queue knows.
     *
     * @return 0 to the size.
     */
    public final long sizeLeft() {
        refresh();
        return limit - submitted;
    }

    /**
     * Operations that the driver has not taken out of the ring. After the endpoint was closed it never will, and their
     * completion credit has no owner.
     *
     * @return a count, 0 to the size.
     */
    public final long untaken() {
        long end = producer.position();
        long position = UnsafeApi.getLongAcquire(null, consumerPositionAddress);
        long count = 0;
        while (position >= 0 && position < end) {
            long word = UnsafeApi.getLong(ring + (position & (producer.capacity() - 1)));
            int type = (int) (word >>> Integer.SIZE);
            int taken = RecordRingDescriptor.alignedLength((int) word);
            if (taken <= 0) {
                break;
            }
            count += type == RecordRingDescriptor.PADDING_TYPE || type == CANCEL_TYPE || type == RETURN_TYPE ? 0 : 1;
            position += taken;
        }
        Reference.reachabilityFence(memory);
        return Math.min(count, size);
    }

    /** Claims a record for an operation, or says why not. */
    final int claim(int length) {
        if (submitted >= limit && !refresh()) {
            return -FabricErrno.EAGAIN;
        }
        return producer.claim(length);
    }

    /** Publishes an operation's record; the commit is the posting order. */
    final void commit(int offset, int length, int type) {
        submitted++;
        producer.commit(offset, length, type);
        signalled();
    }

    /** Writes the pieces of a request into its claimed record. */
    static void writePieces(long record, long[] pieces, int count) {
        // the later cache line first, as everywhere
        for (int i = 2 * count - 1; i >= 0; i--) {
            UnsafeApi.putLong(record + VectorRequestDescriptor.PIECES_OFFSET + (long) i * Long.BYTES, pieces[i]);
        }
        UnsafeApi.putLong(
            record + VectorRequestDescriptor.COUNT_OFFSET, VectorRequestDescriptor.countWord(count));
    }

    /** Tells the driver of a commit. */
    final void signalled() {
        signal.onCommit();
        // the mapping must outlive the last store, also if this object is not used any more afterwards
        Reference.reachabilityFence(memory);
    }

    private boolean refresh() {
        limit = UnsafeApi.getLongAcquire(null, completedAddress) + size;
        return submitted < limit;
    }
}
