package org.jfabric.driver.stream.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.layout.GroupRingDescriptor;

/** A reading host: compares each message with that of the writer, and has a ring that its reader empties slowly. */
final class ListSink extends StreamSink {
    final String name;
    final Map<UUID, ListSource> writers;
    final List<FabricException> notices = new ArrayList<>();
    LogPosition start;
    long next;
    long gaps;
    long lost;
    long firstLost = -1;
    long behind = -1;
    int errno;
    long arrivedNs;
    /** Null for a clock that nobody asks. */
    SimulatedPaths network;
    private int ringBytes;
    private boolean isLossy;
    private final ArrayDeque<Integer> unread = new ArrayDeque<>();
    private long usedBytes;
    private long consumed;

    ListSink(String name, Map<UUID, ListSource> writers) {
        this.name = name;
        this.writers = writers;
    }

    boolean isOver() {
        return errno != 0 || behind >= 0;
    }

    /** The reader of the ring takes messages. */
    void consume(int count) {
        for (int i = 0; i < count && !unread.isEmpty(); i++) {
            usedBytes -= unread.poll();
            consumed++;
        }
    }

    /** Bytes of its ring that its reader has yet to take. */
    long usedBytes() {
        return usedBytes;
    }

    @Override
    public void onJoined(LogPosition newStart, int newRingBytes, int flags) {
        assertEquals(null, start, "joined twice");
        start = newStart;
        next = start.position();
        consumed = next;
        ringBytes = newRingBytes;
        isLossy = (flags & LOSSY) != 0;
    }

    @Override
    public boolean hasRoom(int payloadLength) {
        return isLossy || usedBytes + lengthBytes(payloadLength) <= ringBytes;
    }

    private static int lengthBytes(int payloadLength) {
        return GroupRingDescriptor.alignedLength(GroupRingDescriptor.RECORD_HEADER_WITH_DATA + payloadLength);
    }

    @Override
    public void write(long position, int flags, long tag, long data, long payload, int payloadLength) {
        assertEquals(next, position, () -> name + ": order");
        assertTrue(hasRoom(payloadLength), () -> name + ": no room");
        assertTrue(!isOver(), () -> name + ": after the end");
        ListSource.Message message = writers.get(start.logId()).message(position);
        byte[] bytes = new byte[payloadLength];
        UnsafeApi.copyMemory(null, payload, bytes, BufferUtil.ARRAY_BASE_OFFSET, payloadLength);
        assertArrayEquals(message.payload(), bytes, () -> name + ": bytes of " + position);
        assertEquals(message.flags() + " " + message.tag() + " " + message.data(), flags + " " + tag + " " + data,
            () -> name + ": head of " + position);
        next++;
        arrivedNs = network == null ? 0 : network.nowNs;
        if (!isLossy) {
            unread.add(lengthBytes(payloadLength));
            usedBytes += lengthBytes(payloadLength);
        } else {
            consumed = next;
        }
    }

    @Override
    public void gap(long first, long last) {
        assertEquals(next, first, () -> name + ": gap");
        assertTrue(last >= first && last < writers.get(start.logId()).next(), () -> name + ": gap to " + last);
        assertTrue(!isOver(), () -> name + ": gap after the end");
        firstLost = firstLost < 0 ? first : firstLost;
        gaps++;
        lost += last - first + 1;
        next = last + 1;
    }

    @Override
    public void behind(long position) {
        assertTrue(!isOver(), () -> name + ": behind after the end");
        behind = position;
    }

    @Override
    public void end(int newErrno) {
        assertTrue(!isOver(), () -> name + ": ended twice");
        errno = newErrno;
    }

    @Override
    public long window() {
        return isLossy ? UNLIMITED : Math.max(0, ringBytes - ringBytes / 8 - usedBytes);
    }

    @Override
    public long consumed() {
        return consumed;
    }

    @Override
    public void onNotice(FabricException notice) {
        notices.add(notice);
    }

    @Override
    public String toString() {
        return name + ": from " + start + ", next " + next + ", lost " + lost + " in " + gaps + " gaps, errno " + errno
            + ", behind " + behind + ", used " + usedBytes;
    }
}
