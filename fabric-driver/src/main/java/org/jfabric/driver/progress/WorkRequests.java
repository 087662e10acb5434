package org.jfabric.driver.progress;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.AtomicAccess;
import org.jfabric.client.WorkRequest;
import org.jfabric.codec.queue.WorkRequestDecoder;
import org.jfabric.info.Flags;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.VectorRequestDescriptor;

/**
 * Takes requests for operations apart that a counter starts. Every field is read once. A record whose length does not
 * fit its contents, or that names no operation that exists in its queue, is corrupt; the engine checks the rest.
 *
 * <p>Owner: progress agent.
 */
final class WorkRequests {
    static final int TYPE = WorkRequestDecoder.TEMPLATE_ID;

    private static final int HEAD_LENGTH = RecordRingDescriptor.WORD_LENGTH + WorkRequestDecoder.BLOCK_LENGTH;
    private static final long ACCESSES = Flags.RMA | Flags.ATOMIC;
    private static final long KINDS = ACCESSES | Flags.MSG | Flags.TAGGED;
    private static final long DIRECTIONS = Flags.READ | Flags.WRITE;
    private static final long PEEKS = Flags.PEEK | Flags.CLAIM | Flags.DISCARD;

    private final WorkRequestDecoder request = new WorkRequestDecoder();
    private final WorkRequest work = new WorkRequest();

    /** Posts an operation; returns the engine's answer, or {@link VectorRequests#CORRUPT}. */
    int execute(EndpointQueues queues, boolean isTransmit, int offset, int length) {
        if (length < HEAD_LENGTH) {
            return VectorRequests.CORRUPT;
        }
        UnsafeBuffer buffer = isTransmit ? queues.transmitBuffer : queues.receiveBuffer;
        RecordConsumer ring = isTransmit ? queues.transmit : queues.receive;
        request.wrap(buffer, offset + RecordRingDescriptor.WORD_LENGTH,
            WorkRequestDecoder.BLOCK_LENGTH, WorkRequestDecoder.SCHEMA_VERSION);
        work.counterId = request.counterId();
        work.threshold = request.threshold();
        work.workId = request.workId();
        work.completionId = request.completionId();
        work.kind = request.kind();
        if (work.threshold < 0 || (work.kind == WorkRequest.RECEIVE) == isTransmit) {
            return VectorRequests.CORRUPT;
        }
        long behind = ring.address(offset) + HEAD_LENGTH;
        int bytes = length - HEAD_LENGTH;
        boolean fits = work.kind == WorkRequest.ATOMIC ? takeAtomic(behind, bytes)
            : work.kind >= WorkRequest.SEND && work.kind <= WorkRequest.ACCESS && takeOther(behind, bytes);
        return fits ? queues.endpoint.defer(work) : VectorRequests.CORRUPT;
    }

    private boolean takeOther(long behind, int bytes) {
        work.flags = request.flags();
        work.address = request.address();
        work.tag = request.tag();
        work.ignore = request.ignore();
        work.data = request.data();
        work.remoteAddr = request.remoteAddr();
        work.key = request.key();
        work.context = request.context();
        long count = request.count();
        if (!hasKind(work.kind, work.flags)) {
            return false;
        }
        if ((work.flags & Flags.INJECT) != 0) {
            work.count = 0;
            work.injected = behind;
            work.injectedLength = bytes;
            return count == bytes && work.kind != WorkRequest.RECEIVE;
        }
        if (count < 0 || count > VectorRequestDescriptor.MAX_PIECES
            || bytes != count * VectorRequestDescriptor.PIECE_LENGTH) {
            return false;
        }
        work.count = (int) count;
        VectorRequests.takePieces(behind, work.pieces, work.count);
        return true;
    }

    private static boolean hasKind(int kind, long flags) {
        long kinds = flags & KINDS;
        if (kind == WorkRequest.ACCESS) {
            long direction = flags & DIRECTIONS;
            return kinds == Flags.RMA && (direction == Flags.WRITE
                || direction == Flags.READ && (flags & Flags.INJECT) == 0);
        }
        return (kinds == Flags.MSG || kinds == Flags.TAGGED) && (kind == WorkRequest.SEND || (flags & PEEKS) == 0);
    }

    private boolean takeAtomic(long behind, int bytes) {
        AtomicAccess access = work.atomic;
        access.context = request.context();
        access.destAddr = request.address();
        access.remoteAddr = request.remoteAddr();
        access.key = request.key();
        access.flags = request.flags();
        access.form = request.form();
        access.datatype = request.datatype();
        access.operation = request.operation();
        access.count = request.count();
        access.operandPieces = request.operandPieces();
        access.resultPieces = request.resultPieces();
        access.comparePieces = request.comparePieces();
        return AtomicOperands.take(access, behind, bytes);
    }
}
