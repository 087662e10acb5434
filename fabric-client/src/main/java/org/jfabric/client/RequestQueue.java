package org.jfabric.client;

import java.lang.ref.Reference;
import org.agrona.UnsafeApi;
import org.jfabric.codec.queue.CancelRequestEncoder;
import org.jfabric.codec.queue.SlabReturnRequestEncoder;
import org.jfabric.codec.queue.TimeStampEncoder;
import org.jfabric.codec.queue.WorkRequestEncoder;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.VectorRequestDescriptor;
import org.jfabric.layout.Words;

/**
 * The client's end of a queue of work requests: a record ring and the count of operations that have not ended.
 *
 * <p>At most {@code size} operations are outstanding; the driver ends a client that submits more. Nothing here blocks
 * or allocates. Owner: the one submitting thread of the completion queue that the queue reports to.
 */
public abstract sealed class RequestQueue permits TransmitQueue, ReceiveQueue {
    private static final int CANCEL_LENGTH = RecordRingDescriptor.WORD_LENGTH + CancelRequestEncoder.BLOCK_LENGTH;
    private static final int CANCEL_TYPE = CancelRequestEncoder.TEMPLATE_ID;

    private static final int WORK_HEAD_LENGTH = RecordRingDescriptor.WORD_LENGTH + WorkRequestEncoder.BLOCK_LENGTH;

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
     * Submits an operation that starts when a counter has reached a threshold. It counts as outstanding from now on.
     * Returns 0, or {@code -FI_EAGAIN} if the queue is full or as many operations as allowed are outstanding.
     */
    final int defer(WorkRequest work) {
        boolean isAtomic = work.kind == WorkRequest.ATOMIC;
        AtomicAccess atomic = work.atomic;
        boolean isInjected = (work.opFlags() & Flags.INJECT) != 0;
        int bytes;
        if (isInjected) {
            bytes = isAtomic ? (int) (atomic.count * AtomicDatatype.of(atomic.datatype).sizeBytes())
                : work.injectedLength;
        } else {
            bytes = VectorRequestDescriptor.PIECE_LENGTH * (isAtomic
                ? atomic.operandPieces + atomic.resultPieces + atomic.comparePieces : work.count);
        }
        int offset = claim(WORK_HEAD_LENGTH + bytes);
        if (offset < 0) {
            return offset;
        }
        long record = ring + offset;
        long behind = record + WORK_HEAD_LENGTH;
        // later lines first, as everywhere
        if (isInjected) {
            Words.copy(isAtomic ? atomic.injected : work.injected, behind, bytes);
        } else if (isAtomic) {
            behind = writeWords(behind, atomic.operands, atomic.operandPieces);
            behind = writeWords(behind, atomic.results, atomic.resultPieces);
            writeWords(behind, atomic.compares, atomic.comparePieces);
        } else {
            writeWords(behind, work.pieces, work.count);
        }
        workBlock(record + RecordRingDescriptor.WORD_LENGTH, work, isInjected);
        commit(offset, WORK_HEAD_LENGTH + bytes, WorkRequestEncoder.TEMPLATE_ID);
        return 0;
    }

    private static void workBlock(long body, WorkRequest work, boolean isInjected) {
        boolean isAtomic = work.kind == WorkRequest.ATOMIC;
        AtomicAccess atomic = work.atomic;
        UnsafeApi.putLong(body + WorkRequestEncoder.counterIdEncodingOffset(), work.counterId);
        UnsafeApi.putLong(body + WorkRequestEncoder.thresholdEncodingOffset(), work.threshold);
        UnsafeApi.putLong(body + WorkRequestEncoder.workIdEncodingOffset(), work.workId);
        UnsafeApi.putLong(body + WorkRequestEncoder.completionIdEncodingOffset(), work.completionId);
        UnsafeApi.putLong(body + WorkRequestEncoder.contextEncodingOffset(), work.opContext());
        UnsafeApi.putLong(body + WorkRequestEncoder.flagsEncodingOffset(), work.opFlags());
        UnsafeApi.putLong(body + WorkRequestEncoder.addressEncodingOffset(),
            isAtomic ? atomic.destAddr : work.address);
        UnsafeApi.putLong(body + WorkRequestEncoder.tagEncodingOffset(), work.tag);
        UnsafeApi.putLong(body + WorkRequestEncoder.ignoreEncodingOffset(), work.ignore);
        UnsafeApi.putLong(body + WorkRequestEncoder.dataEncodingOffset(), work.data);
        UnsafeApi.putLong(body + WorkRequestEncoder.remoteAddrEncodingOffset(),
            isAtomic ? atomic.remoteAddr : work.remoteAddr);
        UnsafeApi.putLong(body + WorkRequestEncoder.keyEncodingOffset(), isAtomic ? atomic.key : work.key);
        UnsafeApi.putLong(body + WorkRequestEncoder.countEncodingOffset(),
            isAtomic ? atomic.count : isInjected ? work.injectedLength : work.count);
        // kind and the seven bytes behind it
        long kinds = work.kind;
        if (isAtomic) {
            kinds |= atomic.form << 8 | atomic.datatype << 16 | (long) atomic.operation << 24
                | (long) atomic.operandPieces << 32 | (long) atomic.resultPieces << 40
                | (long) atomic.comparePieces << 48;
        }
        UnsafeApi.putLong(body + WorkRequestEncoder.kindEncodingOffset(), kinds);
        UnsafeApi.putLong(body + WorkRequestEncoder.reserved2EncodingOffset(), 0);
    }

    /** Writes a list of pieces; returns the address behind it. */
    static long writeWords(long at, long[] pieces, int count) {
        for (int i = 0; i < 2 * count; i++) {
            UnsafeApi.putLong(at + (long) i * Long.BYTES, pieces[i]);
        }
        return at + (long) count * VectorRequestDescriptor.PIECE_LENGTH;
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
