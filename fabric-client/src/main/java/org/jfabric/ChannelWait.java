package org.jfabric;

import org.jfabric.client.Invoker;
import org.jfabric.client.WaitChannel;
import org.jfabric.client.WaitLine;
import org.jfabric.info.WaitObject;

/** Waiting at a descriptor, {@link WaitObject#FD}: readable when there is something. */
final class ChannelWait extends NativeWait {
    private final WaitLine line;
    private final WaitChannel channel;
    private final Invoker invoker;

    /** The invoker is null for a driver that has threads of its own. */
    ChannelWait(WaitLine line, WaitChannel channel, Invoker invoker) {
        this.line = line;
        this.channel = channel;
        this.invoker = invoker;
    }

    @Override
    boolean arm() {
        // old wake-ups go first: a wake-up after the arming writes another byte
        boolean open = channel.drain();
        line.arm();
        return open;
    }

    @Override
    boolean prepare() {
        return invoker == null || invoker.prepareSleep();
    }

    @Override
    void disarm() {
        line.disarm();
        if (invoker != null) {
            invoker.cancelSleep();
        }
    }

    @Override
    void signal() {
        if (invoker != null) {
            // no thread of the driver sends a byte back; the driver's end of the channel is written at once
            invoker.wakeSleepers();
        } else if (line.takeArmed()) {
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
