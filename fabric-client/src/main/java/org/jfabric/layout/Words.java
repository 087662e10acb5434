package org.jfabric.layout;

import org.agrona.UnsafeApi;

/**
 * Copying native memory. A bulk copy costs 15 to 20 ns to call, more than the transfer of a cache line, so short
 * copies go word by word.
 */
public final class Words {
    /** Copies up to this many bytes are done here, longer ones in bulk. */
    public static final int SHORT_COPY_LIMIT = 192;

    private static final int BLOCK = 32;

    private Words() {
    }

    /**
     * Copies bytes that do not overlap.
     *
     * @param source address.
     * @param dest   address.
     * @param length bytes, 0 or more.
     */
    public static void copy(long source, long dest, long length) {
        if (length > SHORT_COPY_LIMIT) {
            UnsafeApi.copyMemory(source, dest, length);
        } else {
            copyShort(source, dest, (int) length);
        }
    }

    /**
     * Copies a few bytes word by word.
     *
     * <p>Straight lines instead of a counted loop: the compiler would split that into a loop before, an unrolled one
     * and a loop after, with checks for overlapping between them, which costs more than eight words do. What is left
     * of a word at the end is copied with the bytes before it, once more.
     *
     * @param source address.
     * @param dest   address.
     * @param length bytes, at most {@link #SHORT_COPY_LIMIT} to be quick.
     */
    public static void copyShort(long source, long dest, int length) {
        if (length < Long.BYTES) {
            copyLessThanWord(source, dest, length);
            return;
        }
        long from = source;
        long to = dest;
        // compared with "not equal": not a counted loop
        for (long end = source + (length & -BLOCK); from != end; from += BLOCK, to += BLOCK) {
            long first = UnsafeApi.getLong(from);
            long second = UnsafeApi.getLong(from + 8);
            long third = UnsafeApi.getLong(from + 16);
            long fourth = UnsafeApi.getLong(from + 24);
            UnsafeApi.putLong(to, first);
            UnsafeApi.putLong(to + 8, second);
            UnsafeApi.putLong(to + 16, third);
            UnsafeApi.putLong(to + 24, fourth);
        }
        if ((length & 16) != 0) {
            long first = UnsafeApi.getLong(from);
            long second = UnsafeApi.getLong(from + 8);
            UnsafeApi.putLong(to, first);
            UnsafeApi.putLong(to + 8, second);
            from += 16;
            to += 16;
        }
        if ((length & 8) != 0) {
            UnsafeApi.putLong(to, UnsafeApi.getLong(from));
        }
        if ((length & 7) != 0) {
            UnsafeApi.putLong(dest + length - Long.BYTES, UnsafeApi.getLong(source + length - Long.BYTES));
        }
    }

    /**
     * Copies bytes of an array.
     *
     * @param array  holds them.
     * @param offset of the first one as {@code Unsafe} counts, the array's header included.
     * @param dest   address.
     * @param length bytes, 0 or more.
     */
    public static void copy(byte[] array, long offset, long dest, int length) {
        if (length > SHORT_COPY_LIMIT) {
            UnsafeApi.copyMemory(array, offset, null, dest, length);
            return;
        }
        int i = 0;
        for (int end = length - 7; i < end; i += 8) {
            UnsafeApi.putLong(dest + i, UnsafeApi.getLong(array, offset + i));
        }
        for (; i < length; i++) {
            UnsafeApi.putByte(dest + i, UnsafeApi.getByte(array, offset + i));
        }
    }

    private static void copyLessThanWord(long source, long dest, int length) {
        long done = 0;
        if ((length & 4) != 0) {
            UnsafeApi.putInt(dest, UnsafeApi.getInt(source));
            done = 4;
        }
        if ((length & 2) != 0) {
            UnsafeApi.putShort(dest + done, UnsafeApi.getShort(source + done));
            done += 2;
        }
        if ((length & 1) != 0) {
            UnsafeApi.putByte(dest + done, UnsafeApi.getByte(source + done));
        }
    }
}
