package org.jfabric.layout;

import org.agrona.UnsafeApi;

/**
 * Words of a {@code .cq} file by which a client that reads a group in place, and its driver, say how far they are: the
 * client writes where it is, the driver where the group ends.
 *
 * <pre>
 *  320  offset, 8 bytes      everything before it in the ring was read; stored first
 *  328  position, 8 bytes    of the next message
 *  336  lost, 8 bytes        messages that the writer did not wait for; stored last
 *  448  end offset, 8 bytes  the group ends there for this reader
 *  456  end errno, 4 bytes   why, or 0 while it does not end; stored last, release
 * </pre>
 *
 * <p>The client stores its place when it has read all there is, and after each part of the ring
 * ({@link #PLACES_PER_RING}): the driver reads the words all the time, and each store takes the line from it.
 *
 * <p>The driver reads the three words in the other order, lost, position, offset, while the client may be storing the
 * next place: so no position and no number of lost messages is ahead of the offset that it is checked against.
 */
public final class ReadPlaceDescriptor {
    /** So many times in a ring, or more often, a reader says where it is. */
    public static final int PLACES_PER_RING = 16;

    /** In the answer to a join: the writer does not wait for this reader. */
    public static final int IS_LOSSY = 1;
    /** In the answer to a join: records may be overwritten that this reader has yet to read. */
    public static final int MAY_OVERRUN = 2;

    private static final int OFFSET_OFFSET = 320;
    private static final int POSITION_OFFSET = 328;
    private static final int LOST_OFFSET = 336;
    private static final int END_OFFSET_OFFSET = 448;
    private static final int END_ERRNO_OFFSET = 456;

    private ReadPlaceDescriptor() {
    }

    /** Where the client is; each method takes the native address of the file. */
    public static long offset(long file) {
        return UnsafeApi.getLongAcquire(null, file + OFFSET_OFFSET);
    }

    public static long position(long file) {
        return UnsafeApi.getLongAcquire(null, file + POSITION_OFFSET);
    }

    public static long lost(long file) {
        return UnsafeApi.getLongAcquire(null, file + LOST_OFFSET);
    }

    /** Stores where the client is; what it has read may be overwritten from now on. */
    public static void store(long file, long offset, long position, long lost) {
        UnsafeApi.putLongRelease(null, file + OFFSET_OFFSET, offset);
        UnsafeApi.putLongRelease(null, file + POSITION_OFFSET, position);
        UnsafeApi.putLongRelease(null, file + LOST_OFFSET, lost);
    }

    /** Why the group ends for this reader, or 0. */
    public static int endErrno(long file) {
        return UnsafeApi.getIntAcquire(null, file + END_ERRNO_OFFSET);
    }

    /** Where; after {@link #endErrno} has answered something else than 0. */
    public static long endOffset(long file) {
        return UnsafeApi.getLong(file + END_OFFSET_OFFSET);
    }

    /** Stores the end of the group; or, with errno 0, that it has none. */
    public static void storeEnd(long file, int errno, long offset) {
        UnsafeApi.putLong(file + END_OFFSET_OFFSET, offset);
        UnsafeApi.putIntRelease(null, file + END_ERRNO_OFFSET, errno);
    }
}
