package org.jfabric.layout;

/**
 * A single-producer, single-consumer ring of records: {@code .tq}, {@code .rq}, {@code .ring} and the two rings of a
 * {@code .ctl} file.
 *
 * <pre>
 *  header (512 bytes; lines that different sides write are 128 bytes apart, because processors prefetch in pairs)
 *
 *    0  common file header (in a .ctl file only the first ring is preceded by one)
 *  128  consumer position, 8 bytes                 written by the consumer
 *  256  completed, 8 bytes                         written by the driver (.tq, .rq): operations ended so far
 *  264  refused, 7 times 8 bytes                   written by the driver (.tq): destinations to which no message may be
 *                                                  posted now, each plus one; 0 for none
 *  384  spare; of a .tq file the bytes between time stamps, 8 bytes, written by the driver before the client opens
 *       the file; 0 for no time stamps
 *  512  records; the capacity is a power of two
 *
 *  record: starts on a cache line, takes whole lines
 *
 *  +-------------------------------+-------------------------------+
 *  |       length in bytes         |             type              |   one 8-byte word, stored last, release
 *  +-------------------------------+-------------------------------+
 *  |                        body (length - 8 bytes)               ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * The word of a short record has other fields. Its type is never 0 and is in bits that are 0 in an ordinary length:
 *
 * <pre>
 *  +-----------------------+-------+-------------------------------+
 *  |   length, 24 bits     | type 8|      32 bits for its user      |   one 8-byte word, stored last, release
 *  +-----------------------+-------+-------------------------------+
 * </pre>
 *
 * <p>The length counts the word and the body, without the unused bytes of the last line. A word of 0 means that no
 * record is written yet. The producer zeroes the word of the <em>next</em> record before it publishes one, usually long
 * before, so the consumer never writes into the records and its only shared write is its position. Positions count
 * bytes since the start and never wrap.
 *
 * <p>A record does not cross the end of the ring: a record of type {@link #PADDING_TYPE} fills the remaining bytes.
 */
public final class RecordRingDescriptor {
    /** Offset of the consumer's position from the start of the ring's header. */
    public static final int CONSUMER_POSITION_OFFSET = 128;
    /** Offset of the cumulative number of ended operations from the start of the ring's header. */
    public static final int COMPLETED_OFFSET = 256;
    /** Offset of the destinations of a {@code .tq} file to which no message is posted now, in the same line. */
    public static final int REFUSED_OFFSET = COMPLETED_OFFSET + 8;
    /** How many there are at most. */
    public static final int REFUSED_COUNT = 7;
    /** Offset of a line that rings themselves do not use. */
    public static final int SPARE_OFFSET = 384;
    /** Offset of the distance between two time stamps in bytes of the ring, in a {@code .tq} file. */
    public static final int STAMP_DISTANCE_OFFSET = SPARE_OFFSET;
    /** Length of the header in bytes; the records follow. */
    public static final int HEADER_LENGTH = 512;
    /** Length of the word before each body. */
    public static final int WORD_LENGTH = 8;
    /** Records start on multiples of this. */
    public static final int RECORD_ALIGNMENT = 64;
    /** Length of a record with a time stamp: the word and the time. */
    public static final int STAMP_LENGTH = 16;
    /** Type of a record that only fills the end of the ring. */
    public static final int PADDING_TYPE = 1;
    /** Greatest length of a record: 24 bits. */
    public static final int MAX_LENGTH = (1 << 24) - 1;
    /** Shift of the type of a short record in its word. */
    public static final int SHORT_TYPE_SHIFT = 24;
    /** Smallest capacity in bytes. */
    public static final int MIN_CAPACITY = 1024;
    /** Largest capacity in bytes. */
    public static final int MAX_CAPACITY = 1 << 30;

    private RecordRingDescriptor() {
    }

    /**
     * The word of a destination at {@link #REFUSED_OFFSET}.
     *
     * @param destAddr from the address vector; never -1, which means no destination.
     * @return not 0.
     */
    public static long refusedWord(long destAddr) {
        return destAddr + 1;
    }

    /** The word of an ordinary record. Returns the length in the lower, type in the upper half. */
    public static long word(int length, int type) {
        return ((long) type << 32) | (length & 0xFFFF_FFFFL);
    }

    /**
     * The word of a short record.
     *
     * @param length bytes with the word, up to {@link #MAX_LENGTH}.
     * @param type   of the record, from 1 to 255.
     * @param info   32 bits for its user.
     * @return length, type and info, from the lowest bits on.
     */
    public static long shortWord(int length, int type, int info) {
        return (long) info << 32 | (long) type << SHORT_TYPE_SHIFT | length;
    }

    /** Bytes that a record takes in the ring. Returns the next multiple of {@link #RECORD_ALIGNMENT}. */
    public static int alignedLength(int length) {
        return (length + (RECORD_ALIGNMENT - 1)) & -RECORD_ALIGNMENT;
    }

    /** Whether a ring can have a capacity. */
    public static boolean isValidCapacity(long capacity) {
        return capacity >= MIN_CAPACITY && capacity <= MAX_CAPACITY && Long.bitCount(capacity) == 1;
    }
}
