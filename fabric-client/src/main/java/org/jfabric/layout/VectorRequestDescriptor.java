package org.jfabric.layout;

import org.jfabric.codec.queue.ReceiveVectorRequestEncoder;
import org.jfabric.codec.queue.SendVectorRequestEncoder;

/**
 * Layout of the work requests of several pieces, {@code SendVectorRequest} and {@code ReceiveVectorRequest}. A request
 * with the greatest number of pieces fills two cache lines.
 *
 * <pre>
 *    0  record word: length, type
 *    8  block: the fields of a request of one piece, without buf and length
 *   56  16-bit length of a piece (16), 16-bit number of pieces (0 to 4), 4 bytes 0
 *   64  address, length of the first piece
 *   80  address, length of the second piece
 *   96  ...
 * </pre>
 *
 * <p>The record's length is 64 bytes and 16 for each piece.
 */
public final class VectorRequestDescriptor {
    /** Greatest number of pieces of one operation, reported as tx_attr.iov_limit and rx_attr.iov_limit. */
    public static final int MAX_PIECES = 4;
    public static final int PIECE_LENGTH = SendVectorRequestEncoder.IovEncoder.sbeBlockLength();
    /** Offset of the length and number of pieces. */
    public static final int COUNT_OFFSET = RecordRingDescriptor.WORD_LENGTH + SendVectorRequestEncoder.BLOCK_LENGTH;
    /** Offset of the first piece. */
    public static final int PIECES_OFFSET = COUNT_OFFSET + SendVectorRequestEncoder.IovEncoder.sbeHeaderSize();

    static {
        assert ReceiveVectorRequestEncoder.BLOCK_LENGTH == SendVectorRequestEncoder.BLOCK_LENGTH
            && PIECES_OFFSET == RecordRingDescriptor.RECORD_ALIGNMENT;
    }

    private VectorRequestDescriptor() {
    }

    /** Bytes of a record. */
    public static int length(int count) {
        return PIECES_OFFSET + count * PIECE_LENGTH;
    }

    /** The word with length and number of pieces. Returns the 8 bytes at {@link #COUNT_OFFSET}. */
    public static long countWord(int count) {
        return PIECE_LENGTH | (long) count << Short.SIZE;
    }
}
