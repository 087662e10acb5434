package org.jfabric.driver.link.shm;

import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.Map;
import org.jfabric.driver.link.ChannelHandler;

/**
 * The channels of one connection: by the ids that the peer names them by, and by the engine's handlers.
 *
 * <p>Owner: progress agent.
 */
final class ShmChannels {
    private static final int SLOT_BITS = 20;
    private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;

    private final ShmShortNumbers shortNumbers;
    private final Map<ChannelHandler, ShmChannel> byHandler = new IdentityHashMap<>();
    private ShmChannel[] channels = new ShmChannel[16];
    private int uses;

    ShmChannels(ShmShortNumbers shortNumbers) {
        this.shortNumbers = shortNumbers;
    }

    /** The channel with an id if it is up, or null. */
    ShmChannel up(int id) {
        int slot = id & SLOT_MASK;
        ShmChannel[] table = channels;
        ShmChannel channel = slot < table.length ? table[slot] : null;
        return channel != null && channel.localId == id && channel.state == ShmChannel.UP ? channel : null;
    }

    /** The channel with an id in any state, or null. */
    ShmChannel find(int id) {
        int slot = id & SLOT_MASK;
        ShmChannel channel = slot < channels.length ? channels[slot] : null;
        return channel != null && channel.localId == id ? channel : null;
    }

    /** The channel of a handler, or null. */
    ShmChannel of(ChannelHandler handler) {
        return byHandler.get(handler);
    }

    /** The channel of a handler that the peer has not opened yet, or null. */
    ShmChannel waiting(ChannelHandler handler) {
        ShmChannel channel = byHandler.get(handler);
        return channel != null && channel.state == ShmChannel.OPENING && !channel.isConnection ? channel : null;
    }

    void add(ShmChannel channel) {
        int slot = 0;
        while (slot < channels.length && channels[slot] != null) {
            slot++;
        }
        if (slot == channels.length) {
            channels = Arrays.copyOf(channels, slot * 2);
        }
        // an id is not reused soon, so that late frames do not reach a successor
        channel.localId = slot | (++uses << SLOT_BITS);
        channels[slot] = channel;
        shortNumbers.add(channel);
        byHandler.put(channel.handler(), channel);
    }

    /** Takes a channel out, in its state. */
    void take(ShmChannel channel) {
        if (find(channel.localId) == channel) {
            channels[channel.localId & SLOT_MASK] = null;
            shortNumbers.remove(channel);
        }
        byHandler.remove(channel.handler(), channel);
    }

    void forget(ShmChannel channel) {
        channel.state = ShmChannel.CLOSED;
        take(channel);
    }

    /** Channels that there were so far. */
    int uses() {
        return uses;
    }

    /** The table itself, with null where there is no channel. */
    ShmChannel[] all() {
        return channels;
    }

    void clear() {
        Arrays.fill(channels, null);
        byHandler.clear();
    }
}
