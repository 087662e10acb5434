package org.jfabric.driver.torture;

import java.util.SplittableRandom;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The bytes of a message: they name the conversation and the number in it, and every byte follows from these two.
 *
 * <pre>
 *   0        8              16       24       32
 *   +--------+--------------+--------+--------+----------------------
 *   | magic  | conversation | number | length | words of the contents
 *   +--------+--------------+--------+--------+----------------------
 * </pre>
 */
final class Payload {
    static final int HEADER = 32;
    static final int LENGTH_OFFSET = 24;
    /** Room of one message. */
    static final int LONGEST = 1 << 17;

    private static final long MAGIC = 0x4A46_5F54_4F52_5455L;

    private Payload() {
    }

    /** Of the next message: most are short, some exceed every limit of a link. */
    static int length(SplittableRandom random, int longest) {
        int dice = random.nextInt(100);
        int most = dice < 70 ? 200 : dice < 90 ? 9_000 : dice < 98 ? 70_000 : LONGEST - HEADER;
        return Math.min(longest, HEADER + random.nextInt(most));
    }

    static void write(MutableDirectBuffer buffer, int offset, int conversation, long number, int length) {
        buffer.putLong(offset, MAGIC);
        buffer.putLong(offset + 8, conversation);
        buffer.putLong(offset + 16, number);
        buffer.putLong(offset + LENGTH_OFFSET, length);
        long seed = seed(conversation, number);
        int at = HEADER;
        for (; at + Long.BYTES <= length; at += Long.BYTES) {
            buffer.putLong(offset + at, word(seed, at));
        }
        for (; at < length; at++) {
            buffer.putByte(offset + at, (byte) word(seed, at));
        }
    }

    /** Null if a whole message of that length is there, else what is wrong with it. */
    static String fault(DirectBuffer buffer, int offset, long length) {
        if (length < HEADER || length > LONGEST) {
            return "a length of " + length;
        }
        if (buffer.getLong(offset) != MAGIC || buffer.getLong(offset + LENGTH_OFFSET) != length) {
            return "a header of magic " + Long.toHexString(buffer.getLong(offset)) + " and length "
                + buffer.getLong(offset + LENGTH_OFFSET) + " in a message of " + length + " bytes";
        }
        long seed = seed(conversation(buffer, offset), number(buffer, offset));
        int at = HEADER;
        for (; at + Long.BYTES <= length; at += Long.BYTES) {
            if (buffer.getLong(offset + at) != word(seed, at)) {
                return "other bytes at " + at + " of " + length;
            }
        }
        for (; at < length; at++) {
            if (buffer.getByte(offset + at) != (byte) word(seed, at)) {
                return "another byte at " + at + " of " + length;
            }
        }
        return null;
    }

    /** Whether a whole message is there, whatever its length is. */
    static boolean isWhole(DirectBuffer buffer, int offset) {
        return buffer.getLong(offset) == MAGIC && fault(buffer, offset, buffer.getLong(offset + LENGTH_OFFSET)) == null;
    }

    static int conversation(DirectBuffer buffer, int offset) {
        return (int) buffer.getLong(offset + 8);
    }

    static long number(DirectBuffer buffer, int offset) {
        return buffer.getLong(offset + 16);
    }

    /** The message that was here does not count any more. */
    static void clear(MutableDirectBuffer buffer, int offset) {
        buffer.putLong(offset, 0);
    }

    private static long seed(int conversation, long number) {
        return (conversation * 0x9E37_79B9_7F4A_7C15L ^ number) * 0xC2B2_AE3D_27D4_EB4FL;
    }

    private static long word(long seed, int at) {
        return (seed + at) * 0xFF51_AFD7_ED55_8CCDL;
    }
}
