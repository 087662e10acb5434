package org.jfabric.driver.link.rxm;

import java.util.ArrayDeque;
import org.agrona.UnsafeApi;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.collections.LongHashSet;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.Placement;
import org.jfabric.driver.link.RemoteHandler;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.RemoteRanges;
import org.jfabric.driver.link.StreamHandler;
import org.jfabric.driver.link.support.MessageChannelHandler;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.Words;

/**
 * Parses the packets of one channel and delivers messages to the engine. A packet arrives whole, in the memory of the
 * channel below or in the bounce buffer here. A message for which there is no room stays there, and the channel below
 * is not read until there is room.
 *
 * <p>Peers of libfabric 1.17 over tcp send short tagged messages without a header. The channel below delivers these as
 * tagged messages, and they pass through unchanged.
 *
 * <p>Owner: progress agent.
 */
final class RxmReader extends ChannelHandler {
    /** Messages of one peer whose segments may be interleaved: more than a C peer's send queue can have. */
    private static final int MAX_ASSEMBLIES = 4096;

    private final RxmChannel channel;
    private final int eagerLimit;
    private final StreamHandler engine;
    private final StreamHandler packets = new Packets();
    private final MessageChannelHandler reads = new Connection();
    private final RemotePayload payload = new RemotePayload();
    private final Placement placement = new Placement();
    private final Long2ObjectHashMap<RxmAssembly> assemblies = new Long2ObjectHashMap<>();
    private final ArrayDeque<RxmAssembly> spare = new ArrayDeque<>();
    /** The range of a write that the connection below reports. */
    private final RemoteRanges written = new RemoteRanges();
    /** Numbers of messages that the peer has announced and that were not confirmed. */
    private final LongHashSet announced = new LongHashSet();
    private long bounce;
    /** Bytes of the packet in the bounce buffer that waits for room in the engine; 0 if none waits. */
    private int waiting;
    private RxmAssembly waitingAssembly;
    /** The channel below offers a message that the engine places, not this reader. */
    private boolean isPassing;
    /** The channel below waits because of {@link #waiting}. */
    private boolean isBlocked;
    private RemoteHandler accesses;

    RxmReader(RxmChannel channel, int eagerLimit) {
        this.channel = channel;
        this.engine = channel.handler().streamHandler();
        this.eagerLimit = eagerLimit;
        this.bounce = UnsafeApi.allocateMemory((long) RxmPacket.HEADER_LENGTH + eagerLimit);
    }

    /** Handler for the other events of the channel below. */
    MessageChannelHandler below() {
        return reads;
    }

    @Override
    public StreamHandler streamHandler() {
        return packets;
    }

    @Override
    public RemoteHandler remoteHandler() {
        return accesses;
    }

    /** Sets who is notified of reads and writes of the connection below. */
    void accesses(RemoteHandler handler) {
        accesses = handler;
    }

    // ---- events of the channel below ----

    @Override
    public int onOpening() {
        return channel.isOfEngine() ? channel.handler().onOpening() : 0;
    }

    @Override
    public void onUp(Channel below) {
        // RxmPeers reports the channel when it has read the private data
    }

    @Override
    public void onDown(int errno) {
        // datagram endpoints have no orderly shutdown: messages that the peer did not get are lost
        channel.down(errno == FabricErrno.ESHUTDOWN ? FabricErrno.ECONNRESET : errno);
    }

    @Override
    public void onWritable() {
        channel.onWritable();
    }

    @Override
    public void onSent(long id, int errno) {
        channel.onPacketSent(id, errno);
    }

    @Override
    public void onMessage(long flags, long tag, long data, long address, int length) {
        if ((flags & Flags.TAGGED) != 0) {
            channel.handler().onMessage(flags, tag, data, address, length);
        } else if (isPacketLength(length)) {
            take(address, length);
        }
    }

    /** Packets for which there may be no room. */
    private final class Packets extends StreamHandler {
        @Override
        public boolean canStore(long length) {
            return waiting == 0 && engine.canStore(length);
        }

        @Override
        public void place(long flags, long tag, long data, long length, Placement answer) {
            if (waiting != 0) {
                isBlocked = true;
                isPassing = false;
                answer.set(Placement.Action.PAUSE, 0, 0, 0);
                return;
            }
            if (isBlocked) {
                // the engine has not paused this message, so the placement must not be that of a paused one
                isBlocked = false;
                answer.set(Placement.Action.REFUSE, 0, 0, 0);
            }
            if ((flags & Flags.TAGGED) != 0) {
                isPassing = true;
                engine.place(flags, tag, data, length, answer);
            } else if (isPacketLength(length)) {
                isPassing = false;
                answer.set(Placement.Action.DIRECT, bounce, length, length);
            } else {
                answer.set(Placement.Action.REFUSE, 0, 0, 0);
            }
        }

        @Override
        public void onPlaced(Placement answer) {
            if (isPassing) {
                engine.onPlaced(answer);
            } else {
                take(bounce, (int) answer.token());
            }
        }

        @Override
        public void onAborted(Placement answer, int errno) {
            if (isPassing) {
                engine.onAborted(answer, errno);
            }
        }

        @Override
        public void onAcknowledged(long operation, long levels, int errno) {
            channel.broken("acknowledged a packet, which no packet requests");
        }
    }

    /** Completions of reads of the peer's memory, and counted receives. */
    private final class Connection extends MessageChannelHandler {
        @Override
        public void onPulled(long operation, int errno) {
            channel.onPulled(operation, errno);
        }

        @Override
        public void onReposted(int count) {
            channel.onReposted(count);
        }

        /** Takes credit ahead of waiting messages, which may need it: they may wait for a receive that follows it. */
        @Override
        public boolean takesEarly(long address, int length) {
            if (!channel.hasCredits() || length != RxmPacket.HEADER_LENGTH
                || RxmPacket.type(address) != RxmPacket.CREDIT) {
                return false;
            }
            take(address, length);
            return true;
        }

        @Override
        public boolean onWritten(int lengthBytes, long data) {
            if (channel.endpoint().memoryDomain(Flags.RMA) == null) {
                // of no byte: others need a key
                channel.broken("wrote to memory of an endpoint that gives no access");
                return true;
            }
            // behind a packet that waits, as messages are
            if (waiting != 0 || !accesses.begin(Flags.REMOTE_WRITE, true)) {
                return false;
            }
            written.clear();
            written.add(0, 0, lengthBytes);
            accesses.end(written, Flags.REMOTE_WRITE, true, data);
            return true;
        }
    }

    private boolean isPacketLength(long length) {
        if (length >= RxmPacket.HEADER_LENGTH && length <= RxmPacket.HEADER_LENGTH + eagerLimit) {
            return true;
        }
        channel.broken("sent a packet of " + length + " bytes");
        return false;
    }

    // ---- packets ----

    /** Processes a whole packet. */
    private void take(long address, int length) {
        if (!RxmPacket.isVersionKnown(address)) {
            channel.broken("sent a packet of an unknown version");
            return;
        }
        // the number has 32 bits, which some peers sign-extend
        if ((int) RxmPacket.connection(address) != channel.index) {
            channel.broken("sent a packet for connection " + RxmPacket.connection(address) + ", this one is "
                + channel.index);
            return;
        }
        switch (RxmPacket.type(address)) {
            case RxmPacket.EAGER -> onEager(address, length);
            case RxmPacket.SEGMENT -> onSegment(address, length);
            case RxmPacket.RENDEZVOUS -> onRendezvous(address, length);
            case RxmPacket.READ_DONE -> {
                if (!channel.onReadDone(RxmPacket.message(address))) {
                    channel.broken("confirms a message that was not announced");
                }
            }
            case RxmPacket.CREDIT -> channel.onCredit(RxmPacket.credits(address));
            case RxmPacket.ATOMIC -> onAtomic(address, length);
            case RxmPacket.ATOMIC_RESPONSE -> channel.remoteMemory().onResponse(address, length);
            default -> channel.broken("sent a packet of type " + RxmPacket.type(address)
                + "; rendezvous by writing has to be off (FI_OFI_RXM_USE_RNDV_WRITE=0)");
        }
    }

    private void onEager(long address, int length) {
        int bytes = length - RxmPacket.HEADER_LENGTH;
        if (RxmPacket.length(address) != bytes) {
            channel.broken("sent a message of " + RxmPacket.length(address) + " bytes in a packet with " + bytes);
            return;
        }
        if (engine.canStore(bytes)) {
            channel.handler().onMessage(
                flags(address), tag(address), RxmPacket.data(address), address + RxmPacket.HEADER_LENGTH, bytes);
        } else {
            // the placement of an earlier message must not be taken for that of this one
            placement.set(Placement.Action.REFUSE, 0, 0, 0);
            placeEager(address, length);
        }
    }

    private void placeEager(long address, int length) {
        int bytes = length - RxmPacket.HEADER_LENGTH;
        engine.place(flags(address), tag(address), RxmPacket.data(address), bytes, placement);
        // not before: if an access to memory fails in that call, a packet that waits is tried again
        waiting = 0;
        switch (placement.action()) {
            case DIRECT, STORE -> {
                copy(address + RxmPacket.HEADER_LENGTH, Math.min(bytes, placement.lengthBytes()));
                engine.onPlaced(placement);
            }
            case PAUSE -> keep(address, length);
            default -> channel.broken("sent a message that cannot be taken");
        }
    }

    /** Copies a message to its destination; if that memory fails, the message is aborted, and nothing else. */
    private void copy(long address, long bytes) {
        try {
            placement.copyFrom(0, address, bytes);
            FaultPoint.pass();
        } catch (InternalError failed) {
            engine.onAborted(placement, FabricErrno.EFAULT);
            throw failed;
        }
    }

    private void onSegment(long address, int length) {
        int bytes = RxmPacket.segmentLength(address);
        long message = RxmPacket.message(address);
        RxmAssembly assembly = assemblies.get(message);
        boolean first = RxmPacket.position(address) == RxmPacket.FIRST;
        if (bytes == 0 || bytes != length - RxmPacket.HEADER_LENGTH || first != (assembly == null)
            || RxmPacket.segmentNumber(address) != (first ? 0 : assembly.next)
            || bytes > (first ? RxmPacket.length(address) : assembly.length - assembly.received)
            || first && assemblies.size() == MAX_ASSEMBLIES) {
            channel.broken("sent segment " + RxmPacket.segmentNumber(address) + " of " + bytes
                + " bytes, which does not match the segments before it");
            return;
        }
        if (first) {
            assembly = spare.isEmpty() ? new RxmAssembly() : spare.poll();
            assembly.message = message;
            assembly.length = RxmPacket.length(address);
            assembly.received = 0;
            assembly.next = 0;
            assembly.isDropping = false;
            assembly.placement.set(Placement.Action.REFUSE, 0, 0, 0);
            if (!begin(assembly, address, length)) {
                return;
            }
            assemblies.put(message, assembly);
        }
        add(assembly, address, bytes);
    }

    /** Gets the destination of a message from the engine; false if the message has to wait or is refused. */
    private boolean begin(RxmAssembly assembly, long address, int length) {
        engine.place(
            flags(address), tag(address), RxmPacket.data(address), assembly.length, assembly.placement);
        waiting = 0;
        waitingAssembly = null;
        switch (assembly.placement.action()) {
            case DIRECT, STORE -> {
                return true;
            }
            case PAUSE -> {
                waitingAssembly = assembly;
                keep(address, length);
                return false;
            }
            default -> {
                channel.broken("sent a message of " + assembly.length + " bytes that cannot be taken");
                return false;
            }
        }
    }

    private void add(RxmAssembly assembly, long address, int bytes) {
        assembly.add(address + RxmPacket.HEADER_LENGTH, bytes);
        boolean isWhole = assembly.isWhole();
        if (isWhole) {
            assemblies.remove(assembly.message);
        }
        if (assembly.isPlaced()) {
            assembly.isDropping = true;
            engine.onPlaced(assembly.placement);
            assembly.placement.set(Placement.Action.DIRECT, 0, 0, 0);
        }
        if (isWhole) {
            spare.add(assembly);
        }
    }

    private void onRendezvous(long address, int length) {
        long message = RxmPacket.message(address);
        if (length != RxmPacket.HEADER_LENGTH + RxmDescriptors.LENGTH
            || !RxmDescriptors.read(
                address + RxmPacket.HEADER_LENGTH, message, RxmPacket.length(address), payload)) {
            channel.broken("announced a message of " + Long.toUnsignedString(RxmPacket.length(address))
                + " bytes whose pieces do not fit it");
            return;
        }
        if (!announced.add(message)) {
            channel.broken("announced two messages with the number " + message);
            return;
        }
        channel.handler().payloadHandler().onAnnounce(flags(address), tag(address), RxmPacket.data(address), payload);
    }

    /** An atomic operation, for which there may be no room for its answer. */
    private void onAtomic(long address, int length) {
        if (channel.remoteMemory().isFull()) {
            keep(address, length);
        } else {
            channel.remoteMemory().onRequest(address, length);
        }
    }

    private static long flags(long address) {
        long kind = RxmPacket.op(address) == RxmPacket.TAGGED_OP ? Flags.TAGGED : Flags.MSG;
        return RxmPacket.hasData(address) ? kind | Flags.REMOTE_CQ_DATA : kind;
    }

    private static long tag(long address) {
        return RxmPacket.op(address) == RxmPacket.TAGGED_OP ? RxmPacket.tag(address) : 0;
    }

    // ---- waiting for room ----

    private void keep(long address, int length) {
        waiting = length;
        if (address != bounce) {
            Words.copy(address, bounce, length);
        }
    }

    /** Tries the waiting packet again; 0 if none waits or it still waits. */
    int retry() {
        if (waiting == 0) {
            return 0;
        }
        int length = waiting;
        if (isAtomicWaiting()) {
            waiting = 0;
            onAtomic(bounce, length);
        } else if (waitingAssembly == null) {
            // the engine recognises the paused message by its placement
            placeEager(bounce, length);
        } else {
            RxmAssembly assembly = waitingAssembly;
            if (begin(assembly, bounce, length)) {
                assemblies.put(assembly.message, assembly);
                add(assembly, bounce, length - RxmPacket.HEADER_LENGTH);
            }
        }
        return waiting == 0 ? 1 : 0;
    }

    /** Whether the packet in the bounce buffer, if one waits there, is an atomic operation. */
    private boolean isAtomicWaiting() {
        return RxmPacket.type(bounce) == RxmPacket.ATOMIC;
    }

    /** Whether messages have arrived in part. */
    boolean isAssembling() {
        return !assemblies.isEmpty();
    }

    /** Whether a message that has arrived in part makes no progress, although the peer is read. */
    boolean isStalled(long nowNs, long timeoutNs, boolean isRead) {
        boolean isStalled = false;
        for (RxmAssembly assembly : assemblies.values()) {
            isStalled |= assembly.watch.isStalled(
                isRead && waiting == 0, assembly.message, assembly.received, assembly.length, nowNs, timeoutNs);
        }
        return isStalled;
    }

    /** An announced message is confirmed to the peer, which may then use its number again. */
    void taken(long message) {
        announced.remove(message);
    }

    /** Aborts the messages that have arrived in part, and the waiting one. */
    void abort(int errno) {
        for (RxmAssembly assembly : assemblies.values()) {
            if (!assembly.isDropping) {
                engine.onAborted(assembly.placement, errno);
            }
        }
        if (waitingAssembly != null) {
            engine.onAborted(waitingAssembly.placement, errno);
        } else if (waiting != 0 && !isAtomicWaiting()) {
            engine.onAborted(placement, errno);
        }
        assemblies.clear();
        waiting = 0;
        waitingAssembly = null;
    }

    void close() {
        if (bounce != 0) {
            UnsafeApi.freeMemory(bounce);
            bounce = 0;
        }
    }
}
