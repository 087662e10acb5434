package org.jfabric.driver.link.rxm;

import java.util.ArrayDeque;
import org.agrona.collections.LongArrayList;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.PayloadChannel;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.CrossingPeer;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.SocketName;
import org.jfabric.layout.Words;

/**
 * A pair of reliable datagram endpoints, over one connected channel: makes packets from messages.
 *
 * <pre>
 *   up to the eager limit    one packet
 *   up to the SAR limit      segments; other packets may be sent between them
 *   longer, or to be         announced; the peer reads the payload by the channel below and then confirms it
 *   confirmed
 * </pre>
 *
 * <p>Only headers are copied here. Owner: progress agent.
 */
final class RxmChannel extends PayloadChannel implements CrossingPeer {
    /** Value of a packet's context: the packet completes no operation. */
    static final long NO_OPERATION = -1;

    /** Levels that only the peer can confirm. */
    private static final long CONFIRMED = Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE | Flags.MATCH_COMPLETE;

    /** Without a connection yet, or waiting for the peer's own request. */
    static final int OPENING = 0;
    /** Connected: messages can be sent. */
    static final int UP = 1;
    static final int CLOSED = 2;

    /** A payload to be read, for which the channel below had no room. */
    private record WaitingPull(
        RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length) {
    }

    private final RxmPeers peers;
    private final LocalEndpoint endpoint;
    private final String remoteAddress;
    private final RxmPackets packets;
    private final RxmRendezvous rendezvous = new RxmRendezvous();
    private final ArrayDeque<TransmitOperation> segmenting = new ArrayDeque<>();
    private final ArrayDeque<WaitingPull> pulls = new ArrayDeque<>();
    /** Sends whose last segment completed within the call that posted it, where no completion may be reported. */
    private final LongArrayList ended = new LongArrayList();
    private final RxmReader reader;
    private final RxmRemote remote;
    private final int eagerLimit;
    private final long sarLimit;
    private MessageChannel below;
    /** Credits for packets if flow control is on; otherwise null. */
    private RxmCredits credits;
    /** The other end of the endpoint's connection to itself, which the engine does not use; usually null. */
    private RxmChannel ownEnd;
    /** At such an end: the channel that the engine uses. */
    private RxmChannel engineEnd;
    private long packetNumber;
    private int messages;
    private boolean wantsWritable;
    /** Payloads that are being read, by either side. */
    private int transfers;

    int state = OPENING;
    /** Receives that are posted for its packets, 0 if they are not counted. */
    int receives;
    /** Our number for this peer: the low half of the number that the peer got. */
    int index;
    /** The peer's process, 0 until it is known. */
    int process;
    /** Our request was refused: we wait for the peer's own request and then try again. */
    boolean awaitsRequest;
    /** The peer's protocol if it is not rxm, a {@link org.jfabric.info.ProtocolErrno}; otherwise 0. */
    int otherProtocol;
    /** Time of the next attempt. */
    long retryNs;
    long retryDelayNs = 1_000_000;
    /** Time after which no attempt is made. */
    long deadlineNs;

    RxmChannel(
        RxmPeers peers,
        ChannelLimits limits,
        RxmSettings settings,
        LocalEndpoint endpoint,
        String remoteAddress,
        ChannelHandler handler) {
        super(limits, handler);
        this.peers = peers;
        this.endpoint = endpoint;
        this.remoteAddress = remoteAddress;
        this.eagerLimit = settings.eagerLimitBytes();
        this.sarLimit = settings.segmentedLimitBytes();
        this.packets = new RxmPackets(RxmPacket.HEADER_LENGTH + eagerLimit);
        this.reader = new RxmReader(this, eagerLimit);
        this.remote = new RxmRemote(this, eagerLimit);
    }

    LocalEndpoint endpoint() {
        return endpoint;
    }

    @Override
    public SocketName remote() {
        return SocketName.parse(remoteAddress);
    }

    @Override
    public String remoteAddress() {
        return remoteAddress;
    }

    @Override
    public boolean isUp() {
        return state == UP;
    }

    @Override
    public boolean isConnecting() {
        return below != null;
    }

    @Override
    public int process() {
        return process;
    }

    @Override
    public MessageChannel messages() {
        return below;
    }

    @Override
    public void dropAttempt() {
        if (below != null) {
            below.close(FabricErrno.ECONNABORTED);
        }
    }

    @Override
    public void lose(int errno) {
        below.close(errno);
        down(errno);
    }

    @Override
    public void loseStalled() {
        peers.stalled(this);
        lose(FabricErrno.ETIMEDOUT);
    }

    RxmReader reader() {
        return reader;
    }

    MessageChannel below() {
        return below;
    }

    /** Sets the connection, which is up or in progress; null if there is none any more. */
    void below(MessageChannel channel) {
        below = channel;
        credits = null;
        if (channel != null) {
            channel.usedBy(reader.below());
            reader.accesses(confirmsDelivery() ? handler().remoteHandler() : remote.accesses());
        }
    }

    /**
     * The connection is up: the peer has sent the number for packets to it, and whether it has flow control.
     */
    void up(RxmConnectData peer) {
        packetNumber = peer.packetNumber();
        state = UP;
        awaitsRequest = false;
        if (receives != 0 && peer.hasFlowControl()) {
            credits = new RxmCredits(below, receives);
            grant();
        }
        if (isOfEngine()) {
            handler().onUp(this);
        }
    }

    /** Sets the other end of the endpoint's connection to itself: messages that are sent here arrive there. */
    void ownEnd(RxmChannel other) {
        ownEnd = other;
        other.engineEnd = this;
    }

    /** Whether the other end of the endpoint's connection to itself is set. */
    boolean hasOwnEnd() {
        return ownEnd != null;
    }

    /** Whether the engine uses this channel. */
    boolean isOfEngine() {
        return engineEnd == null;
    }

    // ---- calls of the engine ----

    @Override
    public int send(TransmitOperation operation, int grant) {
        if (state != UP) {
            return -FabricErrno.EAGAIN;
        }
        if ((operation.flags & CONFIRMED) != 0) {
            return sendConfirmed(operation);
        }
        if (operation.length <= eagerLimit) {
            return sendEager(operation);
        }
        boolean isReadable = operation.length > sarLimit;
        int result = isReadable ? announceReadable(operation) : -FabricErrno.EOPNOTSUPP;
        return result == -FabricErrno.EOPNOTSUPP ? beginSegments(operation) : result;
    }

    private int sendEager(TransmitOperation operation) {
        TransmitOperation packet = take();
        if (packet == null) {
            return -FabricErrno.EAGAIN;
        }
        keepInjected(operation);
        header(packet, RxmPacket.EAGER, operation, 0);
        RxmPackets.withPayload(packet, operation, 0, operation.length);
        packet.context = operation.id();
        return pass(packet);
    }

    /** Copies a payload that is in no region: the caller may reuse its memory, and the payload may be read later. */
    private static void keepInjected(TransmitOperation operation) {
        if (operation.region == null && operation.pieces == null && operation.address != operation.injectAddress) {
            Words.copy(operation.address, operation.injectAddress, operation.length);
            operation.address = operation.injectAddress;
        }
    }

    /** Sends a packet by the link below, which completes it now or later, or refuses it. */
    private int pass(TransmitOperation packet) {
        int result = credits == null ? below.send(packet, 0) : credits.send(packet);
        if (result != PENDING) {
            packets.give(packet);
        }
        return noted(result);
    }

    // ---- credit, if both sides have flow control ----

    /** Grants credits to the peer, if a grant is due and a packet is free; 0 if nothing was sent. */
    private int grant() {
        int due = credits == null ? 0 : credits.due(peers.services());
        TransmitOperation packet = due == 0 ? null : packets.take();
        if (packet == null) {
            // tried again in each flush
            return 0;
        }
        RxmPacket.begin(packet.injectAddress, RxmPacket.CREDIT, packetNumber);
        RxmPacket.grant(packet.injectAddress, due);
        RxmPackets.whole(packet, RxmPacket.HEADER_LENGTH);
        int result = credits.sendGrant(packet);
        if (result != PENDING) {
            packets.give(packet);
        }
        return result < 0 ? 0 : 1;
    }

    void onReposted(int count) {
        if (credits != null) {
            credits.reposted(count);
            grant();
        }
    }

    boolean hasCredits() {
        return credits != null;
    }

    /** The peer has posted receives. */
    void onCredit(long granted) {
        if (credits == null) {
            // flow control is off: a peer that grants credits nevertheless does not wait for ours
            return;
        }
        if (credits.add(granted)) {
            onWritable();
        } else {
            broken("grants " + granted + " packets");
        }
    }

    private TransmitOperation take() {
        TransmitOperation packet = packets.take();
        wantsWritable |= packet == null;
        return packet;
    }

    // ---- packets that are copied ----

    /** The packet that {@link #sendNext} would send; null if there is none now. */
    TransmitOperation next() {
        TransmitOperation packet = state == UP ? packets.next() : null;
        wantsWritable |= packet == null;
        return packet;
    }

    /** As {@link RxmPackets#room}. */
    long room(TransmitOperation packet, int length) {
        return packets.room(packet, length);
    }

    /** Writes the part of a header that all packets to the peer have. */
    void begin(long address, int type) {
        RxmPacket.begin(address, type, packetNumber);
    }

    /** Sends the packet of {@link #next}, which was written to its room; a negative errno if it was not accepted. */
    int sendNext(TransmitOperation packet, long room, int length) {
        packets.take();
        RxmPackets.whole(packet, length);
        packet.address = room;
        return pass(packet);
    }

    private void header(TransmitOperation packet, int type, TransmitOperation operation, long message) {
        long address = packet.injectAddress;
        RxmPacket.begin(address, type, packetNumber);
        RxmPacket.message(
            address, (operation.flags & Flags.TAGGED) != 0, (operation.flags & Flags.REMOTE_CQ_DATA) != 0, message,
            operation.length, operation.data, operation.tag);
    }

    // ---- rendezvous: long messages, and those with a completion level beyond the sending, are read by the peer ----

    /**
     * Sends a message of which the peer confirms more than the sending. It confirms what it has read, into the buffer
     * of a receive, so that messages of any length are announced. C peers do not read and confirm a message without
     * bytes: there the channel below says that it is delivered, if its wire acknowledges messages, as tcp does: a peer
     * that exits at once has done that before. Else an answer that is requested behind it says so. Nothing says that it
     * is matched, nor that earlier messages are.
     */
    private int sendConfirmed(TransmitOperation operation) {
        if ((operation.awaitedOfPeer() & Flags.FENCE) != 0) {
            return -FabricErrno.EOPNOTSUPP;
        }
        if (operation.length != 0) {
            keepInjected(operation);
            return announceReadable(operation);
        }
        if ((operation.flags & Flags.MATCH_COMPLETE) != 0) {
            return -FabricErrno.EOPNOTSUPP;
        }
        TransmitOperation packet = take();
        if (packet == null) {
            return -FabricErrno.EAGAIN;
        }
        header(packet, RxmPacket.EAGER, operation, 0);
        RxmPackets.whole(packet, RxmPacket.HEADER_LENGTH);
        long levels = operation.isAcknowledged() ? operation.awaitedOfPeer() : 0;
        boolean isAcknowledged = confirmsDelivery();
        if (isAcknowledged) {
            packet.flags |= Flags.TRANSMIT_COMPLETE;
            packet.context = operation.id();
            packet.sink = levels;
        }
        int result = pass(packet);
        if (result < 0) {
            return result;
        }
        if (!isAcknowledged) {
            remote.confirm(operation.id(), levels);
        }
        return PENDING;
    }

    /** Whether the channel below says what the peer has taken off the wire. */
    boolean confirmsDelivery() {
        return (below.limits().levels() & Flags.DELIVERY_COMPLETE) != 0;
    }

    /** The peer has confirmed a message: reports its levels, if it awaits any, and the end of the sending. */
    void confirmed(long operation, long levels) {
        if (levels != 0) {
            handler().streamHandler().onAcknowledged(operation, levels, 0);
        }
        handler().onSent(operation, 0);
    }

    private int announceReadable(TransmitOperation operation) {
        TransmitOperation packet = take();
        if (packet == null) {
            return -FabricErrno.EAGAIN;
        }
        RxmRendezvous.Exposed exposed = rendezvous.take(operation);
        int result = exposing().expose(operation, exposed.payload);
        if (result < 0) {
            rendezvous.give(exposed);
            packets.give(packet);
            wantsWritable |= result == -FabricErrno.EAGAIN;
            return result;
        }
        header(packet, RxmPacket.RENDEZVOUS, operation, exposed.message());
        RxmDescriptors.write(packet.injectAddress + RxmPacket.HEADER_LENGTH, exposed.payload);
        RxmPackets.whole(packet, RxmPacket.HEADER_LENGTH + RxmDescriptors.LENGTH);
        result = pass(packet);
        if (result < 0) {
            exposing().conceal(exposed.payload);
            rendezvous.give(exposed);
            return result;
        }
        transfers++;
        return PENDING;
    }

    /** The connection that exposes payloads to the peer: the other end, if the endpoint is connected to itself. */
    private MessageChannel exposing() {
        return ownEnd == null ? below : ownEnd.below;
    }

    /** The peer has read a payload; returns false if it was not announced. */
    boolean onReadDone(long message) {
        if (engineEnd != null) {
            return engineEnd.onReadDone(message);
        }
        RxmRendezvous.Exposed exposed = rendezvous.find(message);
        if (exposed == null) {
            return false;
        }
        transfers--;
        exposing().conceal(exposed.payload);
        long operation = exposed.operation();
        long levels = exposed.levels();
        rendezvous.give(exposed);
        confirmed(operation, levels);
        return true;
    }

    // ---- long messages: in segments ----

    private int beginSegments(TransmitOperation operation) {
        operation.sink = messages++ & 0xffff_ffffL;
        operation.sent = 0;
        // the first segment decides the order of matching; later segments may wait
        int result = sendSegment(operation);
        if (result < 0) {
            return result;
        }
        segmenting.add(operation);
        return PENDING;
    }

    private int sendSegment(TransmitOperation operation) {
        TransmitOperation packet = take();
        if (packet == null) {
            return -FabricErrno.EAGAIN;
        }
        long rest = operation.length - operation.sent;
        int length = (int) Math.min(rest, eagerLimit);
        int position = operation.sent == 0 ? RxmPacket.FIRST : length == rest ? RxmPacket.LAST : RxmPacket.MIDDLE;
        header(packet, RxmPacket.SEGMENT, operation, operation.sink);
        RxmPacket.segment(packet.injectAddress, (int) (operation.sent / eagerLimit), length, position);
        RxmPackets.withPayload(packet, operation, operation.sent, length);
        if (length == rest) {
            packet.context = operation.id();
        }
        int result = pass(packet);
        if (result >= 0) {
            operation.sent += length;
            if (length == rest && result == DONE) {
                ended.addLong(operation.id());
            }
        }
        return result;
    }

    /** Whether the next step has completions to report to the engine. */
    boolean hasNews() {
        return !ended.isEmpty();
    }

    private int tellEnded() {
        int told = 0;
        // a reported completion may lead to further ones
        while (told < ended.size() && state == UP) {
            handler().onSent(ended.getLong(told++), 0);
        }
        ended.clear();
        return told;
    }

    /** Continues waiting grants, answers, reads and segments; 0 if there was no progress. */
    private int flush() {
        int work = grant() + remote.flush() + flushPulls();
        while (!segmenting.isEmpty() && state == UP) {
            TransmitOperation operation = segmenting.peek();
            if (operation.sent < operation.length) {
                if (sendSegment(operation) < 0) {
                    return work;
                }
                work++;
            }
            if (operation.sent == operation.length) {
                segmenting.poll();
            }
        }
        return work;
    }

    private int flushPulls() {
        int work = 0;
        while (!pulls.isEmpty() && state == UP) {
            WaitingPull pull = pulls.peek();
            int result = below.pull(
                pull.source, pull.destRegion, pull.destAddress, pull.destPieces, pull.length);
            if (result == -FabricErrno.EAGAIN) {
                return work;
            }
            pulls.poll();
            work++;
            if (result != PENDING) {
                onPulled(pull.source.operation(), result == DONE ? 0 : FabricErrno.EIO);
            }
        }
        return work;
    }

    // ---- receiving ----

    @Override
    public int pull(
        RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length) {
        int result = pulls.isEmpty()
            ? below.pull(source, destRegion, destAddress, destPieces, length) : -FabricErrno.EAGAIN;
        if (result == -FabricErrno.EAGAIN) {
            // the protocol cannot request segments instead: the read is tried again when the channel below has room
            RemotePayload kept = new RemotePayload();
            kept.set(source);
            pulls.add(new WaitingPull(kept, destRegion, destAddress, destPieces, length));
            result = PENDING;
        }
        transfers += result == PENDING ? 1 : 0;
        // there are no segments to request: a payload that the channel below cannot read is lost
        return result == -FabricErrno.EOPNOTSUPP ? -FabricErrno.EIO : result;
    }

    void onPulled(long operation, int errno) {
        transfers--;
        handler().payloadHandler().onPulled(operation, errno);
    }

    @Override
    public boolean isMidMessage() {
        return reader.isAssembling() || below.isMidMessage();
    }

    /** Whether a deadline passes unless the channel is polled. */
    boolean hasTimer() {
        return awaitsRequest || credits != null && credits.hasPause();
    }

    @Override
    public boolean isStalled(long nowNs, long timeoutNs) {
        boolean belowStalls = below.isStalled(nowNs, timeoutNs);
        return reader.isStalled(nowNs, timeoutNs, !below.isPaused()) || belowStalls;
    }

    @Override
    public boolean awaitsPeer() {
        return transfers != 0 || remote.isAwaiting() || below != null && below.awaitsPeer()
            || reader.isAssembling() || ownEnd != null && ownEnd.reader.isAssembling();
    }

    @Override
    public int finish(long operation, int errno, int grant) {
        TransmitOperation packet = take();
        if (packet == null) {
            return -FabricErrno.EAGAIN;
        }
        // also for a payload that could not be read: the protocol has no packet for that case
        (ownEnd == null ? reader : ownEnd.reader).taken(operation);
        RxmPacket.begin(packet.injectAddress, RxmPacket.READ_DONE, packetNumber);
        RxmPacket.about(packet.injectAddress, operation);
        RxmPackets.whole(packet, RxmPacket.HEADER_LENGTH);
        int result = pass(packet);
        return result < 0 ? result : DONE;
    }

    /** Reads and writes of remote memory by the connection; null if there are none, also if the channel is not up. */
    RemoteChannel accesses() {
        return state == UP ? below.remoteMemory() : null;
    }

    /** A write by the channel below; one with data takes a receive of the peer, and so a credit. */
    int write(RemoteChannel accesses, TransmitOperation operation, long length, int grant) {
        boolean takesReceive = credits != null && (operation.flags & Flags.REMOTE_CQ_DATA) != 0;
        return noted(takesReceive ? credits.write(accesses, operation, length)
            : accesses.write(operation, length, grant));
    }

    /** The result of a call of the channel below, which is to report when there is room. */
    int noted(int result) {
        wantsWritable |= result == -FabricErrno.EAGAIN;
        return result;
    }

    /** The part for remote memory access; the two ends of the endpoint's connection to itself share one. */
    @Override
    public RxmRemote remoteMemory() {
        return engineEnd == null ? remote : engineEnd.remote;
    }

    // ---- the channel below ----

    void onPacketSent(long id, int errno) {
        TransmitOperation packet = packets.find(id);
        if (packet == null) {
            return;
        }
        long operation = packet.context;
        long levels = packet.sink;
        packets.give(packet);
        if (operation != NO_OPERATION && errno == 0) {
            confirmed(operation, levels);
        } else if (operation != NO_OPERATION) {
            handler().onSent(operation, errno);
        }
        onWritable();
    }

    /** One step; 0 if there was no work. */
    int poll() {
        int work = ended.isEmpty() ? 0 : tellEnded();
        return state == CLOSED ? work : work + flush();
    }

    void onWritable() {
        flush();
        if (wantsWritable && state == UP) {
            wantsWritable = false;
            handler().onWritable();
        }
    }

    /** The connection is lost. */
    void down(int errno) {
        if (state == CLOSED) {
            return;
        }
        reader.abort(errno);
        release();
        if (isOfEngine()) {
            handler().onDown(errno);
        }
    }

    /** The peer violates the protocol. */
    void broken(String what) {
        peers.broken(this, what);
        if (state != CLOSED) {
            below.close(FabricErrno.EIO);
            down(FabricErrno.EIO);
        }
    }

    @Override
    public void quiesce() {
        if (state == UP) {
            below.quiesce();
        }
    }

    @Override
    public void close(int errno) {
        if (state != CLOSED) {
            if (below != null) {
                below.close(errno);
            }
            release();
        }
    }

    @Override
    public int provErrno() {
        return otherProtocol != 0 || below == null ? otherProtocol : below.provErrno();
    }

    private void release() {
        state = CLOSED;
        segmenting.clear();
        pulls.clear();
        remote.close();
        reader.close();
        packets.close();
        peers.remove(this);
    }
}
