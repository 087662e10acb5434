package org.jfabric.client.log;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.log.IndexEntryDecoder;
import org.jfabric.codec.log.SegmentHeaderDecoder;
import org.jfabric.codec.log.SegmentHeaderEncoder;
import org.jfabric.ffi.Libc;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.LogDescriptor;
import org.jfabric.layout.OwnerId;

/** A segment of a log, open for reading: it can be read to its end after it was deleted. One thread. */
public final class LogSegment implements AutoCloseable {
    private static final int HEADER = SegmentHeaderDecoder.BLOCK_LENGTH;

    private final Path file;
    private int fd;
    private final int length;
    private final long firstPosition;
    private TermStarts terms;
    private long timeNs;

    private LogSegment(Path file, int fd, int length, long firstPosition) {
        this.file = file;
        this.fd = fd;
        this.length = length;
        this.firstPosition = firstPosition;
    }

    /**
     * Opens the segment that begins with a position.
     *
     * @return null if there is none, or if it was only begun when the power was cut.
     * @throws FabricException {@code FI_EIO} if its header is not that of this segment.
     */
    public static LogSegment open(LogFolder folder, long firstPosition) {
        try {
            return openWhole(folder, firstPosition);
        } catch (FabricException unfinished) {
            if (firstPosition < folder.state().trusted()) {
                throw unfinished;
            }
            return null;
        }
    }

    private static LogSegment openWhole(LogFolder folder, long firstPosition) {
        String name = LogDescriptor.segmentName(folder.logId(), firstPosition);
        Path file = folder.path().resolve(name);
        int fd = Libc.openat(folder.directory(), name,
            Libc.O_RDONLY | Libc.O_NOFOLLOW | Libc.O_NONBLOCK | Libc.O_CLOEXEC, 0);
        if (fd == -FabricErrno.ENOENT) {
            return null;
        }
        if (fd < 0) {
            throw new FabricException(-fd, file + " cannot be opened");
        }
        LogSegment segment = new LogSegment(file, fd, folder.segmentLength(), firstPosition);
        boolean isGood = false;
        try {
            segment.readHeader(folder.logId());
            isGood = true;
            return segment;
        } finally {
            if (!isGood) {
                segment.close();
            }
        }
    }

    private void readHeader(OwnerId logId) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(HEADER);
        UnsafeBuffer buffer = new UnsafeBuffer(bytes);
        long count = Libc.readFully(fd, buffer.addressOffset(), HEADER, 0);
        SegmentHeaderDecoder header = new SegmentHeaderDecoder()
            .wrap(buffer, 0, HEADER, SegmentHeaderDecoder.SCHEMA_VERSION);
        String problem = null;
        if (count < HEADER) {
            problem = "was cut: it has " + count + " bytes";
        } else if (header.magic() != LogDescriptor.MAGIC
            || (int) header.checksum() != LogDescriptor.checksum(new CRC32C(), bytes, LogDescriptor.CHECKED, HEADER)) {
            problem = "has no valid header";
        } else if (header.logIdHigh() != logId.high() || header.logIdLow() != logId.low()) {
            problem = "is a segment of the log " + new OwnerId(header.logIdHigh(), header.logIdLow());
        } else if (header.firstPosition() != firstPosition || header.segmentLength() != length) {
            problem = "is the segment of position " + header.firstPosition() + " and length " + header.segmentLength();
        }
        if (problem != null) {
            throw new FabricException(FabricErrno.EIO, file + " at offset 0 " + problem,
                "Put the file back from a copy, or read on behind it, from the first position of the next segment.");
        }
        terms = TermStarts.of(header);
        timeNs = header.timeNs();
    }

    /** The bytes of a new segment's header, in a direct buffer. */
    public static UnsafeBuffer header(OwnerId logId, int length, long firstPosition, TermStarts terms, long timeNs) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(HEADER);
        UnsafeBuffer buffer = new UnsafeBuffer(bytes);
        SegmentHeaderEncoder header = new SegmentHeaderEncoder().wrap(buffer, 0).term(terms.term())
            .magic(LogDescriptor.MAGIC).logIdHigh(logId.high()).logIdLow(logId.low()).segmentLength(length)
            .firstPosition(firstPosition).timeNs(timeNs);
        terms.write(header);
        header.checksum(Integer.toUnsignedLong(
            LogDescriptor.checksum(new CRC32C(), bytes, LogDescriptor.CHECKED, HEADER)));
        return buffer;
    }

    public Path file() {
        return file;
    }

    int fd() {
        return fd;
    }

    /** Length in bytes that it should have. */
    public int length() {
        return length;
    }

    public long firstPosition() {
        return firstPosition;
    }

    /** Term in which it was begun. */
    public int term() {
        return terms.term();
    }

    /** Where that term has begun, and those before it. */
    public TermStarts terms() {
        return terms;
    }

    /** Not later than any of its records; nanoseconds since 1970. */
    public long timeNs() {
        return timeNs;
    }

    /** The index as it is in the file, entry by entry; zeros where it cannot be read. Nobody has checked it. */
    public UnsafeBuffer index() {
        int bytes = LogDescriptor.indexEntries(length) * IndexEntryDecoder.BLOCK_LENGTH;
        UnsafeBuffer buffer = new UnsafeBuffer(ByteBuffer.allocateDirect(bytes));
        Libc.readFully(fd, buffer.addressOffset(), bytes, LogDescriptor.INDEX_OFFSET);
        return buffer;
    }

    /**
     * Puts a cursor in front of a record that is not behind a wanted one: that which the index names, if it is there,
     * else the first.
     *
     * @param position that is wanted, or {@link Long#MAX_VALUE}.
     * @param beforeNs  a time that the record must be before, or {@link Long#MAX_VALUE}.
     * @param trusted   positions from which on the index may be of records that were lost.
     */
    public void seek(LogCursor cursor, long position, long beforeNs, long trusted) {
        UnsafeBuffer index = index();
        IndexEntryDecoder entry = new IndexEntryDecoder();
        for (int i = LogDescriptor.indexEntries(length) - 1; i >= 0; i--) {
            entry.wrap(index, i * IndexEntryDecoder.BLOCK_LENGTH, IndexEntryDecoder.BLOCK_LENGTH, 0);
            long offset = entry.recordOffset();
            long at = entry.position();
            if (offset > 0 && at <= position && at < trusted && entry.timeNs() < beforeNs
                && offset / LogDescriptor.INDEX_STEP == i && cursor.beginAt(this, offset, at, entry.timeNs())) {
                return;
            }
        }
        cursor.begin(this);
    }

    @Override
    public void close() {
        if (fd >= 0) {
            Libc.close(fd);
            // another file may have this number now
            fd = -1;
        }
    }
}
