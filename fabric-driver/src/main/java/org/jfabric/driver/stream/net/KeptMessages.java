package org.jfabric.driver.stream.net;

import org.agrona.UnsafeApi;

/**
 * Messages that have arrived and cannot be delivered yet: they are behind a gap, or not all of their fragments are
 * there. They cannot wait in the reader's ring, because the lengths of the messages before them are not known.
 *
 * <p>The memory is a ring of its own, as long as the reader's: what its writer may send fits. Entries are made in the
 * order of arrival and freed in that of positions; what is freed out of order is room again when all before it is. The
 * next message to be delivered, for which there always has to be room, has a place of its own.
 *
 * <pre>
 *   0 length of the entry, 4 bytes | 4 state, 4 bytes | 8 payload length, 4 bytes | 12 flags, 4 bytes
 *   16 tag | 24 data | 32 payload, padded | time of arrival, if they have times
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class KeptMessages {
    private static final int STATE = 4;
    private static final int PAYLOAD_LENGTH = 8;
    private static final int FLAGS = 12;
    private static final int TAG = 16;
    private static final int DATA = 24;
    private static final int HEADER = 32;
    private static final int FREE = 1;
    /** The shortest message of a ring takes so many of its bytes. */
    private static final int SHORTEST = 64;
    private static final long RESERVE = -1;

    private final int capacity;
    private final int timeBytes;
    private final long memory;
    private final long reserve;
    private final int maxPayload;
    /** By position: offset of its entry and 1; 0 for none, or {@link #RESERVE}. */
    private final long[] places;
    private boolean isReserveUsed;
    private long head;
    private long tail;
    private int count;
    private boolean isClosed;

    /**
     * Room for messages.
     *
     * @param capacity bytes, a power of two.
     * @param isTimed  whether each has a time.
     */
    KeptMessages(int capacity, int maxPayload, boolean isTimed) {
        this.capacity = capacity;
        this.timeBytes = isTimed ? Long.BYTES : 0;
        this.maxPayload = maxPayload;
        memory = UnsafeApi.allocateMemory(capacity);
        reserve = UnsafeApi.allocateMemory(HEADER + (long) maxPayload + Long.BYTES + timeBytes);
        places = new long[capacity / SHORTEST];
    }

    /** Positions that can be told apart: those of the next so many messages. */
    int positions() {
        return places.length;
    }

    int count() {
        return count;
    }

    /** Native address of a message's entry; 0 if there is none. */
    long find(long position) {
        long place = places[index(position)];
        return place == RESERVE ? reserve : place == 0 ? 0 : memory + (place - 1 & capacity - 1);
    }

    private int index(long position) {
        return (int) position & places.length - 1;
    }

    /**
     * Makes an entry, whose payload is still to be written.
     *
     * @param isNext whether the message is the next to be delivered.
     * @return its native address; 0 if there is no room.
     */
    long add(long position, int payloadLength, int flags, long tag, long data, boolean isNext) {
        if (payloadLength < 0 || payloadLength > maxPayload) {
            return 0;
        }
        int length = (HEADER + payloadLength + Long.BYTES - 1 & -Long.BYTES) + timeBytes;
        int toEnd = capacity - (int) (tail & capacity - 1);
        long start = length > toEnd ? tail + toEnd : tail;
        long entry;
        if (start + length - head <= capacity) {
            if (start != tail) {
                UnsafeApi.putInt(memory + (tail & capacity - 1), toEnd);
                UnsafeApi.putInt(memory + (tail & capacity - 1) + STATE, FREE);
            }
            entry = memory + (start & capacity - 1);
            tail = start + length;
            places[index(position)] = start + 1;
        } else if (isNext && !isReserveUsed) {
            entry = reserve;
            isReserveUsed = true;
            places[index(position)] = RESERVE;
        } else {
            return 0;
        }
        count++;
        UnsafeApi.putInt(entry, length);
        UnsafeApi.putInt(entry + STATE, 0);
        UnsafeApi.putInt(entry + PAYLOAD_LENGTH, payloadLength);
        UnsafeApi.putInt(entry + FLAGS, flags);
        UnsafeApi.putLong(entry + TAG, tag);
        UnsafeApi.putLong(entry + DATA, data);
        return entry;
    }

    /** When the message arrived, of messages with times. */
    static long timeNs(long entry) {
        return UnsafeApi.getLong(entry + UnsafeApi.getInt(entry) - Long.BYTES);
    }

    static void timeNs(long entry, long timeNs) {
        UnsafeApi.putLong(entry + UnsafeApi.getInt(entry) - Long.BYTES, timeNs);
    }

    static int payloadLength(long entry) {
        return UnsafeApi.getInt(entry + PAYLOAD_LENGTH);
    }

    static int flags(long entry) {
        return UnsafeApi.getInt(entry + FLAGS);
    }

    static long tag(long entry) {
        return UnsafeApi.getLong(entry + TAG);
    }

    static long data(long entry) {
        return UnsafeApi.getLong(entry + DATA);
    }

    static long payload(long entry) {
        return entry + HEADER;
    }

    /** Frees the entry of a message, if there is one. */
    void remove(long position) {
        long entry = find(position);
        if (entry == 0) {
            return;
        }
        places[index(position)] = 0;
        count--;
        if (entry == reserve) {
            isReserveUsed = false;
            return;
        }
        UnsafeApi.putInt(entry + STATE, FREE);
        while (head != tail && UnsafeApi.getInt(memory + (head & capacity - 1) + STATE) == FREE) {
            head += UnsafeApi.getInt(memory + (head & capacity - 1));
        }
    }

    void close() {
        if (!isClosed) {
            isClosed = true;
            UnsafeApi.freeMemory(memory);
            UnsafeApi.freeMemory(reserve);
        }
    }
}
