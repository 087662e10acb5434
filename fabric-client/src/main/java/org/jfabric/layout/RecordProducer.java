package org.jfabric.layout;

import static org.jfabric.layout.RecordRingDescriptor.PADDING_TYPE;
import static org.jfabric.layout.RecordRingDescriptor.RECORD_ALIGNMENT;
import static org.jfabric.layout.RecordRingDescriptor.alignedLength;
import static org.jfabric.layout.RecordRingDescriptor.word;

import org.agrona.UnsafeApi;
import org.jfabric.info.FabricErrno;

/**
 * Writing end of a record ring. It keeps its own position and validates the consumer's position whenever it reads it.
 *
 * <p>Use: {@link #claim(int)}, write the body (later cache lines first: the reader polls the first one), then
 * {@link #commit(int, int, int)}. One claim at a time. A claim that is never committed blocks only this ring.
 *
 * <p>A ring may begin small ({@link #beginSmall}): then only its first bytes are written, and it grows where they end.
 * If it cannot, padding leads back to the start as soon as the consumer has taken everything.
 *
 * <p>Owner: the producing thread. Addresses are native; the memory must outlive this object.
 */
public final class RecordProducer {
    /** Bytes behind the usable part of a ring that begins small: the word of padding is written there. */
    public static final int WRITTEN_BEHIND = RECORD_ALIGNMENT;

    /** Records that have space in a part of the ring between two returns to its start. */
    private static final int LEAST_RECORDS = 4;
    private static final int CLEARED_AHEAD = 4 * RECORD_ALIGNMENT;
    /** An eager message of the usual limit with its header. */
    private static final int MOST_CLEARED_AHEAD = 130 * RECORD_ALIGNMENT;

    private final long ringAddress;
    private final int capacity;
    private final int mask;
    private final long consumerPositionAddress;
    private long position;
    /** Up to where records need no check: the least of {@link #room}, {@link #smallEnd} and {@link #stampAt}. */
    private long limit;
    /** Where the free space ends. */
    private long room;
    private long consumerPosition;
    /** The first record from this position on is preceded by a time stamp. */
    private long stampAt = Long.MAX_VALUE;
    private long stampDistance;
    private int stampType;
    /** Bytes from the start of the ring that may be written. */
    private int smallLength;
    /** Position at which they end in this round; beyond all positions in a whole ring. */
    private long smallEnd = Long.MAX_VALUE;
    private Growth growth;
    private boolean isGrowing;
    /** There was no more when it was last wanted. */
    private boolean isStuck;
    /** The cache lines from the position up to here begin with a zero word. */
    private long cleared = RECORD_ALIGNMENT;
    /** The value of {@link #cleared} once the whole claim is committed. */
    private long clearedByClaim;
    private long claimEnd;

    /**
     * A producer at the start of an empty, zeroed ring.
     *
     * @param ringAddress             address of the first record.
     * @param capacity                bytes, a power of two.
     */
    public RecordProducer(long ringAddress, int capacity, long consumerPositionAddress) {
        this.ringAddress = ringAddress;
        this.capacity = capacity;
        this.mask = capacity - 1;
        this.consumerPositionAddress = consumerPositionAddress;
        this.smallLength = capacity;
        this.room = (long) capacity - RECORD_ALIGNMENT;
        this.limit = room;
    }

    /** Makes more of a ring usable. */
    @FunctionalInterface
    public interface Growth {
        /**
         * More is to be used; claims answer {@code -FI_EAGAIN} until {@link RecordProducer#grown} or
         * {@link RecordProducer#notGrown}, which may be called in this call. It is not called again before.
         *
         * @param lengthBytes from the start of the ring, a power of two, more than could be used so far.
         * @param isNeeded    whether the record is too long for what can be used so far.
         */
        void wanted(int lengthBytes, boolean isNeeded);
    }

    /**
     * Uses only the first bytes of the ring from its start on; {@link #WRITTEN_BEHIND} more must be writable.
     *
     * @param lengthBytes a power of two, from {@link RecordRingDescriptor#RECORD_ALIGNMENT} on; the whole ring if that
     *                    is shorter.
     * @param newGrowth   called inside of {@link #claim}.
     */
    public void beginSmall(int lengthBytes, Growth newGrowth) {
        growth = newGrowth;
        grown(lengthBytes);
    }

    /**
     * More of the ring can be used.
     *
     * @param lengthBytes from the start of the ring, a power of two.
     */
    public void grown(int lengthBytes) {
        isGrowing = false;
        isStuck = false;
        smallLength = Math.min(lengthBytes, capacity);
        smallEnd = smallLength == capacity ? Long.MAX_VALUE : (position & -(long) capacity) + smallLength;
        limit();
    }

    /**
     * Writes a record with the time in front of one record in each so many bytes of the ring, beginning with the next
     * such distance. It has the length {@link RecordRingDescriptor#STAMP_LENGTH}, and the time of
     * {@link System#nanoTime()} behind its word. Other records take no step for it: {@link #claim} compares with one
     * limit, which is the free space or the next time stamp.
     *
     * @param distance bytes of the ring between two of these records, a multiple of
     *                 {@link RecordRingDescriptor#RECORD_ALIGNMENT}.
     */
    public void stampEvery(long distance, int type) {
        stampDistance = distance;
        stampType = type;
        stampAt = position + distance;
        limit();
    }

    /** There is no more of the ring now. */
    public void notGrown() {
        isGrowing = false;
        isStuck = true;
    }

    private void limit() {
        limit = Math.min(Math.min(room, smallEnd), stampAt);
    }

    /**
     * Claims space for a record.
     *
     * @param length bytes of word and body, at least 8, at most a quarter of the capacity and
     *               {@link RecordRingDescriptor#MAX_LENGTH}.
     * @return offset of the record from the start of the ring, or {@code -FI_EAGAIN} if the ring is full, or
     *     {@code -FI_EIO} if the consumer's position is invalid (the other side is corrupt).
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
            int result = whenBeyondLimit(end);
            if (result != 0) {
                return result < 0 ? result : claim(length);
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
        // bytes that are written into a claim that is never committed may be mistaken for records
        cleared = position + RECORD_ALIGNMENT;
        return offset;
    }

    /**
     * Publishes a claimed record. A consumer that sees it sees all earlier writes.
     *
     * @param offset from {@link #claim(int)}.
     * @param length bytes of word and body, not more than claimed.
     */
    public void commit(int offset, int length, int type) {
        commitWord(offset, length, word(length, type));
    }

    /**
     * Publishes a claimed record with a word of the caller.
     *
     * @param offset from {@link #claim(int)}.
     * @param length bytes of word and body, not more than claimed.
     * @param word   {@link RecordRingDescriptor#word} or {@link RecordRingDescriptor#shortWord} with this length.
     */
    public void commitWord(int offset, int length, long word) {
        position += alignedLength(length);
        if (position != claimEnd) {
            // the next record begins at bytes that the claim may have written, or that an old record has left
            UnsafeApi.putLong(ringAddress + ((int) position & mask), 0L);
            clearedByClaim = position + RECORD_ALIGNMENT;
        }
        UnsafeApi.putLongRelease(null, ringAddress + offset, word);
        clearAhead();
        if (length > CLEARED_AHEAD) {
            clearForNext(length);
        }
    }

    /** Address of the first record. Returns a native address. */
    public long ringAddress() {
        return ringAddress;
    }

    /** Bytes of the ring. Returns a power of two. */
    public int capacity() {
        return capacity;
    }

    public long position() {
        return position;
    }

    /** Whether the consumer has taken all committed records. */
    public boolean isDrained() {
        return refreshLimit() == 0 && consumerPosition == position;
    }

    /**
     * Whether the consumer has taken all records up to a position.
     *
     * @param end the current {@link #position()}, or an earlier one.
     * @return true if no record before it is left in the ring; also if the consumer's position is invalid, which the
     *     next {@link #claim} reports.
     */
    public boolean isTaken(long end) {
        return consumerPosition >= end || refreshLimit() < 0 || consumerPosition >= end;
    }

    private void pad(int offset, int toEnd) {
        // the ring's first word must be empty before the padding leads the consumer there
        UnsafeApi.putLong(ringAddress, 0L);
        UnsafeApi.putLongRelease(null, ringAddress + offset, word(toEnd, PADDING_TYPE));
        position += toEnd;
    }

    /**
     * Zeroes the first words of the next lines, in which records will begin. The lines are in the consumer's cache, so
     * each store waits for the transfer of a line. After a commit that delays no thread; before it the consumer would
     * wait.
     */
    private void clearAhead() {
        long next = clearedByClaim;
        for (long end = Math.min(position + CLEARED_AHEAD, limit); next <= end; next += RECORD_ALIGNMENT) {
            UnsafeApi.putLong(ringAddress + ((int) next & mask), 0L);
        }
        cleared = next;
    }

    /**
     * Zeroes the first words of as many lines as the last record had: the next record of a row finds its lines in this
     * processor's cache when it is copied. From 256 bytes to 8 KiB a round trip takes a quarter to a third less time,
     * and a stream a sixth.
     */
    private void clearForNext(int lengthBytes) {
        long next = cleared;
        long end = Math.min(position + Math.min(alignedLength(lengthBytes), MOST_CLEARED_AHEAD), limit);
        for (; next <= end; next += RECORD_ALIGNMENT) {
            UnsafeApi.putLong(ringAddress + ((int) next & mask), 0L);
        }
        cleared = next;
    }

    /** Returns 0 if the claim may continue, 1 if a time stamp was written and it must begin anew, or why it fails. */
    private int whenBeyondLimit(long end) {
        int refreshed = refreshLimit();
        if (refreshed < 0 || end <= limit) {
            return refreshed;
        }
        if (end > smallEnd) {
            return whenSmallEnds((int) (end - position));
        }
        if (end > room) {
            return -FabricErrno.EAGAIN;
        }
        if (position < stampAt || end + RECORD_ALIGNMENT > Math.min(room, smallEnd)) {
            // the next record gets the time stamp: this one begins before it is due, or there is no space for both
            return 0;
        }
        stampAt = position + RECORD_ALIGNMENT + stampDistance;
        limit();
        int offset = claim(RecordRingDescriptor.STAMP_LENGTH);
        UnsafeApi.putLong(ringAddress + offset + RecordRingDescriptor.WORD_LENGTH, System.nanoTime());
        commit(offset, RecordRingDescriptor.STAMP_LENGTH, stampType);
        return 1;
    }

    /** As {@link #whenBeyondLimit}: lets the ring grow, or goes back to its start. */
    private int whenSmallEnds(int needed) {
        int offset = (int) position & mask;
        boolean isNeeded = needed > smallLength / LEAST_RECORDS;
        if (!isGrowing && (isNeeded || !isStuck)) {
            isGrowing = true;
            long least = Long.highestOneBit(Math.max(offset + needed, LEAST_RECORDS * (long) needed) - 1) << 1;
            growth.wanted((int) Math.min(capacity, Math.max(4L * smallLength, least)), isNeeded);
        }
        if (isStuck && !isNeeded && consumerPosition == position && offset != 0) {
            pad(offset, capacity - offset);
            smallEnd = position + smallLength;
            limit();
        }
        return position + needed <= smallEnd ? 1 : -FabricErrno.EAGAIN;
    }

    private int refreshLimit() {
        long seen = UnsafeApi.getLongAcquire(null, consumerPositionAddress);
        if (seen < consumerPosition || seen > position || (seen & (RECORD_ALIGNMENT - 1)) != 0) {
            return -FabricErrno.EIO;
        }
        consumerPosition = seen;
        room = seen + capacity - RECORD_ALIGNMENT;
        limit();
        return 0;
    }
}
