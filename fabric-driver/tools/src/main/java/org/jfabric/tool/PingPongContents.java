package org.jfabric.tool;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Contents of the messages of the verifying pass: bytes that depend on the message's number and on their position, so
 * that an old, a shifted and a cut message are all noticed.
 */
public final class PingPongContents {
    private static final ValueLayout.OfLong WORD =
        ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final long MESSAGE_STEP = 0x9E37_79B9_7F4A_7C15L;
    private static final long WORD_STEP = 0xC2B2_AE3D_27D4_EB4FL;

    private PingPongContents() {
    }

    /**
     * Writes a message.
     *
     * @param memory    where.
     */
    public static void fill(MemorySegment memory, long sizeBytes, long message) {
        long words = sizeBytes >>> 3;
        for (long i = 0; i < words; i++) {
            memory.set(WORD, i << 3, word(message, i));
        }
        for (long i = words << 3; i < sizeBytes; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, tail(message, i));
        }
    }

    /** Compares a message. Returns the position of the first byte that differs, -1 if there is none. */
    public static long mismatch(MemorySegment memory, long sizeBytes, long message) {
        long words = sizeBytes >>> 3;
        for (long i = 0; i < words; i++) {
            long difference = memory.get(WORD, i << 3) ^ word(message, i);
            if (difference != 0) {
                return (i << 3) + (Long.numberOfTrailingZeros(difference) >>> 3);
            }
        }
        for (long i = words << 3; i < sizeBytes; i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != tail(message, i)) {
                return i;
            }
        }
        return -1;
    }

    /** One byte of a message. Returns its value, 0 to 255. */
    static int expected(long sizeBytes, long message, long position) {
        if (position >= (sizeBytes & ~7L)) {
            return tail(message, position) & 0xFF;
        }
        return (int) (word(message, position >>> 3) >>> ((position & 7) << 3)) & 0xFF;
    }

    private static long word(long message, long index) {
        return (message + 1) * MESSAGE_STEP ^ (index + 1) * WORD_STEP;
    }

    /** The lowest byte of the step is odd, so it takes 256 messages until a byte has the same value again. */
    private static byte tail(long message, long position) {
        return (byte) word(message, position);
    }
}
