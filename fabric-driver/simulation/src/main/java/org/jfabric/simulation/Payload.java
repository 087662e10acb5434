package org.jfabric.simulation;

import org.agrona.concurrent.UnsafeBuffer;

/** Bytes that a number determines; the first eight are the number. */
final class Payload {
    private static final long FACTOR = 6364136223846793005L;
    private static final long SUMMAND = 1442695040888963407L;

    private Payload() {
    }

    /** Writes a payload of at least 8 bytes. */
    static void fill(UnsafeBuffer bytes, int offset, int length, long number) {
        bytes.putLong(offset, number);
        long value = number;
        int i = Long.BYTES;
        for (; i + Long.BYTES <= length; i += Long.BYTES) {
            value = value * FACTOR + SUMMAND;
            bytes.putLong(offset + i, value);
        }
        for (; i < length; i++) {
            bytes.putByte(offset + i, (byte) (number + i));
        }
    }

    static void check(UnsafeBuffer bytes, int offset, int length, long number) {
        check(bytes, offset, length, length, number);
    }

    /** Requires that the first bytes of the payload of a number are there, at least 8. */
    static void check(UnsafeBuffer bytes, int offset, int present, int length, long number) {
        boolean isRight = bytes.getLong(offset) == number;
        long value = number;
        int i = Long.BYTES;
        for (; i + Long.BYTES <= present && isRight; i += Long.BYTES) {
            value = value * FACTOR + SUMMAND;
            isRight = bytes.getLong(offset + i) == value;
        }
        boolean isCut = i + Long.BYTES <= length;
        long last = value * FACTOR + SUMMAND;
        for (int shift = 0; i < present && isRight; i++, shift += Byte.SIZE) {
            isRight = bytes.getByte(offset + i) == (byte) (isCut ? last >>> shift : number + i);
        }
        Account.require(isRight, "byte " + i + " of " + present + " is wrong, of message or access " + number);
    }
}
