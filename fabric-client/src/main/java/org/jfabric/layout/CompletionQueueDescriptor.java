package org.jfabric.layout;

/**
 * Layout of a {@code .cq} file.
 *
 * <pre>
 *    0  common file header; parameter 1 = capacity (entries, a power of two),
 *       parameter 2 = client's quota (low 32 bits), driver's quota (high 32 bits)
 *  128  read position, 8 bytes              written by the client: entries read since the start
 *  192  read times, 8 words                 written by the client: when it has read entries with FLAG_STAMPED
 *  256  sleepers' words                     see {@link WaitDescriptor}; used only with a wait object
 *  320  place in a group                     see {@link ReadPlaceDescriptor}; used only by who reads one in place
 *  384  written, 8 bytes                    written by the driver: entries written so far (for sleepers and tools)
 *  392  retired, 8 bytes                    written by the driver: operations ended without an entry
 *  400  state, 4 bytes                      written by the driver: see STATE_*
 *  404  held back, 4 bytes                  written by the driver: 1 while messages wait for slots of its quota
 *  408  sample distance, 4 bytes            written by the driver before the client opens the file: operations between
 *                                           two samples of a client that runs the duty cycle itself; 0 for none
 *  448  end of that group                    see {@link ReadPlaceDescriptor}
 *  512  records, one cache line each
 *       error cells, 128 bytes each, one for every record; that of a success with {@code FI_TIMESTAMP} begins with its
 *       time, 8 bytes, which are not written otherwise
 *
 *  record
 *  +---------------------------------------------------------------+
 *  |          low 32 bits of the entry's number, plus 1            |
 *  +-------------------------------+---------------+---------------+
 *  |   endpoint's index in this CQ |     kind      |     flags     |   the 8-byte word is stored last, release
 *  +-------------------------------+---------------+---------------+
 *  |                          op_context                           |
 *  |                            flags                              |
 *  |                             len                               |
 *  |                             buf                               |
 *  |                             data                              |
 *  |                             tag                               |
 *  |                       source address                          |   seven 8-byte fields
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <p>Entries of received messages with {@code FI_MULTICAST} have the position of the message in its group, plus 1: the
 * low half in the upper half of <em>len</em>, the high half in that of <em>source address</em>. Lengths and addresses
 * of such messages fit into what is left ({@link #groupLength}, {@link #groupSource}, {@link #position}).
 *
 * <p>Entry {@code n} is written when the low half of the word at slot {@code n mod capacity} is {@code (int) n + 1}; a
 * slot that still has the entry of the previous lap has {@code (int) n + 1 - capacity}. Nothing is zeroed.
 */
public final class CompletionQueueDescriptor {
    /** Offset of the client's read position. */
    public static final int READ_POSITION_OFFSET = 128;
    /** Offset of the times at which stamped entries were read, of {@link System#nanoTime()}. */
    public static final int READ_TIMES_OFFSET = 192;
    /** Number of these times: so many entries may be stamped and not read. */
    public static final int READ_TIMES = 8;
    /** Offset of the sleepers' line; a pair of cache lines away from the hot words of both sides. */
    public static final int WAIT_OFFSET = 256;
    /** Offset of the number of entries written. */
    public static final int WRITTEN_OFFSET = 384;
    /** Offset of the number of operations that ended without an entry. */
    public static final int RETIRED_OFFSET = 392;
    public static final int STATE_OFFSET = 400;
    /** Offset of the word that is 1 while messages wait for slots of the driver's quota. */
    public static final int HELD_BACK_OFFSET = 404;
    /** Offset of the number of operations between two samples of a client that runs the duty cycle itself. */
    public static final int SAMPLE_DISTANCE_OFFSET = 408;
    /** Offset of the first record. */
    public static final int RECORDS_OFFSET = 512;
    public static final int RECORD_LENGTH = 64;
    public static final int ERROR_CELL_LENGTH = 128;
    public static final int BODY_OFFSET = 8;
    /** Bytes of the body in the tagged format. */
    public static final int TAGGED_LENGTH = 48;
    /** Offset of the source address in a record. */
    public static final int SOURCE_OFFSET = 56;
    /** State: entries are written. */
    public static final int STATE_OPEN = 0;
    /** State: an entry found no slot; nothing more will be written. */
    public static final int STATE_OVERRUN = 1;
    /** Kind of a record of a successful operation. */
    public static final int KIND_SUCCESS = 1;
    /** Kind of a record with an error cell. */
    public static final int KIND_ERROR = 2;
    /** Flag of a record whose slot belongs to the driver's quota. */
    public static final int FLAG_DRIVER_SHARE = 1;
    /**
     * Flag of a record that hands a cell of the endpoint's receive slab to the client; its {@code op_context} is
     * described in {@link SlabDescriptor}. It is the word's sign bit, so that a reader tests it by one comparison.
     */
    public static final int FLAG_BUFFERED = 128;
    /**
     * Flag of a record that is a sample of how long entries wait: when the client reads it, it stores the time in the
     * word of the read times that the bits from {@link #STAMP_SHIFT} on name. Only with {@link #FLAG_BUFFERED}, so that
     * readers need no further comparison.
     */
    public static final int FLAG_STAMPED = 64;
    /** Flag of a stamped record that hands out no cell: {@link #FLAG_BUFFERED} is set for the stamp only. */
    public static final int FLAG_WITHOUT_CELL = 32;
    /** Shift of the number of the read time, 3 bits, in the flags. */
    public static final int STAMP_SHIFT = 1;
    /** Greatest capacity in entries. */
    public static final int MAX_CAPACITY = 1 << 22;

    private static final long LOW_HALF = 0xFFFF_FFFFL;

    private CompletionQueueDescriptor() {
    }

    /**
     * The word of a record.
     *
     * @param number        number of the entry since the start, from 0.
     * @param endpointIndex index of the endpoint in this CQ, 16 bits.
     * @param kind          {@link #KIND_SUCCESS} or {@link #KIND_ERROR}.
     * @param flags         {@link #FLAG_DRIVER_SHARE} and {@link #FLAG_BUFFERED}, or 0.
     * @return the 64 bits.
     */
    public static long word(long number, int endpointIndex, int kind, int flags) {
        return ((number + 1) & 0xFFFF_FFFFL)
            | ((long) (endpointIndex & 0xFFFF) << 32)
            | ((long) (kind & 0xFF) << 48)
            | ((long) (flags & 0xFF) << 56);
    }

    /** The field <em>len</em> of a message with {@code FI_MULTICAST}; the position is -1 if it has none. */
    public static long groupLength(long length, long position) {
        return length | position + 1 << Integer.SIZE;
    }

    /** The field <em>source address</em> of a message with {@code FI_MULTICAST}. */
    public static long groupSource(long source, long position) {
        return source & LOW_HALF | position + 1 & ~LOW_HALF;
    }

    /** The length from a field <em>len</em> of a message with {@code FI_MULTICAST}. */
    public static long length(long field) {
        return field & LOW_HALF;
    }

    /** The source address from a field of a message with {@code FI_MULTICAST}. */
    public static long source(long field) {
        return (int) field;
    }

    /** The position from the fields <em>len</em> and <em>source address</em>. Returns -1 if there is none. */
    public static long position(long length, long source) {
        return Math.max(0, source & ~LOW_HALF | length >>> Integer.SIZE) - 1;
    }

    /**
     * Bytes of the file.
     *
     * @param capacity entries, a power of two.
     */
    public static long fileLength(int capacity) {
        return RECORDS_OFFSET + (long) capacity * (RECORD_LENGTH + ERROR_CELL_LENGTH);
    }

    /**
     * Offset of the first error cell.
     *
     * @param capacity entries, a power of two.
     */
    public static long errorCellsOffset(int capacity) {
        return RECORDS_OFFSET + (long) capacity * RECORD_LENGTH;
    }
}
