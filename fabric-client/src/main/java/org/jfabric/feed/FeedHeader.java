package org.jfabric.feed;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * What stands in front of each message.
 *
 * <pre>
 *    0  "JFFD", 4 bytes
 *    4  version, 2 bytes
 *    6  0, 2 bytes
 *    8  id of the sender, 8 bytes
 *   16  sequence of the message, 8 bytes; from 0
 *   24  the message
 * </pre>
 */
final class FeedHeader {
    static final int LENGTH = 24;

    private static final int MAGIC = 'J' | 'F' << 8 | 'F' << 16 | 'D' << 24;
    private static final int VERSION = 1;
    private static final long FIRST = MAGIC & 0xFFFF_FFFFL | (long) VERSION << 32;
    private static final int SENDER = 8;
    private static final int SEQUENCE = 16;
    /** More than any sender reaches, so that no sum with a window overflows. */
    private static final long SEQUENCE_LIMIT = 1L << 62;

    private FeedHeader() {
    }

    static void put(MutableDirectBuffer buffer, int offset, long sender, long sequence) {
        buffer.putLong(offset, FIRST, LITTLE_ENDIAN);
        buffer.putLong(offset + SENDER, sender, LITTLE_ENDIAN);
        buffer.putLong(offset + SEQUENCE, sequence, LITTLE_ENDIAN);
    }

    /** Whether a message is of a feed; anyone may have sent it. */
    static boolean isThere(DirectBuffer buffer, int offset, int length) {
        if (length < LENGTH || buffer.getLong(offset, LITTLE_ENDIAN) != FIRST) {
            return false;
        }
        long sequence = sequence(buffer, offset);
        return sequence >= 0 && sequence < SEQUENCE_LIMIT;
    }

    static long sender(DirectBuffer buffer, int offset) {
        return buffer.getLong(offset + SENDER, LITTLE_ENDIAN);
    }

    static long sequence(DirectBuffer buffer, int offset) {
        return buffer.getLong(offset + SEQUENCE, LITTLE_ENDIAN);
    }
}
