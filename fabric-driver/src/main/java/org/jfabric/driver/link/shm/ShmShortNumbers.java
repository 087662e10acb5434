package org.jfabric.driver.link.shm;

import org.agrona.collections.IntArrayList;
import org.jfabric.layout.RecordProducer;

import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * Numbers of 16 bits by which the peer names this side's channels in its short records. They have no room for a
 * generation, so that a number is reused only when no record with it can be on its way:
 *
 * <pre>
 *   the peer closed the channel     at once: its CLOSE is the last record with that number
 *   this side closed it             when the peer has consumed the CLOSE, and all that it wrote before is read
 *   it ended in any other way       never, while the connection lives
 * </pre>
 *
 * <p>If no number is left, a channel is named by its long id. Owner: progress agent.
 */
final class ShmShortNumbers {
    /** Number of a channel without a short one. */
    static final int NONE = 0;
    private static final int MAX = 0xFFFF;

    private final IntArrayList free = new IntArrayList();
    private final ArrayDeque<Closed> closed = new ArrayDeque<>();
    private ShmChannel[] channels = new ShmChannel[16];
    private int last;

    /** The channel with a number, or null. */
    ShmChannel find(int number) {
        ShmChannel[] table = channels;
        return number < table.length ? table[number] : null;
    }

    /** Assigns a number to a channel, if one is left. */
    void add(ShmChannel channel) {
        if (!free.isEmpty()) {
            channel.localShort = free.popInt();
        } else if (last < MAX) {
            channel.localShort = ++last;
        } else {
            return;
        }
        if (channel.localShort == channels.length) {
            channels = Arrays.copyOf(channels, channels.length << 1);
        }
        channels[channel.localShort] = channel;
    }

    /** Removes a channel. Its number is not reused unless one of the methods below follows. */
    void remove(ShmChannel channel) {
        if (channel.localShort != NONE) {
            channels[channel.localShort] = null;
        }
    }

    /** The channel was removed because the peer has closed it. */
    void closedByPeer(ShmChannel channel) {
        giveBack(channel.localShort);
    }

    /** The channel was removed because this side has closed it; its CLOSE ends at {@code closeEnd}. */
    void closedByUs(int number, long closeEnd) {
        if (number != NONE) {
            closed.add(new Closed(number, closeEnd));
        }
    }

    /** Whether {@link #reclaim} has nothing to wait for. */
    boolean isSettled() {
        return closed.isEmpty();
    }

    /** Frees numbers whose CLOSE the peer has consumed, if everything that it sent before is read. */
    void reclaim(RecordProducer producer, ShmFrameReader reader) {
        // in this order: the peer publishes its position behind its last record with that number
        while (!closed.isEmpty() && producer.isTaken(closed.peekFirst().closeEnd) && !reader.hasMore()) {
            giveBack(closed.removeFirst().number);
        }
    }

    private void giveBack(int number) {
        if (number != NONE) {
            free.pushInt(number);
        }
    }

    private record Closed(int number, long closeEnd) {
    }
}
