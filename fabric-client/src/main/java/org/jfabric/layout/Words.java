package org.jfabric.layout;

import org.agrona.UnsafeApi;

/**
 * Copying native memory. A bulk copy costs 15 to 20 ns to call, more than the transfer of a cache line, so short
 * copies go word by word.
 */
public final class Words {
    /** Copies up to this many bytes are done here, longer ones in bulk. */
    public static final int SHORT_COPY_LIMIT = 192;

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
     * @param source address.
     * @param dest   address.
     * @param length bytes, at most {@link #SHORT_COPY_LIMIT} to be quick.
     */
    public static void copyShort(long source, long dest, int length) {
        int i = 0;
        for (int end = length - 7; i < end; i += 8) {
            UnsafeApi.putLong(dest + i, UnsafeApi.getLong(source + i));
        }
        if ((length & 4) != 0) {
            UnsafeApi.putInt(dest + i, UnsafeApi.getInt(source + i));
            i += 4;
        }
        for (; i < length; i++) {
            UnsafeApi.putByte(dest + i, UnsafeApi.getByte(source + i));
        }
    }
}
