package org.jfabric.driver.link.udp;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.SocketName;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.DatagramChannel;
import org.jfabric.driver.link.support.DatagramQueue;
import org.jfabric.driver.link.support.DatagramSources;
import org.jfabric.ffi.MessageVector;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One endpoint's socket: what waits to be sent, and whose messages are received.
 *
 * <p><b>Sending.</b> The first message of a cycle leaves at once; those that follow it in the same cycle leave with one
 * system call in the next poll, in the order of posting, and end when the kernel has taken them; it reads from the
 * sender's memory. <b>Receiving.</b> No more datagrams are taken than receives are posted: the others wait in the
 * kernel's buffer, and what does not fit there is lost, as with libfabric's provider. One is asked for as long as they
 * come one by one, more when they come faster: to ask for several costs a further look at the socket. A socket where
 * nothing came for a while is not asked in every cycle, because asking costs more than a message between drivers of one
 * host.
 *
 * <p>Owner: progress agent.
 */
final class UdpEndpoint {
    /** Polls without a datagram after which a socket is quiet. */
    private static final int QUIET_POLLS = 2048;
    /** A quiet socket is asked once in so many polls; a power of two. */
    private static final int QUIET_STRIDE = 32;

    private final LocalEndpoint local;
    private final UdpPort port;
    private final LinkServices services;
    private final ChannelLimits limits;
    private final MessageVector outgoing;
    private final DatagramSources sources = new DatagramSources();
    private final Map<String, UdpChannel> byAddress = new HashMap<>();
    private final List<UdpChannel> openings = new ArrayList<>();
    private final UdpChannel strangers;
    /** One object, so that falling asleep allocates nothing. */
    private final Runnable onArrival = () -> emptyPolls = 0;

    private final DatagramQueue waiting = new DatagramQueue();
    /** A message has left since the last poll: what follows is put together. */
    private boolean wroteInCycle;
    /** Datagrams to be asked for. */
    private int expected = 1;
    private int emptyPolls;
    private int quietPolls;
    private UdpPort[] groups = new UdpPort[0];

    UdpEndpoint(LocalEndpoint local, UdpPort port, LinkServices services, ChannelLimits limits, int batch) {
        this.local = local;
        this.port = port;
        this.services = services;
        this.limits = limits;
        this.outgoing = new MessageVector(batch, PieceList.MAX_PIECES);
        this.strangers = UdpChannel.ofStrangers(limits, local.handlerFor(UdpLink.STRANGERS), this);
        strangers.up();
    }

    LocalEndpoint local() {
        return local;
    }

    /**
     * An address was inserted: its channel is up at once, so that sends to it need not wait while later ones to others
     * go on: a strict completion order of datagrams holds for all peers together.
     */
    void introduce(SocketName remote) {
        if (remote.isIn6() == port.name().isIn6() && !byAddress.containsKey(remote.toString())) {
            UdpChannel channel = new UdpChannel(limits, local.handlerFor(remote.toString()), this, remote);
            byAddress.put(remote.toString(), channel);
            up(channel);
        }
    }

    /** The channel to an address that has none; it is up in the next poll, or down if the socket cannot reach it. */
    UdpChannel open(SocketName remote, ChannelHandler handler) {
        UdpChannel channel = new UdpChannel(limits, handler, this, remote);
        byAddress.put(remote.toString(), channel);
        openings.add(channel);
        return channel;
    }

    /**
     * Hands a message to the kernel if it is the first one of the cycle.
     *
     * @return false if it has to wait for the next poll, which also says why the kernel does not take it.
     */
    boolean sendNow(UdpChannel channel, TransmitOperation operation) {
        if (wroteInCycle || !waiting.isEmpty() || (operation.flags & Flags.MORE) != 0) {
            return false;
        }
        describe(0, channel, operation);
        wroteInCycle = port.send(outgoing, 1) == 1;
        emptyPolls = 0;
        return wroteInCycle;
    }

    /** A message begins to wait for the next poll. */
    void add(UdpChannel channel, TransmitOperation operation) {
        waiting.add(channel, operation);
    }

    /** A channel is closed; messages for it that wait end with the endpoint's own records. */
    void remove(UdpChannel channel) {
        sources.remove(channel);
        openings.remove(channel);
        byAddress.values().remove(channel);
    }

    int poll(UdpReceiver receiver, int limit) {
        int work = openings.isEmpty() ? 0 : openAll();
        if (!waiting.isEmpty()) {
            work += flush();
        }
        wroteInCycle = false;
        int posted = local.postedReceives();
        if (posted == 0 || !isDue()) {
            return work;
        }
        int asked = Math.min(expected, Math.min(limit, posted));
        int received = receiver.receive(port, sources, strangers, Flags.MSG, asked);
        if (received == asked) {
            expected = Math.min(2 * expected, outgoing.capacity());
        } else if (received == 0 && expected > 1) {
            expected /= 2;
        }
        if (groups.length != 0) {
            received += receiveGroups(receiver, limit);
        }
        if (received != 0) {
            emptyPolls = 0;
        }
        return work + received;
    }

    private boolean isDue() {
        if (emptyPolls < QUIET_POLLS) {
            emptyPolls++;
            return true;
        }
        return (++quietPolls & QUIET_STRIDE - 1) == 0;
    }

    private int receiveGroups(UdpReceiver receiver, int limit) {
        int received = 0;
        for (UdpPort group : groups) {
            int posted = local.postedReceives();
            if (posted != 0) {
                received += receiver.receive(
                    group, sources, strangers, Flags.MSG | Flags.MULTICAST, Math.min(limit, posted));
            }
        }
        return received;
    }

    void join(UdpPort group) {
        groups = Arrays.copyOf(groups, groups.length + 1);
        groups[groups.length - 1] = group;
        emptyPolls = 0;
    }

    void leave(String address) {
        for (UdpPort group : groups) {
            if (group.address().equals(address)) {
                groups = Arrays.stream(groups).filter(other -> other != group).toArray(UdpPort[]::new);
                group.close(services);
                return;
            }
        }
    }

    /** Hands what waits to the kernel; what it does not take now goes on waiting. */
    int flush() {
        int work = 0;
        emptyPolls = 0;
        while (!waiting.isEmpty()) {
            int count = gather();
            if (count == 0) {
                break;
            }
            int sent = port.send(outgoing, count);
            if (sent == -FabricErrno.EAGAIN) {
                break;
            }
            int ended = Math.max(1, sent);
            for (int i = 0; i < ended; i++) {
                end(sent < 0 ? -sent : 0);
            }
            work += ended;
        }
        return work;
    }

    /** Whether the thread may sleep; arriving datagrams wake it if somebody waits for them. */
    boolean arm() {
        if (!waiting.isEmpty() || !openings.isEmpty()) {
            return false;
        }
        if (local.postedReceives() == 0) {
            return true;
        }
        boolean armed = port.arm(services, onArrival);
        for (UdpPort group : groups) {
            armed &= group.arm(services, onArrival);
        }
        return armed;
    }

    void close() {
        waiting.clear();
        port.close(services);
        for (UdpPort group : groups) {
            group.close(services);
        }
    }

    private int openAll() {
        int work = 0;
        while (!openings.isEmpty()) {
            UdpChannel channel = openings.removeFirst();
            if (channel.isIn6() == port.name().isIn6()) {
                up(channel);
            } else {
                remove(channel);
                channel.handler().onDown(FabricErrno.ENETUNREACH);
            }
            work++;
        }
        return work;
    }

    private void up(UdpChannel channel) {
        sources.put(channel);
        channel.up();
    }

    /** Describes the oldest messages to the kernel; those of closed channels are dropped. */
    private int gather() {
        waiting.dropClosed();
        int count = 0;
        while (count < outgoing.capacity() && count < waiting.size() && !waiting.channel(count).isClosed()) {
            describe(count, (UdpChannel) waiting.channel(count), waiting.operation(count));
            count++;
        }
        return count;
    }

    private void describe(int index, UdpChannel channel, TransmitOperation operation) {
        outgoing.name(index, channel.nameAddress(), channel.nameLength());
        PieceList pieces = operation.pieces;
        if (pieces == null) {
            outgoing.piece(index, 0, operation.address, operation.length);
            outgoing.pieceCount(index, operation.length == 0 ? 0 : 1);
            return;
        }
        for (int i = 0; i < pieces.count(); i++) {
            outgoing.piece(index, i, pieces.address(i), pieces.length(i));
        }
        outgoing.pieceCount(index, pieces.count());
    }

    private void end(int errno) {
        TransmitOperation operation = waiting.operation(0);
        DatagramChannel channel = waiting.channel(0);
        // before it is told: if the entry cannot be written the operation must not be ended once more
        waiting.drop();
        channel.handler().onSent(operation.id(), errno);
    }
}
