package org.jfabric.layout;

import org.agrona.UnsafeApi;

/**
 * Copies native memory. The call of a bulk copy costs 15 to 20 ns, more than the transfer of a cache line, so short
 * copies are done word by word.
 */
public final class Words {
    /** Longest copy in bytes that is done word by word; longer ones are done in bulk. */
    public static final int SHORT_COPY_LIMIT = 192;

    private static final int BLOCK = 32;
    /** Of a copy whose thread can be stopped: about a tenth of a millisecond. */
    private static final long PIECE = 1L << 20;

    private Words() {
    }

    /**
     * Copies bytes that do not overlap.
     *
     * @param length bytes, 0 or more.
     */
    public static void copy(long source, long dest, long length) {
        if (length > PIECE) {
            copyInPieces(source, dest, length);
        } else if (length > SHORT_COPY_LIMIT) {
            UnsafeApi.copyMemory(source, dest, length);
        } else {
            copyShort(source, dest, (int) length);
        }
    }

    /**
     * Java cannot stop a thread in a bulk copy, and for a collection it stops all threads of the process: they would
     * wait for the end of a message of gigabytes, seconds where its pages are touched for the first time. Between two
     * pieces it can.
     */
    private static void copyInPieces(long source, long dest, long length) {
        long from = source;
        long to = dest;
        // not a counted loop, of which the compiler may leave the polls for such a stop out
        for (long end = source + (length & -PIECE); from != end; from += PIECE, to += PIECE) {
            UnsafeApi.copyMemory(from, to, PIECE);
        }
        UnsafeApi.copyMemory(from, to, length & PIECE - 1);
    }

    /**
     * Copies a few bytes word by word.
     *
     * <p>This is straight-line code instead of a counted loop: the compiler would split such a loop into a pre-loop, an
     * unrolled main loop and a post-loop with checks for overlap, which costs more than copying eight words. The last
     * bytes, fewer than a word, are copied as one word together with bytes before them, which are copied twice.
     *
     * @param length bytes; at most {@link #SHORT_COPY_LIMIT}, because longer copies are slow here.
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
     * @param offset {@code Unsafe} offset of the first byte, the array's header included.
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
