package org.jfabric.driver.progress;

import org.jfabric.client.AtomicAccess;
import org.jfabric.codec.queue.AtomicRequestDecoder;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * Takes requests for atomic operations apart. Every field is read once. A record whose length does not fit its
 * contents, or that names no operation that exists, is corrupt; the engine checks the rest.
 *
 * <p>Owner: progress agent.
 */
final class AtomicRequests {
    static final int TYPE = AtomicRequestDecoder.TEMPLATE_ID;

    private static final int HEAD_LENGTH = RecordRingDescriptor.WORD_LENGTH + AtomicRequestDecoder.BLOCK_LENGTH;

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
        access.operandPieces = request.operandPieces();
        access.resultPieces = request.resultPieces();
        access.comparePieces = request.comparePieces();
        boolean fits = AtomicOperands.take(access, queues.transmit.address(offset) + HEAD_LENGTH, length - HEAD_LENGTH);
        return fits ? queues.endpoint.atomic(access) : VectorRequests.CORRUPT;
    }
}
