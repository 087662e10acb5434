package org.jfabric.driver.link.verbs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.PayloadChannel;
import org.jfabric.driver.link.PayloadHandler;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.RemoteHandler;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.StreamHandler;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.Flags;

/**
 * The engine's side of one peer: sends in order, asks again only when it is told to, pulls what is announced, and
 * checks each message, whose tag is its number and the seed of its content.
 */
final class RxmTold extends ChannelHandler {
    private record Pulled(long memory, int length, long tag) {
    }

    final TreeSet<Long> received = new TreeSet<>();
    final List<Long> ended = new ArrayList<>();
    PayloadChannel channel;
    int downErrno;
    int aborted;
    /** Long messages that this side was told of. */
    int announced;
    /** What the last message was sent from. */
    long memory;
    /** No message finds a place. */
    boolean pauses;
    /** Takes the peer's remote memory access; usually null. */
    RemoteHandler remote;
    /** The channel's part for remote memory access, once it is up. */
    RemoteChannel remoteChannel;
    private final RxmNode node;
    private final ArrayDeque<TransmitOperation> waiting = new ArrayDeque<>();
    private final ArrayDeque<Long> finishing = new ArrayDeque<>();
    private final Map<Long, Pulled> pulls = new HashMap<>();
    private boolean isUp;
    private boolean isBlocked;
    private int sent;
    private final StreamHandler streams = new StreamHandler() {
        @Override
        public boolean canStore(long length) {
            return !pauses;
        }

        @Override
        public void place(long flags, long tag, long data, long length, Placement placement) {
            requireNotDown(tag);
            if (pauses) {
                placement.set(Placement.Action.PAUSE, 0, 0, tag);
                return;
            }
            Pulled place = new Pulled(UnsafeApi.allocateMemory(Math.max(1, length)), (int) length, tag);
            pulls.put(-1 - tag, place);
            placement.set(Placement.Action.DIRECT, place.memory, length, tag);
        }

        @Override
        public void onPlaced(Placement placement) {
            end(-1 - placement.token());
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
    private final PayloadHandler payloads = new PayloadHandler() {
        @Override
        public void onAnnounce(long flags, long tag, long data, RemotePayload source) {
            announced++;
            int length = (int) source.lengthBytes();
            Pulled place = new Pulled(UnsafeApi.allocateMemory(length), length, tag);
            pulls.put(source.operation(), place);
            if (channel.pull(source, null, place.memory, null, length) != Channel.PENDING) {
                throw new AssertionError("message " + tag + " cannot be read");
            }
        }

        @Override
        public void onPulled(long operation, int errno) {
            if (errno != 0) {
                throw new AssertionError("a read has failed with errno " + errno);
            }
            end(operation);
            finishing.add(operation);
            flush();
        }
    };

    RxmTold(RxmNode node) {
        this.node = node;
    }

    /** Sends a message with the next number, now or when there is room. */
    void send(int length) {
        int number = sent++;
        memory = node.node.memory(length, number);
        TransmitOperation operation = new TransmitOperation(number, memory);
        operation.flags = Flags.TAGGED;
        operation.tag = number;
        operation.address = memory;
        operation.length = length;
        if (length > RxmNode.SEGMENTED) {
            operation.region = node.node.region(memory, length, new ArrayList<>());
        }
        waiting.add(operation);
        flush();
    }

    int flush() {
        int work = 0;
        while (isUp && !isBlocked && !finishing.isEmpty()) {
            isBlocked = channel.finish(finishing.peek(), 0, 0) < 0;
            work += isBlocked ? 0 : 1;
            if (!isBlocked) {
                finishing.poll();
            }
        }
        while (isUp && !isBlocked && !waiting.isEmpty()) {
            int result = channel.send(waiting.peek(), 0);
            isBlocked = result < 0;
            if (!isBlocked) {
                TransmitOperation operation = waiting.poll();
                work++;
                if (result == Channel.DONE) {
                    ended.add(operation.id());
                }
            }
        }
        return work;
    }

    /** Sends that no call has accepted. */
    int waiting() {
        return waiting.size();
    }

    int sent() {
        return sent;
    }

    boolean isUp() {
        return isUp;
    }

    @Override
    public StreamHandler streamHandler() {
        return streams;
    }

    @Override
    public RemoteHandler remoteHandler() {
        return remote;
    }

    @Override
    public PayloadHandler payloadHandler() {
        return payloads;
    }

    @Override
    public int onOpening() {
        return 0;
    }

    @Override
    public void onUp(Channel up) {
        channel = up.payloads();
        remoteChannel = up.remoteMemory();
        isUp = true;
    }

    @Override
    public void onDown(int errno) {
        isUp = false;
        downErrno = errno;
    }

    @Override
    public void onWritable() {
        isBlocked = false;
        flush();
    }

    @Override
    public void onMessage(long flags, long tag, long data, long address, int length) {
        requireNotDown(tag);
        check(address, length, tag);
    }

    private void requireNotDown(long tag) {
        if (downErrno != 0) {
            throw new AssertionError("message " + tag + " comes behind the end, which was " + downErrno);
        }
    }

    private void check(long address, int length, long tag) {
        for (int i = 0; i < length; i++) {
            if (UnsafeApi.getByte(address + i) != VerbsNode.pattern((int) tag, i)) {
                throw new AssertionError("message " + tag + " differs at " + i + " of " + length);
            }
        }
        if (!received.add(tag)) {
            throw new AssertionError("message " + tag + " came twice");
        }
    }

    private void end(long key) {
        Pulled place = pulls.remove(key);
        check(place.memory, place.length, place.tag);
        UnsafeApi.freeMemory(place.memory);
    }

    @Override
    public void onSent(long operation, int errno) {
        ended.add(errno == 0 ? operation : -1 - operation);
    }
}
