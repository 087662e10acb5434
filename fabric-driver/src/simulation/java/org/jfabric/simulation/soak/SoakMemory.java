package org.jfabric.simulation.soak;

import org.agrona.UnsafeApi;
import org.jfabric.MemoryRegion;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The registered memory of one endpoint, cut into slots of three sizes for sends and receives. What belongs to no
 * message has a background that depends on its place, so that a stray write is seen.
 */
final class SoakMemory {
    /** Bytes of the region. */
    static final int LENGTH = 14 << 20;
    /** Longest message that a slot takes, for each size. */
    static final int[] ROOM = {256, 16 << 10, 1 << 20};
    /** Bytes of a slot in front of and behind each buffer. */
    private static final int GUARD = 64;
    private static final int[] COUNT = {256, 48, 5};
    /** How far behind a message the background is looked at when a message has ended; the rest now and then. */
    private static final int LOOK = 512;
    private static final long MAGIC = 0x9E3779B97F4A7C15L;

    /** A part of the memory. */
    record Slot(int size, boolean forSends, int offset, int length) {
        /** Where a buffer begins that is shifted by some bytes, fewer than 8. */
        int begin(int shift) {
            return offset + GUARD + shift;
        }
    }

    private final MemoryRegion region;
    private final long address;
    /** Free slots of each size. */
    private final List<ArrayDeque<Slot>> sendSlots = new ArrayList<>();
    private final List<ArrayDeque<Slot>> receiveSlots = new ArrayList<>();

    SoakMemory(MemoryRegion region) {
        this.region = region;
        this.address = region.segment().address();
        int offset = 0;
        for (int size = 0; size < ROOM.length; size++) {
            sendSlots.add(new ArrayDeque<>());
            receiveSlots.add(new ArrayDeque<>());
            int length = ROOM[size] + GUARD * 2;
            for (int i = 0; i < COUNT[size] * 2; i++) {
                boolean forSends = i % 2 == 0;
                (forSends ? sendSlots : receiveSlots).get(size).add(new Slot(size, forSends, offset, length));
                offset += length;
            }
        }
        if (offset > LENGTH) {
            throw new AssertionError("the slots take " + offset + " bytes");
        }
        restore(0, LENGTH);
    }

    /** A free slot for that many bytes, or null. */
    Slot take(boolean forSends, int length) {
        int size = 0;
        while (ROOM[size] < length) {
            size++;
        }
        return (forSends ? sendSlots : receiveSlots).get(size).poll();
    }

    void give(Slot slot) {
        (slot.forSends() ? sendSlots : receiveSlots).get(slot.size()).add(slot);
    }

    /** Address of a place in registered memory. */
    long at(int offset) {
        return region.address(offset);
    }

    MemoryRegion region() {
        return region;
    }

    /** Writes the payload of a message: bytes that only this message has. */
    void fill(int offset, int length, long id) {
        write(address + offset, length, id);
    }

    /** Writes the payload of a message to any native memory. */
    static void write(long to, int length, long id) {
        long seed = id * MAGIC;
        int i = 0;
        for (; i + 8 <= length; i += 8) {
            UnsafeApi.putLong(to + i, word(id, seed, i));
        }
        long last = word(id, seed, i);
        for (int k = 0; i < length; i++, k += 8) {
            UnsafeApi.putByte(to + i, (byte) (last >>> k));
        }
    }

    /** Lets a payload begin that many bytes behind the start of its memory, and its end stand in front. */
    void turn(int offset, int length, int turned) {
        if (turned != 0) {
            byte[] front = new byte[length - turned];
            byte[] end = new byte[turned];
            region.buffer().getBytes(offset, front);
            region.buffer().getBytes(offset + front.length, end);
            region.buffer().putBytes(offset, end);
            region.buffer().putBytes(offset + turned, front);
        }
    }

    /**
     * Moves a message out of the two pieces of a buffer to its start, and puts the background behind it; the first
     * byte that was written to outside of the message, or -1.
     */
    int straighten(int offset, int length, int turned, int placed) {
        int first = Math.min(placed, length - turned);
        int second = placed - first;
        int disturbed = disturbed(offset + turned + first, offset + length);
        disturbed = disturbed >= 0 ? disturbed : disturbed(offset + second, offset + turned);
        byte[] payload = new byte[placed];
        region.buffer().getBytes(offset + turned, payload, 0, first);
        region.buffer().getBytes(offset, payload, first, second);
        restore(offset, length);
        region.buffer().putBytes(offset, payload);
        return disturbed;
    }

    /** The id of the message that begins here; 0 if none does. */
    long idAt(int offset) {
        long word = UnsafeApi.getLong(address + offset);
        return word == background(offset) ? 0 : word ^ MAGIC;
    }

    /** The id of the message whose first bytes these are. */
    static long idOf(long firstBytes) {
        return firstBytes ^ MAGIC;
    }

    /** The first byte that is not of the message, or -1. */
    int differs(int offset, int length, long id) {
        return differs(address + offset, length, id);
    }

    /** The first byte of any native memory that is not of the message, or -1. */
    static int differs(long from, int length, long id) {
        long seed = id * MAGIC;
        int i = 0;
        for (; i + 8 <= length; i += 8) {
            if (UnsafeApi.getLong(from + i) != word(id, seed, i)) {
                return i;
            }
        }
        long last = word(id, seed, i);
        for (int k = 0; i < length; i++, k += 8) {
            if (UnsafeApi.getByte(from + i) != (byte) (last >>> k)) {
                return i;
            }
        }
        return -1;
    }

    /** The first byte that is not one of these, or -1. */
    int mismatch(int offset, byte[] expected) {
        byte[] bytes = new byte[expected.length];
        region.buffer().getBytes(offset, bytes);
        return Arrays.mismatch(bytes, expected);
    }

    /** Looks at the bytes of a slot that do not belong to its message; the first that was written to, or -1. */
    int disturbed(Slot slot, int begin, int length) {
        int disturbed = disturbed(slot.offset(), begin);
        return disturbed >= 0 ? disturbed
            : disturbed(begin + length, Math.min(begin + length + LOOK, slot.offset() + slot.length()));
    }

    /** Looks at what is behind all messages of a slot; the first byte that was written to, or -1. */
    int disturbedBehind(Slot slot, int end) {
        return disturbed(end, Math.min(end + LOOK, slot.offset() + slot.length()));
    }

    /** The first byte of the whole memory that is not background, or -1; only while no slot holds a message. */
    int disturbed() {
        return disturbed(0, LENGTH);
    }

    /** The first byte between two places that is not background, or -1. */
    int disturbed(int begin, int end) {
        int i = begin;
        for (; i < end && (i & 7) != 0; i++) {
            if (UnsafeApi.getByte(address + i) != backgroundByte(i)) {
                return i;
            }
        }
        for (; i + 8 <= end; i += 8) {
            if (UnsafeApi.getLong(address + i) != alignedBackground(i)) {
                return i;
            }
        }
        for (; i < end; i++) {
            if (UnsafeApi.getByte(address + i) != backgroundByte(i)) {
                return i;
            }
        }
        return -1;
    }

    /** Puts the background back. */
    void restore(int begin, int length) {
        int end = begin + length;
        int i = begin;
        for (; i < end && (i & 7) != 0; i++) {
            UnsafeApi.putByte(address + i, backgroundByte(i));
        }
        for (; i + 8 <= end; i += 8) {
            UnsafeApi.putLong(address + i, alignedBackground(i));
        }
        for (; i < end; i++) {
            UnsafeApi.putByte(address + i, backgroundByte(i));
        }
    }

    private static long word(long id, long seed, int offset) {
        return offset == 0 ? id ^ MAGIC : (seed ^ offset) * 0xD1342543DE82EF95L;
    }

    private static long alignedBackground(int offset) {
        return 0x5A5A_0000_C3C3_0000L + (long) offset * 0x1_0000_0001L;
    }

    private static byte backgroundByte(int offset) {
        return (byte) (alignedBackground(offset & ~7) >>> ((offset & 7) << 3));
    }

    private static long background(int offset) {
        long value = 0;
        for (int i = 7; i >= 0; i--) {
            value = value << 8 | backgroundByte(offset + i) & 0xFF;
        }
        return value;
    }
}
