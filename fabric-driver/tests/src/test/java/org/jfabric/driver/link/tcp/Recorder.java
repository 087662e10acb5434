package org.jfabric.driver.link.tcp;

import org.agrona.UnsafeApi;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.StreamHandler;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.driver.link.support.MessageChannelHandler;

import java.util.ArrayList;
import java.util.List;

/** The engine's side of a channel: records the events, and places messages in memory of its own. */
final class Recorder extends ChannelHandler {
    private static final long MAX_LENGTH = 1 << 26;

    final List<byte[]> messages = new ArrayList<>();
    final List<Long> tags = new ArrayList<>();
    final List<Long> sent = new ArrayList<>();
    final List<Long> acknowledged = new ArrayList<>();
    final List<Long> pulled = new ArrayList<>();
    MessageChannel channel;
    int ups;
    int downs;
    int downErrno;
    int writables;
    int aborted;
    int placeCalls;
    boolean storesShortOnes = true;
    boolean pauses;
    private long memory;
    private final StreamHandler streams = new StreamHandler() {
        @Override
        public boolean canStore(long length) {
            return storesShortOnes && !pauses;
        }

        @Override
        public void place(long flags, long tag, long data, long length, Placement placement) {
            placeCalls++;
            if (pauses) {
                placement.set(Placement.Action.PAUSE, 0, 0, 1);
                return;
            }
            if (length > MAX_LENGTH) {
                placement.set(Placement.Action.REFUSE, 0, 0, 0);
                return;
            }
            memory = UnsafeApi.allocateMemory(Math.max(1, length));
            placement.set(Placement.Action.DIRECT, memory, length, tag);
        }

        @Override
        public void onPlaced(Placement placement) {
            keep(placement.token(), memory, (int) placement.lengthBytes());
            UnsafeApi.freeMemory(memory);
            memory = 0;
        }

        @Override
        public void onAborted(Placement placement, int errno) {
            aborted++;
        }

        @Override
        public void onAcknowledged(long operation, long levels, int errno) {
            acknowledged.add(operation);
        }
    };
    private final MessageChannelHandler reads = new MessageChannelHandler() {
        @Override
        public void onPulled(long operation, int errno) {
            pulled.add(errno == 0 ? operation : -errno);
        }

        @Override
        public void onReposted(int count) {
            throw new AssertionError("this wire counts no receives");
        }

        @Override
        public boolean takesEarly(long address, int length) {
            throw new AssertionError("this wire counts no receives");
        }

        @Override
        public boolean onWritten(int lengthBytes, long data) {
            throw new AssertionError("no memory was written");
        }
    };

    @Override
    public StreamHandler streamHandler() {
        return streams;
    }

    @Override
    public int onOpening() {
        return 0;
    }

    @Override
    public void onUp(Channel newChannel) {
        channel = (MessageChannel) newChannel;
        channel.usedBy(reads);
        ups++;
    }

    @Override
    public void onDown(int errno) {
        channel = null;
        downs++;
        downErrno = errno;
    }

    @Override
    public void onWritable() {
        writables++;
    }

    @Override
    public void onMessage(long flags, long tag, long data, long address, int length) {
        keep(tag, address, length);
    }

    @Override
    public void onSent(long operation, int errno) {
        sent.add(operation);
    }

    private void keep(long tag, long address, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = UnsafeApi.getByte(address + i);
        }
        messages.add(bytes);
        tags.add(tag);
    }
}
