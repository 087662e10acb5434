package org.jfabric.driver.link.udp;

import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.DatagramChannel;
import org.jfabric.driver.link.support.DatagramEndpoint;
import org.jfabric.driver.link.support.TrafficMarks;
import org.jfabric.ffi.MessageVector;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.SocketName;

/**
 * One endpoint with its socket, the sends that wait, and the channels of its senders.
 *
 * <p><b>Sending.</b> The first message of a cycle is sent immediately. Those that follow it in the same cycle are sent
 * with one system call in the next poll, in the order of posting, and complete when the kernel has taken them; it reads
 * from the sender's memory. <b>Receiving.</b> No more datagrams are taken than receives are posted. The others wait in
 * the kernel's buffer and are lost if they do not fit, as with libfabric's provider. The system call requests one
 * datagram while they arrive singly, and more when they arrive faster: a request for several costs an additional check
 * of the socket. A socket without traffic is not polled in every cycle, because a poll costs more than a message
 * between drivers of one host.
 *
 * <p>Owner: progress agent.
 */
final class UdpEndpoint extends DatagramEndpoint<UdpChannel, UdpPort> {
    /** Polls without a datagram after which a socket is quiet. */
    private static final int QUIET_POLLS = 2048;
    /** A quiet socket is read once in this number of polls; a power of two. */
    private static final int QUIET_STRIDE = 32;

    private final UdpPort port;
    private final LinkServices services;
    private final ChannelLimits limits;
    private final MessageVector outgoing;
    private final UdpReader reader;
    private final UdpChannel unknownSenders;
    /** Kept in a field, so that arming allocates nothing. */
    private final Runnable onArrival = () -> emptyPolls = 0;

    /** A message was sent since the last poll: later ones wait for the next poll and are sent together. */
    private boolean wroteInCycle;
    /** Datagrams to request with one system call. */
    private int expected = 1;
    private int emptyPolls;
    private int quietPolls;
    private final boolean isMapped;

    UdpEndpoint(
        LocalEndpoint local, UdpPort port, LinkServices services, ChannelLimits limits, UdpReader reader,
        int batch) {
        super(local);
        this.port = port;
        this.isMapped = port.isMapped();
        port.mark(TrafficMarks.of(local.trafficClass()));
        this.services = services;
        this.limits = limits;
        this.reader = reader;
        this.outgoing = new MessageVector(batch, PieceList.MAX_PIECES);
        this.unknownSenders = UdpChannel.ofUnknownSenders(limits, local.handlerFor(UNKNOWN_SENDERS), this);
        unknownSenders.up();
    }

    @Override
    protected UdpChannel newChannel(String address, ChannelHandler handler) {
        return new UdpChannel(limits, handler, this, SocketName.parse(address));
    }

    /** A socket reaches addresses of its own family. */
    @Override
    protected boolean isReachable(String address) {
        return SocketName.parse(address).isIn6() == port.name().isIn6();
    }

    /**
     * Sends a message if it is the first one of the cycle.
     *
     * @return false if it has to wait for the next poll, which also reports an error of the kernel.
     */
    boolean sendNow(UdpChannel channel, TransmitOperation operation) {
        if (wroteInCycle || !waiting().isEmpty() || (operation.flags & Flags.MORE) != 0) {
            return false;
        }
        describe(0, channel, operation);
        wroteInCycle = port.send(outgoing, 1) == 1;
        emptyPolls = 0;
        return wroteInCycle;
    }

    /** Queues a message for the next poll. */
    void add(UdpChannel channel, TransmitOperation operation) {
        waiting().add(channel, operation);
    }

    @Override
    protected void prepare(UdpChannel channel) {
        port.opened(channel);
    }

    /** The engine has closed a channel. */
    void closed(UdpChannel channel) {
        port.closed(channel);
        remove(channel);
    }

    @Override
    protected int poll(int limit) {
        int work = isOpening() ? openAll() : 0;
        if (!waiting().isEmpty()) {
            work += flush();
        }
        wroteInCycle = false;
        int posted = local().postedReceives();
        if (posted == 0 || !isDue()) {
            return work;
        }
        int asked = Math.min(expected, Math.min(limit, posted));
        int received = reader.receive(port, sources(), unknownSenders, Flags.MSG, asked);
        if (received == asked) {
            expected = Math.min(2 * expected, outgoing.capacity());
        } else if (received == 0 && expected > 1) {
            expected /= 2;
        }
        if (!groups().isEmpty()) {
            received += receiveGroups(limit);
        }
        if (received != 0) {
            emptyPolls = 0;
        }
        return work + received;
    }

    private boolean isDue() {
        if (emptyPolls < QUIET_POLLS || isMapped) {
            emptyPolls++;
            return true;
        }
        return (++quietPolls & QUIET_STRIDE - 1) == 0;
    }

    private int receiveGroups(int limit) {
        int received = 0;
        for (int i = 0; i < groups().size(); i++) {
            int posted = local().postedReceives();
            if (posted != 0) {
                received += reader.receive(groups().get(i), sources(), unknownSenders, Flags.MSG | Flags.MULTICAST,
                    Math.min(limit, posted));
            }
        }
        return received;
    }

    @Override
    protected void join(BoundAddress group) {
        add((UdpPort) group);
        emptyPolls = 0;
    }

    @Override
    protected void leave(UdpPort group) {
        group.close(services);
    }

    /** Sends waiting messages; those that the kernel does not take now stay in the queue. */
    private int flush() {
        int work = 0;
        emptyPolls = 0;
        while (!waiting().isEmpty()) {
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

    @Override
    protected boolean arm() {
        if (!waiting().isEmpty() || isOpening() || port.isBusy()) {
            return false;
        }
        if (local().postedReceives() == 0) {
            return true;
        }
        boolean armed = port.arm(services, onArrival);
        for (UdpPort group : groups()) {
            armed &= group.arm(services, onArrival);
        }
        return armed;
    }

    @Override
    protected void close() {
        waiting().clear();
        port.close(services);
        groups().forEach(group -> group.close(services));
    }

    /** Describes the oldest messages to the kernel; those of closed channels are dropped. */
    private int gather() {
        waiting().dropClosed();
        int count = 0;
        while (count < outgoing.capacity() && count < waiting().size() && !waiting().channel(count).isClosed()) {
            describe(count, (UdpChannel) waiting().channel(count), waiting().operation(count));
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
        TransmitOperation operation = waiting().operation(0);
        DatagramChannel channel = waiting().channel(0);
        // before the report: if the entry cannot be written, the operation must not complete twice
        waiting().drop();
        channel.handler().onSent(operation.id(), errno);
    }
}
