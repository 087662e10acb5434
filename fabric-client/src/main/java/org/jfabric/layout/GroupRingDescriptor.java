package org.jfabric.layout;

import org.agrona.UnsafeApi;

/**
 * A {@code .group} file: the messages of a group's writer. The writer's driver writes it; the drivers of the readers
 * map it read-only.
 *
 * <pre>
 *    0  common file header
 *  128  intent, 8 bytes      offset up to which records are being overwritten; stored before a record is written
 *  136  latest, 8 bytes      offset of the newest message
 *  144  tail, 8 bytes        end of the records that are written; stored last, release
 *  152  accepted, 8 bytes    end of the records that the recorder takes, of a group whose readers see later than it
 *  192  log id, 16 bytes     of the group's log; high bits first
 *  208  term, 4 bytes        of the log, from 1
 *  216  first, 8 bytes       position of the first message of this file
 *  224  key, 8 bytes         random, negative
 *  232  missing, 8 bytes     messages that gaps of this file stand for; stored before a gap is written
 *  512  records; the capacity is a power of two
 *
 *  record: starts on a cache line, takes whole lines
 *
 *  +-------------------------------+-------------------------------+
 *  |       length in bytes         |             flags             |
 *  +-------------------------------+-------------------------------+
 *  |                             mark                              |   of the position: 0, 1, 2 … in its log
 *  +---------------------------------------------------------------+
 *  |                             tag                               |
 *  +---------------------------------------------------------------+
 *  |                 data, only if that or time is flagged         |
 *  +---------------------------------------------------------------+
 *  |                     time, only if flagged                     |
 *  +---------------------------------------------------------------+
 *  |  payload                                                     ...
 * </pre>
 *
 * <p>The length counts the header and the payload. A record does not cross the end of the ring: a record with
 * {@link #PADDING} fills the remaining bytes, has no position, and counts as no message. Offsets count bytes since the
 * start and never wrap, so that {@code offset & (capacity - 1)} is the place of a record.
 *
 * <p>Each record has a <em>mark</em>, stored last: its position plus 1, exclusive or the ring's random key. So a reader
 * that begins in the middle, or was overrun, needs nothing else to know which message it reads, and one that reads in
 * order finds a ring out that does not count by ones. And a reader that the writer waits for finds the next message by
 * its mark, in the line that it is going to read anyway, and leaves the line of the tail to the writer. What else
 * stands in that place, bytes of a message of an earlier lap perhaps, is the next mark with a probability of 2^-64.
 * Padding has the mark of the message behind it, and is marked after that.
 *
 * <p>The ring of a group that is written on another host can have <em>gaps</em>: a record with {@link #GAP} stands for
 * messages that were lost on the way here. It has no payload; its mark is that of the first of them, its tag the
 * position behind the last one.
 *
 * <p>A writer that waits for its readers overwrites nothing that one of them has yet to read. With another writer a
 * reader copies the record, fences and then reads <em>intent</em>: the copy is good if {@code intent - offset} is not
 * more than the capacity. A reader that was overrun continues at <em>latest</em>; the positions say which messages it
 * has lost.
 */
public final class GroupRingDescriptor {
    /** Place in the file of the offset up to which records are being overwritten. */
    public static final int INTENT_OFFSET = 128;
    /** Place of the offset of the newest message. */
    public static final int LATEST_OFFSET = 136;
    /** Place of the end of the records that are written. */
    public static final int TAIL_OFFSET = 144;
    /** Place of the end of the records that a recorder takes, if readers see them later. */
    public static final int ACCEPTED_OFFSET = 152;
    /** Place of the log id. */
    public static final int LOG_ID_OFFSET = 192;
    /** Place of the term. */
    public static final int TERM_OFFSET = 208;
    /** Place of the position of the first message. */
    public static final int FIRST_POSITION_OFFSET = 216;
    /** Place of the key. */
    public static final int KEY_OFFSET = 224;
    /** Place of the number of messages that gaps stand for. */
    public static final int MISSING_OFFSET = 232;
    /** Length of the header in bytes; the records follow. */
    public static final int HEADER_LENGTH = 512;
    /** Records start on multiples of this. */
    public static final int RECORD_ALIGNMENT = 64;

    /** In a record: bytes of its header and payload. */
    public static final int LENGTH = 0;
    public static final int FLAGS = 4;
    /** In a record: {@link #mark} of the message's position; stored last, release. */
    public static final int MARK = 8;
    /** In a record: the tag, 0 for untagged messages. */
    public static final int TAG = 16;
    /** In a record with {@link #HAS_DATA}: remote CQ data. */
    public static final int DATA = 24;
    /** In a record with {@link #HAS_TIME}: when its message arrived at this host, in nanoseconds; 0 if not known. */
    public static final int TIME = 32;
    /** Bytes of a record in front of the payload. */
    public static final int RECORD_HEADER = 24;
    /** Bytes of a record with {@link #HAS_DATA} in front of the payload. */
    public static final int RECORD_HEADER_WITH_DATA = 32;

    /** Bytes of a record with {@link #HAS_TIME} in front of the payload. */
    public static final int RECORD_HEADER_WITH_TIME = 40;

    /** Flag of a tagged message. */
    public static final int TAGGED = 1;
    /** Flag of a message with remote CQ data. */
    public static final int HAS_DATA = 2;
    /** Flag of a record that only fills the end of the ring. */
    public static final int PADDING = 4;
    /** Flag of a record that stands for messages that are missing. */
    public static final int GAP = 8;

    /** Flag of a message with a time of arrival. Only in rings of streams that are read with times. */
    public static final int HAS_TIME = 16;
    /** A record with any of these has a longer header than others. */
    public static final int HAS_MORE = HAS_DATA | HAS_TIME;

    /** Smallest capacity in bytes. */
    public static final int MIN_CAPACITY = 4096;
    /** Largest capacity in bytes. */
    public static final int MAX_CAPACITY = 1 << 30;
    /** The longest record is the capacity divided by this. */
    public static final int RECORDS_PER_RING = 8;

    private GroupRingDescriptor() {
    }

    /** Bytes that a record takes in the ring. Returns the next multiple of {@link #RECORD_ALIGNMENT}. */
    public static int alignedLength(int length) {
        return (length + (RECORD_ALIGNMENT - 1)) & -RECORD_ALIGNMENT;
    }

    /** The longest payload. */
    public static int maxPayload(int capacity) {
        return capacity / RECORDS_PER_RING - RECORD_HEADER_WITH_DATA;
    }

    /** Bytes in front of the payload of a record with any of {@link #HAS_MORE}. */
    public static int longHeader(int flags) {
        return (flags & HAS_TIME) != 0 ? RECORD_HEADER_WITH_TIME : RECORD_HEADER_WITH_DATA;
    }

    /** What stands in the record of a message; never 0, which a fresh ring has. */
    public static long mark(long position, long key) {
        return position + 1 ^ key;
    }

    /** The position of a message whose record has a mark. */
    public static long position(long mark, long key) {
        return (mark ^ key) - 1;
    }

    /**
     * Messages for which gaps stand, of the ring in a file that is mapped at a native address. Where a reader has come
     * by a gap, or by a record behind one, those of it are counted.
     */
    public static long missing(long file) {
        return UnsafeApi.getLongOpaque(null, file + MISSING_OFFSET);
    }

    /** Whether a ring can have a capacity. */
    public static boolean isValidCapacity(long capacity) {
        return capacity >= MIN_CAPACITY && capacity <= MAX_CAPACITY && Long.bitCount(capacity) == 1;
    }
}
