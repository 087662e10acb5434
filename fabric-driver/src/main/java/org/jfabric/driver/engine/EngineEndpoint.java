package org.jfabric.driver.engine;

import java.util.List;
import org.jfabric.client.EndpointPort;
import org.jfabric.client.GroupPort;
import org.jfabric.client.WorkRequest;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.log.EventKind;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.ReadPlace;
import org.jfabric.driver.resource.Stage;
import org.jfabric.info.BestName;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
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
    private final AddressTable addresses;
    private final EndpointWays links;
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
    /** Null without a completion queue for receives. */
    private final ReadPlace readPlace;
    private boolean closed;
    /** Its connection is over: a receive that finds no message ends. */
    private boolean ended;

    EngineEndpoint(
        Engine engine,
        EngineSession session,
        EndpointSettings settings,
        List<Link> chosen,
        AddressTable addresses,
        EndpointCompletions completions,
        EngineEndpoint receiveContext) {
        this.engine = engine;
        this.session = session;
        this.settings = settings;
        this.addresses = addresses;
        this.links = new EndpointWays(this, engine, chosen, addresses);
        BestName name = BestName.isName(settings.address()) ? BestName.parse(settings.address()) : null;
        this.context = new EndpointPeers(this, engine, addresses);
        this.peers = new PeerTable(
            addresses, links.ways(), name, context, (settings.caps() & Flags.NAMED_RX_CTX) != 0);
        boolean isReceiveContext = completions.receive() == null;
        EndpointCounters counters = completions.counters();
        this.readPlace = isReceiveContext ? null : completions.receive().readPlace();
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
        this.connection = settings.connects() ? new Connection(links.local(), chosen, peers, new Connected()) : null;
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

    @Override
    public GroupPort groupPort(long destAddr) {
        PeerSends group = peers.peer(destAddr);
        return group == null ? null : new GroupWriter(this, group);
    }

    /** An access to memory has failed in a call that has changed nothing yet. */
    void fault(InternalError error) {
        engine.fault(error);
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

    ReadPlace readPlace() {
        return readPlace;
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

    /** The endpoint's links, and its groups in them. */
    public EndpointWays links() {
        return links;
    }

    /** The endpoint's receive side, which may be that of a shared receive context. */
    public Receiver receiver() {
        return receiver;
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
            links.attach();
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
            links.detach();
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
