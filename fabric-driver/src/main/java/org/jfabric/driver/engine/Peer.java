package org.jfabric.driver.engine;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.FabricErrno;
import org.jfabric.client.MessageLender;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.FrameChannel;
import org.jfabric.driver.link.FrameHandler;
import org.jfabric.driver.link.PayloadChannel;
import org.jfabric.driver.link.PayloadHandler;
import org.jfabric.driver.link.SegmentChannel;
import org.jfabric.driver.link.StreamHandler;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.FaultPoint;

import java.nio.charset.StandardCharsets;

/**
 * One remote endpoint as one local endpoint sees it: the channel, what waits for it, the credit of both directions.
 *
 * <p><b>Order.</b> Sends that cannot begin wait in one list and begin in the order of posting, so a message never
 * passes an older one to the same peer. <b>Credit.</b> The receiving endpoint grants bytes; an eager message spends its
 * cost, which comes back when the message has left the unexpected store or never entered it.
 * <b>Failure.</b> When the channel goes down every operation that needs it ends with an error; what was received stays.
 * The next send tries to connect again.
 *
 * <p>Owner: progress agent.
 */
final class Peer extends ChannelHandler {
    /** Source of messages whose sender is not in the address vector. */
    static final int UNKNOWN_SOURCE = TagMatcher.UNKNOWN_SOURCE;

    private static final int DOWN = 0;
    private static final int CONNECTING = 1;
    private static final int UP = 2;

    private final String address;
    private final PeerContext context;
    private DirectBuffer rawAddress;
    private int source;
    private int state = DOWN;
    private Channel channel;
    /** The channel while it is up, if its wire has announced payloads, frames, segments; else null. */
    private PayloadChannel payloads;
    private FrameChannel frames;
    private SegmentChannel segments;
    /** The endpoint's, at hand for each message. */
    private final Receiver receiver;
    private final PeerFrames frameHandler;
    private final PeerStreams streamHandler;
    private long eagerLimit;

    private final ByteCredit credit = new ByteCredit();
    private final Outbox outbox;
    private final Acknowledgements acknowledgements = new Acknowledgements(this);
    private final HeldMessages held;
    private final PullList pulls = new PullList();
    private final EntryOrder entryOrder = new EntryOrder();
    private boolean scheduled;
    private Peer nextScheduled;
    /** Of an endpoint with buffered receives, once a message was lent. */
    private MessageLender lender;

    Peer(String address, int source, PeerContext context) {
        this.address = address;
        this.source = source;
        this.context = context;
        this.receiver = context.receiver();
        this.outbox = new Outbox(context);
        this.frameHandler = new PeerFrames(this, context, credit, outbox);
        this.streamHandler = new PeerStreams(this, receiver, credit);
        this.held = new HeldMessages(context, this, credit, source < 0);
    }

    /**
     * The remote endpoint's address.
     *
     * @return as it was inserted, or as the remote endpoint gave it.
     */
    String address() {
        return address;
    }

    /**
     * The peer's place in the address vector.
     *
     * @return {@code fi_addr}, or {@link #UNKNOWN_SOURCE}.
     */
    int source() {
        return source;
    }

    /**
     * What a completion reports as source address.
     *
     * @return {@code fi_addr}, or -1 (FI_ADDR_NOTAVAIL).
     */
    long sourceAddress() {
        return source < 0 ? -1L : source;
    }

    /**
     * The address as error data: what an application inserts to know the peer (fi_cq(3), fi_cq_readerr).
     *
     * @return the bytes of {@link #address()}; made once, when first needed.
     */
    DirectBuffer rawAddress() {
        if (rawAddress == null) {
            rawAddress = new UnsafeBuffer(address.getBytes(StandardCharsets.US_ASCII));
        }
        return rawAddress;
    }

    /**
     * The sends to this peer that have not ended.
     *
     * @return the one list keeper.
     */
    Outbox outbox() {
        return outbox;
    }

    /**
     * What this peer is to be told of its messages.
     *
     * @return the one list keeper.
     */
    Acknowledgements acknowledgements() {
        return acknowledgements;
    }

    /**
     * Gives the peer another place in the address vector.
     *
     * @param newSource {@code fi_addr}, or {@link #UNKNOWN_SOURCE}.
     */
    void source(int newSource) {
        source = newSource;
        held.ofStranger(newSource < 0);
    }

    /**
     * The channel.
     *
     * @return null if the peer is down.
     */
    Channel channel() {
        return channel;
    }

    /**
     * The channel, if payloads can wait at their sender on its wire.
     *
     * @return null also if the peer is not up.
     */
    PayloadChannel payloads() {
        return payloads;
    }

    /**
     * The channel, if its wire is one of frames.
     *
     * @return null also if the peer is not up.
     */
    FrameChannel frames() {
        return frames;
    }

    /**
     * The channel, if its wire carries payloads in segments.
     *
     * @return null also if the peer is not up.
     */
    SegmentChannel segments() {
        return segments;
    }

    @Override
    public FrameHandler frameHandler() {
        return frameHandler;
    }

    @Override
    public PayloadHandler payloadHandler() {
        return frameHandler;
    }

    @Override
    public StreamHandler streamHandler() {
        return streamHandler;
    }

    void connecting(Channel newChannel) {
        if (state != UP) {
            state = CONNECTING;
            channel = newChannel;
        }
    }

    /**
     * Whether a send may begin at once.
     *
     * @return true if the channel is up and nothing older waits.
     */
    boolean isClear() {
        return state == UP && outbox.isClear();
    }

    /**
     * Whether a message may be sent with its payload.
     *
     * @param length bytes.
     * @return true if it is short enough and there is credit.
     */
    boolean canSendEager(long length) {
        return isShort(length) && credit.covers(length);
    }

    /** Whether a message may go at once over that channel, which was this peer's. */
    boolean canSendShort(FrameChannel way, long length) {
        return way == frames && state == UP && length <= eagerLimit && credit.covers(length) && outbox.isClear();
    }

    boolean isShort(long length) {
        return length <= eagerLimit;
    }

    /**
     * An eager message has left.
     *
     * @param length bytes.
     */
    void spend(long length) {
        credit.spend(length);
    }

    /**
     * Makes a send wait, in order; connects if there is no channel.
     *
     * @param operation held, in no list.
     */
    void enqueue(TransmitOperation operation) {
        outbox.add(operation);
        if (state == UP) {
            schedule();
        } else if (state == DOWN) {
            context.connect(this);
        }
    }

    /**
     * Takes a waiting send out, because it was cancelled; what it kept waiting may begin.
     *
     * @param operation waiting here.
     */
    void withdraw(TransmitOperation operation) {
        outbox.remove(operation);
        scheduleWaiting();
    }

    /**
     * The credit to send along: all bytes that this peer may ever have sent.
     *
     * @return low 32 bits.
     */
    int grant() {
        return credit.grant();
    }

    /** The call that should have carried the last {@link #grant()} was not accepted. */
    void grantNotSent() {
        credit.grantNotSent();
        scheduleIfGrantOwed();
    }

    /**
     * The messages of this peer that wait here for receives.
     *
     * @return the one account of them.
     */
    HeldMessages held() {
        return held;
    }

    /**
     * The order in which the entries of this peer's messages are written.
     *
     * @return the same object for as long as the peer is known.
     */
    EntryOrder entryOrder() {
        return entryOrder;
    }

    /**
     * A message was matched at once; its bytes are credit again.
     *
     * @param length bytes.
     */
    void passed(long length) {
        credit.passed(length);
        scheduleIfGrantOwed();
    }

    /**
     * A message has left the unexpected store.
     *
     * @param length       bytes.
     * @param messageEpoch {@link #epoch()} when it came.
     */
    void left(long length, int messageEpoch) {
        if (held.left(length, messageEpoch)) {
            forgetIfUnused();
        } else {
            scheduleIfGrantOwed();
        }
    }

    /**
     * Credit for eager messages to this peer.
     *
     * @return bytes.
     */
    long creditBytes() {
        return credit.leftBytes();
    }

    /**
     * Counts the channels that this peer has had.
     *
     * @return the number of the current one.
     */
    int epoch() {
        return credit.epoch();
    }

    /**
     * Keeps a receive that takes an announced payload of this peer.
     *
     * @param operation in no list.
     */
    void addPull(ReceiveOperation operation) {
        pulls.add(operation);
    }

    /**
     * Ends what {@link #addPull} began.
     *
     * @param operation kept here.
     */
    void removePull(ReceiveOperation operation) {
        pulls.remove(operation);
    }

    /**
     * One of the kept receives, in no particular order.
     *
     * @return null if there is none.
     */
    ReceiveOperation firstPull() {
        return pulls.first();
    }

    /**
     * Makes a receive's next message to the peer wait for room in the channel.
     *
     * @param operation with something to tell the peer.
     */
    void enqueueControl(ReceiveOperation operation) {
        pulls.addControl(operation);
        schedule();
    }

    /** Who lends messages of this peer; null before the first one. */
    MessageLender lender() {
        return lender;
    }

    void lender(MessageLender newLender) {
        lender = newLender;
    }

    boolean isUp() {
        return state == UP;
    }

    /** The channel was full: tries again in the next cycle, unless the channel says when there is room. */
    void scheduleUnlessTold() {
        if (frames != null) {
            schedule();
        }
    }

    void schedule() {
        if (!scheduled) {
            scheduled = true;
            context.schedule(this);
        }
    }

    /**
     * Links this peer into the engine's list of peers with something to do.
     *
     * @param next the next in the list.
     */
    void nextScheduled(Peer next) {
        nextScheduled = next;
    }

    /**
     * The next in the engine's list.
     *
     * @return null at its end.
     */
    Peer nextScheduled() {
        return nextScheduled;
    }

    /**
     * Goes on with what waits, as far as channel and credit allow.
     *
     * @return steps made; if the channel is full the peer has scheduled itself again.
     */
    int flush() {
        scheduled = false;
        nextScheduled = null;
        if (state != UP) {
            return 0;
        }
        int work = flushControl();
        if (pulls.hasControl() || !acknowledgements.flush()) {
            schedule();
            return work;
        }
        if (state != UP) {
            // it went down inside of one of these calls
            return work;
        }
        if (frames != null && credit.isGrantOwed() && frames.sendGrant(grant()) < 0) {
            grantNotSent();
            return work;
        }
        if (outbox.isSegmenting()) {
            work += outbox.flushSegments(this, segments);
            if (outbox.isSegmenting()) {
                schedule();
            }
        }
        return work + outbox.flushPending(this);
    }

    private int flushControl() {
        int work = 0;
        while (pulls.hasControl()) {
            ReceiveOperation operation = pulls.takeControl();
            if (!context.receiver().tellPeer(this, operation)) {
                pulls.returnControl(operation);
                return work;
            }
            work++;
        }
        return work;
    }

    private void scheduleIfGrantOwed() {
        if (frames != null && credit.isGrantOwed()) {
            schedule();
        }
    }

    /** The list of scheduled peers was lost: has a look at everything. */
    void reschedule() {
        scheduled = false;
        nextScheduled = null;
        schedule();
    }

    @Override
    public void onUp(Channel newChannel) {
        channel = newChannel;
        state = UP;
        payloads = newChannel.payloads();
        frames = newChannel.frames();
        segments = newChannel.segments();
        if (frames == null) {
            eagerLimit = newChannel.limits().maxMessageBytes();
            credit.unlimited();
        } else {
            eagerLimit = Math.min(context.eagerLimitBytes(), newChannel.limits().eagerLimitBytes());
        }
        if (outbox.onCredit()) {
            schedule();
        }
    }

    @Override
    public int onOpening() {
        if (state == UP) {
            // the other side begins anew before its end was noticed here
            Channel old = channel;
            fail(FabricErrno.ECONNRESET);
            old.close(FabricErrno.ECONNRESET);
        }
        held.begin();
        return grant();
    }

    @Override
    public void onDown(int errno) {
        fail(errno);
        forgetIfUnused();
    }

    /** A peer that came by itself and went is forgotten once its last message was taken. */
    private void forgetIfUnused() {
        if (state == DOWN && source < 0 && credit.heldBytes() == 0) {
            context.forget(this);
        }
    }

    @Override
    public void onWritable() {
        schedule();
    }

    @Override
    public void onMessage(long flags, long tag, long data, long messageAddress, int length) {
        receiver.onMessage(this, flags, tag, data, messageAddress, length);
    }

    @Override
    public void onSent(long operationId, int errno) {
        TransmitOperation operation = context.sender().find(operationId);
        if (operation != null && context.sender().onSent(this, operation, errno)) {
            scheduleWaiting();
        }
    }

    /**
     * The peer has acknowledged a message of ours.
     *
     * @param operationId our id.
     * @param levels      reached.
     * @param errno       0, or why they never will be.
     */
    void acknowledged(long operationId, long levels, int errno) {
        if (context.sender().onAcknowledged(this, operationId, levels, errno)) {
            scheduleWaiting();
        } else {
            violation("acknowledged what was not asked for");
        }
    }

    /** An operation has ended, so what waits may begin. */
    void scheduleWaiting() {
        if (state == UP && !outbox.isClear()) {
            schedule();
        }
    }

    /**
     * The peer breaks the protocol: its channel is closed and its operations fail; nobody else notices.
     *
     * @param reason what was seen.
     */
    void violation(String reason) {
        context.onViolation(this, reason);
        Channel broken = channel;
        fail(FabricErrno.EIO);
        if (broken != null) {
            broken.close(FabricErrno.EIO);
        }
    }

    /**
     * Ends the peer with its endpoint: no entries, only the link is told.
     *
     * @param errno told to the other side.
     */
    void close(int errno) {
        state = DOWN;
        outbox.clear();
        held.close();
        entryOrder.clear();
        pulls.clearControl();
        acknowledgements.clear();
        // in front of the next lines, which cannot be done again: the other side would never see it go
        FaultPoint.pass();
        Channel open = channel;
        down();
        if (open != null) {
            open.close(errno);
        }
    }

    private void down() {
        state = DOWN;
        channel = null;
        payloads = null;
        frames = null;
        segments = null;
    }

    void fail(int errno) {
        context.onFailing(channel);
        down();
        pulls.clearControl();
        acknowledgements.clear();
        outbox.failAll(errno);
        context.receiver().failPeer(this, errno);
        held.end();
        context.onPeerDown(this, errno);
    }
}
