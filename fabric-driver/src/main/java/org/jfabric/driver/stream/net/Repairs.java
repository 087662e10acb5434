package org.jfabric.driver.stream.net;

import java.util.Arrays;

/**
 * Answers requests for messages that were lost: sends them again, or says that they do not exist any more. What a
 * reader asks for waits until the stream's rate permits it, and is sent before anything new; what was sent to it less
 * than a round trip ago is not sent again. Each reader, and all of them together, get no more in a round trip than a
 * part of the ring.
 *
 * <p>With a multicast group the first to ask gets an answer of its own. If another one asks for the same within a round
 * trip the loss was near the writer: then the group gets the repair, and further requests of that time are ignored.
 * Owner: progress agent.
 */
final class Repairs {
    private static final int RECENT = 1 << 12;
    private static final long PERIOD_NS = 1_000_000;
    private static final int READERS_AT_ONCE = 4;
    /** What a Lost takes of the budget: with that many ranges a request is shorter than the answers. */
    private static final int LOST_BYTES = 64;

    private final StreamWriter writer;
    private final DataWriter data;
    private final Pacer pacer;
    private final Budget budget;
    // the last repairs, by the lower bits of their place
    private final long[] positions = new long[RECENT];
    private final int[] firstBytes = new int[RECENT];
    private final long[] ends = new long[RECENT];
    private final int[] endBytes = new int[RECENT];
    private final long[] timesNs = new long[RECENT];
    private final RemoteReader[] askers = new RemoteReader[RECENT];
    private int turn;
    private long datagrams;

    Repairs(StreamWriter writer, DataWriter data, Pacer pacer, long nowNs) {
        this.writer = writer;
        this.data = data;
        this.pacer = pacer;
        budget = new Budget((long) READERS_AT_ONCE * Math.max(64 << 10, writer.ringBytes() / 8), nowNs);
        Arrays.fill(positions, -1);
    }

    long datagrams() {
        return datagrams;
    }

    /** Sends what readers have asked for, as far as the rate permits; the number of answers. */
    int step(long nowNs, int most) {
        int work = 0;
        int count = writer.readers().size();
        for (int i = 0; i < count; i++) {
            RemoteReader reader = writer.readers().get((turn + i) % count);
            while (work < most && !reader.asked().isEmpty() && pacer.mayData()
                && reader.mayRepair(nowNs) && budget.isThere(nowNs, PERIOD_NS) && answer(reader, nowNs)) {
                work++;
            }
        }
        turn = count == 0 ? 0 : (turn + 1) % count;
        return work;
    }

    /** Answers the begin of what a reader has asked for; false if the socket takes nothing now. */
    private boolean answer(RemoteReader reader, long nowNs) {
        AskedRanges asked = reader.asked();
        long position = asked.first();
        int offset = asked.firstByte();
        if (position < writer.oldest()) {
            long lost = Math.min(writer.oldest(), Math.max(position + 1, asked.end()));
            writer.sendLost(reader, position, lost - 1);
            reader.repaired(LOST_BYTES);
            budget.take(LOST_BYTES);
            asked.discard(lost, 0);
            return true;
        }
        boolean isMulticast = writer.groups() != null;
        int recent = (int) (position + offset / data.fragmentBytes() + (isMulticast ? 0 : reader.member()))
            & RECENT - 1;
        boolean wasSent = positions[recent] == position && firstBytes[recent] == offset
            && (isMulticast || askers[recent] == reader);
        boolean wasOwn = wasSent && askers[recent] == reader;
        boolean isRecent =
            wasSent && nowNs - timesNs[recent] < (wasOwn ? reader.roundTripNs() : reader.timeoutNs());
        // otherwise a recent one was sent to another reader, and the group gets it now
        if (isRecent && (wasOwn || askers[recent] == null)) {
            asked.discard(ends[recent], endBytes[recent]);
            return true;
        }
        StreamSocket port = writer.node(reader.askedPath()).port();
        long memory = port.claim();
        if (memory == 0) {
            return false;
        }
        if (wasOwn && pacer.isNews(timesNs[recent])) {
            writer.lost(position, offset, ends[recent], endBytes[recent]);
        }
        data.to(position, offset);
        int length = data.write(memory, asked.end(), asked.endByte(), true);
        if (length == 0) {
            // it was asked for behind its end
            asked.discard(asked.end(), asked.endByte());
            return true;
        }
        PeerAddress to = isRecent ? writer.groups()[reader.askedPath()] : reader.address(reader.askedPath());
        port.send(length, to.name(), to.length());
        asked.discard(data.position(), data.firstByte());
        positions[recent] = position;
        firstBytes[recent] = offset;
        ends[recent] = data.position();
        endBytes[recent] = data.firstByte();
        timesNs[recent] = nowNs;
        askers[recent] = isRecent ? null : reader;
        writer.sent(length);
        reader.repaired(length);
        budget.take(length);
        datagrams++;
        return true;
    }
}
