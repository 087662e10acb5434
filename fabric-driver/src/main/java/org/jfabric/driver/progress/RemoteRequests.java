package org.jfabric.driver.progress;

import org.jfabric.codec.queue.RemoteRequestDecoder;
import org.jfabric.info.Flags;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.VectorRequestDescriptor;

/**
 * Takes requests for remote memory apart. Every field is read once. A record whose length does not fit its contents, or
 * whose flags name no direction, is corrupt; the engine checks the rest.
 *
 * <p>Owner: progress agent.
 */
final class RemoteRequests {
    static final int TYPE = RemoteRequestDecoder.TEMPLATE_ID;

    private static final int HEAD_LENGTH = RecordRingDescriptor.WORD_LENGTH + RemoteRequestDecoder.BLOCK_LENGTH;
    private static final long KINDS = Flags.RMA | Flags.ATOMIC | Flags.MSG | Flags.TAGGED;
    private static final long DIRECTIONS = Flags.READ | Flags.WRITE;

    private final RemoteRequestDecoder request = new RemoteRequestDecoder();
    private final long[] pieces = new long[2 * VectorRequestDescriptor.MAX_PIECES];

    /** Posts an access; returns the engine's answer, or {@link VectorRequests#CORRUPT}. */
    int execute(EndpointQueues queues, int offset, int length) {
        if (length < HEAD_LENGTH) {
            return VectorRequests.CORRUPT;
        }
        request.wrap(queues.transmitBuffer, offset + RecordRingDescriptor.WORD_LENGTH,
            RemoteRequestDecoder.BLOCK_LENGTH, RemoteRequestDecoder.SCHEMA_VERSION);
        long flags = request.flags();
        long count = request.count();
        long direction = flags & DIRECTIONS;
        if ((flags & KINDS) != Flags.RMA || direction != Flags.READ && direction != Flags.WRITE) {
            return VectorRequests.CORRUPT;
        }
        long behind = queues.transmit.address(offset) + HEAD_LENGTH;
        if ((flags & Flags.INJECT) != 0) {
            return count != length - HEAD_LENGTH || direction == Flags.READ ? VectorRequests.CORRUPT
                : queues.endpoint.injectAccess(flags, behind, (int) count, request.destAddr(), request.remoteAddr(),
                    request.key(), request.data(), request.context());
        }
        if (count < 0 || count > VectorRequestDescriptor.MAX_PIECES
            || length != HEAD_LENGTH + count * VectorRequestDescriptor.PIECE_LENGTH) {
            return VectorRequests.CORRUPT;
        }
        VectorRequests.takePieces(behind, pieces, (int) count);
        return queues.endpoint.access(flags, pieces, (int) count, request.destAddr(), request.remoteAddr(),
            request.key(), request.data(), request.context());
    }
}
