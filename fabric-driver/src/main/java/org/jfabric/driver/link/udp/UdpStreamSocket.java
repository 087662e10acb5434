package org.jfabric.driver.link.udp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.stream.net.PeerAddress;
import org.jfabric.driver.stream.net.StreamSocket;
import org.jfabric.ffi.MessageVector;
import org.jfabric.ffi.SocketTimes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.TimestampClock;
import org.jfabric.layout.Words;

/**
 * A UDP socket for the datagrams of streams, with another one beside it: that of a multicast group, or one to the peer
 * that gets everything. Many datagrams are sent and received with one system call.
 */
final class UdpStreamSocket extends StreamSocket {
    private static final int LEAST_BYTES = 512;
    /** What the header of IPv6 is longer than that of IPv4. */
    private static final int IN6_BYTES = 20;
    private static final int LINE = 64;
    /** After so many calls that found a datagram the next one is for many, which takes longer. */
    private static final int FINDS = 3;

    private final UdpPort port;
    /** Receives what is sent to a multicast group; null without one. */
    private final UdpPort group;
    private final SolePeer sole;
    private final LinkServices services;
    private final int maxBytes;
    /** Datagrams to one peer, for one call. */
    private final MessageVector outgoing;
    private final MessageVector incoming;
    private final boolean isTimed;
    private final boolean isOfCard;
    private final MemorySegment memory;
    /** What was collected: the memory of each datagram, whether it was sent or not, its length, and where it goes. */
    private final long[] slots;
    private final int[] lengths;
    private final PeerAddress[] peers;
    private final boolean[] isSent;
    private int collected;
    private long last;
    private int lastBytes;
    /** Which of them are in {@link #outgoing}. */
    private final int[] chosen;
    /** Datagrams of the last call, or of none. */
    private int received;
    /** The last call was for one datagram. */
    private boolean isAlone;
    /** Calls in a row that found one, or, if they were for many, more than one. */
    private int finds;
    private int taken;
    private boolean isOfSecond;
    private boolean isClosed;

    UdpStreamSocket(UdpPort port, UdpPort group, LinkServices services, DriverConfig config) {
        this.port = port;
        this.group = group;
        this.sole = new SolePeer(port, services, group == null);
        this.services = services;
        maxBytes = Math.max(
            LEAST_BYTES, config.get(UdpConfig.MAX_MESSAGE_BYTES) - (port.name().isIn6() ? IN6_BYTES : 0));
        int batch = config.get(UdpConfig.BATCH_SIZE);
        outgoing = new MessageVector(batch, 1);
        isTimed = port.arrivals() != null;
        isOfCard = port.arrivals() == TimestampClock.CARD;
        incoming = new MessageVector(batch, 1, isTimed ? SocketTimes.CONTROL_BYTES : 0);
        slots = new long[batch];
        lengths = new int[batch];
        peers = new PeerAddress[batch];
        isSent = new boolean[batch];
        chosen = new int[batch];
        // no multiple of a page: the first lines of all slots must not share a cache set
        long slotBytes = (maxBytes + LINE & -LINE) + LINE;
        memory = Arena.ofAuto().allocate(2 * batch * slotBytes, LINE);
        for (int i = 0; i < batch; i++) {
            slots[i] = memory.address() + i * slotBytes;
            peers[i] = new PeerAddress();
            outgoing.pieceCount(i, 1);
            incoming.piece(i, 0, memory.address() + (batch + i) * slotBytes, slotBytes);
            incoming.pieceCount(i, 1);
            incoming.nameLength(i, MessageVector.NAME_BYTES);
        }
    }

    @Override
    public int maxDatagramBytes() {
        return maxBytes;
    }

    @Override
    public long claim() {
        if (collected == slots.length) {
            flush();
        }
        return collected == slots.length ? 0 : slots[collected];
    }

    @Override
    public void send(int lengthBytes, long name, int nameLength) {
        last = slots[collected];
        lastBytes = lengthBytes;
        lengths[collected] = lengthBytes;
        peers[collected++].set(name, nameLength);
        sole.sends(name, nameLength);
    }

    @Override
    public void repeat(long name, int nameLength) {
        if (collected == slots.length) {
            flush();
            if (collected == slots.length) {
                return;
            }
        }
        // memory of its own, since the last one may be sent before this one; a datagram that was sent is still there
        Words.copy(last, slots[collected], lastBytes);
        send(lastBytes, name, nameLength);
    }

    @Override
    public void flush() {
        for (int first = 0; first < collected; first++) {
            if (!isSent[first] && !sendTo(peers[first], first)) {
                break;
            }
        }
        int left = 0;
        for (int i = 0; i < collected; i++) {
            if (isSent[i]) {
                isSent[i] = false;
            } else {
                move(i, left++);
            }
        }
        collected = left;
    }

    /** Moves a datagram to a place in front, whose memory is free. */
    private void move(int from, int to) {
        if (from != to) {
            long free = slots[to];
            slots[to] = slots[from];
            slots[from] = free;
            lengths[to] = lengths[from];
            PeerAddress other = peers[to];
            peers[to] = peers[from];
            peers[from] = other;
        }
    }

    /**
     * Sends what goes to a peer, in order: the system gets a run of them as one. Returns false if it takes no more.
     */
    private boolean sendTo(PeerAddress peer, int first) {
        boolean isConnected = sole.has(peer);
        UdpPort by = isConnected ? sole.connected() : port;
        // with a name the system would find the route again
        long name = isConnected ? 0 : peer.name();
        for (int from = first;;) {
            int count = 0;
            for (int i = from; i < collected; i++) {
                if (!isSent[i] && peers[i].is(peer)) {
                    outgoing.piece(count, 0, slots[i], lengths[i]);
                    outgoing.name(count, name, peer.length());
                    chosen[count++] = i;
                }
            }
            if (count == 0) {
                return true;
            }
            int sent = by.send(outgoing, count);
            if (sent == -FabricErrno.EAGAIN || sent == 0) {
                return false;
            }
            // one that the system refuses counts as lost
            sent = Math.max(1, sent);
            for (int i = 0; i < sent; i++) {
                isSent[chosen[i]] = true;
            }
            if (sent == count) {
                return true;
            }
            from = chosen[sent];
        }
    }

    @Override
    public int receive() {
        if (++taken >= received && !refill()) {
            return -1;
        }
        // a datagram that was longer than the slot is longer than any that is sent, and none of this protocol
        return incoming.transferred(taken) > maxBytes ? 0 : incoming.transferred(taken);
    }

    private boolean refill() {
        for (int i = 0; i < received; i++) {
            incoming.nameLength(i, MessageVector.NAME_BYTES);
        }
        taken = 0;
        if (isAlone && received == 1) {
            // it is taken before the next one is looked for: another call would delay it
            received = 0;
            return false;
        }
        isAlone = finds < FINDS;
        // in turn, so that none of them is left waiting
        UdpPort second = second();
        // the second one may have been closed since
        isOfSecond = second != null && !isOfSecond;
        received = receiveSome(isOfSecond ? second : port);
        if (received == 0 && second != null) {
            isOfSecond = !isOfSecond;
            received = receiveSome(isOfSecond ? second : port);
        }
        finds = received > (isAlone ? 0 : 1) ? finds + 1 : 0;
        return received > 0;
    }

    private UdpPort second() {
        return group != null ? group : sole.connected();
    }

    private int receiveSome(UdpPort from) {
        int most = isAlone ? 1 : incoming.capacity();
        return Math.max(0, isTimed ? from.receiveTimed(incoming, most) : from.receive(incoming, most));
    }

    @Override
    public long timeNs() {
        return isTimed ? incoming.timeNs(taken, isOfCard) : 0;
    }

    @Override
    public long address() {
        return incoming.pieceAddress(taken, 0);
    }

    @Override
    public long name() {
        return incoming.nameAddress(taken);
    }

    @Override
    public int nameLength() {
        return incoming.nameLength(taken);
    }

    @Override
    public boolean arm() {
        UdpPort second = second();
        return collected == 0 && taken + 1 >= received && port.arm(services, () -> { })
            && (second == null || second.arm(services, () -> { }));
    }

    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            flush();
            port.close(services);
            sole.close();
            if (group != null) {
                group.close(services);
            }
        }
    }
}
