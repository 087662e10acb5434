package org.jfabric.client.log;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.log.GapDecoder;
import org.jfabric.codec.log.MessageDecoder;
import org.jfabric.codec.log.RecordHeadDecoder;
import org.jfabric.codec.log.TermStartDecoder;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.ffi.Libc;
import org.jfabric.layout.LogDescriptor;

/**
 * Walks through the records of a segment, and takes none that is not whole and the next one.
 *
 * <p>It reads pieces of the file into memory of its own instead of mapping it. A file that somebody cuts is a short
 * read then and not a fault at some later place, and bytes that are changed behind the check of the sum are not seen.
 *
 * <p>One thread; {@link #next()} allocates only where a message is longer than all before.
 */
public final class LogCursor {
    private static final int SMALLEST_PIECE = 1 << 12;
    private static final int LARGEST_PIECE = 1 << 18;
    private static final int HEAD = RecordHeadDecoder.ENCODED_LENGTH;

    private final CRC32C crc = new CRC32C();
    private final RecordHeadDecoder head = new RecordHeadDecoder();
    private ByteBuffer bytes = ByteBuffer.allocateDirect(LARGEST_PIECE);
    private UnsafeBuffer buffer = new UnsafeBuffer(bytes);
    private LogSegment segment;
    /** Of the first byte in the buffer. */
    private long bufferOffset;
    private int buffered;
    private int piece = SMALLEST_PIECE;
    /** Of the record that comes next. */
    private long offset;
    private long position;
    private int term;
    private long timeNs;

    private int record;
    private int recordLength;
    private long recordPosition;
    private String problem;

    /** Goes to the first record of a segment. */
    public void begin(LogSegment next) {
        go(next, LogDescriptor.recordsOffset(next.length()), next.firstPosition());
        term = next.term();
        timeNs = next.timeNs();
    }

    /** Goes to a record if it is there, with that position and time. */
    boolean beginAt(LogSegment next, long recordOffset, long wanted, long wantedNs) {
        if (recordOffset < LogDescriptor.recordsOffset(next.length()) || recordOffset >= next.length()
            || recordOffset % LogDescriptor.ALIGNMENT != 0) {
            return false;
        }
        go(next, recordOffset, wanted);
        if (!has(HEAD)) {
            return false;
        }
        head.wrap(buffer, (int) (offset - bufferOffset));
        term = (int) head.term();
        timeNs = wantedNs;
        if (head.timeNs() != wantedNs || term < next.term() || next() == 0) {
            return false;
        }
        go(next, recordOffset, wanted);
        return true;
    }

    private void go(LogSegment next, long recordOffset, long nextPosition) {
        segment = next;
        offset = recordOffset;
        position = nextPosition;
        forget();
    }

    /** Has the next records read from the file again: more may be there than when they were read. */
    public void forget() {
        buffered = 0;
        bufferOffset = offset;
        piece = SMALLEST_PIECE;
    }

    /**
     * Goes over the next record.
     *
     * @return its kind, the id of its message in the schema; 0 if there is no whole one, see {@link #problem()}: the
     *     cursor stays then.
     */
    public int next() {
        problem = null;
        if (!has(HEAD)) {
            return 0;
        }
        int at = (int) (offset - bufferOffset);
        head.wrap(buffer, at);
        int kind = (int) head.kind();
        int length = (int) head.length();
        int least = LogDescriptor.minLength(kind);
        if (least == 0 || length < least || length > LogDescriptor.MESSAGE_HEAD
            + LogDescriptor.maxPayload(segment.length()) || offset + LogDescriptor.aligned(length) > segment.length()) {
            problem = "there is no record: kind " + kind + ", length " + length;
            return 0;
        }
        int whole = LogDescriptor.aligned(length);
        if (!has(whole)) {
            return 0;
        }
        at = (int) (offset - bufferOffset);
        head.wrap(buffer, at);
        if (LogDescriptor.checksum(crc, bytes, at + LogDescriptor.CHECKED, at + whole) != (int) head.checksum()) {
            problem = "the checksum of the record of " + length + " bytes is another one";
            return 0;
        }
        int itsTerm = (int) head.term();
        boolean isNextTerm = kind == TermStartDecoder.TEMPLATE_ID && itsTerm >= term;
        if (head.position() != position || itsTerm != term && !isNextTerm || head.timeNs() < timeNs) {
            problem = "the record has position " + head.position() + " of term " + itsTerm;
            return 0;
        }
        take(kind, at, length, itsTerm);
        offset += whole;
        return kind;
    }

    private void take(int kind, int at, int length, int itsTerm) {
        record = at;
        recordLength = length;
        recordPosition = position;
        term = itsTerm;
        timeNs = head.timeNs();
        if (kind == MessageDecoder.TEMPLATE_ID) {
            position++;
        } else if (kind == GapDecoder.TEMPLATE_ID) {
            position = lastPosition() + 1;
        }
    }

    /** Sees to it that so many bytes from the next record on are in the buffer. */
    private boolean has(int count) {
        return offset - bufferOffset + count <= buffered || read(count);
    }

    private boolean read(int count) {
        if (count > buffer.capacity()) {
            bytes = ByteBuffer.allocateDirect(Math.max(count, 2 * buffer.capacity()));
            buffer.wrap(bytes);
        }
        long wanted = Math.min(Math.max(count, piece), segment.length() - offset);
        piece = Math.min(LARGEST_PIECE, 4 * piece);
        long result = Libc.readFully(segment.fd(), buffer.addressOffset(), wanted, offset);
        bufferOffset = offset;
        buffered = (int) Math.max(0, result);
        if (result < 0) {
            problem = "it cannot be read: " + FabricErrno.name((int) -result);
        } else if (result < count) {
            problem = result == segment.length() - offset ? "the segment has no room for a record there" :
                "the file was cut: it has " + (offset + result) + " bytes instead of " + segment.length();
        }
        return result >= count;
    }

    /** Why there is no next record; null if there is one. */
    public String problem() {
        return problem;
    }

    /** That the record which must be next is not there. */
    public FabricException broken() {
        return new FabricException(FabricErrno.EIO, segment.file() + " at offset " + offset + ": the record of "
            + "position " + position + " is not there or was changed: " + problem,
            "See all of it with ./fabric log verify. Put the file back from a copy, or read on behind it, from a later"
                + " position.");
    }

    public LogSegment segment() {
        return segment;
    }

    /** Offset behind the last record. */
    public long offset() {
        return offset;
    }

    /** Position behind the last record. */
    public long position() {
        return position;
    }

    /** Term of the last record. */
    public int term() {
        return term;
    }

    /** Time of the last record. */
    public long timeNs() {
        return timeNs;
    }

    /** Position of the last record. */
    public long recordPosition() {
        return recordPosition;
    }

    /** Offset of the last record. */
    public long recordOffset() {
        return bufferOffset + record;
    }

    /** Has the payload of the last record until the next call. */
    public DirectBuffer buffer() {
        return buffer;
    }

    /** Of the payload in {@link #buffer()}. */
    public int payloadOffset() {
        return record + LogDescriptor.MESSAGE_HEAD;
    }

    public int payloadLength() {
        return recordLength - LogDescriptor.MESSAGE_HEAD;
    }

    public long flags() {
        return buffer.getLong(record + MessageDecoder.flagsEncodingOffset(), LITTLE_ENDIAN);
    }

    public long tag() {
        return buffer.getLong(record + MessageDecoder.tagEncodingOffset(), LITTLE_ENDIAN);
    }

    public long data() {
        return buffer.getLong(record + MessageDecoder.dataEncodingOffset(), LITTLE_ENDIAN);
    }

    /** Of a gap. */
    public long lastPosition() {
        return buffer.getLong(record + GapDecoder.lastPositionEncodingOffset(), LITTLE_ENDIAN);
    }
}
