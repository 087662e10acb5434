package org.jfabric.driver.engine;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.FrameChannel;
import org.jfabric.driver.link.FrameHandler;
import org.jfabric.driver.link.PayloadHandler;
import org.jfabric.driver.link.RemoteHandler;
import org.jfabric.driver.link.StreamHandler;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.info.FabricErrno;

/**
 * What is sent to one {@link Peer}: the queued sends, and the begin and the end of the channel that they need.
 *
 * <p><b>Order.</b> Sends that cannot begin wait in one list and begin in the order of posting, so a message never
 * overtakes an earlier one to the same peer. <b>Failure.</b> When the channel goes down every operation that needs it
 * ends with an error; received messages stay. The next send tries to connect again.
 *
 * <p>Owner: progress agent.
 */
final class PeerSends extends ChannelHandler {
    private final Peer peer;
    private final PeerReceives receives;
    private final PeerTable peers;
    private final PeerContext context;
    private final Sender sender;
    /** The endpoint's receiver, cached for each message. */
    private final Receiver receiver;
    private final PeerSchedule schedule;
    private final PeerFrames frameHandler;
    private final PeerStreams streamHandler;
    private long eagerLimit;
    private final ByteCredit credit;
    private final Outbox outbox;
    private final PeerRemote remote;
    private boolean scheduled;
    private PeerSends nextScheduled;

    PeerSends(String address, int source, PeerTable peers, PeerContext context, EndpointSides sides) {
        this.peer = new Peer(address, source, context, this::schedule, this::violation);
        this.peers = peers;
        this.context = context;
        this.sender = sides.sender();
        this.receiver = sides.receiver();
        this.schedule = sides.schedule();
        this.credit = peer.credit();
        this.receives = new PeerReceives(peer, receiver.budget(), sides.bound(), sides.owedCredit());
        this.outbox = new Outbox(context, sender);
        this.frameHandler = new PeerFrames(this, sender, receiver);
        this.streamHandler = new PeerStreams(this, receiver);
        this.remote = new PeerRemote(this, sides);
    }

    /** Who it is, and the channel. Returns the same object for the life of this one. */
    Peer peer() {
        return peer;
    }

    /** What comes from it. Returns the same object for the life of this one. */
    PeerReceives receives() {
        return receives;
    }

    /** The sends to this peer that have not ended. Returns the same object for the life of this peer. */
    Outbox outbox() {
        return outbox;
    }

    /** Remote memory access by this peer. Returns the same object for the life of this peer. */
    PeerRemote remote() {
        return remote;
    }

    /** As {@link Peer#channel()}. */
    Channel channel() {
        return peer.channel();
    }

    /** As {@link Peer#frames()}. */
    FrameChannel frames() {
        return peer.frames();
    }

    boolean isUp() {
        return peer.isUp();
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

    /** Returns whether a send may begin immediately. */
    boolean isClear() {
        return peer.isUp() && outbox.isClear();
    }

    /** Returns whether a message may be sent with its payload. */
    boolean canSendEager(long length) {
        return isShort(length) && credit.covers(length);
    }

    /** Returns whether a message may be sent immediately by {@link Channel#sendShort} of {@link Peer#shorts}. */
    boolean canSendShort(long length) {
        return peer.shorts() != null && peer.isUp() && length <= eagerLimit && credit.covers(length)
            && outbox.isClear();
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

    /** The grant for the next frame, see {@link PeerReceives#grant()}. */
    int grant() {
        return credit.grant();
    }

    /** The call that should have carried the last {@link #grant()} was not accepted. */
    void grantNotSent() {
        receives.grantNotSent();
    }

    /**
     * Queues a send, in order; connects if there is no channel.
     *
     * @param operation whose memory is retained, in no list.
     */
    void enqueue(TransmitOperation operation) {
        outbox.add(operation);
        if (peer.isUp()) {
            schedule();
        } else if (peer.isDown()) {
            context.leaveQuick();
            peers.connect(this);
        }
    }

    /** Removes a cancelled send from the queue; the sends after it may begin. */
    void withdraw(TransmitOperation operation) {
        outbox.remove(operation);
        scheduleWaiting();
    }

    /** Schedules a retry after the channel was full, unless the channel itself reports when it has space. */
    void scheduleUnlessNotified() {
        if (peer.frames() != null) {
            schedule();
        }
    }

    void schedule() {
        if (!scheduled) {
            scheduled = true;
            schedule.add(this);
        }
    }

    /** Links this peer into the engine's list of peers with something to do. */
    void nextScheduled(PeerSends next) {
        nextScheduled = next;
    }

    /** The next in the engine's list. Returns null at its end. */
    PeerSends nextScheduled() {
        return nextScheduled;
    }

    /**
     * Continues with everything that waits, as far as channel and credit allow. Returns the steps made; if the channel
     * is full the peer has scheduled itself again.
     */
    int flush() {
        scheduled = false;
        nextScheduled = null;
        if (!peer.isUp()) {
            return 0;
        }
        int work = receives.flushControl(receiver.pulls());
        if (!receives.flushAcknowledgements()) {
            schedule();
            return work;
        }
        if (!remote.flush()) {
            // sends need not wait for the bytes of a long read
            schedule();
        }
        // it may have gone down inside one of these calls
        if (!peer.isUp() || !receives.flushGrant()) {
            return work;
        }
        if (outbox.isSegmenting()) {
            work += outbox.flushSegments(this, peer.segments());
            if (outbox.isSegmenting()) {
                schedule();
            }
        }
        return work + outbox.flushPending(this);
    }

    /** The lists of peers were lost; {@link #schedule()} follows. */
    void unscheduled() {
        receives.unlisted();
        scheduled = false;
        nextScheduled = null;
        remote.unlisted();
    }

    @Override
    public void onUp(Channel newChannel) {
        peer.up(newChannel);
        if (peer.frames() == null) {
            eagerLimit = newChannel.limits().maxMessageBytes();
            credit.unlimited();
        } else {
            eagerLimit = Math.min(context.eagerLimitBytes(), newChannel.limits().eagerLimitBytes());
        }
        context.onPeerUp(peer);
        if (outbox.onCredit()) {
            schedule();
        }
    }

    @Override
    public int onOpening() {
        if (peer.isUp()) {
            // the other side reconnects before the end of the old channel was seen here
            Channel old = peer.channel();
            fail(FabricErrno.ECONNRESET);
            old.close(FabricErrno.ECONNRESET);
        }
        receives.held().begin();
        return grant();
    }

    @Override
    public void onDown(int errno) {
        if (!peer.isConnecting() || !peers.connectElsewhere(this, errno)) {
            fail(errno);
        }
        receives.forgetIfUnused();
    }

    /** Hands the sends to another way to the same endpoint. This one has no channel, and nothing was sent by it. */
    void moveSendsTo(PeerSends other) {
        peers.failure().begin(peer.channel());
        down();
        outbox.moveTo(other.outbox, other);
        receives.held().end();
        peers.failure().end();
    }

    @Override
    public void onLeft() {
        end(FabricErrno.ESHUTDOWN);
        peers.failure().end();
        receives.forgetIfUnused();
    }

    @Override
    public void onWritable() {
        schedule();
    }

    @Override
    public void arrivedAt(long timeNs) {
        receives.arrivedAt(timeNs);
    }

    @Override
    public void onMessage(long flags, long tag, long data, long messageAddress, int length) {
        credit.received(length);
        receiver.onMessage(receives, flags, tag, data, messageAddress, length);
    }

    @Override
    public void onSent(long operationId, int errno) {
        TransmitOperation operation = sender.find(operationId);
        if (operation != null && sender.onSent(this, operation, errno)) {
            scheduleWaiting();
        }
    }

    @Override
    public void onDeparted(long operationId, long timeNs) {
        TransmitOperation operation = sender.find(operationId);
        if (operation != null && sender.onDeparted(this, operation, timeNs)) {
            scheduleWaiting();
        }
    }

    /**
     * The peer has acknowledged a message of ours.
     *
     * @param errno       0, or a positive fabric errno if they will never be reached.
     */
    void acknowledged(long operationId, long levels, int errno) {
        if (sender.onAcknowledged(this, operationId, levels, errno)) {
            scheduleWaiting();
        } else {
            violation("sent an acknowledgement that was not requested");
        }
    }

    /** Schedules queued sends, because an operation has ended. */
    void scheduleWaiting() {
        if (peer.isUp() && !outbox.isClear()) {
            schedule();
        }
    }

    /** As {@link Peer#violation}. */
    void violation(String reason) {
        context.onViolation(peer, reason);
        Channel broken = peer.channel();
        fail(FabricErrno.EIO);
        if (broken != null) {
            broken.close(FabricErrno.EIO);
        }
    }

    /** Closes the peer with its endpoint: writes no entries, only closes the channel. */
    void close(int errno) {
        if (peer.isUp()) {
            // the peer's writes that are placed have succeeded
            remote.settle();
        }
        peer.ending();
        outbox.clear();
        receives.close();
        remote.clear();
        // before the next lines, which cannot be repeated: the other side would never see the channel close
        FaultPoint.pass();
        Channel open = peer.channel();
        peer.down();
        if (open != null) {
            open.close(errno);
        }
    }

    void fail(int errno) {
        end(context.errnoOfOperations(errno));
        context.onPeerDown(peer, errno);
    }

    private void end(int errno) {
        peers.failure().begin(peer.channel());
        down();
        outbox.failAll(errno);
        receiver.failPeer(receives, errno, peers.isUpElsewhere(peer));
        receives.held().end();
    }

    private void down() {
        peer.down();
        receives.clear();
        remote.clear();
    }
}
