package org.jfabric.driver.progress;

import org.agrona.UnsafeApi;
import org.jfabric.client.AtomicAccess;
import org.jfabric.codec.queue.AtomicRequestDecoder;
import org.jfabric.driver.engine.AtomicExecutor;
import org.jfabric.info.Flags;
import org.jfabric.layout.AtomicForm;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.VectorRequestDescriptor;

/**
 * Takes requests for atomic operations apart. Every field is read once. A record whose length does not fit its
 * contents, or that names no operation that exists, is corrupt; the engine checks the rest.
 *
 * <p>Owner: progress agent.
 */
final class AtomicRequests {
    static final int TYPE = AtomicRequestDecoder.TEMPLATE_ID;

    private static final int HEAD_LENGTH = RecordRingDescriptor.WORD_LENGTH + AtomicRequestDecoder.BLOCK_LENGTH;
    private static final long KINDS = Flags.RMA | Flags.ATOMIC | Flags.MSG | Flags.TAGGED;
    private static final long DIRECTIONS = Flags.READ | Flags.WRITE;

    private final AtomicRequestDecoder request = new AtomicRequestDecoder();
    private final AtomicAccess access = new AtomicAccess();

    /** Posts an operation; returns the engine's answer, or {@link VectorRequests#CORRUPT}. */
    int execute(EndpointQueues queues, int offset, int length) {
        if (length < HEAD_LENGTH) {
            return VectorRequests.CORRUPT;
        }
        request.wrap(queues.transmitBuffer, offset + RecordRingDescriptor.WORD_LENGTH,
            AtomicRequestDecoder.BLOCK_LENGTH, AtomicRequestDecoder.SCHEMA_VERSION);
        access.context = request.context();
        access.destAddr = request.destAddr();
        access.remoteAddr = request.remoteAddr();
        access.key = request.key();
        access.flags = request.flags();
        access.form = request.form();
        access.datatype = request.datatype();
        access.operation = request.operation();
        access.count = request.count();
        int size = AtomicExecutor.sizeBytes(access.form, access.datatype, access.operation);
        long direction = access.form == AtomicForm.BASE ? Flags.WRITE : Flags.READ;
        if (size == 0 || access.count < 0 || access.count > AtomicForm.MAX_BYTES / size
            || (access.flags & KINDS) != Flags.ATOMIC || (access.flags & DIRECTIONS) != direction) {
            return VectorRequests.CORRUPT;
        }
        long behind = queues.transmit.address(offset) + HEAD_LENGTH;
        boolean fits = (access.flags & Flags.INJECT) != 0 ? takeInjected(behind, length - HEAD_LENGTH, size)
            : takePieces(behind, length - HEAD_LENGTH);
        return fits ? queues.endpoint.atomic(access) : VectorRequests.CORRUPT;
    }

    private boolean takeInjected(long behind, int bytes, int size) {
        access.injected = behind;
        access.operandPieces = 0;
        access.resultPieces = 0;
        access.comparePieces = 0;
        return bytes == access.count * size && access.form == AtomicForm.BASE;
    }

    private boolean takePieces(long behind, int bytes) {
        access.operandPieces = request.operandPieces();
        access.resultPieces = request.resultPieces();
        access.comparePieces = request.comparePieces();
        int most = VectorRequestDescriptor.MAX_PIECES;
        int all = access.operandPieces + access.resultPieces + access.comparePieces;
        if (access.operandPieces > most || access.resultPieces > most || access.comparePieces > most
            || bytes != all * VectorRequestDescriptor.PIECE_LENGTH) {
            return false;
        }
        long next = take(behind, access.operands, access.operandPieces);
        next = take(next, access.results, access.resultPieces);
        take(next, access.compares, access.comparePieces);
        return true;
    }

    private static long take(long at, long[] pieces, int count) {
        for (int i = 0; i < 2 * count; i++) {
            pieces[i] = UnsafeApi.getLong(at + (long) i * Long.BYTES);
        }
        return at + (long) count * VectorRequestDescriptor.PIECE_LENGTH;
    }
}
