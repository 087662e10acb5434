package org.jfabric.layout;

import org.agrona.UnsafeApi;

import static org.jfabric.layout.RecordRingDescriptor.MAX_LENGTH;
import static org.jfabric.layout.RecordRingDescriptor.PADDING_TYPE;
import static org.jfabric.layout.RecordRingDescriptor.RECORD_ALIGNMENT;
import static org.jfabric.layout.RecordRingDescriptor.SHORT_TYPE_SHIFT;
import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;
import static org.jfabric.layout.RecordRingDescriptor.alignedLength;

/**
 * The consumer of a single-producer, single-consumer ring of records. A record is an 8-byte word with length and type,
 * and a body; {@link RecordRingDescriptor} has the layout, also that of short records.
 *
 * <p>The producer may be another process and is not trusted. The consumer keeps its position in its own memory, reads
 * each word once and validates it before use. After an invalid word the ring must not be read again.
 *
 * <p>Use: while {@link #poll()} is {@link #RECORD}, read {@link #offset()}, {@link #length()}, {@link #type()} and the
 * body, then {@link #advance()}; at the end of the batch {@link #release()}.
 *
 * <p>Owner: the thread that consumes the ring, of the driver or of a client.
 */
public final class RecordConsumer {
    /** {@link #poll()}: nothing to read. */
    public static final int EMPTY = 0;
    /** {@link #poll()}: there is a record. */
    public static final int RECORD = 1;
    /** {@link #poll()}: the word is invalid; the ring is corrupt and must not be read again. */
    public static final int CORRUPT = -1;

    private static final long NOTHING_KEPT = Long.MAX_VALUE;
    private static final int MAX_BATCH = 1 << 10;
    private static final int FETCH_LIMIT = 5 * RECORD_ALIGNMENT;

    private final long ringAddress;
    private final int capacity;
    private final int mask;
    private final int maxType;
    private final int maxShortType;
    private final long positionAddress;
    private long position;
    private long released;
    /** The greatest offset of padding, 0 before the first. */
    private int padded;
    private int length;
    private int type;
    private int shortType;
    private int shortInfo;
    private int batch = 1;
    private boolean streaming;
    /** Position of the oldest record that is kept. */
    private long keptFrom = NOTHING_KEPT;
    /** Never read: without this store the compiler would eliminate the loads of {@link #fetch}. */
    private long fetched;

    /**
     * A consumer at the start of a ring without short records.
     *
     * @param ringAddress     address of the first record.
     * @param capacity        bytes, a power of two.
     * @param maxType         greatest type that a record may have; the least is 2, because 1 is padding.
     */
    public RecordConsumer(long ringAddress, int capacity, long positionAddress, int maxType) {
        this(ringAddress, capacity, positionAddress, maxType, 0);
    }

    /**
     * A consumer at the start of a ring.
     *
     * @param ringAddress     address of the first record.
     * @param capacity        bytes, a power of two.
     * @param maxType         greatest type that an ordinary record may have; the least is 2, because 1 is padding.
     * @param maxShortType    greatest type that a short record may have; 0 if none is expected.
     */
    public RecordConsumer(long ringAddress, int capacity, long positionAddress, int maxType, int maxShortType) {
        this.maxShortType = maxShortType;
        this.ringAddress = ringAddress;
        this.capacity = capacity;
        this.mask = capacity - 1;
        this.positionAddress = positionAddress;
        this.maxType = maxType;
    }

    /**
     * The size of the next batch. It is 1 until messages come in a stream, so that a single message is delivered before
     * the ring is polled for a second one: that poll moves a cache line, which the producer has zeroed, to this
     * processor. In a stream the size doubles with each full batch. {@link #batchTaken} adapts it.
     *
     * @param limit the greatest batch.
     * @return greatest number of records to take, 1 or more.
     */
    public int batch(int limit) {
        return Math.min(limit, batch);
    }

    /** Adapts the size of the next batch; called after each batch, also an empty one. */
    public void batchTaken(int taken) {
        if (taken == 0) {
            if (streaming) {
                streaming = false;
                batch = 1;
            }
        } else if (!streaming) {
            streaming = true;
        } else if (taken >= batch && batch < MAX_BATCH) {
            batch <<= 1;
        }
    }

    /** Polls for the next record. Returns {@link #RECORD}, {@link #EMPTY} or {@link #CORRUPT}. */
    public int poll() {
        long word = UnsafeApi.getLongAcquire(null, ringAddress + ((int) position & mask));
        return word == 0 ? EMPTY : accept(word);
    }

    /**
     * The word of the next record, not validated; the caller must validate it as {@link #poll()} does. Returns 0 if
     * there is no record yet.
     */
    public long word() {
        return UnsafeApi.getLongAcquire(null, ringAddress + ((int) position & mask));
    }

    /** Bytes from the next record to the end of the ring. Returns the greatest length that the record can have. */
    public int toEnd() {
        return capacity - ((int) position & mask);
    }

    /**
     * Loads the second cache line of a record, so that it is transferred while the first one is decoded.
     *
     * @param record native address of its word.
     */
    public void fetchSecondLine(long record) {
        fetched = UnsafeApi.getLong(record + RECORD_ALIGNMENT);
    }

    /** Moves past a record as {@link #step()} does, for a caller that has validated its {@link #word()} itself. */
    public void pass(int recordLength) {
        position += alignedLength(recordLength);
    }

    /**
     * Offset of the record from the start of the ring; valid after {@link #RECORD}. Returns the bytes, a multiple of
     * 64.
     */
    public int offset() {
        return (int) position & mask;
    }

    /** Native address of the record's word. */
    public long address() {
        return ringAddress + ((int) position & mask);
    }

    /**
     * Native address of a record.
     *
     * @param offset from {@link #offset()}.
     */
    public long address(int offset) {
        return ringAddress + offset;
    }

    /** Length of the record as read once and checked. */
    public int length() {
        return length;
    }

    /** Type of the record as read once and checked, from 2 to the greatest type given; 0 for a short record. */
    public int type() {
        return type;
    }

    /**
     * Type of a short record as read once and checked, from 1 to the greatest type given; 0 for an ordinary record.
     */
    public int shortType() {
        return shortType;
    }

    /**
     * The upper half of the word of a short record, as read once. The protocol of the ring defines its meaning. Returns
     * the 32 bits that are not validated here.
     */
    public int shortInfo() {
        return shortInfo;
    }

    /** Moves past the record; {@link #release()} publishes the position to the producer. */
    public void advance() {
        step();
        releaseFar();
    }

    /**
     * Moves past the record before it is processed, so that it is never processed twice, even if a memory fault
     * interrupts that. Its bytes are not overwritten until {@link #releaseFar()} or {@link #release()}.
     */
    public void step() {
        position += alignedLength(length);
    }

    /** Publishes the position if it is at least a quarter of the ring beyond the published one. */
    public void releaseFar() {
        // a producer with a long message must not wait for the end of a batch
        if (position - released >= (capacity >> 2)) {
            release();
        }
    }

    /** Publishes the position, so that the producer may reuse the space. Stores nothing if nothing was read. */
    public void release() {
        long end = Math.min(position, keptFrom);
        if (end != released) {
            released = end;
            UnsafeApi.putLongRelease(null, positionAddress, end);
        }
    }

    /**
     * Protects the record that was passed last from being overwritten: until {@link #giveBack()} no position after its
     * start is published. At most a quarter of the ring is kept so, and the producer can use the rest.
     *
     * @param address any native address in the record's first cache line.
     * @return false if more than a quarter would be kept; the record is not kept then.
     */
    public boolean keep(long address) {
        int length = (int) position - (int) (address - ringAddress) & mask;
        long from = Math.min(keptFrom, position - length & -RECORD_ALIGNMENT);
        if (position - from > capacity >> 2) {
            return false;
        }
        keptFrom = from;
        return true;
    }

    /** Releases all kept records and publishes the position. */
    public void giveBack() {
        keptFrom = NOTHING_KEPT;
        release();
    }

    public long position() {
        return position;
    }

    /** Bytes of the ring, from its start, that the producer has certainly written. */
    public int reached() {
        int offset = (int) position & mask;
        return position < capacity ? offset : Math.max(offset, padded == 0 ? capacity : padded);
    }

    /** Describes the word for which {@link #poll()} returned {@link #CORRUPT}. */
    public String describe() {
        return "record word with length " + length
            + (shortType == 0 ? " and type " + type : " and short type " + shortType) + " at position " + position
            + " of a ring of " + capacity + " bytes (types 1 to " + maxType
            + (maxShortType == 0 ? "" : " and short types 1 to " + maxShortType) + " are known)";
    }

    /**
     * Loads the further cache lines of a record: they are transferred in parallel while the first one is decoded,
     * instead of one by one when they are copied. From the fifth on the processor's prefetcher detects the pattern.
     */
    private void fetch(long address) {
        long sum = 0;
        long end = address + Math.min(length, FETCH_LIMIT);
        for (long line = address + RECORD_ALIGNMENT; line < end; line += RECORD_ALIGNMENT) {
            sum += UnsafeApi.getLong(line);
        }
        fetched = sum;
    }

    private int accept(long first) {
        long word = first;
        for (;;) {
            length = (int) word;
            type = (int) (word >>> 32);
            shortType = maxShortType == 0 ? 0 : length >>> SHORT_TYPE_SHIFT;
            int toEnd = capacity - ((int) position & mask);
            if (shortType != 0) {
                return acceptShort(toEnd);
            }
            if (length < WORD_LENGTH || length > toEnd || type < PADDING_TYPE || type > maxType) {
                return CORRUPT;
            }
            if (type != PADDING_TYPE) {
                if (length > RECORD_ALIGNMENT) {
                    fetch(address());
                }
                return RECORD;
            }
            // padding fills exactly the end, so a producer cannot make this loop run round the ring forever
            if (length != toEnd || (length & (RECORD_ALIGNMENT - 1)) != 0 || toEnd == capacity) {
                return CORRUPT;
            }
            padded = Math.max(padded, (int) position & mask);
            position += length;
            word = UnsafeApi.getLongAcquire(null, ringAddress + ((int) position & mask));
            if (word == 0) {
                return EMPTY;
            }
        }
    }

    private int acceptShort(int toEnd) {
        shortInfo = type;
        type = 0;
        length &= MAX_LENGTH;
        if (shortType > maxShortType || length < WORD_LENGTH || length > toEnd) {
            return CORRUPT;
        }
        if (length > RECORD_ALIGNMENT) {
            fetch(address());
        }
        return RECORD;
    }
}
