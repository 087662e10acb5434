package org.jfabric.driver.link.verbs;

import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.StreamHandler;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.driver.link.support.MessageChannelHandler;
import org.jfabric.info.Flags;

/** The engine's side of one connection: keeps what it is told. */
final class Told extends ChannelHandler {
    final List<byte[]> messages = new ArrayList<>();
    final List<Long> data = new ArrayList<>();
    final List<Long> sent = new ArrayList<>();
    final List<Long> pulled = new ArrayList<>();
    final List<String> order = new ArrayList<>();
    byte[] cmData;
    String peer;
    int ups;
    int downErrno;
    int failedErrno;
    int writables;
    int aborted;
    boolean pauses;
    /** What the engine ends a call about the connection with; null if it does not. */
    Error fault;
    private long memory;
    private final StreamHandler streams = new StreamHandler() {
        @Override
        public boolean canStore(long length) {
            return !pauses;
        }

        @Override
        public void place(long flags, long tag, long cqData, long length, Placement placement) {
            if (pauses) {
                placement.set(Placement.Action.PAUSE, 0, 0, 1);
                return;
            }
            memory = UnsafeApi.allocateMemory(Math.max(1, length));
            placement.set(Placement.Action.DIRECT, memory, length, (flags & Flags.REMOTE_CQ_DATA) != 0 ? cqData : -1);
        }

        @Override
        public void onPlaced(Placement placement) {
            keep(placement.token(), memory, (int) placement.lengthBytes());
            UnsafeApi.freeMemory(memory);
        }

        @Override
        public void onAborted(Placement placement, int errno) {
            aborted++;
        }

        @Override
        public void onAcknowledged(long operation, long levels, int errno) {
            throw new AssertionError("this wire has no acknowledgements");
        }
    };
    private final MessageChannelHandler reads = new MessageChannelHandler() {
        @Override
        public void onPulled(long operation, int errno) {
            pulled.add(errno == 0 ? operation : -errno);
        }

        @Override
        public void onReposted(int count) {
            // credit is no matter of these tests
        }

        @Override
        public boolean takesEarly(long address, int length) {
            return false;
        }

        @Override
        public boolean onWritten(int lengthBytes, long data) {
            throw new AssertionError("no memory was written");
        }
    };

    /** The engine's side of its making. */
    final ConnectionHandler connecting = new ConnectionHandler() {
        @Override
        public ChannelHandler channelHandler() {
            return Told.this;
        }

        @Override
        public void onConnected(String localAddress, String peerAddress, byte[] answer) {
            order.add("connected");
            peer = peerAddress;
            cmData = answer;
            if (fault != null) {
                throw fault;
            }
        }

        @Override
        public void onFailed(int errno, byte[] refusal) {
            order.add("failed");
            failedErrno = errno;
            cmData = refusal;
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
    public void onUp(Channel channel) {
        ((MessageChannel) channel).usedBy(reads);
        order.add("up");
        ups++;
    }

    @Override
    public void onDown(int errno) {
        order.add("down");
        downErrno = errno;
    }

    @Override
    public void onWritable() {
        writables++;
    }

    @Override
    public void onMessage(long flags, long tag, long cqData, long address, int length) {
        keep((flags & Flags.REMOTE_CQ_DATA) != 0 ? cqData : -1, address, length);
    }

    @Override
    public void onSent(long operation, int errno) {
        sent.add(operation);
    }

    private void keep(long cqData, long address, int length) {
        order.add("message");
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = UnsafeApi.getByte(address + i);
        }
        messages.add(bytes);
        data.add(cqData);
    }
}
