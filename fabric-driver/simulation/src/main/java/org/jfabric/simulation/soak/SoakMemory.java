package org.jfabric.simulation.soak;

import org.agrona.UnsafeApi;
import org.jfabric.MemoryRegion;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The registered memory of one endpoint, divided into slots of three sizes for sends and receives. Bytes outside of
 * messages have a background pattern that depends on the offset, so that stray writes are detected.
 */
final class SoakMemory {
    static final int LENGTH = 14 << 20;
    /** The longest message in a slot of each size. */
    static final int[] ROOM = {256, 16 << 10, 1 << 20};
    /** Bytes of a slot before and behind its buffer. */
    private static final int GUARD = 64;
    private static final int[] COUNT = {256, 48, 5};
    /** Bytes behind a message that are checked when it has ended; all bytes are checked between windows. */
    private static final int CHECKED_BEHIND = 512;
    private static final long MAGIC = 0x9E3779B97F4A7C15L;

    /** A part of the memory. */
    record Slot(int size, boolean forSends, int offset, int length) {
        /** Offset of a buffer that is shifted by less than 8 bytes. */
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
    Slot acquire(boolean forSends, int length) {
        int size = 0;
        while (ROOM[size] < length) {
            size++;
        }
        return (forSends ? sendSlots : receiveSlots).get(size).poll();
    }

    void free(Slot slot) {
        (slot.forSends() ? sendSlots : receiveSlots).get(slot.size()).add(slot);
    }

    /** The address of an offset, for calls. */
    long at(int offset) {
        return region.address(offset);
    }

    MemoryRegion region() {
        return region;
    }

    /** Writes the payload of a message, which depends on its id. */
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

    /** Rotates a payload: it begins that many bytes behind the start of its memory, and continues at the start. */
    void rotate(int offset, int length, int rotation) {
        if (rotation != 0) {
            byte[] front = new byte[length - rotation];
            byte[] end = new byte[rotation];
            region.buffer().getBytes(offset, front);
            region.buffer().getBytes(offset + front.length, end);
            region.buffer().putBytes(offset, end);
            region.buffer().putBytes(offset + rotation, front);
        }
    }

    /**
     * Moves a message that was received in two pieces to the start of its buffer, and restores the background behind
     * it. Returns the first byte that was overwritten outside of the message, or -1.
     */
    int unrotate(int offset, int length, int rotation, int placed) {
        int first = Math.min(placed, length - rotation);
        int second = placed - first;
        int overwritten = firstOverwritten(offset + rotation + first, offset + length);
        overwritten = overwritten >= 0 ? overwritten : firstOverwritten(offset + second, offset + rotation);
        byte[] payload = new byte[placed];
        region.buffer().getBytes(offset + rotation, payload, 0, first);
        region.buffer().getBytes(offset, payload, first, second);
        restore(offset, length);
        region.buffer().putBytes(offset, payload);
        return overwritten;
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

    /** The first byte that differs from the payload of a message, or -1. */
    int firstDifference(int offset, int length, long id) {
        return firstDifference(address + offset, length, id);
    }

    /** The same for any native memory. */
    static int firstDifference(long from, int length, long id) {
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

    /** The first byte that differs from others, or -1. */
    int mismatch(int offset, byte[] expected) {
        byte[] bytes = new byte[expected.length];
        region.buffer().getBytes(offset, bytes);
        return Arrays.mismatch(bytes, expected);
    }

    /** The first byte of a slot outside of its message that was overwritten, or -1. */
    int firstOverwritten(Slot slot, int begin, int length) {
        int overwritten = firstOverwritten(slot.offset(), begin);
        return overwritten >= 0 ? overwritten : firstOverwrittenBehind(slot, begin + length);
    }

    /** The first byte behind all messages of a slot that was overwritten, or -1. */
    int firstOverwrittenBehind(Slot slot, int end) {
        return firstOverwritten(end, Math.min(end + CHECKED_BEHIND, slot.offset() + slot.length()));
    }

    /** The first byte of all that was overwritten, or -1; only while no slot holds a message. */
    int firstOverwritten() {
        return firstOverwritten(0, LENGTH);
    }

    /** The first byte between two offsets that is not background, or -1. */
    int firstOverwritten(int begin, int end) {
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

    /** Writes the background. */
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
