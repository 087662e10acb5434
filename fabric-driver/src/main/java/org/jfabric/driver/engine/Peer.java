package org.jfabric.driver.engine;

import java.nio.charset.StandardCharsets;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.MessageLender;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ContextName;
import org.jfabric.driver.link.FrameChannel;
import org.jfabric.driver.link.FrameHandler;
import org.jfabric.driver.link.PayloadChannel;
import org.jfabric.driver.link.PayloadHandler;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.RemoteHandler;
import org.jfabric.driver.link.SegmentChannel;
import org.jfabric.driver.link.StreamHandler;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.info.FabricErrno;

/**
 * One remote endpoint as seen by one local endpoint: the channel, the queued sends, the credit of both directions.
 *
 * <p><b>Order.</b> Sends that cannot begin wait in one list and begin in the order of posting, so a message never
 * overtakes an earlier one to the same peer. <b>Credit.</b> The receiving endpoint grants bytes; an eager message
 * spends its cost, which is granted again when the message is matched. <b>Failure.</b> When the channel goes down every
 * operation that needs it ends with an error; received messages stay. The next send tries to connect again.
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
    /** The address that applications know: of a context that of its scalable endpoint. */
    private final String endpointAddress;
    private final PeerContext context;
    private DirectBuffer rawAddress;
    private int source;
    private int state = DOWN;
    private Channel channel;
    /** The channel while it is up, if its wire has announced payloads, frames, segments; else null. */
    private PayloadChannel payloads;
    private FrameChannel frames;
    private SegmentChannel segments;
    private RemoteChannel remoteMemory;
    /** The endpoint's receiver, cached for each message. */
    private final Receiver receiver;
    private final PeerFrames frameHandler;
    private final PeerStreams streamHandler;
    private long eagerLimit;

    private final ByteCredit credit = new ByteCredit();
    private final Traffic traffic = new Traffic(credit);
    private final Outbox outbox;
    private final Acknowledgements acknowledgements = new Acknowledgements(this);
    private final PeerRemote remote;
    private final HeldMessages held;
    private final PullList pulls = new PullList();
    private final EntryOrder entryOrder = new EntryOrder();
    private boolean scheduled;
    private Peer nextScheduled;
    /** Whether the window has changed since the last grant was sent alone; a message may have carried it. */
    private boolean isResized;
    /** Whether it is in the engine's list of peers to which credit may have to be sent. */
    private boolean owesCredit;
    private Peer nextOwing;
    /** Set on an endpoint with buffered receives, once a message was lent. */
    private MessageLender lender;

    Peer(String address, int source, PeerContext context) {
        this.address = address;
        this.endpointAddress = ContextName.endpoint(address);
        this.source = source;
        this.context = context;
        this.receiver = context.receiver();
        this.outbox = new Outbox(context);
        this.frameHandler = new PeerFrames(this, context, credit, outbox);
        this.streamHandler = new PeerStreams(this, receiver, credit);
        this.remote = new PeerRemote(this, context);
        this.held = new HeldMessages(context, this, credit, source < 0);
    }

    /** The remote endpoint's address, as it was inserted, or as the remote endpoint gave it. */
    String address() {
        return address;
    }

    /**
     * The address that applications know: of a context that of its scalable endpoint, else {@link #address()}.
     */
    String endpointAddress() {
        return endpointAddress;
    }

    /** The peer's index in the address vector. Returns {@code fi_addr}, or {@link #UNKNOWN_SOURCE}. */
    int source() {
        return source;
    }

    /** The source address for completion entries. Returns {@code fi_addr}, or -1 (FI_ADDR_NOTAVAIL). */
    long sourceAddress() {
        return source < 0 ? -1L : source;
    }

    /**
     * The address as error data, which an application can insert into its address vector (fi_cq(3), fi_cq_readerr).
     * Returns the bytes of {@link #endpointAddress()}; made once, when first needed.
     */
    DirectBuffer rawAddress() {
        if (rawAddress == null) {
            rawAddress = new UnsafeBuffer(endpointAddress.getBytes(StandardCharsets.US_ASCII));
        }
        return rawAddress;
    }

    /** The sends to this peer that have not ended. Returns the same object for the life of this peer. */
    Outbox outbox() {
        return outbox;
    }

    /** The endpoint's place in the shared receive context that it uses. Returns null if its receives are its own. */
    SharedReceives.Bound bound() {
        return context.bound();
    }

    /** The acknowledgements for messages of this peer. Returns the same object for the life of this peer. */
    Acknowledgements acknowledgements() {
        return acknowledgements;
    }

    /**
     * Sets the peer's index in the address vector.
     *
     * @param newSource {@code fi_addr}, or {@link #UNKNOWN_SOURCE}.
     */
    void source(int newSource) {
        source = newSource;
        held.ofUnknownPeer(newSource < 0);
    }

    /** The channel. Returns null if the peer is down. */
    Channel channel() {
        return channel;
    }

    /** The channel, if its wire has announced payloads. Returns null also if the peer is not up. */
    PayloadChannel payloads() {
        return payloads;
    }

    /** Whether its messages arrive one behind the other: none begins before the one before it is here. */
    boolean isInSequence() {
        return frames == null && payloads == null;
    }

    /** The channel, if its wire carries frames. Returns null also if the peer is not up. */
    FrameChannel frames() {
        return frames;
    }

    /** The channel, if its wire carries payloads in segments. Returns null also if the peer is not up. */
    SegmentChannel segments() {
        return segments;
    }

    /** The channel's part for remote memory access. Returns null if its wire has none, also if the peer is not up. */
    RemoteChannel remoteMemory() {
        return remoteMemory;
    }

    /** Remote memory access by this peer. Returns the same object for the life of this peer. */
    PeerRemote remote() {
        return remote;
    }

    @Override
    public RemoteHandler remoteHandler() {
        return remote;
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

    /** Returns whether a send may begin immediately. */
    boolean isClear() {
        return state == UP && outbox.isClear();
    }

    /** Returns whether a message may be sent with its payload. */
    boolean canSendEager(long length) {
        return isShort(length) && credit.covers(length);
    }

    /** Returns whether a message may be sent immediately by {@link FrameChannel#sendShort} of {@link #frames}. */
    boolean canSendShort(long length) {
        return frames != null && state == UP && length <= eagerLimit && credit.covers(length) && outbox.isClear();
    }

    boolean isShort(long length) {
        return length <= eagerLimit;
    }

    /** Spends the credit of an eager message that was given to the link. */
    void spend(long length) {
        credit.spend(length);
    }

    /** Counts a message that was announced. */
    void announced(long length) {
        credit.sent(length);
    }

    /**
     * Queues a send, in order; connects if there is no channel.
     *
     * @param operation whose memory is retained, in no list.
     */
    void enqueue(TransmitOperation operation) {
        outbox.add(operation);
        if (state == UP) {
            schedule();
        } else if (state == DOWN) {
            context.connect(this);
        }
    }

    /** Removes a cancelled send from the queue; the sends after it may begin. */
    void withdraw(TransmitOperation operation) {
        outbox.remove(operation);
        scheduleWaiting();
    }

    /** The grant for the next frame: the total bytes that this peer may have sent. Returns the low 32 bits. */
    int grant() {
        return credit.grant();
    }

    /** The call that should have carried the last {@link #grant()} was not accepted. */
    void grantNotSent() {
        credit.grantNotSent();
        scheduleIfGrantOwed();
    }

    /**
     * The queued messages of this peer that wait for receives. Returns their account; the same object for the life of
     * this peer.
     */
    HeldMessages held() {
        return held;
    }

    /**
     * The order in which the entries of this peer's messages are written. Returns the same object for as long as the
     * peer is known.
     */
    EntryOrder entryOrder() {
        return entryOrder;
    }

    /** Returns the credit of a message that was matched when it arrived. */
    void passed(long length) {
        credit.passed(length);
        scheduleIfGrantOwed();
    }

    /**
     * Returns the credit of a message that has left the unexpected store.
     *
     * @param messageEpoch {@link #epoch()} when it arrived.
     */
    void left(long length, int messageEpoch) {
        if (held.left(length, messageEpoch)) {
            forgetIfUnused();
        } else {
            scheduleIfGrantOwed();
        }
    }

    /** Credit for eager messages to this peer. */
    long creditBytes() {
        return credit.leftBytes();
    }

    /** Counts the channels that this peer has had. */
    int epoch() {
        return credit.epoch();
    }

    /**
     * Adds a receive that takes an announced payload of this peer.
     *
     * @param operation in no list.
     */
    void addPull(ReceiveOperation operation) {
        pulls.add(operation);
        held.countReceive(1);
    }

    /** Removes a receive that {@link #addPull} has added. */
    void removePull(ReceiveOperation operation) {
        pulls.remove(operation);
        held.countReceive(-1);
    }

    /** The first of these receives, in no particular order. Returns null if there is none. */
    ReceiveOperation firstPull() {
        return pulls.first();
    }

    /** Queues a receive's control message to the peer until the channel has space. */
    void enqueueControl(ReceiveOperation operation) {
        pulls.addControl(operation);
        schedule();
    }

    /** The lender of this peer's messages; null before the first one. */
    MessageLender lender() {
        return lender;
    }

    void lender(MessageLender newLender) {
        lender = newLender;
    }

    /** What is counted beside the messages and their bytes. */
    Traffic traffic() {
        return traffic;
    }

    boolean isUp() {
        return state == UP;
    }

    /** Schedules a retry after the channel was full, unless the channel itself reports when it has space. */
    void scheduleUnlessNotified() {
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

    /** Links this peer into the engine's list of peers with something to do. */
    void nextScheduled(Peer next) {
        nextScheduled = next;
    }

    /** The next in the engine's list. Returns null at its end. */
    Peer nextScheduled() {
        return nextScheduled;
    }

    /**
     * Continues with everything that waits, as far as channel and credit allow. Returns the steps made; if the channel
     * is full the peer has scheduled itself again.
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
        if (!remote.flush()) {
            // sends need not wait for the bytes of a long read
            schedule();
        }
        if (state != UP) {
            // it went down inside one of these calls
            return work;
        }
        if (frames != null && credit.isGrantOwed()) {
            resizeWindow();
            // it may have shrunk
            if (credit.isGrantOwed()) {
                if (frames.sendGrant(grant()) < 0) {
                    grantNotSent();
                    return work;
                }
                isResized = false;
            }
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

    /** The peer has used half of its window, or cannot use it: the window changes once before the next grant. */
    void resizeWindow() {
        if (frames != null && !(isResized && credit.hasUnsentGrant())) {
            isResized = held.resize();
            scheduleIfGrantOwed();
        }
    }

    /** The peer has announced a message, perhaps because its window was always too small for it. */
    void onAnnounced(long length) {
        if (isShort(length) && credit.isTooSmallFor(length)) {
            resizeWindow();
        }
    }

    private void scheduleIfGrantOwed() {
        if (frames == null) {
            return;
        }
        if (credit.isGrantOwed()) {
            schedule();
        } else {
            oweCredit();
        }
    }

    /** Has {@link #sendCredit()} called after a while. */
    void oweCredit() {
        if (!owesCredit) {
            owesCredit = true;
            context.oweCredit(this);
        }
    }

    /** Sets the next peer in the engine's list of those to which credit may have to be sent. */
    void nextOwing(Peer next) {
        nextOwing = next;
    }

    /**
     * Sends credit that no message has carried for a while, if the peer is so far ahead that it may wait for it;
     * another one must not be woken. The peer was taken from the list. Returns the peer that was behind it.
     */
    Peer sendCredit() {
        Peer next = nextOwing;
        nextOwing = null;
        owesCredit = false;
        if (state == UP && frames != null && credit.hasUnsentGrant() && (credit.isHalfHeld() || frames.hasMore())) {
            boolean isSent = false;
            try {
                isSent = frames.sendGrant(grant()) >= 0;
            } finally {
                // also if memory of the peer was cut
                if (isSent) {
                    isResized = false;
                } else {
                    grantNotSent();
                }
            }
        }
        return next;
    }

    /** The lists of peers were lost; {@link #schedule()} follows. */
    void unscheduled() {
        owesCredit = false;
        nextOwing = null;
        scheduled = false;
        nextScheduled = null;
        remote.unlisted();
    }

    @Override
    public void onUp(Channel newChannel) {
        channel = newChannel;
        state = UP;
        payloads = newChannel.payloads();
        frames = newChannel.frames();
        segments = newChannel.segments();
        remoteMemory = newChannel.remoteMemory();
        if (frames == null) {
            eagerLimit = newChannel.limits().maxMessageBytes();
            credit.unlimited();
        } else {
            eagerLimit = Math.min(context.eagerLimitBytes(), newChannel.limits().eagerLimitBytes());
        }
        context.onPeerUp(this);
        if (outbox.onCredit()) {
            schedule();
        }
    }

    @Override
    public int onOpening() {
        if (state == UP) {
            // the other side reconnects before the end of the old channel was seen here
            Channel old = channel;
            fail(FabricErrno.ECONNRESET);
            old.close(FabricErrno.ECONNRESET);
        }
        held.begin();
        return grant();
    }

    @Override
    public void onDown(int errno) {
        if (state != CONNECTING || !context.connectElsewhere(this, errno)) {
            fail(errno);
        }
        forgetIfUnused();
    }

    /** Hands the sends to another way to the same endpoint. This one has no channel, and nothing was sent by it. */
    void moveSendsTo(Peer other) {
        context.onFailing(channel);
        down();
        pulls.clearControl();
        acknowledgements.clear();
        remote.clear();
        outbox.moveTo(other.outbox, other);
        held.end();
        context.onFailed();
    }

    @Override
    public void onLeft() {
        end(FabricErrno.ESHUTDOWN);
        context.onFailed();
        forgetIfUnused();
    }

    /** Forgets a peer that is down and not in the address vector, once its last message has left the store. */
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
        credit.received(length);
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
     * @param errno       0, or a positive fabric errno if they will never be reached.
     */
    void acknowledged(long operationId, long levels, int errno) {
        if (context.sender().onAcknowledged(this, operationId, levels, errno)) {
            scheduleWaiting();
        } else {
            violation("sent an acknowledgement that was not requested");
        }
    }

    /** Schedules queued sends, because an operation has ended. */
    void scheduleWaiting() {
        if (state == UP && !outbox.isClear()) {
            schedule();
        }
    }

    /** The peer violates the protocol: its channel is closed and its operations fail. Other peers are not affected. */
    void violation(String reason) {
        context.onViolation(this, reason);
        Channel broken = channel;
        fail(FabricErrno.EIO);
        if (broken != null) {
            broken.close(FabricErrno.EIO);
        }
    }

    /** A message of it was stored beyond the endpoint's budget ({@link Streams}). */
    void onReadBeyondBudget(long bytes) {
        context.onReadBeyondBudget(this, bytes);
    }

    /** It is not read, although a receive may wait for one of its messages: the second bound is reached. */
    void onBudgetUsedUp() {
        context.onBudgetUsedUp(this);
    }

    /** Closes the peer with its endpoint: writes no entries, only closes the channel. */
    void close(int errno) {
        if (state == UP) {
            // the peer's writes that are placed have succeeded
            remote.settle();
        }
        state = DOWN;
        outbox.clear();
        held.close();
        entryOrder.clear();
        pulls.clearControl();
        acknowledgements.clear();
        remote.clear();
        // before the next lines, which cannot be repeated: the other side would never see the channel close
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
        remoteMemory = null;
    }

    /** Whether another context of the remote endpoint is still connected. */
    boolean isUpElsewhere() {
        return context.isUpElsewhere(this);
    }

    void fail(int errno) {
        end(context.errnoOfOperations(errno));
        context.onPeerDown(this, errno);
    }

    private void end(int errno) {
        context.onFailing(channel);
        down();
        pulls.clearControl();
        acknowledgements.clear();
        remote.clear();
        outbox.failAll(errno);
        context.receiver().failPeer(this, errno);
        held.end();
    }
}
