package org.jfabric.driver.engine.peer;

import org.jfabric.FabricErrno;
import org.jfabric.driver.engine.match.TagMatcher;
import org.jfabric.driver.engine.rx.ReceiveOperation;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;

/**
 * One remote endpoint as one local endpoint sees it: the channel, what waits for it, the byte credit of both directions.
 *
 * <p><b>Order.</b> Sends that cannot begin wait in one list and begin in the order of posting, so a message never passes
 * an older one to the same peer. <b>Credit.</b> The receiving endpoint grants bytes; an eager message spends its length
 * and a fixed overhead, which come back when the message has left the unexpected store or never entered it.
 * <b>Failure.</b> When the channel goes down every operation that needs it ends with an error; what was received stays.
 * The next send tries to connect again.
 *
 * <p>Owner: progress agent.
 */
public final class Peer extends ChannelHandler {
    /** Source of messages whose sender is not in the address vector. */
    public static final int UNKNOWN_SOURCE = TagMatcher.UNKNOWN_SOURCE;

    private static final int DOWN = 0;
    private static final int CONNECTING = 1;
    private static final int UP = 2;
    /** What a stored message costs besides its bytes, so that empty messages are bounded too. */
    private static final int MESSAGE_OVERHEAD = 64;
    /** What the greatest configurable limit of a peer's driver allows; more is no peer of ours. */
    private static final int MAX_ANNOUNCEMENTS = 1 << 16;

    private final String address;
    private final PeerContext context;
    private int source;
    private int state = DOWN;
    private Channel channel;
    private long eagerLimit;

    private long granted;
    private long spent;
    private TransmitOperation firstPending;
    private TransmitOperation lastPending;
    private TransmitOperation firstOwned;
    private TransmitOperation lastOwned;
    private int announced;
    private int segmenting;

    private int epoch;
    /** First grant of this channel. */
    private long window;
    /** Bytes of the store's budget that are this peer's: the window and what is held from earlier channels. */
    private long reserved;
    private long held;
    private int announcementsHeld;
    private long consumed;
    private long advertised;
    private long advertisedBefore;
    private ReceiveOperation firstPull;
    private ReceiveOperation firstControl;
    private ReceiveOperation lastControl;

    private boolean scheduled;
    private Peer nextScheduled;

    Peer(String address, int source, PeerContext context) {
        this.address = address;
        this.source = source;
        this.context = context;
    }

    /**
     * The remote endpoint's address.
     *
     * @return as it was inserted, or as the remote endpoint gave it.
     */
    public String address() {
        return address;
    }

    /**
     * The peer's place in the address vector.
     *
     * @return {@code fi_addr}, or {@link #UNKNOWN_SOURCE}.
     */
    public int source() {
        return source;
    }

    /**
     * What a completion reports as source address.
     *
     * @return {@code fi_addr}, or -1 (FI_ADDR_NOTAVAIL).
     */
    public long sourceAddress() {
        return source < 0 ? -1L : source;
    }

    void source(int newSource) {
        source = newSource;
    }

    /**
     * The channel.
     *
     * @return null if the peer is down.
     */
    public Channel channel() {
        return channel;
    }

    void connecting(Channel newChannel) {
        if (state != UP) {
            state = CONNECTING;
            channel = newChannel;
        }
    }

    // ---- sending ----

    /**
     * Whether a send may begin at once.
     *
     * @return true if the channel is up and nothing older waits.
     */
    public boolean isClear() {
        return state == UP && firstPending == null;
    }

    /**
     * Whether a message may be sent with its payload.
     *
     * @param length bytes.
     * @return true if it is short enough and there is credit.
     */
    public boolean canSendEager(long length) {
        return length <= eagerLimit && cost(length) <= granted - spent;
    }

    /**
     * Whether one more message may be announced.
     *
     * @return true below the limit.
     */
    public boolean canAnnounce() {
        return announced < context.settings().announcementLimit();
    }

    /**
     * An eager message has left.
     *
     * @param length bytes.
     */
    public void spend(long length) {
        spent += cost(length);
    }

    /**
     * Makes a send wait, in order; connects if there is no channel.
     *
     * @param operation held, in no list.
     */
    public void enqueue(TransmitOperation operation) {
        operation.state = TransmitOperation.QUEUED;
        operation.next = null;
        operation.previous = lastPending;
        if (lastPending == null) {
            firstPending = operation;
        } else {
            lastPending.next = operation;
        }
        lastPending = operation;
        if (state == UP) {
            schedule();
        } else if (state == DOWN && !context.connect(this)) {
            fail(FabricErrno.EHOSTUNREACH);
        }
    }

    /**
     * Takes a waiting send out of the queue.
     *
     * @param operation waiting here.
     */
    public void dequeue(TransmitOperation operation) {
        if (operation.previous == null) {
            firstPending = operation.next;
        } else {
            operation.previous.next = operation.next;
        }
        if (operation.next == null) {
            lastPending = operation.previous;
        } else {
            operation.next.previous = operation.previous;
        }
        operation.next = null;
        operation.previous = null;
    }

    /**
     * Keeps an operation that the peer or the link has yet to finish.
     *
     * @param operation in no list.
     * @param newState  {@code IN_LINK} or {@code ANNOUNCED}.
     */
    public void own(TransmitOperation operation, int newState) {
        operation.state = newState;
        // at the end, so that the oldest payload is segmented first
        operation.next = null;
        operation.previous = lastOwned;
        if (lastOwned == null) {
            firstOwned = operation;
        } else {
            lastOwned.next = operation;
        }
        lastOwned = operation;
        if (newState == TransmitOperation.ANNOUNCED) {
            announced++;
        }
    }

    /**
     * Ends what {@link #own} began.
     *
     * @param operation kept here.
     */
    public void disown(TransmitOperation operation) {
        if (operation.previous == null) {
            firstOwned = operation.next;
        } else {
            operation.previous.next = operation.next;
        }
        if (operation.next == null) {
            lastOwned = operation.previous;
        } else {
            operation.next.previous = operation.previous;
        }
        operation.next = null;
        operation.previous = null;
        if (operation.state != TransmitOperation.IN_LINK) {
            announced--;
        }
        if (operation.state == TransmitOperation.SEGMENTING) {
            segmenting--;
        }
    }

    // ---- receiving ----

    /**
     * The credit to send along: all bytes that this peer may ever have sent.
     *
     * @return low 32 bits.
     */
    public int grant() {
        advertisedBefore = advertised;
        advertised = window + consumed;
        return (int) advertised;
    }

    /** The call that should have carried the last {@link #grant()} was not accepted. */
    public void grantNotSent() {
        advertised = advertisedBefore;
        if (isGrantOwed()) {
            schedule();
        }
    }

    /**
     * Takes room for a message that nobody waits for.
     *
     * @param length bytes.
     * @return false if the peer sends more than it was granted.
     */
    public boolean admit(long length) {
        long cost = cost(length);
        if (held + cost > reserved) {
            return false;
        }
        held += cost;
        return true;
    }

    /**
     * Takes room for an announcement that nobody waits for.
     *
     * @return false if there are more than any peer may have.
     */
    public boolean admitAnnouncement() {
        if (announcementsHeld == MAX_ANNOUNCEMENTS) {
            return false;
        }
        announcementsHeld++;
        return true;
    }

    /** A stored announcement was matched or dropped. */
    public void announcementLeft() {
        announcementsHeld--;
    }

    /**
     * A message was matched at once; its bytes are credit again.
     *
     * @param length bytes.
     */
    public void passed(long length) {
        consumed += cost(length);
        if (isGrantOwed()) {
            schedule();
        }
    }

    /**
     * A message has left the unexpected store.
     *
     * @param length       bytes.
     * @param messageEpoch {@link #epoch()} when it came.
     */
    public void left(long length, int messageEpoch) {
        long cost = cost(length);
        held -= cost;
        if (messageEpoch == epoch) {
            passed(length);
        } else {
            // it came over an earlier channel, whose window was given back but for what it left here
            reserved -= cost;
            context.receiver().releaseWindow(cost);
        }
    }

    /**
     * Credit that unexpected messages of this peer use up.
     *
     * @return bytes.
     */
    public long heldBytes() {
        return held;
    }

    /**
     * Credit for eager messages to this peer.
     *
     * @return bytes.
     */
    public long creditBytes() {
        return granted - spent;
    }

    /**
     * Operations that the link or the peer has yet to finish.
     *
     * @return a count.
     */
    public int ownedOperations() {
        int count = 0;
        for (TransmitOperation operation = firstOwned; operation != null; operation = operation.next) {
            count++;
        }
        return count + announced + segmenting;
    }

    /**
     * Counts the channels that this peer has had.
     *
     * @return the number of the current one.
     */
    public int epoch() {
        return epoch;
    }

    /**
     * Keeps a receive that takes an announced payload of this peer.
     *
     * @param operation in no list.
     */
    public void addPull(ReceiveOperation operation) {
        operation.previousPull = null;
        operation.nextPull = firstPull;
        if (firstPull != null) {
            firstPull.previousPull = operation;
        }
        firstPull = operation;
    }

    /**
     * Ends what {@link #addPull} began.
     *
     * @param operation kept here.
     */
    public void removePull(ReceiveOperation operation) {
        if (operation.previousPull == null) {
            firstPull = operation.nextPull;
        } else {
            operation.previousPull.nextPull = operation.nextPull;
        }
        if (operation.nextPull != null) {
            operation.nextPull.previousPull = operation.previousPull;
        }
        operation.nextPull = null;
        operation.previousPull = null;
    }

    /**
     * The oldest kept receive in no particular order, for the peer's end.
     *
     * @return null if there is none.
     */
    public ReceiveOperation firstPull() {
        return firstPull;
    }

    /**
     * Makes a receive's next message to the peer wait for room in the channel.
     *
     * @param operation with something to tell the peer.
     */
    public void enqueueControl(ReceiveOperation operation) {
        operation.nextControl = null;
        if (lastControl == null) {
            firstControl = operation;
        } else {
            lastControl.nextControl = operation;
        }
        lastControl = operation;
        schedule();
    }

    // ---- one step ----

    private void schedule() {
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
    public void nextScheduled(Peer next) {
        nextScheduled = next;
    }

    /**
     * The next in the engine's list.
     *
     * @return null at its end.
     */
    public Peer nextScheduled() {
        return nextScheduled;
    }

    /**
     * Goes on with what waits, as far as channel and credit allow.
     *
     * @return steps made; if the channel is full the peer has scheduled itself again.
     */
    public int flush() {
        scheduled = false;
        nextScheduled = null;
        if (state != UP) {
            return 0;
        }
        int work = flushControl();
        if (work < 0) {
            schedule();
            return 0;
        }
        if (isGrantOwed() && channel.sendGrant(grant()) < 0) {
            grantNotSent();
            schedule();
            return work;
        }
        return work + flushSegments() + flushPending();
    }

    private int flushControl() {
        int work = 0;
        while (firstControl != null) {
            ReceiveOperation operation = firstControl;
            // out of the list first: once told, the record may be used again and stand in a list
            firstControl = operation.nextControl;
            if (firstControl == null) {
                lastControl = null;
            }
            if (!context.receiver().tellPeer(this, operation)) {
                operation.nextControl = firstControl;
                firstControl = operation;
                if (lastControl == null) {
                    lastControl = operation;
                }
                return work == 0 ? -1 : flushAgain(work);
            }
            work++;
        }
        return work;
    }

    private int flushAgain(int work) {
        schedule();
        return work;
    }

    private int flushSegments() {
        if (segmenting == 0) {
            return 0;
        }
        int budget = context.settings().segmentBurst();
        int work = 0;
        TransmitOperation operation = firstOwned;
        while (operation != null && work < budget) {
            TransmitOperation next = operation.next;
            while (operation.state == TransmitOperation.SEGMENTING && work < budget) {
                int length = (int) Math.min(
                    operation.segmentEnd - operation.sent, channel.limits().segmentLimitBytes());
                if (channel.sendSegment(operation, length, grant()) < 0) {
                    grantNotSent();
                    schedule();
                    return work;
                }
                work++;
                operation.sent += length;
                if (operation.sent == operation.segmentEnd) {
                    operation.state = TransmitOperation.ANNOUNCED;
                    segmenting--;
                }
            }
            operation = next;
        }
        if (segmenting != 0) {
            schedule();
        }
        return work;
    }

    private int flushPending() {
        int work = 0;
        while (firstPending != null && state == UP) {
            TransmitOperation operation = firstPending;
            boolean mayBegin = canSendEager(operation.length) || canAnnounce();
            if (!mayBegin) {
                return work;
            }
            dequeue(operation);
            if (!context.sender().begin(this, operation)) {
                pushFront(operation);
                schedule();
                return work;
            }
            work++;
        }
        return work;
    }

    private void pushFront(TransmitOperation operation) {
        operation.previous = null;
        operation.next = firstPending;
        if (firstPending == null) {
            lastPending = operation;
        } else {
            firstPending.previous = operation;
        }
        firstPending = operation;
    }

    private boolean isGrantOwed() {
        // half a window keeps the sender going while one grant travels for many messages
        return state == UP && window + consumed - advertised >= (window >> 1) && window + consumed != advertised;
    }

    private static long cost(long length) {
        return MESSAGE_OVERHEAD + ((length + 63) & -64);
    }

    // ---- calls of the link ----

    @Override
    public void onUp(Channel newChannel) {
        channel = newChannel;
        state = UP;
        eagerLimit = Math.min(context.eagerLimitBytes(), newChannel.limits().eagerLimitBytes());
        if (firstPending != null) {
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
        endEpoch();
        window = context.receiver().reserveWindow();
        reserved += window;
        return grant();
    }

    /** Gives the window back to the store; what messages hold of it follows when they leave. */
    private void endEpoch() {
        epoch++;
        granted = 0;
        spent = 0;
        consumed = 0;
        advertised = 0;
        window = 0;
        long unused = reserved - held;
        reserved = held;
        context.receiver().releaseWindow(unused);
    }

    @Override
    public void onDown(int errno) {
        fail(errno);
    }

    @Override
    public void onWritable() {
        schedule();
    }

    @Override
    public void onGrant(int grant) {
        int more = grant - (int) granted;
        if (more > 0) {
            granted += more;
            if (firstPending != null) {
                schedule();
            }
        }
    }

    @Override
    public void onMessage(long flags, long tag, long data, long messageAddress, int length) {
        context.receiver().onMessage(this, flags, tag, data, messageAddress, length);
    }

    @Override
    public void onAnnounce(long flags, long tag, long data, RemotePayload payload) {
        context.receiver().onAnnounce(this, flags, tag, data, payload);
    }

    @Override
    public void onSegmentsRequested(long operationId, long sink, long length) {
        TransmitOperation operation = context.sender().find(operationId);
        if (operation == null || operation.peer != this || operation.state != TransmitOperation.ANNOUNCED
            || length <= 0 || length > operation.length) {
            violation("asked for segments of an operation that was not announced");
            return;
        }
        operation.sink = sink;
        operation.sent = 0;
        operation.segmentEnd = length;
        operation.state = TransmitOperation.SEGMENTING;
        segmenting++;
        schedule();
    }

    @Override
    public void onSegment(long sink, long offset, long segmentAddress, int length) {
        context.receiver().onSegment(this, sink, offset, segmentAddress, length);
    }

    @Override
    public void onPulled(long operationId, int errno) {
        context.receiver().onPulled(this, operationId, errno);
    }

    @Override
    public void onFinished(long operationId, int errno) {
        TransmitOperation operation = context.sender().find(operationId);
        if (operation == null || operation.peer != this
            || operation.state != TransmitOperation.ANNOUNCED && operation.state != TransmitOperation.SEGMENTING) {
            violation("finished an operation that was not announced");
            return;
        }
        disown(operation);
        end(operation, errno);
        if (firstPending != null) {
            schedule();
        }
    }

    @Override
    public void onSent(long operationId, int errno) {
        TransmitOperation operation = context.sender().find(operationId);
        if (operation != null && operation.state == TransmitOperation.IN_LINK) {
            disown(operation);
            end(operation, errno);
        }
    }

    @Override
    public void place(long flags, long tag, long data, long length, Placement placement) {
        context.receiver().place(this, flags, tag, data, length, placement);
    }

    @Override
    public void onPlaced(Placement placement) {
        context.receiver().onPlaced(this, placement);
    }

    @Override
    public void onAborted(Placement placement, int errno) {
        context.receiver().onAborted(this, placement, errno);
    }

    /**
     * The peer breaks the protocol: its channel is closed and its operations fail; nobody else notices.
     *
     * @param reason what was seen.
     */
    public void violation(String reason) {
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
    public void close(int errno) {
        Channel open = channel;
        state = DOWN;
        channel = null;
        firstPending = null;
        lastPending = null;
        firstOwned = null;
        lastOwned = null;
        firstControl = null;
        lastControl = null;
        if (open != null) {
            open.close(errno);
        }
    }

    private void end(TransmitOperation operation, int errno) {
        if (errno == 0) {
            context.sender().complete(operation);
        } else {
            context.sender().fail(operation, errno);
        }
    }

    private void fail(int errno) {
        state = DOWN;
        channel = null;
        firstControl = null;
        lastControl = null;
        while (firstOwned != null) {
            TransmitOperation operation = firstOwned;
            disown(operation);
            context.sender().fail(operation, errno);
        }
        while (firstPending != null) {
            TransmitOperation operation = firstPending;
            dequeue(operation);
            context.sender().fail(operation, errno);
        }
        context.receiver().failPeer(this, errno);
        endEpoch();
        context.onPeerDown(this, errno);
    }
}
