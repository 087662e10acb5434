package org.jfabric;

import org.jfabric.client.WaitChannel;
import org.jfabric.client.WaitLine;
import org.jfabric.info.WaitObject;

/** Waiting at a descriptor, {@link WaitObject#FD}: readable when there is something. */
final class ChannelWait extends NativeWait {
    private final WaitLine line;
    private final WaitChannel channel;

    ChannelWait(WaitLine line, WaitChannel channel) {
        this.line = line;
        this.channel = channel;
    }

    @Override
    boolean arm() {
        // old wake-ups go first: a wake-up after the arming writes another byte
        boolean open = channel.drain();
        line.arm();
        return open;
    }

    @Override
    void disarm() {
        line.disarm();
    }

    @Override
    void signal() {
        if (line.takeArmed()) {
            channel.ring();
        }
    }

    @Override
    void close() {
        channel.close();
    }

    @Override
    void describe(WaitObjectHandle handle) {
        handle.channel(channel.socket());
    }
}
