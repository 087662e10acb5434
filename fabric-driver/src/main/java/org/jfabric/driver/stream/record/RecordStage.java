package org.jfabric.driver.stream.record;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.log.RecordHeadEncoder;
import org.jfabric.layout.LogDescriptor;

/**
 * Records that wait to be written together. One system call for many of them is several times as fast as stores into a
 * mapping of the segment, which takes a page fault for each 4 KiB of it.
 */
final class RecordStage {
    private static final int CAPACITY = 1 << 18;

    private final RecordHeadEncoder head = new RecordHeadEncoder();
    private final CRC32C crc = new CRC32C();
    private ByteBuffer bytes = ByteBuffer.allocateDirect(CAPACITY);
    private UnsafeBuffer buffer = new UnsafeBuffer(bytes);
    private int size;

    int size() {
        return size;
    }

    UnsafeBuffer buffer() {
        return buffer;
    }

    long address() {
        return buffer.addressOffset();
    }

    /** Whether so many bytes fit, and the end of the segment behind them. */
    boolean hasRoom(int count) {
        return size + count + LogDescriptor.END_LENGTH <= buffer.capacity();
    }

    /** Makes it as large as a record needs that is longer than all before; there must be nothing in it. */
    void grow(int count) {
        bytes = ByteBuffer.allocateDirect(Math.max(count + LogDescriptor.END_LENGTH, 2 * buffer.capacity()));
        buffer.wrap(bytes);
    }

    /** Begins a record: its head, and zeros behind its end. Returns its offset. */
    int begin(int kind, int length, long position, long timeNs, int term) {
        int whole = LogDescriptor.aligned(length);
        if (whole != length) {
            buffer.putLong(size + whole - Long.BYTES, 0);
        }
        head.wrap(buffer, size).length(length).position(position).timeNs(timeNs).term(term).kind(kind);
        return size;
    }

    /** Completes the record of that length. */
    void end(int length) {
        int end = size + LogDescriptor.aligned(length);
        int sum = LogDescriptor.checksum(crc, bytes, size + LogDescriptor.CHECKED, end);
        head.checksum(Integer.toUnsignedLong(sum));
        size = end;
    }

    void clear() {
        size = 0;
    }
}
