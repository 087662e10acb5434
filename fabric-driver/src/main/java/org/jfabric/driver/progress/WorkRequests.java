package org.jfabric.driver.progress;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.WorkRequest;
import org.jfabric.codec.queue.WorkConditionDecoder;
import org.jfabric.codec.queue.WorkRequestDecoder;
import org.jfabric.driver.engine.AtomicExecutor;
import org.jfabric.info.Flags;
import org.jfabric.layout.AtomicForm;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.WorkRequestDescriptor;

/**
 * Takes the records of operations apart. Every field is read once. A record whose length does not fit its contents, or
 * that names no operation that exists in its queue, is corrupt; the engine checks the rest.
 *
 * <p>Owner: progress agent.
 */
final class WorkRequests {
    static final int TYPE = WorkRequestDecoder.TEMPLATE_ID;
    /** The record is corrupt; no errno has that value. */
    static final int CORRUPT = Integer.MIN_VALUE;

    private static final long KINDS = Flags.RMA | Flags.ATOMIC | Flags.MSG | Flags.TAGGED;
    private static final long DIRECTIONS = Flags.READ | Flags.WRITE;
    private static final long PEEKS = Flags.PEEK | Flags.CLAIM | Flags.DISCARD;

    private final WorkRequestDecoder request = new WorkRequestDecoder();
    private final WorkConditionDecoder condition = new WorkConditionDecoder();
    private final WorkRequest work = new WorkRequest();

    /** Posts an operation; returns the engine's answer, or {@link #CORRUPT}. */
    int execute(EndpointQueues queues, boolean isTransmit, int offset, int length) {
        if (length < WorkRequestDescriptor.HEAD_LENGTH) {
            return CORRUPT;
        }
        UnsafeBuffer buffer = isTransmit ? queues.transmitBuffer : queues.receiveBuffer;
        RecordConsumer ring = isTransmit ? queues.transmit : queues.receive;
        request.wrap(buffer, offset + RecordRingDescriptor.WORD_LENGTH,
            WorkRequestDecoder.BLOCK_LENGTH, WorkRequestDecoder.SCHEMA_VERSION);
        takeBlock();
        int triggered = request.isTriggered();
        work.isTriggered = triggered != 0;
        int head = work.isTriggered ? WorkRequestDescriptor.TRIGGERED_HEAD_LENGTH : WorkRequestDescriptor.HEAD_LENGTH;
        if (triggered > 1 || length < head || (work.kind == WorkRequest.RECEIVE) == isTransmit
            || work.isTriggered && !takeCondition(buffer, offset + WorkRequestDescriptor.HEAD_LENGTH)) {
            return CORRUPT;
        }
        return exists(length - head) && takePieces(ring.address(offset) + head, length - head)
            ? queues.endpoint.post(work) : CORRUPT;
    }

    private void takeBlock() {
        work.context = request.context();
        work.flags = request.flags();
        work.address = request.address();
        work.tag = request.tagOrRemoteAddr();
        work.remoteAddr = work.tag;
        work.ignore = request.ignoreOrKey();
        work.key = work.ignore;
        work.data = request.dataOrElements();
        work.elements = work.data;
        work.kind = request.kind();
        work.form = request.form();
        work.datatype = request.datatype();
        work.operation = request.operation();
        work.count = request.pieces();
        boolean isAccess = work.kind == WorkRequest.ACCESS;
        work.rangeCount = isAccess ? request.resultPiecesOrRanges() : 0;
        work.resultPieces = isAccess ? 0 : request.resultPiecesOrRanges();
        work.comparePieces = request.comparePieces();
    }

    private boolean takeCondition(UnsafeBuffer buffer, int at) {
        condition.wrap(buffer, at, WorkConditionDecoder.BLOCK_LENGTH, WorkConditionDecoder.SCHEMA_VERSION);
        work.counterId = condition.counterId();
        work.threshold = condition.threshold();
        work.workId = condition.workId();
        work.completionId = condition.completionId();
        return work.threshold >= 0;
    }

    /** Whether there is an operation of that kind with these flags. */
    private boolean exists(int bytes) {
        long kinds = work.flags & KINDS;
        long direction = work.flags & DIRECTIONS;
        if (work.kind == WorkRequest.ATOMIC) {
            int size = AtomicExecutor.sizeBytes(work.form, work.datatype, work.operation);
            boolean isBase = work.form == AtomicForm.BASE;
            return kinds == Flags.ATOMIC && direction == (isBase ? Flags.WRITE : Flags.READ)
                && size != 0 && work.elements >= 0 && work.elements <= AtomicForm.MAX_BYTES / size
                && (!work.isInjected() || isBase && bytes == work.elements * size);
        }
        if ((work.resultPieces | work.comparePieces) != 0) {
            return false;
        }
        return switch (work.kind) {
            case WorkRequest.ACCESS -> kinds == Flags.RMA
                && (direction == Flags.WRITE || direction == Flags.READ && !work.isInjected());
            case WorkRequest.SEND -> kinds == Flags.MSG || kinds == Flags.TAGGED;
            case WorkRequest.RECEIVE -> (kinds == Flags.MSG || kinds == Flags.TAGGED) && !work.isInjected()
                && !(work.isTriggered && (work.flags & PEEKS) != 0);
            default -> false;
        };
    }

    /** Takes what stands behind the head; false if it has another length. */
    private boolean takePieces(long head, int length) {
        int all = work.count + work.resultPieces + work.comparePieces;
        int most = WorkRequestDescriptor.MAX_PIECES;
        int ranges = work.rangeCount * WorkRequestDescriptor.RANGE_LENGTH;
        if (work.rangeCount > most || length < ranges) {
            return false;
        }
        for (int i = 0; i < ranges / Long.BYTES; i++) {
            work.ranges[i] = UnsafeApi.getLong(head + (long) i * Long.BYTES);
        }
        long behind = head + ranges;
        int bytes = length - ranges;
        if (work.isInjected()) {
            work.inject(behind, bytes);
            return all == 0;
        }
        if (work.count > most || work.resultPieces > most || work.comparePieces > most
            || bytes != all * WorkRequestDescriptor.PIECE_LENGTH) {
            return false;
        }
        long next = takePieces(behind, work.pieces, work.count);
        next = takePieces(next, work.results, work.resultPieces);
        takePieces(next, work.compares, work.comparePieces);
        return true;
    }

    /** Copies the addresses and lengths of pieces out of a record, each word once; returns the address behind them. */
    private static long takePieces(long at, long[] pieces, int count) {
        for (int i = 0; i < 2 * count; i++) {
            pieces[i] = UnsafeApi.getLong(at + (long) i * Long.BYTES);
        }
        return at + (long) count * WorkRequestDescriptor.PIECE_LENGTH;
    }
}
