package org.jfabric.layout;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jfabric.codec.log.GapEncoder;
import org.jfabric.codec.log.IndexEntryEncoder;
import org.jfabric.codec.log.MessageEncoder;
import org.jfabric.codec.log.RecordHeadEncoder;
import org.jfabric.codec.log.SegmentEndEncoder;
import org.jfabric.codec.log.SegmentHeaderEncoder;
import org.jfabric.codec.log.TermStartEncoder;

/**
 * The files of a log, which hold a group's messages on disk: {@code log}, and segments of one length, each named by the
 * log's id and the first position in it. The fields are those of {@code log.xml}.
 *
 * <pre>
 *  log                          a segment
 *     0  LogHeader, once           0  SegmentHeader, once
 *  2048  LogState                128  IndexEntry for each 64 KiB of the segment
 *  4096  end                       …  records, from the next multiple of 4096
 *
 *  record: starts on a multiple of 8 bytes
 *
 *  +-------------------------------+-------------------------------+
 *  |            CRC32C             |       length in bytes         |
 *  +-------------------------------+-------------------------------+
 *  |                           position                            |
 *  +---------------------------------------------------------------+
 *  |                     time (ns since 1970)                      |
 *  +-------------------------------+-------------------------------+
 *  |             term              |             kind              |
 *  +-------------------------------+-------------------------------+
 *  |   of a message: flags, tag, data, payload; zeros to the end  ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <p>The length counts the head and the payload; the checksum covers all bytes behind itself, with the padding, so that
 * each byte of the records is covered by one. Records are not aligned to cache lines: they are written and read in
 * large pieces by system calls, so that no line of them is shared by two processes, and 8 bytes take an eighth less
 * room for messages of 64 bytes.
 *
 * <p>Nothing marks the end of the records: behind the last one may be zeros, or bytes of a term that has ended. A
 * record continues the one before only if it has the next position and the same term, or is the start of a later term.
 */
public final class LogDescriptor {
    /** The eight characters {@code JFABLOG\0}, read as a little-endian long. */
    public static final long MAGIC = 0x00474F4C_4241464AL;
    /** Of all files of a log. */
    public static final int VERSION = 1;

    /** Name of the file that makes a folder a log. */
    public static final String FILE_NAME = "log";
    /** Its length in bytes. */
    public static final int FILE_LENGTH = 4096;
    /** Offset of the state in it: a sector of its own, which disks write as a whole. */
    public static final int STATE_OFFSET = 2048;

    /** Lengths of segments in bytes. */
    public static final int MIN_SEGMENT = 1 << 20;
    public static final int DEFAULT_SEGMENT = 1 << 27;
    public static final int MAX_SEGMENT = 1 << 30;
    /** Offset of the index in a segment. */
    public static final int INDEX_OFFSET = 128;
    /** Bytes of a segment that have one entry in the index. */
    public static final int INDEX_STEP = 1 << 16;

    /** Records start on multiples of this. */
    public static final int ALIGNMENT = 8;
    /** In a record: the checksum, and the first byte that it covers. */
    public static final int CHECKSUM = RecordHeadEncoder.checksumEncodingOffset();
    public static final int CHECKED = CHECKSUM + Integer.BYTES;
    /** Bytes of a message's record in front of the payload. */
    public static final int MESSAGE_HEAD = MessageEncoder.BLOCK_LENGTH;
    /** Bytes of the record at the end of each segment. */
    public static final int END_LENGTH = SegmentEndEncoder.BLOCK_LENGTH;

    private static final String SUFFIX = ".seg";
    private static final int PAGE = 4096;
    private static final int PAYLOADS_PER_SEGMENT = 8;

    private LogDescriptor() {
    }

    /** Entries of the index of a segment of that length. */
    public static int indexEntries(int segmentLength) {
        return segmentLength / INDEX_STEP;
    }

    /** Offset of the first record of a segment of that length. */
    public static int recordsOffset(int segmentLength) {
        assert INDEX_OFFSET >= SegmentHeaderEncoder.BLOCK_LENGTH;
        int end = INDEX_OFFSET + indexEntries(segmentLength) * IndexEntryEncoder.BLOCK_LENGTH;
        return end + PAGE - 1 & -PAGE;
    }

    /** The longest payload of a message, in bytes. */
    public static int maxPayload(int segmentLength) {
        return segmentLength / PAYLOADS_PER_SEGMENT;
    }

    /** Whether segments may have that length. */
    public static boolean isSegmentLength(long length) {
        return length >= MIN_SEGMENT && length <= MAX_SEGMENT && Long.bitCount(length) == 1;
    }

    /** Bytes that a record of that length takes. */
    public static int aligned(int length) {
        return length + ALIGNMENT - 1 & -ALIGNMENT;
    }

    /** Length of the shortest record of a kind, 0 if there is no such kind. */
    public static int minLength(int kind) {
        return switch (kind) {
            case MessageEncoder.TEMPLATE_ID -> MESSAGE_HEAD;
            case GapEncoder.TEMPLATE_ID -> GapEncoder.BLOCK_LENGTH;
            case TermStartEncoder.TEMPLATE_ID -> TermStartEncoder.BLOCK_LENGTH;
            case SegmentEndEncoder.TEMPLATE_ID -> END_LENGTH;
            default -> 0;
        };
    }

    /** Name of the segment of a log that begins with a position; names sort by it. */
    public static String segmentName(OwnerId logId, long firstPosition) {
        String digits = Long.toString(firstPosition);
        return logId + "-" + "0".repeat(19 - digits.length()) + digits + SUFFIX;
    }

    /** First position of the segment of that name, -1 if it is no name of a segment of that log. */
    public static long firstPosition(OwnerId logId, String name) {
        String prefix = logId + "-";
        if (!name.startsWith(prefix) || !name.endsWith(SUFFIX)) {
            return -1;
        }
        String digits = name.substring(prefix.length(), name.length() - SUFFIX.length());
        return digits.matches("\\d{19}") && digits.compareTo(Long.toString(Long.MAX_VALUE)) <= 0 ?
            Long.parseLong(digits) : -1;
    }

    /** The checksum of bytes. The buffer's position and limit are changed. */
    public static int checksum(CRC32C crc, ByteBuffer bytes, int from, int to) {
        crc.reset();
        bytes.limit(to).position(from);
        crc.update(bytes);
        return (int) crc.getValue();
    }
}
