package org.jfabric.driver.conductor;

import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.SystemNanoClock;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Info;
import org.jfabric.codec.control.OpenAddressVectorDecoder;
import org.jfabric.codec.control.OpenCompletionQueueDecoder;
import org.jfabric.codec.control.OpenCounterDecoder;
import org.jfabric.codec.control.OpenWaitSetDecoder;
import org.jfabric.codec.control.RegisterRegionDecoder;
import org.jfabric.client.LentMessages;
import org.jfabric.driver.conductor.command.ChangeConnectionCommand;
import org.jfabric.driver.conductor.command.CloseObjectCommand;
import org.jfabric.driver.conductor.command.Command;
import org.jfabric.driver.conductor.command.ConnectCommand;
import org.jfabric.driver.conductor.command.EnableEndpointCommand;
import org.jfabric.driver.conductor.command.EndClientCommand;
import org.jfabric.driver.conductor.command.ExplainPathCommand;
import org.jfabric.driver.conductor.command.InsertAddressCommand;
import org.jfabric.driver.conductor.command.JoinGroupCommand;
import org.jfabric.driver.conductor.command.LeaveGroupCommand;
import org.jfabric.driver.conductor.command.ListenCommand;
import org.jfabric.driver.conductor.command.NamePassiveEndpointCommand;
import org.jfabric.driver.conductor.command.OpenClientCommand;
import org.jfabric.driver.conductor.command.OpenCompletionQueueCommand;
import org.jfabric.driver.conductor.command.OpenCounterCommand;
import org.jfabric.driver.conductor.command.OpenPassiveEndpointCommand;
import org.jfabric.driver.conductor.command.OpenViewCommand;
import org.jfabric.driver.conductor.command.OpenWaitSetCommand;
import org.jfabric.driver.conductor.command.PublishServiceCommand;
import org.jfabric.driver.conductor.command.QueryInfoCommand;
import org.jfabric.driver.conductor.command.RegisterRegionCommand;
import org.jfabric.driver.conductor.command.RemoveAddressCommand;
import org.jfabric.driver.engine.SessionListener;
import org.jfabric.driver.link.PeerAcceptor;
import org.jfabric.driver.progress.FaultInspector;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.CycleClock;
import org.jfabric.driver.resource.DescriptorWatcher;
import org.jfabric.driver.resource.SharedFiles;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.ffi.Affinity;
import org.jfabric.ffi.UnixSocket;

import java.util.ArrayList;
import java.util.function.Consumer;

/**
 * Owns administration and lifetimes: accepts clients, takes their commands, ends those that are gone or broken.
 *
 * <p>Owner: its thread in DEDICATED; the thread of the progress agent in the other modes.
 */
public final class DriverConductor implements Agent {
    private static final int INBOX_LIMIT = 64;

    private final ConductorContext context;
    private final ConductorSettings settings;
    private final DescriptorWatcher watcher;
    private final CycleClock clock;
    private final FaultInspector faults;
    private final ClientSockets sockets;
    private final ClientCommandAdapter adapter = new ClientCommandAdapter(this);
    private final ServiceNames names = new ServiceNames();
    private final SessionListener listener = new Listener();
    private final Long2ObjectHashMap<ClientSession> sessions = new Long2ObjectHashMap<>();
    private final ArrayList<ClientSession> ringing = new ArrayList<>();
    private final ArrayList<Command> commands = new ArrayList<>();
    private final ArrayList<ClientSession> embedded = new ArrayList<>();
    private long lastId;
    private long lastPollNs;
    private boolean eventsWaiting;
    private InternalError fault;

    /**
     * Wiring of the agent.
     *
     * @param context  what commands work with.
     * @param settings how it is run.
     * @param watcher  of descriptors.
     * @param clock    of the cycle.
     * @param faults   finds out whose file was cut.
     * @param listenFd of the driver's socket, listening.
     * @param acceptor for other drivers, or null.
     */
    public DriverConductor(
        ConductorContext context,
        ConductorSettings settings,
        DescriptorWatcher watcher,
        CycleClock clock,
        FaultInspector faults,
        int listenFd,
        PeerAcceptor acceptor) {
        this.context = context;
        this.settings = settings;
        this.watcher = watcher;
        this.clock = clock;
        this.faults = faults;
        this.sockets = new ClientSockets(
            context, this, watcher, listenFd, acceptor, SystemNanoClock.INSTANCE,
            fd -> UnixSocket.accept4(fd, UnixSocket.SOCK_NONBLOCK));
        sockets.open();
    }

    @Override
    public void onStart() {
        if (settings.cpu() >= 0) {
            Affinity.bind(settings.cpu());
        }
    }

    @Override
    public int doWork() {
        long nowNs = settings.ownClock() ? clock.update() : clock.nowNs();
        int work = 0;
        try {
            work = context.inbox().drain(INBOX_LIMIT) + recover();
            if (settings.pollIntervalNs() >= 0 && nowNs - lastPollNs >= settings.pollIntervalNs()) {
                lastPollNs = nowNs;
                work += watcher.poll(0, context.inbox());
            }
            work += sockets.closeSilent(nowNs) + sockets.retryAccept(nowNs);
            work += pollCommands();
            work += executeCommands(nowNs);
            // events come from what was done above, or were waiting before
            if (work > 0 || eventsWaiting) {
                work += flushEvents();
            }
            FaultPoint.pass();
        } catch (InternalError ex) {
            onFault(ex);
            work++;
        }
        return work;
    }

    @Override
    public String roleName() {
        return "jfabric-conductor";
    }

    /**
     * Whether a client's event ring is full, so that the thread must look again soon.
     *
     * @return true if events wait.
     */
    public boolean hasPendingEvents() {
        return eventsWaiting;
    }

    /**
     * Attaches the client that embeds the driver in INVOKER mode.
     *
     * @param opened told in a later cycle.
     */
    public void attachEmbedded(OpenedClient opened) {
        onHello("embedding", ClientSession.EMBEDDED, () -> {
        }, opened);
    }

    /**
     * Ends a client, as if its connection had ended.
     *
     * @param clientId the client; nothing happens if it is gone.
     */
    public void detach(long clientId) {
        ClientSession session = sessions.get(clientId);
        if (session != null) {
            onClientGone(session);
        }
    }

    /**
     * Private data that connections carry.
     *
     * @return bytes, 0 if no link connects.
     */
    public int cmDataBytes() {
        return context.cmDataBytes();
    }

    /**
     * Finds an endpoint of the embedding client.
     *
     * @param endpointId its number.
     * @return the endpoint, or null.
     */
    public EndpointResource embeddedEndpoint(long endpointId) {
        // numbers of endpoints are unique in the driver, whichever fabric of the application opened them
        for (ClientSession session : embedded) {
            EndpointResource endpoint = session.endpoints().get(endpointId);
            if (endpoint != null) {
                return endpoint;
            }
        }
        return null;
    }

    /**
     * Where cycles leave messages for the reader of a queue of an embedding client.
     *
     * @param queueId number of the queue.
     * @return null if there is no such queue.
     */
    public LentMessages embeddedLentMessages(long queueId) {
        for (ClientSession session : embedded) {
            CompletionQueueResource queue = session.completionQueues().get(queueId);
            if (queue != null) {
                return queue.writer().lentMessages();
            }
        }
        return null;
    }

    /**
     * Ends all clients; afterwards cycles are needed until {@link #isQuiet()}.
     *
     * @param reason told to the clients.
     */
    public void closeClients(String reason) {
        for (ClientSession session : sessions.values().toArray(new ClientSession[0])) {
            end(session, FabricErrno.ESHUTDOWN, reason);
        }
        sockets.closeAll();
    }

    /** Whether everything is taken back after {@link #closeClients}. */
    public boolean isQuiet() {
        return commands.isEmpty() && context.inbox().isEmpty() && sockets.waitChannels().isQuiet();
    }

    void onHello(String name, int fd, Runnable doorbell, OpenedClient opened) {
        String printable = name.replaceAll("[^\\x20-\\x7e]", "?");
        begin(new OpenClientCommand(context, ++lastId, printable, fd, doorbell, listener, new Registration(opened)));
    }

    void onDoorbell(ClientSession session) {
        if (!session.isEnding() && !ringing.contains(session)) {
            ringing.add(session);
        }
    }

    void onClientGone(ClientSession session) {
        if (!session.isEnding()) {
            if (!session.hasClosed()) {
                context.counters().add(SystemCounter.CLIENTS_DIED, 1);
                FabricException died = new FabricException(FabricErrno.ECONNRESET,
                    session + " of process " + session.pid() + " died: its socket ended and it had not closed",
                    "Find out why the process ended; its objects were taken back, others are not concerned.");
                // where it was noticed says nothing, and without it the log has room for many more
                died.setStackTrace(new StackTraceElement[0]);
                context.errorHandler().onError(died);
            }
            takeBack(session);
        }
    }

    void onCorruption(ClientSession session, String reason) {
        end(session, FabricErrno.EIO, reason);
    }

    void onRefused(ClientSession session, long correlationId, FabricException cause) {
        context.counters().add(SystemCounter.COMMANDS_FAILED, 1);
        session.proxy().commandFailed(correlationId, cause.errno(), cause.getMessage());
    }

    void onOpenCompletionQueue(ClientSession session, OpenCompletionQueueDecoder decoder) {
        begin(new OpenCompletionQueueCommand(context, session, decoder, ++lastId));
    }

    void onOpenCounter(ClientSession session, OpenCounterDecoder decoder) {
        begin(new OpenCounterCommand(context, session, decoder, ++lastId));
    }

    void onOpenWaitSet(ClientSession session, OpenWaitSetDecoder decoder) {
        begin(new OpenWaitSetCommand(context, session, decoder, ++lastId));
    }

    void onOpenView(ClientSession session, long correlationId, long afterEndpointId) {
        begin(new OpenViewCommand(context, session, correlationId, nextEndpoint(afterEndpointId), ++lastId));
    }

    /** The endpoint with the next greater number, whichever client has it; null if there is none. */
    private EndpointResource nextEndpoint(long afterEndpointId) {
        EndpointResource next = null;
        for (ClientSession session : sessions.values()) {
            for (EndpointResource endpoint : session.endpoints().values()) {
                if (endpoint.id() > afterEndpointId && (next == null || endpoint.id() < next.id())) {
                    next = endpoint;
                }
            }
        }
        return next;
    }

    /** Where a client's threads wait for an object; null if client or object are not there. */
    WaitResource waitResource(long clientId, long objectId) {
        ClientSession session = sessions.get(clientId);
        return session == null ? null : session.waitResource(objectId);
    }

    void onOpenAddressVector(ClientSession session, OpenAddressVectorDecoder decoder) {
        AddressVectorResource vector = AddressVectorResource.open(++lastId, decoder);
        session.addressVectors().put(vector.id(), vector);
        session.proxy().addressVectorReady(decoder.correlationId(), vector.id());
    }

    void onInsertAddress(ClientSession session, long correlationId, long avId, long flags, String address) {
        begin(new InsertAddressCommand(context, session, correlationId, avId, flags, address, names));
    }

    void onRemoveAddress(ClientSession session, long correlationId, long avId, long fiAddr, long flags) {
        begin(new RemoveAddressCommand(context, session, correlationId, avId, fiAddr, flags));
    }

    void onRegisterRegion(ClientSession session, RegisterRegionDecoder decoder) {
        begin(new RegisterRegionCommand(context, session, decoder));
    }

    void onEnableEndpoint(ClientSession session, EndpointRequest request) {
        begin(new EnableEndpointCommand(context, session, request, names, ++lastId));
    }

    void onPublishService(ClientSession session, long correlationId, long endpointId, String service) {
        begin(new PublishServiceCommand(context, session, correlationId, endpointId, service, names));
    }

    void onCloseObject(ClientSession session, long correlationId, int kind, long objectId) {
        begin(new CloseObjectCommand(
            context, session, correlationId, kind, objectId, names, sockets.waitChannels()));
    }

    void onOpenPassiveEndpoint(
        ClientSession session, long correlationId, String address, String linkName, byte[] authKey) {
        begin(new OpenPassiveEndpointCommand(
            context, session, correlationId, address, linkName, authKey, names, ++lastId));
    }

    void onNamePassiveEndpoint(ClientSession session, long correlationId, long passiveId, String address) {
        begin(new NamePassiveEndpointCommand(context, session, correlationId, passiveId, address, names));
    }

    void onListen(ClientSession session, long correlationId, long passiveId, int backlog) {
        begin(new ListenCommand(context, session, correlationId, passiveId, backlog));
    }

    void onConnect(ClientSession session, long correlationId, long endpointId, String address, byte[] cmData) {
        begin(new ConnectCommand(context, session, correlationId, endpointId, address, cmData));
    }

    void onAccept(ClientSession session, long correlationId, long endpointId, long requestId, byte[] cmData) {
        EndpointResource endpoint = ChangeConnectionCommand.endpoint(session, endpointId);
        begin(new ChangeConnectionCommand(
            context, session, correlationId, () -> endpoint.endpoint().accept(requestId, cmData)));
    }

    void onJoin(ClientSession session, long correlationId, long endpointId, long flags, String address) {
        begin(new JoinGroupCommand(context, session, correlationId, endpointId, flags, address));
    }

    void onExplainPath(ClientSession session, long correlationId, long endpointId, long fiAddr) {
        begin(new ExplainPathCommand(context, session, correlationId, endpointId, fiAddr));
    }

    void onLeave(ClientSession session, long correlationId, long endpointId, long fiAddr) {
        begin(new LeaveGroupCommand(context, session, correlationId, endpointId, fiAddr));
    }

    void onReject(ClientSession session, long correlationId, long requestId, byte[] cmData) {
        begin(new ChangeConnectionCommand(
            context, session, correlationId, () -> session.progress().session().reject(requestId, cmData)));
    }

    void onShutdown(ClientSession session, long correlationId, long endpointId) {
        EndpointResource endpoint = ChangeConnectionCommand.endpoint(session, endpointId);
        begin(new ChangeConnectionCommand(
            context, session, correlationId, () -> endpoint.endpoint().shutdown()));
    }

    void onQueryInfo(
        ClientSession session, long correlationId, long flags, Info hints, String node, String service) {
        begin(new QueryInfoCommand(context, session, correlationId, flags, hints, node, service));
    }

    private int pollCommands() {
        int work = 0;
        for (int i = embedded.size() - 1; i >= 0; i--) {
            work += adapter.poll(embedded.get(i));
        }
        for (int i = ringing.size() - 1; i >= 0; i--) {
            ClientSession session = ringing.get(i);
            int taken = session.isEnding() ? 0 : adapter.poll(session);
            work += taken;
            // a client that was ended for what it wrote has left the list already, and another has its place
            if (!ClientCommandAdapter.isFull(taken) && i < ringing.size() && ringing.get(i) == session) {
                ringing.remove(i);
            }
        }
        if (work > 0) {
            context.counters().add(SystemCounter.COMMANDS, work);
        }
        return work;
    }

    private int flushEvents() {
        int work = 0;
        eventsWaiting = false;
        for (ClientSession session : sessions.values().toArray(new ClientSession[0])) {
            if (session.proxy().hasPending()) {
                work += session.proxy().flush();
                String broken = session.proxy().broken();
                if (broken != null) {
                    end(session, FabricErrno.EIO, broken);
                }
                eventsWaiting |= session.proxy().hasPending();
            }
        }
        return work;
    }

    private int executeCommands(long nowNs) {
        int ended = 0;
        for (int i = 0; i < commands.size(); i++) {
            Command command = commands.get(i);
            if (run(command, nowNs)) {
                commands.remove(i--);
                ended++;
            }
        }
        return ended;
    }

    /** A fault in one client's memory must not keep the other commands from going on. */
    private boolean run(Command command, long nowNs) {
        boolean ended = true;
        try {
            ended = command.execute(nowNs);
        } catch (InternalError ex) {
            onFault(ex);
        }
        if (ended && command.session() != null) {
            command.session().onCommandEnded();
        }
        return ended;
    }

    private void begin(Command command) {
        if (command.session() != null) {
            command.session().onCommandBegun();
        }
        commands.add(command);
    }

    private void end(ClientSession session, int errno, String reason) {
        if (session.isEnding()) {
            return;
        }
        context.counters().add(SystemCounter.CLIENTS_ENDED, 1);
        if (errno != FabricErrno.ESHUTDOWN) {
            context.errorHandler().onError(new FabricException(errno, session + " was ended: " + reason,
                "Only this client is concerned; it can connect again."));
        }
        try {
            session.proxy().clientEnded(errno, reason);
        } catch (InternalError ex) {
            // its control file is the one that was cut: the end of file has to tell it
            session.proxy().close();
        }
        takeBack(session);
    }

    private void takeBack(ClientSession session) {
        session.end();
        // commands that are under way end later and answer: not through a ring or socket that is somebody else's then
        session.proxy().close();
        sessions.remove(session.id());
        ringing.remove(session);
        embedded.remove(session);
        sockets.close(session);
        commands.add(new EndClientCommand(context, session, names, sockets.waitChannels()));
    }

    /** An access to shared memory failed on this thread; the next cycle deals with it. */
    void onFault(InternalError error) {
        fault = error;
    }

    private int recover() {
        InternalError error = fault;
        if (error == null) {
            return 0;
        }
        fault = null;
        for (SharedFiles.Cut cut : faults.inspect(error)) {
            ClientSession session = sessions.get(cut.clientId());
            if (session != null) {
                onCorruption(session, cut.reason());
            }
        }
        return 1;
    }

    /** Knows the client before it is told that it may begin. */
    private final class Registration implements OpenedClient {
        private final OpenedClient opened;

        Registration(OpenedClient opened) {
            this.opened = opened;
        }

        @Override
        public void onOpened(ClientSession session) {
            sessions.put(session.id(), session);
            if (session.isEmbedded()) {
                embedded.add(session);
            }
            opened.onOpened(session);
        }

        @Override
        public void onRefused(int errno, String reason) {
            opened.onRefused(errno, reason);
        }
    }

    /** The engine's news, handed over from the progress thread. */
    private final class Listener extends SessionListener {
        @Override
        public void onCorruption(long clientId, String reason) {
            context.inbox().post(() -> {
                ClientSession session = sessions.get(clientId);
                if (session != null) {
                    DriverConductor.this.onCorruption(session, reason);
                }
            });
        }

        @Override
        public void onCompletionQueueOverrun(long clientId, long cqId) {
            tell(clientId, proxy -> proxy.completionQueueOverrun(cqId));
        }

        @Override
        public void onPeerDown(
            long clientId, long endpointId, long fiAddr, int errno, int provErrno, String address) {
            tell(clientId, proxy -> proxy.peerDown(endpointId, fiAddr, errno, provErrno, address));
        }

        @Override
        public void onConnectionRequest(
            long clientId, long passiveId, long requestId, String linkName, String address, byte[] cmData) {
            tell(clientId, proxy -> proxy.connectionRequested(passiveId, requestId, linkName, address, cmData));
        }

        @Override
        public void onConnected(
            long clientId, long endpointId, String localAddress, String peerAddress, byte[] cmData) {
            tell(clientId, proxy -> proxy.connectionMade(endpointId, localAddress, peerAddress, cmData));
        }

        @Override
        public void onConnectionFailed(long clientId, long objectId, int errno, byte[] cmData) {
            tell(clientId, proxy -> proxy.connectionFailed(objectId, errno, cmData));
        }

        @Override
        public void onConnectionEnded(long clientId, long endpointId, int errno) {
            tell(clientId, proxy -> proxy.connectionEnded(endpointId, errno));
        }

        private void tell(long clientId, Consumer<ClientProxy> event) {
            context.inbox().post(() -> {
                ClientSession session = sessions.get(clientId);
                if (session != null) {
                    event.accept(session.proxy());
                }
            });
        }
    }
}
