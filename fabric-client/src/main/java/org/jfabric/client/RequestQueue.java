package org.jfabric.client;

import java.lang.ref.Reference;
import org.agrona.UnsafeApi;
import org.jfabric.codec.queue.CancelRequestEncoder;
import org.jfabric.codec.queue.SlabReturnRequestEncoder;
import org.jfabric.codec.queue.TimeStampEncoder;
import org.jfabric.codec.queue.WorkConditionEncoder;
import org.jfabric.codec.queue.WorkRequestEncoder;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.Words;
import org.jfabric.layout.WorkRequestDescriptor;

/**
 * The client's end of a queue of work requests: a record ring and the count of operations that have not ended.
 *
 * <p>At most {@code size} operations are outstanding; the driver ends a client that submits more. Nothing here blocks
 * or allocates. Owner: the one submitting thread of the completion queue that the queue reports to.
 */
public abstract sealed class RequestQueue permits TransmitQueue, ReceiveQueue {
    private static final int CANCEL_LENGTH = RecordRingDescriptor.WORD_LENGTH + CancelRequestEncoder.BLOCK_LENGTH;
    private static final int CANCEL_TYPE = CancelRequestEncoder.TEMPLATE_ID;

    static final int STAMP_TYPE = TimeStampEncoder.TEMPLATE_ID;
    static final int RETURN_TYPE = SlabReturnRequestEncoder.TEMPLATE_ID;

    final RecordProducer producer;
    final long ring;
    private final long consumerPositionAddress;
    final long completedAddress;
    private final QueueSignal signal;
    private final Object memory;
    private final long size;
    private final long half;
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
        this.half = size / 2;
        this.limit = size;
    }

    /**
     * Cancels one operation with that context, of this queue or of the endpoint's other one, if it has not begun. One
     * request does for both, so that it is taken whole or not at all and never cancels twice.
     *
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
     * Submits an operation; one that waits for a counter counts as outstanding from now on. Returns 0, or
     * {@code -FI_EAGAIN} if the queue is full or as many operations as allowed are outstanding.
     */
    public int post(WorkRequest work) {
        int head = work.isTriggered ? WorkRequestDescriptor.TRIGGERED_HEAD_LENGTH : WorkRequestDescriptor.HEAD_LENGTH;
        boolean isAtomic = work.kind == WorkRequest.ATOMIC;
        int pieces = work.count + (isAtomic ? work.resultPieces + work.comparePieces : 0);
        int ranges = work.kind == WorkRequest.ACCESS ? work.rangeCount * WorkRequestDescriptor.RANGE_LENGTH : 0;
        int length = head + ranges
            + (work.isInjected() ? work.injectedLength : pieces * WorkRequestDescriptor.PIECE_LENGTH);
        int offset = claim(length);
        if (offset < 0) {
            return offset;
        }
        long record = ring + offset;
        // later lines first, as everywhere
        if (work.isInjected()) {
            Words.copy(work.injected, record + head + ranges, work.injectedLength);
        } else {
            long behind = writePieces(record + head + ranges, work.pieces, work.count);
            if (isAtomic) {
                behind = writePieces(behind, work.results, work.resultPieces);
                writePieces(behind, work.compares, work.comparePieces);
            }
        }
        for (int i = ranges / Long.BYTES - 1; i >= 0; i--) {
            UnsafeApi.putLong(record + head + (long) i * Long.BYTES, work.ranges[i]);
        }
        if (work.isTriggered) {
            long condition = record + WorkRequestDescriptor.HEAD_LENGTH;
            UnsafeApi.putLong(condition + WorkConditionEncoder.counterIdEncodingOffset(), work.counterId);
            UnsafeApi.putLong(condition + WorkConditionEncoder.thresholdEncodingOffset(), work.threshold);
            UnsafeApi.putLong(condition + WorkConditionEncoder.workIdEncodingOffset(), work.workId);
            UnsafeApi.putLong(condition + WorkConditionEncoder.completionIdEncodingOffset(), work.completionId);
        }
        writeBlock(record + RecordRingDescriptor.WORD_LENGTH, work);
        commit(offset, length, WorkRequestEncoder.TEMPLATE_ID);
        return 0;
    }

    private static void writeBlock(long body, WorkRequest work) {
        boolean isMessage = work.kind == WorkRequest.SEND || work.kind == WorkRequest.RECEIVE;
        boolean isAtomic = work.kind == WorkRequest.ATOMIC;
        UnsafeApi.putLong(body + WorkRequestEncoder.contextEncodingOffset(), work.context);
        UnsafeApi.putLong(body + WorkRequestEncoder.flagsEncodingOffset(), work.flags);
        UnsafeApi.putLong(body + WorkRequestEncoder.addressEncodingOffset(), work.address);
        UnsafeApi.putLong(
            body + WorkRequestEncoder.tagOrRemoteAddrEncodingOffset(), isMessage ? work.tag : work.remoteAddr);
        UnsafeApi.putLong(body + WorkRequestEncoder.ignoreOrKeyEncodingOffset(), isMessage ? work.ignore : work.key);
        UnsafeApi.putLong(
            body + WorkRequestEncoder.dataOrElementsEncodingOffset(), isAtomic ? work.elements : work.data);
        // kind and the seven bytes behind it
        long kinds = work.kind | (work.isTriggered ? 1L << 56 : 0) | (work.isInjected() ? 0 : (long) work.count << 32);
        if (isAtomic) {
            kinds |= work.form << 8 | work.datatype << 16 | (long) work.operation << 24
                | (long) work.resultPieces << 40 | (long) work.comparePieces << 48;
        } else if (!isMessage) {
            kinds |= (long) work.rangeCount << 40;
        }
        UnsafeApi.putLong(body + WorkRequestEncoder.kindEncodingOffset(), kinds);
    }

    private static long writePieces(long at, long[] pieces, int count) {
        for (int i = 2 * count - 1; i >= 0; i--) {
            UnsafeApi.putLong(at + (long) i * Long.BYTES, pieces[i]);
        }
        return at + (long) count * WorkRequestDescriptor.PIECE_LENGTH;
    }

    /**
     * Where the next request goes, in bytes since the start of the queue's life. Threads other than the submitting one
     * may see an older position.
     */
    public final long position() {
        return producer.position();
    }

    /** Operations that have not ended. Returns a count, 0 to the size. */
    public final long outstanding() {
        refresh();
        return submitted - (limit - size);
    }

    /** Operations that may still be submitted, as far as this queue knows. Returns 0 to the size. */
    public long sizeLeft() {
        refresh();
        return limit - submitted;
    }

    /**
     * Operations that the driver has not taken out of the ring. After the endpoint was closed it never will, and their
     * completion credit has no owner. Returns a count, 0 to the size.
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
            count += type == RecordRingDescriptor.PADDING_TYPE || type == CANCEL_TYPE || type == RETURN_TYPE
                || type == STAMP_TYPE ? 0 : 1;
            position += taken;
        }
        Reference.reachabilityFence(memory);
        return Math.min(count, size);
    }

    /** Whether half of the operations that may be outstanding are; usually nothing shared is read. */
    final boolean isHalfUsed() {
        return submitted + half >= limit && submitted + half >= refreshed();
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

    /** Tells the driver of a commit. */
    final void signalled() {
        signal.onCommit();
        // the mapping must outlive the last store, also if this object is not used any more afterwards
        Reference.reachabilityFence(memory);
    }

    /** Operations that have ended; any thread. */
    public final long completed() {
        return UnsafeApi.getLongAcquire(null, completedAddress);
    }

    private boolean refresh() {
        return submitted < refreshed();
    }

    private long refreshed() {
        limit = completed() + size;
        return limit;
    }
}
