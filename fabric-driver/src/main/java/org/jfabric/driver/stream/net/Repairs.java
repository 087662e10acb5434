package org.jfabric.driver.stream.net;

import java.util.Arrays;

/**
 * Answers requests for messages that were lost: sends them again, or says that they do not exist any more. Each reader,
 * and all of them together, get no more in a round trip than a part of the ring.
 *
 * <p>With a multicast group the first to ask gets an answer of its own. If another one asks for the same within a round
 * trip the loss was near the writer: then the group gets the repair, and further requests of that time are ignored.
 * Owner: progress agent.
 */
final class Repairs {
    private static final int RECENT = 1 << 10;
    private static final long PERIOD_NS = 1_000_000;
    private static final int READERS_AT_ONCE = 4;
    /** What a Lost takes of the budget: with that many ranges a request is shorter than the answers. */
    private static final int LOST_BYTES = 64;

    private final StreamWriter writer;
    private final DataWriter data;
    private final Budget budget;
    // the last repairs, by the lower bits of their position
    private final long[] positions = new long[RECENT];
    private final int[] firstBytes = new int[RECENT];
    private final long[] ends = new long[RECENT];
    private final int[] endBytes = new int[RECENT];
    private final long[] timesNs = new long[RECENT];
    private final RemoteReader[] askers = new RemoteReader[RECENT];
    private long datagrams;

    Repairs(StreamWriter writer, DataWriter data, long nowNs) {
        this.writer = writer;
        this.data = data;
        budget = new Budget((long) READERS_AT_ONCE * Math.max(64 << 10, writer.ringBytes() / 8), nowNs);
        Arrays.fill(positions, -1);
    }

    long datagrams() {
        return datagrams;
    }

    /** A reader asks for a range. */
    void repair(RemoteReader reader, int path, long first, int firstByte, long end, int endByte) {
        SendCursor sent = writer.cursorOf(reader);
        boolean isBeyond = Gaps.isBefore(sent.position(), sent.firstByte(), end, endByte);
        long last = isBeyond ? sent.position() : end;
        int lastByte = isBeyond ? sent.firstByte() : endByte;
        if (first < 0 || firstByte < 0 || endByte < 0) {
            return;
        }
        long nowNs = writer.nowNs();
        long position = first;
        int offset = firstByte;
        while (Gaps.isBefore(position, offset, last, lastByte)) {
            if (!reader.mayRepair(nowNs) || !budget.isThere(nowNs, PERIOD_NS)) {
                return;
            }
            if (position < writer.oldest()) {
                long lost = Math.min(writer.oldest(), Math.max(position + 1, last));
                writer.sendLost(reader, position, lost - 1);
                reader.repaired(LOST_BYTES);
                budget.take(LOST_BYTES);
                position = lost;
                offset = 0;
                continue;
            }
            int recent = (int) position & RECENT - 1;
            boolean isRecent = writer.groups() != null && positions[recent] == position
                && firstBytes[recent] == offset && nowNs - timesNs[recent] < reader.timeoutNs();
            if (isRecent && askers[recent] == null) {
                position = ends[recent];
                offset = endBytes[recent];
                continue;
            }
            boolean isToGroup = isRecent && askers[recent] != reader;
            data.to(position, offset);
            if (!send(reader, path, last, lastByte, isToGroup)) {
                return;
            }
            positions[recent] = position;
            firstBytes[recent] = offset;
            position = data.position();
            offset = data.firstByte();
            ends[recent] = position;
            endBytes[recent] = offset;
            timesNs[recent] = nowNs;
            askers[recent] = isToGroup ? null : reader;
        }
    }

    private boolean send(RemoteReader reader, int path, long end, int endByte, boolean isToGroup) {
        StreamSocket port = writer.node(path).port();
        long memory = port.claim();
        int length = memory == 0 ? 0 : data.write(memory, end, endByte, true);
        if (length == 0) {
            return false;
        }
        PeerAddress to = isToGroup ? writer.groups()[path] : reader.address(path);
        port.send(length, to.name(), to.length());
        writer.sent(length, true);
        reader.repaired(length);
        budget.take(length);
        datagrams++;
        return true;
    }
}
