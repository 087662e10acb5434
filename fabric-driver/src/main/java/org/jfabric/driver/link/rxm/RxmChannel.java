package org.jfabric.driver.link.rxm;

import org.agrona.collections.LongArrayList;
import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.PayloadChannel;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.layout.Words;

import java.util.ArrayDeque;

/**
 * A pair of reliable datagram endpoints, over one connected channel: makes packets of messages.
 *
 * <pre>
 *   up to the eager limit    one packet
 *   up to the SAR limit      segments, which other packets may come between
 *   longer                   announced; the peer reads the payload by the channel below and says when it has
 * </pre>
 *
 * <p>Nothing here is copied but headers. Owner: progress agent.
 */
final class RxmChannel extends PayloadChannel {
    /** In a packet's context: it carries nothing of ours that has to be told. */
    static final long NO_OPERATION = -1;

    /** Has no connection yet, or waits for the peer's own request. */
    static final int OPENING = 0;
    /** Messages flow. */
    static final int UP = 1;
    /** Gone. */
    static final int CLOSED = 2;

    /** Answers to atomic operations that can wait for credit: more than a C peer's queue for sends holds. */
    private static final int MAX_ANSWERS = 4096;

    /** An atomic operation of the peer that has to be refused. */
    private record Answer(long message, int op) {
    }

    /** A payload to be read, for which the channel below had no room. */
    private record WaitingPull(
        RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length) {
    }

    private final RxmPeers peers;
    private final LocalEndpoint endpoint;
    private final String remoteAddress;
    private final RxmPackets packets = new RxmPackets();
    private final RxmRendezvous rendezvous = new RxmRendezvous();
    private final ArrayDeque<TransmitOperation> segmenting = new ArrayDeque<>();
    private final ArrayDeque<WaitingPull> pulls = new ArrayDeque<>();
    private final ArrayDeque<Answer> answers = new ArrayDeque<>();
    /** Sends whose last segment was taken at once, inside of the call that is not to be answered by a report. */
    private final LongArrayList ended = new LongArrayList();
    private final RxmReceiver receiver;
    private final int eagerLimit;
    private final long sarLimit;
    private MessageChannel below;
    /** Of packets, if they need any; else null. */
    private RxmCredits credits;
    /** The other end of a connection of the endpoint to itself, of which the engine does not know; usually null. */
    private RxmChannel ownEnd;
    /** At such an end: the one that the engine knows, and sends by. */
    private RxmChannel engineEnd;
    private long packetNumber;
    private int messages;
    private boolean wantsWritable;
    /** Payloads that are being read from the peer, or by it. */
    private int transfers;

    int state = OPENING;
    /** Our number of this peer, in the low half of what it was told. */
    int index;
    /** The peer's process, 0 until it was told. */
    int process;
    /** Ours was refused: the peer's own request comes, or we ask again. */
    boolean awaitsRequest;
    /** Counted among the strangers of its endpoint. */
    boolean isStranger;
    /** The other protocol that the peer speaks, a {@link org.jfabric.ProtocolErrno}; 0 if it speaks rxm. */
    int otherProtocol;
    /** When to ask again. */
    long retryNs;
    long retryDelayNs = 1_000_000;
    /** When to give up. */
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
        this.receiver = new RxmReceiver(this, eagerLimit);
    }

    LocalEndpoint endpoint() {
        return endpoint;
    }

    String remoteAddress() {
        return remoteAddress;
    }

    RxmReceiver receiver() {
        return receiver;
    }

    MessageChannel below() {
        return below;
    }

    /** There is a connection, made or on its way; null if there is none any more. */
    void below(MessageChannel channel) {
        below = channel;
        credits = null;
        if (channel != null) {
            channel.usedBy(receiver.below());
        }
    }

    /**
     * The peer has said which number its packets carry, and whether it counts receives.
     *
     * @param peer     what it wrote.
     * @param receives that are posted for its packets, 0 if they are not counted.
     */
    void up(RxmConnectData peer, int receives) {
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

    /** What is sent here comes out at the other end, for the same peer. */
    void ownEnd(RxmChannel other) {
        ownEnd = other;
        other.engineEnd = this;
    }

    /** Whether the endpoint's connection to itself has its other end. */
    boolean hasOwnEnd() {
        return ownEnd != null;
    }

    /** Whether the engine knows of it. */
    boolean isOfEngine() {
        return engineEnd == null;
    }

    // ---- calls of the engine ----

    @Override
    public int send(TransmitOperation operation, int grant) {
        if (state != UP) {
            return -FabricErrno.EAGAIN;
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
        if (operation.region == null && operation.pieces == null && operation.address != operation.injectAddress) {
            // the caller has the memory back when this call ends, and the packet may leave later
            Words.copy(operation.address, operation.injectAddress, operation.length);
            operation.address = operation.injectAddress;
        }
        header(packet, RxmPacket.EAGER, operation, 0);
        RxmPackets.withPayload(packet, operation, 0, operation.length);
        packet.context = operation.id();
        return pass(packet);
    }

    /** Gives a packet to the link below: accepted at once or for later, or not at all. */
    private int pass(TransmitOperation packet) {
        int result = credits == null ? below.send(packet, 0) : credits.send(packet);
        if (result != PENDING) {
            packets.give(packet);
            wantsWritable |= result == -FabricErrno.EAGAIN;
        }
        return result;
    }

    // ---- credit, where both sides count receives ----

    /** Tells the peer of receives, if it is time and there is a packet; 0 if nothing was sent. */
    private int grant() {
        int due = credits == null ? 0 : credits.due(peers.services());
        TransmitOperation packet = due == 0 ? null : packets.take();
        if (packet == null) {
            // asked again in each flush
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
            // flow control is off: whoever grants credits all the same does not wait for ours
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

    private void header(TransmitOperation packet, int type, TransmitOperation operation, long message) {
        long address = packet.injectAddress;
        RxmPacket.begin(address, type, packetNumber);
        RxmPacket.message(
            address, (operation.flags & Flags.TAGGED) != 0, (operation.flags & Flags.REMOTE_CQ_DATA) != 0, message,
            operation.length, operation.data, operation.tag);
    }

    // ---- long messages: read by the peer ----

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

    /** The connection that is asked for what a peer reads: where both ends are here, that is the other one. */
    private MessageChannel exposing() {
        return ownEnd == null ? below : ownEnd.below;
    }

    /** The peer has read a payload; false if it was not announced. */
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
        rendezvous.give(exposed);
        handler().onSent(operation, 0);
        return true;
    }

    // ---- long messages: in segments ----

    private int beginSegments(TransmitOperation operation) {
        operation.sink = messages++ & 0xffff_ffffL;
        operation.sent = 0;
        // the first one decides the order of matching; later ones may wait
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

    /** Whether the engine is to be told of something in the next step. */
    boolean hasNews() {
        return !ended.isEmpty();
    }

    private int tellEnded() {
        int told = 0;
        // what is told may end further ones
        while (told < ended.size() && state == UP) {
            handler().onSent(ended.getLong(told++), 0);
        }
        ended.clear();
        return told;
    }

    /** Goes on with what waits; 0 if nothing could go on. */
    private int flush() {
        int work = grant() + flushAnswers() + flushPulls();
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
            // nobody could be asked for segments: it is asked again when the channel below has room
            RemotePayload kept = new RemotePayload();
            kept.set(source);
            pulls.add(new WaitingPull(kept, destRegion, destAddress, destPieces, length));
            result = PENDING;
        }
        transfers += result == PENDING ? 1 : 0;
        // there are no segments to ask for: what the channel below cannot read is lost
        return result == -FabricErrno.EOPNOTSUPP ? -FabricErrno.EIO : result;
    }

    void onPulled(long operation, int errno) {
        transfers--;
        handler().payloadHandler().onPulled(operation, errno);
    }

    /** Whether a message of the peer has begun to come and makes no progress. */
    boolean isStalled(long nowNs, long timeoutNs) {
        boolean belowStalls = below.isStalled(nowNs, timeoutNs);
        return receiver.isStalled(nowNs, timeoutNs, !below.isPaused()) || belowStalls;
    }

    @Override
    public boolean awaitsPeer() {
        return transfers != 0 || receiver.isAssembling() || ownEnd != null && ownEnd.receiver.isAssembling();
    }

    @Override
    public int finish(long operation, int errno, int grant) {
        TransmitOperation packet = take();
        if (packet == null) {
            return -FabricErrno.EAGAIN;
        }
        // also of a payload that could not be taken: the wire has no word for that
        (ownEnd == null ? receiver : ownEnd.receiver).taken(operation);
        RxmPacket.begin(packet.injectAddress, RxmPacket.READ_DONE, packetNumber);
        RxmPacket.about(packet.injectAddress, operation);
        RxmPackets.whole(packet, RxmPacket.HEADER_LENGTH);
        int result = pass(packet);
        return result < 0 ? result : DONE;
    }

    /**
     * Answers an atomic operation on memory of this endpoint, of which there is none; without an answer the peer would
     * wait for ever.
     */
    void refuseAtomic(long message, int op) {
        if (answers.size() == MAX_ANSWERS) {
            broken("sent more atomic operations than can be answered");
            return;
        }
        answers.add(new Answer(message, op));
        flushAnswers();
    }

    private int flushAnswers() {
        int work = 0;
        while (!answers.isEmpty() && state == UP && answer(answers.peek().message, answers.peek().op) >= 0) {
            answers.poll();
            work++;
        }
        return work;
    }

    private int answer(long message, int op) {
        TransmitOperation packet = take();
        if (packet == null) {
            return -FabricErrno.EAGAIN;
        }
        long address = packet.injectAddress;
        RxmPacket.begin(address, RxmPacket.ATOMIC_RESPONSE, packetNumber);
        RxmPacket.atomicResponse(address, message, op, FabricErrno.EOPNOTSUPP);
        RxmPackets.whole(packet, RxmPacket.HEADER_LENGTH + RxmPacket.ATOMIC_RESPONSE_LENGTH);
        return pass(packet);
    }

    // ---- the channel below ----

    void onPacketSent(long id, int errno) {
        TransmitOperation packet = packets.find(id);
        if (packet == null) {
            return;
        }
        long operation = packet.context;
        packets.give(packet);
        if (operation != NO_OPERATION) {
            handler().onSent(operation, errno);
        }
        onWritable();
    }

    /** One step; 0 if there was nothing to do. */
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
        receiver.abort(errno);
        release();
        if (isOfEngine()) {
            handler().onDown(errno);
        }
    }

    /** The peer breaks the rules. */
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
        answers.clear();
        receiver.close();
        packets.close();
        peers.remove(this);
    }
}
