package org.jfabric.driver.progress;

import org.agrona.UnsafeApi;
import org.jfabric.codec.queue.ReceiveVectorRequestDecoder;
import org.jfabric.codec.queue.SendVectorRequestDecoder;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.VectorRequestDescriptor;

/**
 * Takes work requests with several buffers apart. Every field is read once. A record whose length does not fit the
 * number of its buffers is corrupt; the engine checks the buffers themselves.
 *
 * <p>Owner: progress agent.
 */
final class VectorRequests {
    static final int SEND_TYPE = SendVectorRequestDecoder.TEMPLATE_ID;
    static final int RECEIVE_TYPE = ReceiveVectorRequestDecoder.TEMPLATE_ID;
    /** The record is corrupt; no errno has that value. */
    static final int CORRUPT = Integer.MIN_VALUE;

    private final SendVectorRequestDecoder send = new SendVectorRequestDecoder();
    private final ReceiveVectorRequestDecoder receive = new ReceiveVectorRequestDecoder();
    private final long[] pieces = new long[2 * VectorRequestDescriptor.MAX_PIECES];

    /** Posts a send; returns the engine's answer, or {@link #CORRUPT}. */
    int send(EndpointQueues queues, int offset, int length) {
        int count = readPieces(queues.transmit.address(offset), length);
        if (count < 0) {
            return CORRUPT;
        }
        send.wrap(queues.transmitBuffer, offset + RecordRingDescriptor.WORD_LENGTH,
            SendVectorRequestDecoder.BLOCK_LENGTH, SendVectorRequestDecoder.SCHEMA_VERSION);
        return queues.endpoint.sendVector(
            send.flags(), pieces, count, send.destAddr(), send.tag(), send.data(), send.context());
    }

    /** Posts a receive; returns the engine's answer, or {@link #CORRUPT}. */
    int receive(EndpointQueues queues, int offset, int length) {
        int count = readPieces(queues.receive.address(offset), length);
        if (count < 0) {
            return CORRUPT;
        }
        receive.wrap(queues.receiveBuffer, offset + RecordRingDescriptor.WORD_LENGTH,
            ReceiveVectorRequestDecoder.BLOCK_LENGTH, ReceiveVectorRequestDecoder.SCHEMA_VERSION);
        return queues.endpoint.receiveVector(
            receive.flags(), pieces, count, receive.srcAddr(), receive.tag(), receive.ignore(), receive.context());
    }

    private int readPieces(long record, int length) {
        if (length < VectorRequestDescriptor.PIECES_OFFSET) {
            return CORRUPT;
        }
        long word = UnsafeApi.getLong(record + VectorRequestDescriptor.COUNT_OFFSET);
        int count = (int) (word >>> Short.SIZE) & 0xFFFF;
        if (count > VectorRequestDescriptor.MAX_PIECES || word != VectorRequestDescriptor.countWord(count)
            || length != VectorRequestDescriptor.length(count)) {
            return CORRUPT;
        }
        takePieces(record + VectorRequestDescriptor.PIECES_OFFSET, pieces, count);
        return count;
    }

    /** Copies the addresses and lengths of pieces out of a record, each word once; returns the address behind them. */
    static long takePieces(long at, long[] pieces, int count) {
        for (int i = 0; i < 2 * count; i++) {
            pieces[i] = UnsafeApi.getLong(at + (long) i * Long.BYTES);
        }
        return at + (long) count * VectorRequestDescriptor.PIECE_LENGTH;
    }
}
