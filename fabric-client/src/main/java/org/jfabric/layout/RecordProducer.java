package org.jfabric.layout;

import org.agrona.UnsafeApi;
import org.jfabric.FabricErrno;

import static org.jfabric.layout.RecordRingDescriptor.PADDING_TYPE;
import static org.jfabric.layout.RecordRingDescriptor.RECORD_ALIGNMENT;
import static org.jfabric.layout.RecordRingDescriptor.alignedLength;
import static org.jfabric.layout.RecordRingDescriptor.word;

/**
 * Writing end of a record ring. It keeps its own position and trusts the consumer's only as far as it is possible.
 *
 * <p>Use: {@link #claim(int)}, write the body (later cache lines first: the reader polls the first one), then
 * {@link #commit(int, int, int)}. One claim at a time. A claim that is never committed blocks nothing but this ring.
 *
 * <p>Owner: the one producing thread. Addresses are native; the memory must outlive this object.
 */
public final class RecordProducer {
    private static final int CLEARED_AHEAD = 4 * RECORD_ALIGNMENT;

    private final long ringAddress;
    private final int capacity;
    private final int mask;
    private final long consumerPositionAddress;
    private long position;
    private long limit;
    private long consumerPosition;
    /** The lines from the position to here begin with zeroes. */
    private long cleared = RECORD_ALIGNMENT;
    /** The same once the whole claim is committed. */
    private long clearedByClaim;
    private long claimEnd;

    /**
     * A producer at the start of an empty, zeroed ring.
     *
     * @param ringAddress             address of the first record.
     * @param capacity                bytes, a power of two.
     * @param consumerPositionAddress address of the word in which the consumer publishes its position.
     */
    public RecordProducer(long ringAddress, int capacity, long consumerPositionAddress) {
        this.ringAddress = ringAddress;
        this.capacity = capacity;
        this.mask = capacity - 1;
        this.consumerPositionAddress = consumerPositionAddress;
        this.limit = (long) capacity - RECORD_ALIGNMENT;
    }

    /**
     * Claims room for a record.
     *
     * @param length bytes of word and body, at least 8, at most a quarter of the capacity and
     *               {@link RecordRingDescriptor#MAX_LENGTH}.
     * @return offset of the record from the start of the ring, or {@code -FI_EAGAIN} if the ring is full, or
     *     {@code -FI_EIO} if the consumer's position is impossible (the other side is broken).
     */
    public int claim(int length) {
        assert length <= RecordRingDescriptor.MAX_LENGTH : length;
        int needed = alignedLength(length);
        long start = position;
        int offset = (int) start & mask;
        int toEnd = capacity - offset;
        long end = start + needed;
        if (needed > toEnd) {
            end += toEnd;
        }
        // one line more than needed stays free: the next record's word is cleared below
        if (end > limit) {
            int refreshed = refreshLimit();
            if (refreshed < 0) {
                return refreshed;
            }
            if (end > limit) {
                return -FabricErrno.EAGAIN;
            }
        }
        if (needed > toEnd) {
            pad(offset, toEnd);
            offset = 0;
        }
        if (end >= cleared) {
            UnsafeApi.putLong(ringAddress + ((int) end & mask), 0L);
            clearedByClaim = end + RECORD_ALIGNMENT;
        } else {
            clearedByClaim = cleared;
        }
        claimEnd = end;
        // what is written into a claim that is never committed may look like records
        cleared = position + RECORD_ALIGNMENT;
        return offset;
    }

    /**
     * Publishes a claimed record. Everything written before is visible to whoever sees it.
     *
     * @param offset from {@link #claim(int)}.
     * @param length bytes of word and body, not more than claimed.
     * @param type   what the body is.
     */
    public void commit(int offset, int length, int type) {
        commitWord(offset, length, word(length, type));
    }

    /**
     * Publishes a claimed record with a word of the caller's.
     *
     * @param offset from {@link #claim(int)}.
     * @param length bytes of word and body, not more than claimed.
     * @param word   {@link RecordRingDescriptor#word} or {@link RecordRingDescriptor#shortWord} with this length.
     */
    public void commitWord(int offset, int length, long word) {
        position += alignedLength(length);
        if (position != claimEnd) {
            // the next record begins where the claim was perhaps written, or where an old record was
            UnsafeApi.putLong(ringAddress + ((int) position & mask), 0L);
            clearedByClaim = position + RECORD_ALIGNMENT;
        }
        UnsafeApi.putLongRelease(null, ringAddress + offset, word);
        clearAhead();
    }

    /**
     * Address of the first record.
     *
     * @return a native address.
     */
    public long ringAddress() {
        return ringAddress;
    }

    /**
     * Bytes of the ring.
     *
     * @return a power of two.
     */
    public int capacity() {
        return capacity;
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
     * Whether the consumer has taken everything that was committed.
     *
     * @return true if nothing is left in the ring.
     */
    public boolean isDrained() {
        return refreshLimit() == 0 && consumerPosition == position;
    }

    /**
     * Whether the consumer has taken what was committed before.
     *
     * @param end a {@link #position()} of now or earlier.
     * @return true if nothing in front of it is left in the ring; also if the consumer's position is impossible, which
     *     the next {@link #claim} tells.
     */
    public boolean isTaken(long end) {
        return consumerPosition >= end || refreshLimit() < 0 || consumerPosition >= end;
    }

    private void pad(int offset, int toEnd) {
        // the ring's first word must read as empty before the padding leads the consumer there
        UnsafeApi.putLong(ringAddress, 0L);
        UnsafeApi.putLongRelease(null, ringAddress + offset, word(toEnd, PADDING_TYPE));
        position += toEnd;
    }

    /**
     * Where records will begin, line by line. The consumer has these lines, so each store waits for one to come over;
     * behind a commit that keeps nobody waiting, before it the consumer.
     */
    private void clearAhead() {
        long next = clearedByClaim;
        for (long end = Math.min(position + CLEARED_AHEAD, limit); next <= end; next += RECORD_ALIGNMENT) {
            UnsafeApi.putLong(ringAddress + ((int) next & mask), 0L);
        }
        cleared = next;
    }

    private int refreshLimit() {
        long seen = UnsafeApi.getLongAcquire(null, consumerPositionAddress);
        if (seen < consumerPosition || seen > position || (seen & (RECORD_ALIGNMENT - 1)) != 0) {
            return -FabricErrno.EIO;
        }
        consumerPosition = seen;
        limit = seen + capacity - RECORD_ALIGNMENT;
        return 0;
    }
}
