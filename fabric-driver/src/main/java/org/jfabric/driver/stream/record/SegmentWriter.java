package org.jfabric.driver.stream.record;

import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.log.LogSegment;
import org.jfabric.codec.log.IndexEntryDecoder;
import org.jfabric.codec.log.IndexEntryEncoder;
import org.jfabric.driver.resource.LogDisk;
import org.jfabric.driver.resource.StableStorage;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.layout.LogDescriptor;

/** A segment that is written, with its index. Its name belongs to the {@link LogWriter}. */
final class SegmentWriter implements StableStorage {
    private static final int ENTRY = IndexEntryEncoder.BLOCK_LENGTH;

    private final LogDisk disk;
    private int fd;
    private final int length;
    private final long firstPosition;
    private final UnsafeBuffer index;
    private final IndexEntryEncoder entry = new IndexEntryEncoder();
    /** Entries that are not written yet. */
    private int dirtyFrom = Integer.MAX_VALUE;
    private int dirtyTo;
    /** Where the staged records will be written. */
    private long offset;
    private boolean isEnded;

    private SegmentWriter(LogDisk disk, int fd, int length, long firstPosition, UnsafeBuffer index) {
        this.disk = disk;
        this.fd = fd;
        this.length = length;
        this.firstPosition = firstPosition;
        this.index = index;
    }

    /** Begins a new one, whose header is written. */
    static SegmentWriter begin(LogDisk disk, int fd, int length, long firstPosition) {
        int bytes = LogDescriptor.indexEntries(length) * ENTRY;
        SegmentWriter segment =
            new SegmentWriter(disk, fd, length, firstPosition, new UnsafeBuffer(ByteBuffer.allocateDirect(bytes)));
        segment.offset = LogDescriptor.recordsOffset(length);
        return segment;
    }

    /** Goes on with an old one. What its index says of lost records is deleted with the next write. */
    static SegmentWriter resume(LogDisk disk, int fd, LogSegment old, long endOffset, boolean isEnded) {
        SegmentWriter segment = new SegmentWriter(disk, fd, old.length(), old.firstPosition(), old.index());
        segment.offset = endOffset;
        segment.isEnded = isEnded;
        IndexEntryDecoder decoder = new IndexEntryDecoder();
        for (int i = 0; i < LogDescriptor.indexEntries(old.length()); i++) {
            decoder.wrap(segment.index, i * ENTRY, ENTRY, IndexEntryDecoder.SCHEMA_VERSION);
            if (decoder.recordOffset() < 0 || decoder.recordOffset() >= endOffset) {
                segment.index.setMemory(i * ENTRY, ENTRY, (byte) 0);
                segment.touch(i);
            }
        }
        return segment;
    }

    /** Whether a record of so many bytes fits, and the end of the segment behind it. */
    boolean hasRoom(RecordStage stage, int count) {
        return !isEnded && offset + stage.size() + count + LogDescriptor.END_LENGTH <= length;
    }

    boolean isEnded() {
        return isEnded;
    }

    void end() {
        isEnded = true;
    }

    /** Has the index name the next record if it is the first in its part of the segment. */
    void note(RecordStage stage, long position, long timeNs) {
        long recordOffset = offset + stage.size();
        int at = (int) (recordOffset / LogDescriptor.INDEX_STEP);
        entry.wrap(index, at * ENTRY);
        if (index.getLong(at * ENTRY + IndexEntryEncoder.recordOffsetEncodingOffset()) == 0) {
            entry.position(position).timeNs(timeNs).recordOffset(recordOffset);
            touch(at);
        }
    }

    private void touch(int at) {
        dirtyFrom = Math.min(dirtyFrom, at);
        dirtyTo = Math.max(dirtyTo, at + 1);
    }

    /** Writes the staged records and the index. Returns 0 or a negative errno: nothing counts as written then. */
    int write(RecordStage stage) {
        int result = disk.write(fd, stage.address(), stage.size(), offset);
        if (result == 0 && dirtyFrom < dirtyTo) {
            result = disk.write(fd, index.addressOffset() + (long) dirtyFrom * ENTRY,
                (long) (dirtyTo - dirtyFrom) * ENTRY, LogDescriptor.INDEX_OFFSET + (long) dirtyFrom * ENTRY);
        }
        if (result == 0) {
            offset += stage.size();
            dirtyFrom = Integer.MAX_VALUE;
            dirtyTo = 0;
        }
        return result;
    }

    @Override
    public void sync() {
        int result = disk.sync(fd);
        if (result < 0) {
            throw new NativeCallException("fdatasync", -result, "the segment of position " + firstPosition);
        }
    }

    void close() {
        if (fd >= 0) {
            Libc.close(fd);
            // another file may have this number now
            fd = -1;
        }
    }
}
