package org.jfabric.layout;

import org.agrona.UnsafeApi;

import static org.jfabric.layout.RecordRingDescriptor.MAX_LENGTH;
import static org.jfabric.layout.RecordRingDescriptor.PADDING_TYPE;
import static org.jfabric.layout.RecordRingDescriptor.RECORD_ALIGNMENT;
import static org.jfabric.layout.RecordRingDescriptor.SHORT_TYPE_SHIFT;
import static org.jfabric.layout.RecordRingDescriptor.WORD_LENGTH;
import static org.jfabric.layout.RecordRingDescriptor.alignedLength;

/**
 * Reading end of a record ring. It keeps its own position, reads each word once and checks it before use, so that
 * whatever the producer wrote can at worst end that producer.
 *
 * <p>Use: while {@link #poll()} is {@link #RECORD}, read {@link #offset()}, {@link #length()}, {@link #type()} and the
 * body, then {@link #advance()}; at the end of the batch {@link #release()}.
 *
 * <p>Owner: the one consuming thread.
 */
public final class RecordConsumer {
    /** {@link #poll()}: nothing to read. */
    public static final int EMPTY = 0;
    /** {@link #poll()}: a record is there. */
    public static final int RECORD = 1;
    /** {@link #poll()}: the word is impossible; the producer is broken and the ring must not be read again. */
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
    private int length;
    private int type;
    private int shortType;
    private int shortInfo;
    private int batch = 1;
    private boolean streaming;
    /** Begin of the oldest record that is kept. */
    private long keptFrom = NOTHING_KEPT;
    /** Nobody looks at it: without it the compiler would leave the loads of {@link #fetch} out. */
    private long fetched;

    /**
     * A consumer at the start of a ring without short records.
     *
     * @param ringAddress     address of the first record.
     * @param capacity        bytes, a power of two.
     * @param positionAddress address of the word in which this consumer publishes its position.
     * @param maxType         greatest type that a record may have; the least is 2.
     */
    public RecordConsumer(long ringAddress, int capacity, long positionAddress, int maxType) {
        this(ringAddress, capacity, positionAddress, maxType, 0);
    }

    /**
     * A consumer at the start of a ring.
     *
     * @param ringAddress     address of the first record.
     * @param capacity        bytes, a power of two.
     * @param positionAddress address of the word in which this consumer publishes its position.
     * @param maxType         greatest type that an ordinary record may have; the least is 2.
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
     * How many records to take in one go. Looking for a record that is not there costs the transfer of the cache line
     * that the producer has zeroed, so a single message is handed on before anybody looks for a second one; a
     * stream of them is taken in ever larger batches.
     *
     * @param limit the greatest batch.
     * @return records to take at most, 1 or more.
     */
    public int batch(int limit) {
        return Math.min(limit, batch);
    }

    /**
     * Learns from a batch.
     *
     * @param taken records that were taken.
     */
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

    /**
     * Looks for the next record.
     *
     * @return {@link #RECORD}, {@link #EMPTY} or {@link #CORRUPT}.
     */
    public int poll() {
        long word = UnsafeApi.getLongAcquire(null, ringAddress + ((int) position & mask));
        return word == 0 ? EMPTY : accept(word);
    }

    /**
     * The word of the next record as it is; whoever uses it checks it, as {@link #poll()} does.
     *
     * @return 0 if there is no record yet.
     */
    public long word() {
        return UnsafeApi.getLongAcquire(null, ringAddress + ((int) position & mask));
    }

    /**
     * Bytes from the next record to the end of the ring.
     *
     * @return the greatest length that it can have.
     */
    public int toEnd() {
        return capacity - ((int) position & mask);
    }

    /**
     * Asks for the second cache line of a record while the first one is decoded.
     *
     * @param record native address of its word.
     */
    public void fetchSecondLine(long record) {
        fetched = UnsafeApi.getLong(record + RECORD_ALIGNMENT);
    }

    /**
     * Goes past a record whose {@link #word()} was checked by the caller, as {@link #step()}.
     *
     * @param recordLength bytes of word and body.
     */
    public void pass(int recordLength) {
        position += alignedLength(recordLength);
    }

    /**
     * Offset of the record from the start of the ring; valid after {@link #RECORD}.
     *
     * @return bytes, a multiple of 64.
     */
    public int offset() {
        return (int) position & mask;
    }

    /**
     * Native address of the record's word.
     *
     * @return the address.
     */
    public long address() {
        return ringAddress + ((int) position & mask);
    }

    /**
     * Native address of a record.
     *
     * @param offset from {@link #offset()}.
     * @return address of its word.
     */
    public long address(int offset) {
        return ringAddress + offset;
    }

    /**
     * Length of the record as read once and checked.
     *
     * @return bytes of word and body.
     */
    public int length() {
        return length;
    }

    /**
     * Type of the record as read once and checked.
     *
     * @return from 2 to the greatest type given; 0 of a short record.
     */
    public int type() {
        return type;
    }

    /**
     * Type of a short record as read once and checked.
     *
     * @return from 1 to the greatest type given; 0 of an ordinary record.
     */
    public int shortType() {
        return shortType;
    }

    /**
     * What the word of a short record has besides its length and type, as read once.
     *
     * @return 32 bits that are not checked.
     */
    public int shortInfo() {
        return shortInfo;
    }

    /** Goes past the record; the producer learns of it at {@link #release()}. */
    public void advance() {
        step();
        releaseFar();
    }

    /**
     * Goes past the record before it is executed, so that it is never executed twice, whatever happens meanwhile. Its
     * bytes stay as they are until {@link #releaseFar()} or {@link #release()}.
     */
    public void step() {
        position += alignedLength(length);
    }

    /** Publishes the position if much was read since the last time. */
    public void releaseFar() {
        // a producer with a long message must not wait for the end of a batch
        if (position - released >= (capacity >> 2)) {
            release();
        }
    }

    /** Publishes the position, so that the producer may reuse what was read. No store if nothing was read. */
    public void release() {
        long end = Math.min(position, keptFrom);
        if (end != released) {
            released = end;
            UnsafeApi.putLongRelease(null, positionAddress, end);
        }
    }

    /**
     * Keeps the record that was passed last: no position beyond its begin is published until {@link #giveBack()}. At
     * most a quarter of the ring is kept, so that the producer has room for more.
     *
     * @param address native address of something in the record's first cache line.
     * @return false if that would be more.
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

    /** Nothing is kept any more; publishes the position. */
    public void giveBack() {
        keptFrom = NOTHING_KEPT;
        release();
    }

    /**
     * Where the next record starts.
     *
     * @return bytes since the start of the ring's life.
     */
    public long position() {
        return position;
    }

    /**
     * Says what {@link #CORRUPT} was about.
     *
     * @return the values of the refused word and its place.
     */
    public String describe() {
        return "record word with length " + length
            + (shortType == 0 ? " and type " + type : " and short type " + shortType) + " at position " + position
            + " of a ring of " + capacity + " bytes (types 1 to " + maxType
            + (maxShortType == 0 ? "" : " and short types 1 to " + maxShortType) + " are known)";
    }

    /**
     * Asks for the further cache lines of a record: they come over together, while the first one is decoded, instead of
     * one by one when they are copied. From the fifth on the processor sees by itself where this leads.
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
            // padding fills exactly the end, so a producer cannot send this loop round the ring for ever
            if (length != toEnd || (length & (RECORD_ALIGNMENT - 1)) != 0 || toEnd == capacity) {
                return CORRUPT;
            }
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
