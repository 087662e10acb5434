package org.jfabric.driver.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jfabric.client.EndpointPort;
import org.jfabric.client.WorkRequest;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ContextName;
import org.jfabric.driver.link.GroupHandler;
import org.jfabric.driver.link.GroupName;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.MarkedAddress;
import org.jfabric.driver.log.EventKind;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.Stage;
import org.jfabric.info.BestName;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Reason;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * An active endpoint: its transmit side, its receive side and its peers, or its one connection, bound together.
 *
 * <p>Owner: progress agent.
 */
public final class EngineEndpoint extends EndpointPort {
    private final EndpointSettings settings;
    private final EngineSession session;
    private final Engine engine;
    private final List<Way> ways;
    private final AddressTable addresses;
    private final LocalEndpoint local;
    private final EndpointPeers context;
    private final PeerTable peers;
    private final Sender sender;
    /** Its own, or that of a shared receive context. */
    private final Receiver receiver;
    /** Its place in a shared receive context; null if it has receives of its own. */
    private final SharedReceives.Bound bound;
    private final RemoteTarget remoteTarget;
    private final EndpointWork work;
    private final int transmitIndex;
    private final int receiveIndex;
    /** Null for connectionless endpoints. */
    private final Connection connection;
    /** Of operations without a peer. */
    private final Traffic traffic = new Traffic(new ByteCredit());
    private boolean closed;
    /** Its connection is over: a receive that finds no message ends. */
    private boolean ended;

    EngineEndpoint(
        Engine engine,
        EngineSession session,
        EndpointSettings settings,
        List<Link> links,
        AddressTable addresses,
        EndpointCompletions completions,
        EngineEndpoint receiveContext) {
        this.engine = engine;
        this.session = session;
        this.settings = settings;
        this.local = new Local(settings.address(), settings.bound(), "");
        BestName name = BestName.isName(settings.address()) ? BestName.parse(settings.address()) : null;
        this.ways = links.stream()
            .map(link -> name == null ? new Way(link, local, "") : way(settings.bound(), link, links)).toList();
        this.addresses = addresses;
        this.context = new EndpointPeers(this, engine, addresses);
        this.peers = new PeerTable(addresses, ways, name, context, (settings.caps() & Flags.NAMED_RX_CTX) != 0);
        boolean isReceiveContext = completions.receive() == null;
        EndpointCounters counters = completions.counters();
        this.transmitIndex = isReceiveContext ? 0 : completions.transmit().addEndpoint();
        this.sender = new Sender(settings, session.regions(), peers, completions.transmit(), transmitIndex, counters,
            traffic);
        this.receiveIndex = isReceiveContext ? 0 : completions.receive().addEndpoint();
        ReceiveEntries entries = isReceiveContext ? null : new ReceiveEntries(
            settings, completions.receive(), receiveIndex, counters.receives(), peers.failure(), traffic);
        this.receiver = receiveContext != null ? receiveContext.receiver
            : new Receiver(settings, engine.settings(), session.regions(),
                isReceiveContext ? AddressTable::mayBeEntry : peers::isValid, entries, engine.clock());
        this.bound = receiveContext == null ? null
            : receiver.bind(
                entries, peers::isValid, peers::receives, completions.isReceiveSelective(), settings.mayOverrun());
        this.remoteTarget = new RemoteTarget(
            settings, session.regions().keys(settings.domain()), completions.receive(), receiveIndex, counters);
        peers.serve(new EndpointSides(
            sender, receiver, bound, remoteTarget, engine.schedule(), engine.owedCredit()));
        this.work = new EndpointWork(this, sender, receiver);
        this.connection = settings.connects() ? new Connection(local, links, peers, new Connected()) : null;
    }

    /** A link of an endpoint that has an address for each. */
    private Way way(BoundAddress bound, Link link, List<Link> all) {
        boolean isMarked = bound.of(link.name()) != null && all.stream()
            .skip(all.indexOf(link) + 1).anyMatch(later -> bound.of(later.name()) != null);
        String mark = isMarked ? MarkedAddress.mark(link.name()) : "";
        return new Way(link, new Local(bound.address(link.name()), bound.of(link.name()), mark), mark);
    }

    @Override
    public int send(long flags, long buf, long len, long destAddr, long tag, long data, long context) {
        try {
            if (sender.sendShort(flags, buf, len, destAddr, tag, context)) {
                return 0;
            }
            // a lent message writes a record at most, or waits for its peer, which the quick poll serves too
            if ((flags & Flags.LENT) == 0 || closed || !sender.isConnected(destAddr)) {
                engine.leaveQuick();
            }
            // an embedding client may keep the port after the endpoint is closed
            return closed || sender.share().isUsedUp(destAddr) ? refused()
                : sender.send(flags, buf, len, destAddr, tag, data, context);
        } catch (InternalError ex) {
            return inHand(ex);
        }
    }

    @Override
    public void beginSample(long nowNs) {
        sender.beginSample(nowNs);
    }

    @Override
    public void endSample(boolean isPosted) {
        long beganNs = sender.endSample();
        if (beganNs != 0 && isPosted) {
            engine.stages().record(Stage.ENGINE_TO_WIRE, System.nanoTime() - beganNs);
        }
    }

    @Override
    public int inject(long flags, long nativeAddress, int len, long destAddr, long tag, long data, long context) {
        return inject(flags, nativeAddress, len, destAddr, tag, data, context, false);
    }

    private int inject(
        long flags, long nativeAddress, int len, long destAddr, long tag, long data, long context, boolean isClaimed) {
        try {
            if (sender.injectShort(flags, nativeAddress, len, destAddr, tag, context)) {
                return 0;
            }
            engine.leaveQuick();
            return closed || !isClaimed && sender.share().isUsedUp(destAddr) ? refused()
                : sender.inject(flags, nativeAddress, len, destAddr, tag, data, context);
        } catch (InternalError ex) {
            return inHand(ex);
        }
    }

    /** Of a closed endpoint, or of a destination with its share of the sends. */
    private int refused() {
        return closed ? -FabricErrno.EOPBADSTATE : -FabricErrno.EAGAIN;
    }

    @Override
    public int post(WorkRequest request) {
        if (request.isTriggered) {
            return defer(request);
        }
        try {
            if (closed) {
                return -FabricErrno.EOPBADSTATE;
            }
            if (request.kind == WorkRequest.SEND || request.kind == WorkRequest.RECEIVE) {
                engine.leaveQuick();
                if (request.kind == WorkRequest.RECEIVE) {
                    return receive(request);
                }
                if (sender.share().isUsedUp(request.address)) {
                    return -FabricErrno.EAGAIN;
                }
            }
            return sender.post(request);
        } catch (InternalError ex) {
            return inHand(ex);
        }
    }

    private int defer(WorkRequest request) {
        // before anything is reserved; and no sample, because it may start much later
        notePendingFault();
        sender.endSample();
        try {
            engine.leaveQuick();
            return closed ? -FabricErrno.EOPBADSTATE : work.add(request);
        } catch (InternalError ex) {
            return inHand(ex);
        }
    }

    private int receive(WorkRequest request) {
        if (bound != null) {
            return -FabricErrno.ENOSYS;
        }
        int result = receiver.post(request);
        if (ended) {
            receiver.cancelPosted(FabricErrno.ENOTCONN);
        }
        return result;
    }

    /** Starts an operation that a counter has triggered. A fault ends the caller's step, too. */
    void start(WaitingOperation triggered) {
        engine.leaveQuick();
        try {
            if (triggered.operation != null) {
                sender.start(triggered.operation, triggered.request, triggered.completion);
                return;
            }
            receiver.start(triggered.request, triggered.completion);
            if (ended) {
                receiver.cancelPosted(FabricErrno.ENOTCONN);
            }
        } catch (InternalError ex) {
            sender.onFault();
            throw ex;
        }
    }

    /** The operations that wait for counters. */
    EndpointWork work() {
        return work;
    }

    @Override
    public long claimInject(int len, long scratch) {
        return sender.outstanding() < settings.txSize() ? scratch : -FabricErrno.EAGAIN;
    }

    @Override
    public int commitInject(
        long flags, long payload, int len, long destAddr, long tag, long data, long context) {
        return inject(flags, payload, len, destAddr, tag, data, context, true);
    }

    @Override
    public int receive(long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        // an expected receive has no record by which a recovery would find it
        notePendingFault();
        try {
            int posted = receiver.expect(flags, buf, len, srcAddr, tag, ignore, context);
            if (posted <= 0) {
                return posted;
            }
            engine.leaveQuick();
            if (bound != null) {
                return -FabricErrno.ENOSYS;
            }
            return ended ? receiveAfterEnd(flags, buf, len, srcAddr, tag, ignore, context)
                : receiver.receive(flags, buf, len, srcAddr, tag, ignore, context);
        } catch (InternalError ex) {
            return inHand(ex);
        }
    }

    @Override
    public int giveBack(long[] contexts, int count) {
        if (!closed) {
            // messages that wait for a cell are matched again after the next poll, quick or not
            receiver.giveBack(contexts, count);
        }
        return 0;
    }

    @Override
    public int cancel(long context) {
        // operations without a context, such as injected ones, cannot be cancelled
        try {
            engine.leaveQuick();
            if (!closed && context != 0 && !(bound == null && receiver.cancel(context)) && !sender.cancel(context)) {
                work.cancel(context);
            }
            return 0;
        } catch (InternalError ex) {
            return inHand(ex);
        }
    }

    /** Messages that arrived before the connection ended can still be received; no others will arrive. */
    private int receiveAfterEnd(
        long flags, long buf, long len, long srcAddr, long tag, long ignore, long context) {
        if (closed) {
            return -FabricErrno.EOPBADSTATE;
        }
        int result = receiver.receive(flags, buf, len, srcAddr, tag, ignore, context);
        receiver.cancelPosted(FabricErrno.ENOTCONN);
        return result;
    }

    @Override
    public int outstandingSends() {
        return sender.outstanding();
    }

    @Override
    public long completedSends() {
        return sender.completed().get();
    }

    @Override
    public long sendsLeft() {
        // of those that are left none can be to a destination that has its share
        return sender.share().isAnyUsedUp() ? 0 : settings.txSize() - sender.outstanding();
    }

    @Override
    public long receivesLeft() {
        return bound != null ? 0 : settings.rxSize() - receiver.outstanding();
    }

    @Override
    public long untakenSends() {
        return 0;
    }

    @Override
    public long untakenReceives() {
        return 0;
    }

    /** The number of receives that have not ended. */
    public int outstandingReceives() {
        return bound != null ? 0 : receiver.outstanding();
    }

    public EndpointSettings settings() {
        return settings;
    }

    /** The endpoint's index in the entries of its transmit completion queue. */
    public int transmitIndex() {
        return transmitIndex;
    }

    /** The endpoint's index in the entries of its receive completion queue. */
    public int receiveIndex() {
        return receiveIndex;
    }

    /** The client it belongs to. */
    public EngineSession session() {
        return session;
    }

    /**
     * Publishes the numbers of sends and receives that have ended: now, and whenever one ends.
     *
     * @param sendsAddress    native address of the 8-byte count of sends, behind which the destinations of
     *                        {@link RecordRingDescriptor#REFUSED_OFFSET} stand, or 0 to stop publishing.
     */
    public void publishCompleted(long sendsAddress, long receivesAddress) {
        sender.completed().tell(sendsAddress);
        sender.share().publish(sendsAddress == 0 ? 0
            : sendsAddress + RecordRingDescriptor.REFUSED_OFFSET - RecordRingDescriptor.COMPLETED_OFFSET);
        if (bound == null) {
            receiver.completed().tell(receivesAddress);
        }
    }

    Sender sender() {
        return sender;
    }

    Connection connection() {
        if (connection == null) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "the endpoint " + settings.address()
                + " is connectionless", "Open it with type FI_EP_MSG.");
        }
        return connection;
    }

    /**
     * Requests a connection from a listener.
     *
     * @throws FabricException {@code FI_EOPNOTSUPP} if the endpoint is connectionless, or as
     *     {@link Connection#connect}.
     */
    public void connect(String address, byte[] cmData) {
        connection().connect(address, cmData);
    }

    /**
     * Ends the connection.
     *
     * @throws FabricException {@code FI_EOPNOTSUPP} if the endpoint is connectionless, or as
     *     {@link Connection#shutdown}.
     */
    public void shutdown() {
        connection().shutdown();
    }

    /**
     * Accepts a request for a connection.
     *
     * @throws FabricException {@code FI_ECONNABORTED} if the request is not there any more, or as
     *     {@link Connection#accept}.
     */
    public void accept(long requestId, byte[] cmData) {
        Connection made = connection();
        made.requireIdle();
        EnginePassiveEndpoint.Waiting waiting = session.requireRequest(requestId);
        made.accept(waiting.request(), waiting.manager(), cmData);
    }

    /**
     * Joins a multicast group.
     *
     * @param group   the bound address that receives its messages, or null to send only; owned by the endpoint then.
     * @return the group's {@code fi_addr}, or a negative fabric errno.
     */
    public long join(String address, BoundAddress group) {
        if (group != null) {
            ways.forEach(way -> way.link().join(way.local(), group));
        }
        return addresses.insert(address);
    }

    /**
     * Joins a group by its name.
     *
     * @param flags   {@code Flags.SEND}, {@code Flags.RECV} or both.
     * @param handler gets the result, perhaps inside this call.
     */
    public void join(GroupName group, long flags, GroupHandler handler) {
        engine.leaveQuick();
        for (Way way : ways) {
            if (way.link().namesGroups() && !closed) {
                way.link().join(way.local(), group, flags, handler);
                return;
            }
        }
        handler.onFailed(new FabricException(closed ? FabricErrno.EOPBADSTATE : FabricErrno.EOPNOTSUPP,
            closed ? "the endpoint " + settings.address() + " is closed"
                : "the links of endpoint " + settings.address() + " have no groups",
            "Open an endpoint with FI_MULTICAST and a match of link shm."));
    }

    /**
     * Assigns a number to a group that was joined by its name; if there is none left the endpoint leaves it. Returns
     * the group's {@code fi_addr}, or a negative fabric errno.
     */
    public long number(GroupName group) {
        long fiAddr = addresses.insert(group.address());
        if (fiAddr < 0) {
            ways.forEach(way -> way.link().leave(way.local(), group.address()));
        }
        return fiAddr;
    }

    /**
     * Leaves a multicast group; its {@code fi_addr} stays, for sends.
     *
     * @param fiAddr from {@link #join}.
     */
    public void leave(long fiAddr) {
        String address = addresses.address(fiAddr);
        if (address != null) {
            engine.leaveQuick();
            ways.forEach(way -> way.link().leave(way.local(), address));
        }
    }

    /** The endpoint's receive side, which may be that of a shared receive context. */
    public Receiver receiver() {
        return receiver;
    }

    /** The endpoint's links. Returns the names, the preferred one first. */
    public List<String> linkNames() {
        return ways.stream().map(way -> way.link().name()).distinct().toList();
    }

    /** Reports a rare event of this endpoint. */
    void log(EventKind kind, long first, long second, String text) {
        engine.log().event(kind, session.clientId(), settings.id(), first, second, text);
    }

    /** What is counted without a peer; its row is the endpoint's. */
    Traffic traffic() {
        return traffic;
    }

    /** Messages that wait for a receive of this endpoint; 0 with a shared receive context, in which they wait. */
    int waitingMessages() {
        return bound != null ? 0 : receiver.unexpectedMessages();
    }

    /** The name of the first link that reaches a peer, as a channel is opened. */
    String linkTo(String address) {
        for (Way way : ways) {
            if (way.reaches(address)) {
                return way.link().name();
            }
        }
        return ways.isEmpty() ? "none" : ways.getFirst().link().name();
    }

    /**
     * The links that reach an address.
     *
     * @param address of a peer, inserted or not.
     * @return names; the first one is used, or the one that is used after the first could not be connected.
     */
    public List<String> reaching(String address) {
        List<String> names = new ArrayList<>();
        for (String each : peers.addresses(address)) {
            ways.stream().filter(way -> way.reaches(each)).map(way -> way.link().name()).forEach(names::add);
        }
        String used = linkTo(peers.current(address));
        if (names.remove(used)) {
            names.addFirst(used);
        }
        return names;
    }

    /**
     * Whether one of the links reaches an address. Any thread of the driver.
     *
     * @param address of a peer, inserted or not.
     * @return true if a connection can be tried.
     */
    public boolean reaches(String address) {
        PeerWays choice = peers.choice();
        List<String> candidates = choice == null ? List.of(address) : choice.choose(address);
        return candidates.stream().anyMatch(each -> ways.stream().anyMatch(way -> way.reaches(each)));
    }

    /**
     * Why links cannot be tried for a peer that has an address for each of its links. Any thread of the driver.
     *
     * @param address of a peer, inserted or not.
     * @return reasons by name of the link; empty for other addresses.
     */
    public Map<String, Reason> obstacles(String address) {
        return peers.choice() == null ? Map.of() : peers.choice().obstacles(address);
    }

    /** Why links that were tried for such a peer are not used. */
    public Map<String, Reason> refusals(String address) {
        return peers.choice() == null ? Map.of() : peers.choice().refusals(address);
    }

    PeerTable peers() {
        return peers;
    }

    /**
     * The address that sends to a destination go to; nothing is connected. Returns the address; null if the address
     * vector does not hold it, or a connection has no peer.
     */
    public String destination(long fiAddr) {
        return peers.address(fiAddr);
    }

    /**
     * The state of the channel to an address.
     *
     * @param address of a peer, or of one that nothing was sent to yet.
     * @return one of {@code PEER_*} of {@link org.jfabric.layout.ViewDescriptor}.
     */
    public int peerState(String address) {
        return peers.state(address);
    }

    /** Whether this is a shared receive context. */
    public boolean isReceiveContext() {
        return receiver.isShared() && bound == null;
    }

    /** Whether the endpoint is closed. */
    public boolean isClosed() {
        return closed;
    }

    void open() {
        addresses.bind(peers);
        if (connection == null) {
            for (Way way : ways) {
                way.link().attach(way.local());
            }
        }
        peers.introduceAll();
    }

    /** The list of scheduled peers was lost. */
    void unschedulePeers() {
        peers.all().forEach(PeerSends::unscheduled);
    }

    /** Ends the operations that were being processed when an access to shared memory failed; visits all peers. */
    void recover() {
        List<PeerSends> all = peers.all();
        sender.recover(all);
        if (bound == null) {
            receiver.recover(peers.receives());
        }
        remoteTarget.recover();
        for (PeerSends peer : all) {
            if (peer.channel() == null && (peer.outbox().owned() != 0 || peer.receives().firstPull() != null
                || !peer.outbox().isClear())) {
                // it went down, and the fault interrupted the end of its operations
                peer.onDown(FabricErrno.EIO);
            }
            peer.remote().recover();
            peer.schedule();
            peer.receives().oweCredit();
        }
    }

    /** The operation is accepted; the next cycle determines whether it completes with success or an error. */
    private int inHand(InternalError error) {
        engine.fault(error);
        sender.onFault();
        return 0;
    }

    void close(int errno) {
        closed = true;
        ended = true;
        notePendingFault();
        if (connection == null) {
            for (Way way : ways) {
                way.link().detach(way.local());
            }
        } else if (settings.bound() != null) {
            settings.bound().close();
        }
        addresses.unbind(peers);
        // a connection that was not shut down before is cut off
        int reported = connection == null ? errno : FabricErrno.ECONNRESET;
        boolean done = false;
        while (!done) {
            try {
                // does nothing for peers that are closed already
                peers.all().forEach(peer -> peer.close(reported));
                FaultPoint.pass();
                done = true;
            } catch (InternalError ex) {
                // a fault of a peer's memory must not leave this endpoint half open
                engine.fault(ex);
            }
        }
        context.close();
        work.close();
        remoteTarget.close();
        sender.close();
        if (bound == null) {
            receiver.close();
        } else {
            receiver.unbind(bound);
        }
    }

    /** Records a pending fault of any shared memory now: raised later, it would leave this endpoint half open. */
    private void notePendingFault() {
        try {
            FaultPoint.pass();
        } catch (InternalError ex) {
            engine.fault(ex);
        }
    }

    private final class Local extends LocalEndpoint {
        private final String address;
        private final BoundAddress boundAddress;
        /** As in {@link Way}. */
        private final String mark;

        Local(String address, BoundAddress boundAddress, String mark) {
            this.address = address;
            this.boundAddress = boundAddress;
            this.mark = mark;
        }

        @Override
        public String name() {
            return settings.name();
        }

        @Override
        public String address() {
            return address;
        }

        @Override
        public byte[] authKey() {
            return settings.authKey();
        }

        @Override
        public BoundAddress bound() {
            return boundAddress;
        }

        @Override
        public int trafficClass() {
            return settings.tclass();
        }

        @Override
        public Object memoryDomain() {
            return settings.accessesMemory() ? session.regions().keys(settings.domain()) : null;
        }

        @Override
        public int postedReceives() {
            return receiver.scan().postedUntagged();
        }

        @Override
        public boolean knows(String remoteAddress) {
            return peers.source(ContextName.endpoint(mark.concat(remoteAddress))) != Peer.UNKNOWN_SOURCE;
        }

        @Override
        public ChannelHandler handlerFor(String remoteAddress) {
            return peers.inbound(mark.concat(remoteAddress));
        }
    }

    private final class Connected extends ConnectionListener {
        @Override
        public void onConnected(String localAddress, String peerAddress, byte[] cmData) {
            log(EventKind.CONNECTION_MADE, 0, 0, peerAddress);
            session.listener().onConnected(session.clientId(), settings.id(), localAddress, peerAddress, cmData);
        }

        @Override
        public void onFailed(int errno, byte[] cmData) {
            log(EventKind.CONNECTION_FAILED, errno, 0, "");
            session.listener().onConnectionFailed(session.clientId(), settings.id(), errno, cmData);
        }

        @Override
        public void onShutdown(int errno) {
            log(EventKind.CONNECTION_ENDED, errno, 0, "");
            session.listener().onConnectionEnded(session.clientId(), settings.id(), errno);
        }

        @Override
        public void onEnded() {
            ended = true;
            if (bound == null) {
                receiver.cancelPosted(FabricErrno.ECANCELED);
            }
        }
    }
}
