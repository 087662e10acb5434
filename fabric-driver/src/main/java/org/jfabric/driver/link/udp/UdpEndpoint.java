package org.jfabric.driver.link.udp;

import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.DatagramChannel;
import org.jfabric.driver.link.support.DatagramEndpoint;
import org.jfabric.driver.link.support.PeerRate;
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
 * of the socket. When they arrive in bursts the kernel joins them ({@link JoinedDatagrams}), as it cuts bursts that are
 * sent ({@link UdpRuns}). A socket without traffic is not polled in every cycle, because a poll costs more than a
 * message between drivers of one host.
 *
 * <p><b>With DTLS</b> a message is sealed into a record when it is described to the kernel. The socket is read although
 * no receive is posted, because of handshakes. Messages that arrive meanwhile wait here, in the length of the kernel's
 * buffer.
 *
 * <p>Owner: progress agent.
 */
public final class UdpEndpoint extends DatagramEndpoint<UdpChannel, UdpPort> {
    /** Polls without a datagram after which a socket is quiet. */
    private static final int QUIET_POLLS = 2048;
    /** A quiet socket is read once in this number of polls; a power of two. */
    private static final int QUIET_STRIDE = 32;

    private final UdpPort port;
    private final LinkServices services;
    private final ChannelLimits limits;
    private final PeerRate.Limits rates;
    /** Counter of datagrams that were dropped because of the rate of their peer; 0 before the first one. */
    private long overRate;
    private final MessageVector outgoing;
    private final UdpReader reader;
    private final UdpChannel unknownSenders;
    /** The sessions with its peers; null if datagrams are plain. */
    private final DatagramSessions dtls;
    /** Records that have arrived while no receive was posted; null if datagrams are plain. */
    private final UdpBacklog backlog;
    /** Sends that wait for the time at which they left; null unless the endpoint has these times. */
    private final Departures departures;
    /** Kept in a field, so that arming allocates nothing. */
    private final Runnable onArrival = () -> emptyPolls = 0;

    /**
     * A message was sent since the last poll: later ones wait for the next poll and are sent together. Always true with
     * times of departure, so that all sends are pending.
     */
    private boolean wroteInCycle;
    /**
     * Joined datagrams, or those with times. Null until datagrams arrive in bursts: a call for joined ones costs a
     * single one more.
     */
    private DatagramIntake intake;
    /** Datagrams to request with one system call. */
    private int expected = 1;
    private int emptyPolls;
    private int quietPolls;
    private final boolean isMapped;
    /** Whether messages get their times of arrival. */
    private final boolean isTimed;
    /** The errno because of which the oldest message cannot be described. */
    private int failure;
    /** The kernel did not take the last datagrams: the next ones are sealed one by one. */
    private boolean isBlocked;

    /**
     * An endpoint.
     *
     * @param resources of its sessions; null if datagrams are plain.
     */
    UdpEndpoint(
        LocalEndpoint local, UdpPort port, LinkServices services, ChannelLimits limits, UdpReader reader,
        DriverConfig config, DatagramSecurity resources) {
        super(local);
        this.port = port;
        this.isMapped = port.isMapped();
        port.mark(TrafficMarks.of(local.trafficClass()));
        this.services = services;
        this.limits = limits;
        this.reader = reader;
        this.outgoing = new MessageVector(config.get(UdpConfig.BATCH_SIZE), PieceList.MAX_PIECES);
        this.rates = new PeerRate.Limits(
            config.get(UdpConfig.PEER_RATE_BYTES), config.get(UdpConfig.PEER_RATE_MESSAGES));
        this.isTimed = local.arrivals() != null;
        if (isTimed) {
            this.intake = new TimedDatagrams(config.get(UdpConfig.BATCH_SIZE), local.arrivals(), services.stages());
        }
        this.unknownSenders = UdpChannel.ofUnknownSenders(limits, local.handlerFor(UNKNOWN_SENDERS), this);
        unknownSenders.up();
        this.departures = port.departures() == null ? null : new Departures(port, services);
        this.wroteInCycle = departures != null;
        this.dtls = resources == null ? null : resources.open(this, port);
        this.backlog = dtls == null ? null : new UdpBacklog(port.bufferBytes(), dtls::onDropped);
    }

    /** The rate of a new channel's peer; null without a limit. */
    PeerRate newRate() {
        return rates.newRate(services.nowNs());
    }

    /** Whether a datagram is to be dropped; it is counted, or charged. */
    boolean isOver(PeerRate rate, int length) {
        long nowNs = services.nowNs();
        if (!rate.isOver(nowNs)) {
            rate.charge(length, 1, nowNs);
            return false;
        }
        if (overRate == 0) {
            overRate = services.counterAddress("udp: datagrams dropped because of the rate of their peer");
        }
        UnsafeApi.putLongRelease(null, overRate, UnsafeApi.getLong(overRate) + 1);
        return true;
    }

    /** The sessions with its peers; null if datagrams are plain. */
    DatagramSessions dtls() {
        return dtls;
    }

    @Override
    protected UdpChannel newChannel(String address, ChannelHandler handler) {
        return new UdpChannel(limits, handler, this, SocketName.parse(address));
    }

    /** A socket reaches addresses of its own family. A group has no session. */
    @Override
    protected boolean isReachable(String address) {
        SocketName remote = SocketName.parse(address);
        return remote.isIn6() == port.name().isIn6()
            && (dtls == null || !remote.inetAddress().isMulticastAddress());
    }

    /** A peer has proved itself: its messages are those of the address vector's entry, if there is one. */
    public void recognise(long name, String address) {
        if (sources().find(UdpChannel.keyHigh(name), UdpChannel.keyLow(name), UdpChannel.keyRest(name)) == null
            && local().knows(address)) {
            introduce(address);
        }
    }

    /**
     * Sends a message if it is the first one of the cycle. Returns false if it has to wait for the next poll, which
     * also reports an error of the kernel.
     */
    boolean sendNow(UdpChannel channel, TransmitOperation operation) {
        if (wroteInCycle || !waiting().isEmpty() || (operation.flags & Flags.MORE) != 0) {
            return false;
        }
        if (describe(0, channel, operation) != 0) {
            // reported as all that the kernel refuses
            return false;
        }
        wroteInCycle = port.send(outgoing, 1) == 1;
        emptyPolls = 0;
        return wroteInCycle;
    }

    /** Queues a message for the next poll. */
    void add(UdpChannel channel, TransmitOperation operation) {
        waiting().add(channel, operation);
        if (departures != null && waiting().size() == 1 && (operation.flags & Flags.MORE) == 0
            && departures.mayBegin() && describe(0, channel, operation) == 0) {
            emptyPolls = 0;
            if (port.send(outgoing, 1) == 1) {
                waiting().drop();
                departures.add(channel, operation);
            } else {
                // the next poll sends again, and reports the error
                departures.onRefused();
            }
        }
    }

    @Override
    protected void prepare(UdpChannel channel) {
        port.opened(channel);
    }

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
        if (departures != null) {
            work += departures.poll();
        } else {
            wroteInCycle = false;
        }
        int posted = local().postedReceives();
        if (dtls != null) {
            return work + dtls.poll() + receiveRecords(limit, posted);
        }
        if (posted == 0 || !isDue()) {
            return work;
        }
        int received = intake == null ? receive(Math.min(limit, posted))
            : intake.receive(port, sources(), unknownSenders, Flags.MSG, Math.min(limit, posted));
        if (!groups().isEmpty()) {
            received += receiveGroups(limit);
        }
        if (received != 0) {
            emptyPolls = 0;
        }
        return work + received;
    }

    private int receive(int limit) {
        int asked = Math.min(expected, limit);
        int received = reader.receive(port, sources(), unknownSenders, Flags.MSG, asked);
        adapt(received, asked);
        if (received == asked && asked >= UdpRuns.SHORTEST && port.join()) {
            intake = new JoinedDatagrams();
        }
        return received;
    }

    private void adapt(int received, int asked) {
        if (received == asked) {
            expected = Math.min(2 * expected, outgoing.capacity());
        } else if (received == 0 && expected > 1) {
            expected /= 2;
        }
    }

    private int receiveRecords(int limit, int posted) {
        int work = 0;
        while (!backlog.isEmpty() && local().postedReceives() > 0) {
            long scratch = dtls.scratch();
            int length = backlog.take(scratch);
            open(backlog.nameAddress(), scratch, length, true);
            work++;
        }
        // without receives and handshakes the kernel's buffer is the better place for what arrives
        boolean mayWait = posted == 0 && !dtls.isShaking() && !services.isCatchingUp()
            && (++quietPolls & QUIET_STRIDE - 1) != 0;
        if (mayWait || !isDue()) {
            return work;
        }
        int asked = Math.min(expected, limit);
        int received = reader.receiveRecords(port, this, asked);
        adapt(received, asked);
        if (received != 0) {
            emptyPolls = 0;
        }
        return work + received;
    }

    /** A datagram has arrived at an encrypted endpoint. */
    void onDatagram(long name, long address, int length) {
        boolean isData = dtls.isData(address, length);
        if (isData && (!backlog.isEmpty() || local().postedReceives() == 0)) {
            backlog.add(name, address, length);
        } else {
            open(name, address, length, isData);
        }
    }

    private void open(long name, long address, int length, boolean isData) {
        UdpChannel sender = UdpChannel.sender(sources(), name, unknownSenders);
        // before it costs more; handshakes have limits of their own
        if (isData && sender.isOverRate(length)) {
            return;
        }
        int message = dtls.onDatagram(name, address, length);
        if (message != DatagramSessions.NO_MESSAGE) {
            sender.handler().onMessage(Flags.MSG, 0, 0, address, message);
        }
    }

    private boolean isDue() {
        if (emptyPolls < QUIET_POLLS || isMapped) {
            emptyPolls++;
            return true;
        }
        return services.isCatchingUp() || (++quietPolls & QUIET_STRIDE - 1) == 0;
    }

    private int receiveGroups(int limit) {
        int received = 0;
        for (int i = 0; i < groups().size(); i++) {
            int posted = local().postedReceives();
            if (posted != 0 && isTimed) {
                received += intake.receive(groups().get(i), sources(), unknownSenders, Flags.MSG | Flags.MULTICAST,
                    Math.min(limit, posted));
            } else if (posted != 0) {
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
            if (count == 0 && failure != 0) {
                end(failure);
                work++;
                continue;
            }
            if (count == 0) {
                break;
            }
            int sent = departures == null ? port.send(outgoing, count) : depart(count);
            isBlocked = sent == -FabricErrno.EAGAIN;
            if (isBlocked) {
                break;
            }
            int ended = Math.max(1, sent);
            int reported = sent > 0 && departures != null ? 0 : ended;
            for (int i = 0; i < reported; i++) {
                end(sent < 0 ? -sent : 0);
            }
            work += ended;
        }
        return work;
    }

    /** Sends the oldest messages, which then wait for their times; as {@link UdpPort#send}. */
    private int depart(int count) {
        if (!departures.mayBegin()) {
            return -FabricErrno.EAGAIN;
        }
        int sent = port.send(outgoing, count);
        if (sent != count) {
            departures.onRefused();
        }
        for (int i = 0; i < sent; i++) {
            TransmitOperation operation = waiting().operation(0);
            DatagramChannel channel = waiting().channel(0);
            waiting().drop();
            departures.add(channel, operation);
        }
        return sent;
    }

    @Override
    protected boolean arm() {
        if (!waiting().isEmpty() || isOpening() || port.isBusy() || departures != null && !departures.isEmpty()) {
            return false;
        }
        boolean hasReceives = local().postedReceives() != 0;
        if (dtls == null && !hasReceives) {
            return true;
        }
        if (hasReceives && (dtls != null ? !backlog.isEmpty() : intake != null && intake.areWaiting())) {
            return false;
        }
        boolean armed = port.arm(services, onArrival);
        for (UdpPort group : groups()) {
            armed &= group.arm(services, onArrival);
        }
        return armed;
    }

    @Override
    protected boolean hasTimers() {
        return dtls != null && !dtls.isEmpty();
    }

    @Override
    protected void close() {
        waiting().clear();
        if (dtls != null) {
            dtls.close();
            backlog.close();
        }
        port.close(services);
        groups().forEach(group -> group.close(services));
    }

    /** Describes the oldest messages to the kernel; those of closed channels are dropped. */
    private int gather() {
        waiting().dropClosed();
        int count = 0;
        int limit = Math.min(dtls != null && isBlocked ? 1 : outgoing.capacity(), waiting().size());
        failure = 0;
        while (count < limit && !waiting().channel(count).isClosed()) {
            failure = describe(count, (UdpChannel) waiting().channel(count), waiting().operation(count));
            if (failure != 0) {
                break;
            }
            count++;
        }
        return count;
    }

    /** Describes a message to the kernel; a positive errno if it cannot be sealed. */
    private int describe(int index, UdpChannel channel, TransmitOperation operation) {
        outgoing.name(index, channel.nameAddress(), channel.nameLength());
        if (dtls != null) {
            long slot = dtls.slot(index);
            int length = dtls.seal(channel, operation, slot);
            outgoing.piece(index, 0, slot, Math.max(0, length));
            outgoing.pieceCount(index, 1);
            return Math.max(0, -length);
        }
        PieceList pieces = operation.pieces;
        if (pieces == null) {
            outgoing.piece(index, 0, operation.address, operation.length);
            outgoing.pieceCount(index, operation.length == 0 ? 0 : 1);
            return 0;
        }
        for (int i = 0; i < pieces.count(); i++) {
            outgoing.piece(index, i, pieces.address(i), pieces.length(i));
        }
        outgoing.pieceCount(index, pieces.count());
        return 0;
    }

    private void end(int errno) {
        TransmitOperation operation = waiting().operation(0);
        DatagramChannel channel = waiting().channel(0);
        // before the report: if the entry cannot be written, the operation must not complete twice
        waiting().drop();
        channel.handler().onSent(operation.id(), errno);
    }
}
