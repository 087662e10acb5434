package org.jfabric.driver.link.scripted;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.Words;

/** One end of a connection that a {@link Script} delays, blocks, cuts into pieces, and ends. */
final class ScriptedConnection extends MessageChannel {
    private static final ChannelLimits LIMITS = new ChannelLimits(
        Integer.MAX_VALUE, 0, Long.MAX_VALUE, Long.BYTES, Flags.INJECT_COMPLETE, 0);

    private enum State {
        CONNECTING, ACCEPTED, UP, OVER
    }

    /** A message on its way. */
    private static final class Message {
        private long flags;
        private long tag;
        private long data;
        private long memory;
        private long length;
        private int readyStep;
        private TransmitOperation operation;
        private long id;
    }

    /** A remote read on its way. */
    private record Read(
        RemotePayload source, long dest, PieceList destPieces, long length, int readyStep) {
    }

    private final ScriptedConnections link;
    private final Script script;
    private final String localAddress;
    private final String remoteAddress;
    private final ConnectionHandler handler;
    private final ArrayDeque<Message> inbox = new ArrayDeque<>();
    private final ArrayDeque<Message> departing = new ArrayDeque<>();
    private final List<Read> reads = new ArrayList<>();
    private final Map<Long, long[]> exposed = new HashMap<>();
    private final Placement placement = new Placement();
    private State state = State.CONNECTING;
    private ScriptedConnection other;
    private byte[] request;
    private byte[] answer;
    private int errno;
    private int eventStep = -1;
    private long nextKey = 0x8000_0000L;
    private boolean asked;
    private long streamed;
    private boolean wantsWritable;
    /** Receives that messages of the other end can take, and those to be posted again, where they are counted. */
    private int posted;
    private int taken;

    ScriptedConnection(
        ScriptedConnections link, String localAddress, String remoteAddress, ConnectionHandler handler) {
        super(LIMITS, handler.channelHandler());
        this.link = link;
        this.script = link.network.script;
        this.posted = link.network.receives;
        this.localAddress = localAddress;
        this.remoteAddress = remoteAddress;
        this.handler = handler;
    }

    String localAddress() {
        return localAddress;
    }

    String remoteAddress() {
        return remoteAddress;
    }

    boolean isUp() {
        return state == State.UP;
    }

    boolean isOver() {
        return state == State.OVER;
    }

    boolean isQuiet() {
        return state == State.OVER
            || state == State.UP && (taken == 0 || link.network.receives == 0) && eventStep < 0
            && inbox.isEmpty() && departing.isEmpty() && reads.isEmpty();
    }

    // ---- life ----

    void request(byte[] cmData, int step) {
        request = cmData;
        eventStep = step;
    }

    /** This end answers a request. */
    void accept(ScriptedConnection from, byte[] cmData) {
        state = State.ACCEPTED;
        if (from.state != State.CONNECTING) {
            errno = FabricErrno.ECONNABORTED;
            return;
        }
        other = from;
        from.other = this;
        from.answer = cmData;
        from.eventStep = delay();
    }

    void refused(byte[] cmData) {
        if (state == State.CONNECTING) {
            answer = cmData;
            errno = FabricErrno.ECONNREFUSED;
            eventStep = delay();
        }
    }

    void cut() {
        if (state != State.OVER) {
            errno = FabricErrno.ECONNRESET;
            eventStep = script.stepAfter(script.maxNoticeSteps);
        }
    }

    private int delay() {
        return script.stepAfter(script.maxDelaySteps);
    }

    @Override
    public void close(int reason) {
        if (state == State.OVER) {
            return;
        }
        state = State.OVER;
        free();
        if (other != null && other.state != State.OVER && other.errno == 0) {
            other.errno = other.state == State.UP ? FabricErrno.ESHUTDOWN : FabricErrno.ECONNREFUSED;
            other.answer = new byte[0];
            other.eventStep = script.stepAfter(script.maxNoticeSteps);
        }
    }

    private void end() {
        State before = state;
        state = State.OVER;
        if (before == State.UP) {
            if (asked && script.chance(script.abortFirstPercent)) {
                handler().streamHandler().onAborted(placement, errno);
            }
            free();
            handler().onDown(errno);
        } else {
            handler.onFailed(errno, answer == null ? new byte[0] : answer);
        }
    }

    private void free() {
        for (Message message : inbox) {
            UnsafeApi.freeMemory(message.memory);
            // the other end may still have it among those that are to depart
            message.memory = 0;
        }
        inbox.clear();
        if (other != null) {
            // what has not left yet will not
            other.inbox.removeIf(message -> {
                boolean gone = message.operation != null;
                if (gone) {
                    UnsafeApi.freeMemory(message.memory);
                }
                return gone;
            });
        }
        departing.clear();
        reads.clear();
    }

    // ---- calls from above ----

    @Override
    public int send(TransmitOperation operation, int grant) {
        if (state != State.UP) {
            throw new AssertionError("send on a connection in state " + state + ", seed " + script.seed());
        }
        if (script.chance(script.wouldBlockPercent) || other.inbox.size() >= script.capacityFrames) {
            wantsWritable = true;
            return -FabricErrno.EAGAIN;
        }
        if (link.network.receives != 0 && --other.posted < 0) {
            throw new AssertionError("a message without a receive, seed " + script.seed());
        }
        Message message = new Message();
        message.flags = operation.flags & (Flags.MSG | Flags.TAGGED | Flags.REMOTE_CQ_DATA);
        message.tag = operation.tag;
        message.data = operation.data;
        message.length = operation.length;
        message.memory = UnsafeApi.allocateMemory(Math.max(1, operation.length));
        message.readyStep = delay();
        boolean pending = script.chance(script.pendingSendPercent);
        if (pending) {
            message.operation = operation;
            message.id = operation.id();
            departing.add(message);
        } else {
            operation.copyTo(0, message.memory, operation.length);
        }
        if (other.state == State.OVER) {
            UnsafeApi.freeMemory(message.memory);
            message.memory = 0;
        } else {
            other.inbox.add(message);
        }
        return pending ? PENDING : DONE;
    }

    void sendRaw(long flags, long tag, byte[] bytes) {
        Message message = new Message();
        message.flags = flags;
        message.tag = tag;
        message.length = bytes.length;
        message.memory = UnsafeApi.allocateMemory(Math.max(1, bytes.length));
        for (int i = 0; i < bytes.length; i++) {
            UnsafeApi.putByte(message.memory + i, bytes[i]);
        }
        other.inbox.add(message);
    }

    @Override
    public int postedReceives() {
        return posted;
    }

    @Override
    public int expose(TransmitOperation operation, RemotePayload target) {
        target.begin(operation.id());
        if (operation.pieces == null) {
            expose(operation.address, operation.length, target);
        } else {
            for (int i = 0; i < operation.pieces.count(); i++) {
                expose(operation.pieces.address(i), operation.pieces.length(i), target);
            }
        }
        return DONE;
    }

    private void expose(long address, long length, RemotePayload target) {
        long key = nextKey++;
        exposed.put(key, new long[] {address, length});
        target.add(key, 0, 0, length);
    }

    @Override
    public void conceal(RemotePayload target) {
        for (int i = 0; i < target.count(); i++) {
            if (exposed.remove(target.regionNumber(i)) == null) {
                throw new AssertionError("concealed twice, seed " + script.seed());
            }
        }
    }

    @Override
    public int pull(
        RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length) {
        if (script.chance(script.wouldBlockPercent)) {
            wantsWritable = true;
            return -FabricErrno.EAGAIN;
        }
        RemotePayload kept = new RemotePayload();
        kept.set(source);
        reads.add(new Read(kept, destAddress, destPieces, length, delay()));
        return PENDING;
    }

    // ---- steps ----

    int poll(int limit) {
        if (state == State.OVER) {
            return 0;
        }
        int work = 0;
        if (state == State.ACCEPTED) {
            accepted();
            work++;
        } else if (eventStep >= 0 && script.step() >= eventStep) {
            eventStep = -1;
            event();
            work++;
        }
        if (state != State.UP) {
            return work;
        }
        work += depart();
        for (int i = 0; i < limit && state == State.UP && take(); i++) {
            work++;
        }
        work += read() + repost();
        if (state == State.UP && wantsWritable && script.random().nextBoolean()) {
            wantsWritable = false;
            handler().onWritable();
            work++;
        }
        return work;
    }

    private void accepted() {
        if (errno != 0) {
            end();
            return;
        }
        up(new byte[0]);
    }

    private void event() {
        if (errno != 0) {
            end();
        } else if (other != null) {
            up(answer);
        } else {
            link.arrive(this, request);
        }
    }

    private void up(byte[] cmData) {
        handler().onOpening();
        state = State.UP;
        handler.onConnected(localAddress, remoteAddress, cmData);
        if (state == State.UP) {
            handler().onUp(this);
        }
    }

    private int depart() {
        int work = 0;
        while (state == State.UP && !departing.isEmpty() && script.step() >= departing.peek().readyStep) {
            Message message = departing.poll();
            if (message.operation.id() != message.id) {
                throw new AssertionError("a packet was used again while the link had it, seed " + script.seed());
            }
            if (message.memory != 0) {
                message.operation.copyTo(0, message.memory, message.length);
            }
            message.operation = null;
            handler().onSent(message.id, 0);
            work++;
        }
        return work;
    }

    /** Posts receives again, now or later. */
    private int repost() {
        if (state != State.UP || taken == 0 || script.random().nextBoolean()) {
            return 0;
        }
        int count = taken;
        posted += count;
        taken = 0;
        if (link.network.receives != 0) {
            protocol().onReposted(count);
        }
        return 1;
    }

    /** Offers what has come behind a message that waits. */
    private void lookAhead() {
        for (Message message : List.copyOf(inbox).subList(1, inbox.size())) {
            if (state != State.UP || message.operation != null || script.step() < message.readyStep) {
                return;
            }
            if (protocol().takesEarly(message.memory, (int) message.length) && inbox.remove(message)) {
                UnsafeApi.freeMemory(message.memory);
                taken++;
            }
        }
    }

    /** Takes the oldest message, or a piece of it; false if it must wait. */
    private boolean take() {
        Message message = inbox.peek();
        if (message == null || message.operation != null || script.step() < message.readyStep) {
            return false;
        }
        if (!asked) {
            if (handler().streamHandler().canStore(message.length) && !script.chance(script.streamPercent)) {
                inbox.poll();
                handler().onMessage(
                    message.flags, message.tag, message.data, message.memory, (int) message.length);
                UnsafeApi.freeMemory(message.memory);
                taken++;
                return true;
            }
            streamed = 0;
            placement.set(Placement.Action.REFUSE, 0, 0, 0);
        }
        return stream(message);
    }

    private boolean stream(Message message) {
        if (!asked || placement.action() == Placement.Action.PAUSE) {
            asked = true;
            handler().streamHandler().place(message.flags, message.tag, message.data, message.length, placement);
            if (placement.action() == Placement.Action.PAUSE && link.network.receives != 0) {
                lookAhead();
            }
            return state == State.UP && placement.action() != Placement.Action.PAUSE;
        }
        if (placement.action() == Placement.Action.REFUSE) {
            throw new AssertionError("refused, but not closed, seed " + script.seed());
        }
        long rest = message.length - streamed;
        if (rest > 0) {
            long piece = 1 + (long) (script.random().nextDouble() * rest);
            long stored = Math.min(piece, placement.lengthBytes() - streamed);
            if (stored > 0) {
                placement.copyFrom(streamed, message.memory + streamed, stored);
            }
            streamed += piece;
            return true;
        }
        asked = false;
        inbox.poll();
        UnsafeApi.freeMemory(message.memory);
        taken++;
        handler().streamHandler().onPlaced(placement);
        return true;
    }

    private int read() {
        int work = 0;
        while (state == State.UP && !reads.isEmpty() && script.step() >= reads.get(0).readyStep) {
            Read read = reads.remove(0);
            long done = 0;
            for (int i = 0; done < read.length; i++) {
                long[] place = other.exposed.get(read.source.regionNumber(i));
                long bytes = Math.min(read.source.length(i), read.length - done);
                if (place == null || read.source.regionOffset(i) + bytes > place[1]) {
                    throw new AssertionError("read of what is not exposed, seed " + script.seed());
                }
                copy(place[0] + read.source.regionOffset(i), done, bytes, read);
                done += bytes;
            }
            protocol().onPulled(read.source.operation(), 0);
            work++;
        }
        return work;
    }

    private static void copy(long from, long offset, long length, Read read) {
        if (read.destPieces == null) {
            Words.copy(from, read.dest + offset, length);
        } else {
            read.destPieces.copyFrom(offset, from, length);
        }
    }
}
