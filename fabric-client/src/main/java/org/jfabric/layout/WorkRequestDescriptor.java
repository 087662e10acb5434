package org.jfabric.layout;

import org.jfabric.codec.queue.WorkConditionEncoder;
import org.jfabric.codec.queue.WorkRequestEncoder;

/**
 * Layout of a {@code WorkRequest}: of every operation but sends and receives of one piece that start at once.
 *
 * <pre>
 *    0  record word: length, type
 *    8  block: context, flags, peer, and what the kind of operation has
 *   64  with a condition: counter, threshold, work, completion counter
 *   64 or 96  of an access to several ranges: offset, length and key of each
 *             then with FI_INJECT the bytes, as many as the record is long; else address and length of each piece:
 *             those of the message, local memory or operands, then those of results, then those of compare values
 * </pre>
 */
public final class WorkRequestDescriptor {
    /** Greatest number of pieces of one operation, reported as tx_attr.iov_limit and rx_attr.iov_limit. */
    public static final int MAX_PIECES = 4;
    /** Words of a range of the peer's memory: offset, length and key. */
    public static final int RANGE_WORDS = 3;
    /** Bytes of such a range. */
    public static final int RANGE_LENGTH = RANGE_WORDS * Long.BYTES;
    /** Bytes of address and length. */
    public static final int PIECE_LENGTH = 2 * Long.BYTES;
    /** Bytes in front of the pieces of an operation that starts at once; then the condition of another one. */
    public static final int HEAD_LENGTH = RecordRingDescriptor.WORD_LENGTH + WorkRequestEncoder.BLOCK_LENGTH;
    /** Bytes in front of the pieces of an operation that a counter starts. */
    public static final int TRIGGERED_HEAD_LENGTH = HEAD_LENGTH + WorkConditionEncoder.BLOCK_LENGTH;

    static {
        assert HEAD_LENGTH == RecordRingDescriptor.RECORD_ALIGNMENT;
    }

    private WorkRequestDescriptor() {
    }
}
