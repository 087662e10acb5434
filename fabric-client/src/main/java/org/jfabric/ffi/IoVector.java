package org.jfabric.ffi;

import org.agrona.UnsafeApi;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Memory ranges for one system call: {@code struct msghdr} and the {@code struct iovec} that it refers to.
 *
 * <pre>
 *   msghdr  0 name | 8 namelen u32 | 16 iov | 24 iovlen | 32 control | 40 controllen | 48 flags u32 | 56
 *   iovec   0 base | 8 len, 16 bytes each, behind it
 * </pre>
 *
 * <p>Owner: one thread. Nothing but the constructor allocates.
 */
public final class IoVector implements AutoCloseable {
    private static final int HEADER_BYTES = 56;
    private static final int IOV_OFFSET = 16;
    private static final int IOVLEN_OFFSET = 24;
    private static final int PLACE_BYTES = 16;

    private final long header;
    private final int capacity;
    private int count;
    private long lengthBytes;

    /**
     * Makes an empty vector.
     *
     * @param capacity limit of the ranges, 1 to 1024.
     */
    public IoVector(int capacity) {
        this.capacity = capacity;
        long bytes = HEADER_BYTES + (long) capacity * PLACE_BYTES;
        header = UnsafeApi.allocateMemory(bytes);
        UnsafeApi.setMemory(header, bytes, (byte) 0);
        UnsafeApi.putLong(header + IOV_OFFSET, header + HEADER_BYTES);
    }

    /** Makes it empty. */
    public void clear() {
        count = 0;
        lengthBytes = 0;
        UnsafeApi.putLong(header + IOVLEN_OFFSET, 0);
    }

    /**
     * Adds a range.
     *
     * @param address native address, of memory that stays mapped until the call.
     * @param length  bytes; 0 adds nothing.
     * @return false if there is no room for another one.
     * @throws IllegalArgumentException if the length is negative.
     */
    public boolean add(long address, long length) {
        if (length <= 0) {
            if (length < 0) {
                throw new IllegalArgumentException("a range of " + length + " bytes");
            }
            return true;
        }
        if (count == capacity) {
            return false;
        }
        long place = header + HEADER_BYTES + (long) count * PLACE_BYTES;
        UnsafeApi.putLong(place, address);
        UnsafeApi.putLong(place + Long.BYTES, length);
        count++;
        lengthBytes += length;
        UnsafeApi.putLong(header + IOVLEN_OFFSET, count);
        return true;
    }

    public long lengthBytes() {
        return lengthBytes;
    }

    /** Number of ranges. Returns at most the capacity. */
    public int count() {
        return count;
    }

    /**
     * Address of a range.
     *
     * @param index below {@link #count()}.
     * @return native address.
     */
    public long address(int index) {
        return UnsafeApi.getLong(header + HEADER_BYTES + (long) index * PLACE_BYTES);
    }

    /**
     * Length of a range.
     *
     * @param index below {@link #count()}.
     */
    public long lengthBytes(int index) {
        return UnsafeApi.getLong(header + HEADER_BYTES + (long) index * PLACE_BYTES + Long.BYTES);
    }

    /**
     * The ranges as buffers for the JDK's channels, up to the first that is longer than a buffer can be. Allocates.
     * Returns the direct buffers on the same memory.
     */
    public ByteBuffer[] buffers() {
        ByteBuffer[] buffers = new ByteBuffer[count];
        for (int i = 0; i < count; i++) {
            long place = header + HEADER_BYTES + (long) i * PLACE_BYTES;
            long length = UnsafeApi.getLong(place + Long.BYTES);
            buffers[i] = buffer(UnsafeApi.getLong(place), length);
            if (length > Integer.MAX_VALUE) {
                // the rest of this range comes before the next range
                return Arrays.copyOf(buffers, i + 1);
            }
        }
        return buffers;
    }

    /**
     * Memory as a buffer for the JDK's channels. Allocates.
     *
     * @param address native address, of memory that stays mapped until the call.
     * @param length  bytes; if longer than a buffer can be, only the first part is used.
     */
    @SuppressWarnings("restricted")
    public static ByteBuffer buffer(long address, long length) {
        return MemorySegment.ofAddress(address).reinterpret(Math.min(length, Integer.MAX_VALUE)).asByteBuffer();
    }

    long headerAddress() {
        return header;
    }

    @Override
    public void close() {
        UnsafeApi.freeMemory(header);
    }
}
