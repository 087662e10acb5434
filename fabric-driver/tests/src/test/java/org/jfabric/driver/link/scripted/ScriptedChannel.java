package org.jfabric.driver.link.scripted;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.FrameHandler;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.SegmentChannel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/** One end of a scripted channel. */
public final class ScriptedChannel extends SegmentChannel {
    private static final byte[] DIRECTORY = {'/'};

    private static final int CONNECTING = 0;
    private static final int UP = 1;
    private static final int DEAD = 2;
    private static final int CLOSED = 3;
    private static final long LEVELS = Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE;

    /** Told when the engine is about to tell of the end. */
    public Runnable onQuiesce = () -> { };
    private final ScriptedLink link;
    private final Script script;
    private final String local;
    private final String remote;
    private final ArrayDeque<Frame> inbox = new ArrayDeque<>();
    private final ArrayDeque<Frame> departing = new ArrayDeque<>();
    private final List<Pull> pulls = new ArrayList<>();
    private final Placement placement = new Placement();
    private ScriptedChannel other;
    private ScriptedChannel crossed;
    private int state = CONNECTING;
    private int firstGrant;
    private int arrivalStep = -1;
    private int noticeStep;
    /** Frames that have left the inbox. */
    private long taken;
    /** Of the other end's. */
    private long mark;
    private int errno;
    private boolean wantsWritable;
    private boolean held;
    private boolean up;
    private Frame streaming;
    private long streamingData;
    private long streamed;

    private record Pull(
        RemotePayload source, long dest, PieceList destPieces, long length, int readyStep, int errno) {
    }

    ScriptedChannel(ScriptedLink link, String local, String remote, ChannelHandler handler) {
        super(link.script.limits(), handler);
        this.link = link;
        this.script = link.script;
        this.local = local;
        this.remote = remote;
    }

    /** {@return the address of this end, as attached} */
    public String local() {
        return local;
    }

    /** {@return the address of the other end, as connected} */
    public String remote() {
        return remote;
    }

    /**
     * Keeps what comes to this end on its way, until it is let go.
     *
     * @param value true to keep.
     */
    public void hold(boolean value) {
        held = value;
    }

    /**
     * The connection dies without a word; each end notices at its own time.
     *
     * @param reason what the ends will report, a positive fabric errno.
     */
    public void kill(int reason) {
        if (other != null) {
            die(reason);
            other.die(reason);
        }
    }

    private void die(int reason) {
        if (state == CONNECTING || state == UP) {
            state = DEAD;
            errno = reason;
            noticeStep = script.stepAfter(script.maxNoticeSteps);
            drop();
        }
    }

    private void drop() {
        inbox.forEach(script::give);
        inbox.clear();
        departing.clear();
        pulls.clear();
    }

    boolean isClosed() {
        return state == CLOSED;
    }

    boolean isDead() {
        return state == DEAD;
    }

    boolean wasUp() {
        return up;
    }

    boolean isConnecting() {
        return state == CONNECTING;
    }

    boolean isQuiet() {
        return state == CLOSED || state == UP && inbox.isEmpty() && departing.isEmpty() && pulls.isEmpty()
            && !wantsWritable && streaming == null;
    }

    // ---- opening ----

    void connecting() {
        firstGrant = handler().onOpening();
        arrivalStep = script.stepAfter(script.maxConnectSteps);
    }

    /** Both ends are one: an endpoint talks to itself. */
    void connectingToSelf() {
        other = this;
        Frame up = frame(Frame.UP, handler().onOpening());
        inbox.add(up);
    }

    void refused() {
        if (state == CONNECTING) {
            state = DEAD;
            errno = FabricErrno.ECONNREFUSED;
            noticeStep = script.stepAfter(script.maxNoticeSteps);
            refuseCrossed();
        }
    }

    /** The other side's open, which was dropped in favour of this one. */
    void crossed(ScriptedChannel open) {
        crossed = open;
    }

    private void refuseCrossed() {
        if (crossed != null) {
            crossed.refused();
            crossed = null;
        }
    }

    void abandon() {
        state = CLOSED;
    }

    void accepted(ScriptedChannel opener) {
        other = opener;
        opener.other = this;
        state = UP;
        up = true;
        int grant = handler().onOpening();
        Frame up = frame(Frame.UP, grant);
        opener.inbox.add(up);
        frameHandler().onGrant(opener.firstGrant);
        handler().onUp(this);
    }

    // ---- calls of the engine ----

    @Override
    public int send(TransmitOperation operation, int grant) {
        if (operation.length > limits().eagerLimitBytes()) {
            throw new AssertionError("eager message of " + operation.length + " bytes, seed " + script.seed());
        }
        if (isBlocked()) {
            return -FabricErrno.EAGAIN;
        }
        boolean pending = script.chance(script.pendingSendPercent);
        if (state == DEAD) {
            return pending ? PENDING : DONE;
        }
        Frame frame = frame(Frame.MESSAGE, grant);
        header(frame, operation);
        frame.length = operation.length;
        frame.streams = script.chance(script.streamPercent) && !operation.isAcknowledged();
        if (operation.isAcknowledged()) {
            frame.flags |= operation.awaitedOfPeer();
            frame.offset = operation.id();
        }
        frame.errno = 0;
        if (pending) {
            frame.operation = operation;
            frame.id = operation.id();
            departing.add(frame);
        } else {
            operation.copyTo(0, frame.memory, operation.length);
        }
        other.inbox.add(frame);
        return pending ? PENDING : DONE;
    }

    @Override
    public int sendShort(long kind, long tag, long address, int length, int grant) {
        if (length > limits().eagerLimitBytes()) {
            throw new AssertionError("short message of " + length + " bytes, seed " + script.seed());
        }
        // what stays pending needs an operation
        if (isBlocked() || script.chance(script.pendingSendPercent)) {
            return -FabricErrno.EAGAIN;
        }
        if (state == DEAD) {
            return DONE;
        }
        script.shortSends++;
        Frame frame = frame(Frame.MESSAGE, grant);
        frame.flags = kind;
        frame.tag = tag;
        frame.data = 0;
        frame.length = length;
        frame.streams = script.chance(script.streamPercent);
        frame.errno = 0;
        UnsafeApi.copyMemory(address, frame.memory, length);
        other.inbox.add(frame);
        return DONE;
    }

    @Override
    public int announce(TransmitOperation operation, int grant) {
        if (isBlocked()) {
            return -FabricErrno.EAGAIN;
        }
        if (state == DEAD) {
            return DONE;
        }
        script.announcements++;
        Frame frame = frame(Frame.ANNOUNCE, grant);
        header(frame, operation);
        frame.flags |= operation.flags & Flags.LENT | operation.awaitedOfPeer();
        frame.describe(operation, script.vectors);
        other.inbox.add(frame);
        return DONE;
    }

    @Override
    public byte[] regionDirectory() {
        return DIRECTORY;
    }

    @Override
    public void markSent() {
        mark = state == UP ? other.taken + other.inbox.size() : 0;
    }

    @Override
    public boolean isMarkTaken() {
        return !script.tellsTaken || state != UP || other.state != UP || other.taken >= mark;
    }

    private static void copyPieces(RemotePayload source, long destAddress, PieceList destPieces, long length) {
        long done = 0;
        for (int i = 0; done < length; i++) {
            long bytes = Math.min(source.length(i), length - done);
            copyPulled(source.regionOffset(i), done, bytes, destAddress, destPieces);
            done += bytes;
        }
    }

    @Override
    public int pull(
        RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length) {
        if (state == DEAD || other.state == CLOSED) {
            return PENDING;
        }
        if (source.regionNumber(0) == RemotePayload.NO_REGION) {
            return -FabricErrno.EOPNOTSUPP;
        }
        int dice = script.random().nextInt(100);
        if (dice < script.pullDonePercent) {
            copyPieces(source, destAddress, destPieces, length);
            return DONE;
        }
        if (dice < script.pullDonePercent + script.pullPendingPercent) {
            int failure = script.chance(script.failedPullPercent) ? FabricErrno.EIO : 0;
            RemotePayload kept = new RemotePayload();
            kept.set(source);
            pulls.add(new Pull(kept, destAddress, destPieces, length, delay(), failure));
            return PENDING;
        }
        return script.chance(script.wouldBlockPercent) ? -FabricErrno.EAGAIN : -FabricErrno.EOPNOTSUPP;
    }

    @Override
    public int requestSegments(long operation, long sink, long length, int grant) {
        if (isBlocked()) {
            return -FabricErrno.EAGAIN;
        }
        if (state == DEAD) {
            return DONE;
        }
        Frame frame = frame(Frame.SEGMENT_REQUEST, grant);
        frame.id = operation;
        frame.offset = sink;
        frame.length = length;
        other.inbox.add(frame);
        return DONE;
    }

    @Override
    public int sendSegment(TransmitOperation operation, int length, int grant) {
        if (isBlocked()) {
            return -FabricErrno.EAGAIN;
        }
        if (state == DEAD) {
            return DONE;
        }
        Frame frame = frame(Frame.SEGMENT, grant);
        frame.id = operation.sink();
        frame.offset = operation.sent;
        frame.length = length;
        operation.copyTo(operation.sent, frame.memory, length);
        other.inbox.add(frame);
        return DONE;
    }

    @Override
    public int finish(long operation, int reason, int grant) {
        if (isBlocked()) {
            return -FabricErrno.EAGAIN;
        }
        if (state == DEAD) {
            return DONE;
        }
        Frame frame = frame(Frame.FINISH, grant);
        frame.id = operation;
        frame.errno = reason;
        other.inbox.add(frame);
        return DONE;
    }

    @Override
    public int acknowledge(long operation, long levels, int reason, int grant) {
        if (isBlocked()) {
            return -FabricErrno.EAGAIN;
        }
        if (state == DEAD) {
            return DONE;
        }
        Frame frame = frame(Frame.ACKNOWLEDGE, grant);
        frame.id = operation;
        frame.flags = levels;
        frame.errno = reason;
        other.inbox.add(frame);
        return DONE;
    }

    @Override
    public boolean hasMore() {
        return !inbox.isEmpty();
    }

    @Override
    public int sendGrant(int grant) {
        if (isBlocked()) {
            return -FabricErrno.EAGAIN;
        }
        if (state == UP) {
            other.inbox.add(frame(Frame.GRANT, grant));
        }
        return DONE;
    }

    @Override
    public void quiesce() {
        onQuiesce.run();
    }

    @Override
    public void close(int reason) {
        if (state == CLOSED) {
            return;
        }
        boolean tell = state == UP && other.state == UP;
        state = CLOSED;
        refuseCrossed();
        if (tell && other != this) {
            // what has not left will never leave
            for (Frame frame : departing) {
                other.inbox.remove(frame);
                script.give(frame);
            }
            other.pulls.clear();
            other.departing.clear();
            Frame down = frame(Frame.DOWN, 0);
            down.errno = reason;
            other.inbox.add(down);
        } else if (other != null && other.state == CONNECTING) {
            other.die(reason);
        }
        departing.clear();
        drop();
    }

    private boolean isBlocked() {
        if (state == CLOSED) {
            throw new AssertionError("call of a closed channel, seed " + script.seed());
        }
        boolean full = other != null && other.inbox.size() >= script.capacityFrames;
        if (full || script.chance(script.wouldBlockPercent)) {
            wantsWritable = true;
            return true;
        }
        return false;
    }

    private Frame frame(int kind, int grant) {
        Frame frame = script.take();
        frame.kind = kind;
        frame.grant = grant;
        frame.readyStep = delay();
        return frame;
    }

    private int delay() {
        return script.stepAfter(script.maxDelaySteps);
    }

    private static void header(Frame frame, TransmitOperation operation) {
        frame.flags = operation.flags & (Flags.TAGGED | Flags.MSG | Flags.REMOTE_CQ_DATA);
        frame.tag = operation.tag;
        frame.data = operation.data;
    }

    // ---- one step ----

    int poll(int limit) {
        if (state == CLOSED) {
            return 0;
        }
        if (state == DEAD) {
            return script.step() >= noticeStep ? down() : 0;
        }
        if (arrivalStep >= 0 && script.step() >= arrivalStep) {
            arrivalStep = -1;
            ScriptedLink target = script.linkByAddress.get(remote);
            if (target == null) {
                refused();
                return 1;
            }
            target.open(this);
        }
        int work = depart();
        work += pollPulls();
        for (int i = 0; i < limit && state <= UP && !held && !inbox.isEmpty(); i++) {
            if (!take()) {
                break;
            }
            work++;
            if (streaming != null) {
                break;
            }
        }
        if (state == UP && wantsWritable && other.inbox.size() < script.capacityFrames
            && script.random().nextBoolean()) {
            wantsWritable = false;
            handler().onWritable();
            work++;
        }
        return work;
    }

    private int down() {
        state = CLOSED;
        wantsWritable = false;
        if (streaming != null && script.chance(script.abortFirstPercent)) {
            script.observer.onAborted(local, remote, streamingData);
            handler().streamHandler().onAborted(placement, errno);
        }
        streaming = null;
        drop();
        script.observer.onEnd(local, remote);
        handler().onDown(errno);
        return 1;
    }

    private int depart() {
        int work = 0;
        while (state == UP && !departing.isEmpty() && script.step() >= departing.peek().readyStep) {
            Frame frame = departing.poll();
            TransmitOperation operation = frame.operation;
            if (operation.id() != frame.id) {
                throw new AssertionError("an operation was used again while the link had it, seed " + script.seed());
            }
            operation.copyTo(0, frame.memory, operation.length);
            frame.operation = null;
            boolean mayFail = (frame.flags & LEVELS) == 0;
            frame.streams |= script.failedSendPercent != 0 && mayFail;
            frame.errno = script.chance(script.failedSendPercent) && mayFail ? FabricErrno.EIO : 0;
            handler().onSent(frame.id, frame.errno);
            work++;
        }
        return work;
    }

    private int pollPulls() {
        int work = 0;
        for (int i = 0; i < pulls.size() && state == UP; i++) {
            Pull pull = pulls.get(i);
            if (script.step() >= pull.readyStep) {
                pulls.remove(i--);
                if (pull.errno == 0) {
                    copyPieces(pull.source, pull.dest, pull.destPieces, pull.length);
                }
                frameHandler().onPulled(pull.source.operation(), pull.errno);
                work++;
            }
        }
        return work;
    }

    /** Takes the oldest frame, or a piece of it; false if it must wait. */
    private boolean take() {
        Frame frame = inbox.peek();
        if (frame.operation != null || frame.readyStep > script.step()) {
            return false;
        }
        if (frame.kind == Frame.MESSAGE && frame.streams) {
            return stream(frame);
        }
        inbox.poll();
        taken++;
        deliver(frame);
        script.give(frame);
        return true;
    }

    private void deliver(Frame frame) {
        FrameHandler handler = frameHandler();
        if (frame.kind == Frame.DOWN) {
            errno = frame.errno;
            down();
            return;
        }
        handler.onGrant(frame.grant);
        switch (frame.kind) {
            case Frame.UP -> {
                state = UP;
                up = true;
                handler().onUp(this);
            }
            case Frame.MESSAGE -> {
                script.observer.onArrival(local, remote, frame.flags, frame.tag, frame.data, true);
                if ((frame.flags & LEVELS) != 0) {
                    handler.onMessageToAcknowledge(
                        frame.offset, frame.flags, frame.tag, frame.data, frame.memory, (int) frame.length);
                } else {
                    handler().onMessage(frame.flags, frame.tag, frame.data, frame.memory, (int) frame.length);
                }
            }
            case Frame.ANNOUNCE -> {
                script.observer.onArrival(local, remote, frame.flags, frame.tag, frame.data, false);
                handler.onAnnounce(frame.flags, frame.tag, frame.data, frame.source);
            }
            case Frame.SEGMENT_REQUEST -> handler.onSegmentsRequested(frame.id, frame.offset, frame.length);
            case Frame.SEGMENT -> handler.onSegment(frame.id, frame.offset, frame.memory, (int) frame.length);
            case Frame.ACKNOWLEDGE -> handler.onAcknowledged(frame.id, frame.flags, frame.errno);
            case Frame.FINISH -> handler.onFinished(frame.id, frame.errno);
            default -> { }
        }
    }

    private boolean stream(Frame frame) {
        if (streaming == null) {
            frameHandler().onGrant(frame.grant);
            script.observer.onArrival(local, remote, frame.flags, frame.tag, frame.data, false);
            handler().streamHandler().place(frame.flags, frame.tag, frame.data, frame.length, placement);
            if (state == CLOSED) {
                return false;
            }
            if (placement.action() == Placement.Action.REFUSE) {
                throw new AssertionError("refused, but not closed, seed " + script.seed());
            }
            streaming = frame;
            streamingData = frame.data;
            streamed = 0;
            return true;
        }
        long rest = frame.length - streamed;
        if (rest > 0) {
            long piece = 1 + script.random().nextInt((int) rest);
            long stored = Math.min(piece, placement.lengthBytes() - streamed);
            if (stored > 0) {
                placement.copyFrom(streamed, frame.memory + streamed, stored);
            }
            streamed += piece;
            return true;
        }
        streaming = null;
        inbox.poll();
        taken++;
        if (frame.errno == 0) {
            script.observer.onWhole(local, remote, frame.data);
            handler().streamHandler().onPlaced(placement);
        } else {
            script.observer.onAborted(local, remote, frame.data);
            handler().streamHandler().onAborted(placement, frame.errno);
        }
        script.give(frame);
        return true;
    }
}
