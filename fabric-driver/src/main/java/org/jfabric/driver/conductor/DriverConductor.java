package org.jfabric.driver.conductor;

import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.LongHashSet;
import org.agrona.concurrent.Agent;
import org.jfabric.client.LentMessages;
import org.jfabric.codec.control.ClientEnded;
import org.jfabric.codec.control.CommandFailed;
import org.jfabric.codec.control.CompletionQueueOverrun;
import org.jfabric.codec.control.ConnectionEnded;
import org.jfabric.codec.control.ConnectionFailed;
import org.jfabric.codec.control.ConnectionMade;
import org.jfabric.codec.control.ConnectionRequested;
import org.jfabric.codec.control.ControlMessage.Event;
import org.jfabric.codec.control.PeerDown;
import org.jfabric.driver.engine.SessionListener;
import org.jfabric.driver.link.PeerAcceptor;
import org.jfabric.driver.log.EventKind;
import org.jfabric.driver.progress.FaultInspector;
import org.jfabric.driver.resource.CycleClock;
import org.jfabric.driver.resource.DescriptorWatcher;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.SharedFile;
import org.jfabric.driver.resource.SharedFiles;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.ffi.Affinity;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Owns administration and lifetimes: accepts clients, executes their commands, ends clients that are closed, dead or
 * corrupt.
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
    private final Registry registry;
    private final ClientCommandAdapter adapter;
    private final SessionListener listener = new Listener();
    private final ArrayList<ClientSession> ringing = new ArrayList<>();
    private final ArrayList<Command> commands = new ArrayList<>();
    private final ArrayList<ClientSession> embedded = new ArrayList<>();
    /** Clients whose endpoints and regions are being closed. */
    private final LongHashSet leaving = new LongHashSet();
    private long lastPollNs;
    private boolean eventsWaiting;
    private InternalError fault;

    /**
     * Wiring of the agent.
     *
     * @param acceptors for drivers, of each progress thread, in the same order for all.
     */
    public DriverConductor(
        ConductorContext context,
        ConductorSettings settings,
        DescriptorWatcher watcher,
        CycleClock clock,
        FaultInspector faults,
        int listenFd,
        List<List<PeerAcceptor>> acceptors) {
        this.context = context;
        this.settings = settings;
        this.watcher = watcher;
        this.clock = clock;
        this.faults = faults;
        this.sockets = new ClientSockets(
            context, this, watcher, listenFd, acceptors, clock.source(),
            fd -> UnixSocket.accept4(fd, UnixSocket.SOCK_NONBLOCK));
        this.registry = new Registry(sockets.waitChannels());
        this.adapter = new ClientCommandAdapter(this, context, registry);
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
            // the steps above may have produced events, or some were waiting before
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

    /** Whether a client's event ring is full, so that the thread must run again soon. */
    public boolean hasPendingEvents() {
        return eventsWaiting;
    }

    /**
     * Whether the thread must run again after a while although nothing arrives: commands wait for something, or
     * connections for the end of their time.
     */
    public boolean hasTimers() {
        return !commands.isEmpty() || sockets.hasTimers();
    }

    /** Attaches the client that embeds the driver in INVOKER mode. */
    public void attachEmbedded(OpenedClient opened) {
        onHello("embedding", ClientSession.EMBEDDED, () -> {
        }, opened);
    }

    /**
     * Ends a client, as if its connection had ended.
     *
     * @param clientId the client; ignored if it has ended.
     */
    public void detach(long clientId) {
        ClientSession session = registry.session(clientId);
        if (session != null) {
            onClientGone(session);
        }
    }

    /**
     * Whether nothing is done any more for a client that was ended.
     *
     * @return true also if there is no such client.
     */
    public boolean hasLeft(long clientId) {
        return !leaving.contains(clientId);
    }

    /** The length of private data that connections carry. Returns the bytes, 0 if no link connects. */
    public int cmDataBytes() {
        return context.cmDataBytes();
    }

    /** Finds an endpoint of the embedding client. Returns the endpoint, or null. */
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
     * The list in which cycles lend messages to the reader of a queue of an embedding client. Returns null if there is
     * no such queue.
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

    /** Ends all clients; the caller must run cycles until {@link #isQuiet()}. */
    public void closeClients(String reason) {
        for (ClientSession session : registry.sessions().toArray(new ClientSession[0])) {
            end(session, FabricErrno.ESHUTDOWN, reason);
        }
        sockets.closeAll();
    }

    /** Closes the sockets alone: clients are not notified, and keep what they have opened. */
    public void abandon() {
        sockets.closeAll();
        sockets.closeLeaving();
    }

    /** Nothing is done for clients any more, also for those that could not be ended in time. */
    public void onEnded() {
        sockets.closeLeaving();
    }

    /** Whether all objects of clients are closed after {@link #closeClients}. */
    public boolean isQuiet() {
        return commands.isEmpty() && context.inbox().isEmpty() && sockets.waitChannels().isQuiet();
    }

    void onHello(String name, int fd, Runnable doorbell, OpenedClient opened) {
        String printable = name.replaceAll("[^\\x20-\\x7e]", "?");
        begin(new OpenClientCommand(
            context, registry, printable, fd, doorbell, listener, new Registration(opened)));
    }

    void onDoorbell(ClientSession session) {
        if (!session.isEnding() && !ringing.contains(session)) {
            ringing.add(session);
        }
    }

    void onClientGone(ClientSession session) {
        if (!session.isEnding()) {
            boolean isLost = !session.hasClosed();
            if (isLost) {
                context.counters().add(SystemCounter.CLIENTS_DIED, 1);
                FabricException died = new FabricException(FabricErrno.ECONNRESET,
                    session + " of process " + session.pid() + " died: its socket ended and it had not closed",
                    "Find out why the process ended; its objects were taken back, others are not concerned.");
                // the stack trace has no information here, and without it the log has space for many more entries
                died.setStackTrace(new StackTraceElement[0]);
                context.log().clientFailed(
                    EventKind.CLIENT_DIED, session.id(), session.name(), session.pid(), died);
            } else {
                context.log().client(
                    EventKind.CLIENT_LEFT, session.id(), session.name(), session.pid(), "it has closed");
            }
            takeBack(session, isLost);
        }
    }

    void onCorruption(ClientSession session, String reason) {
        end(session, FabricErrno.EIO, reason);
    }

    void onRefused(ClientSession session, long correlationId, FabricException cause) {
        context.counters().add(SystemCounter.COMMANDS_FAILED, 1);
        session.proxy().send(new CommandFailed(correlationId, cause.errno(), cause.getMessage()));
    }

    /** The wait resource of a client's object; null if there is no such object of a client of that user. */
    WaitResource waitResource(long clientId, long objectId, long uid) {
        ClientSession session = registry.session(clientId);
        return session == null || session.uid() != uid ? null : session.waitResource(objectId);
    }

    /** A file of a client, or of a table that it has open; null if there is no such file of a client of that user. */
    SharedFile fileOf(long clientId, long number, long uid) {
        ClientSession session = registry.session(clientId);
        SharedFile file = session == null || session.uid() != uid ? null : context.files().find(number);
        boolean isGiven = file != null && (file.clientId() == clientId
            || session.tables().values().stream().anyMatch(use -> use.table().file() == file));
        return isGiven ? file : null;
    }

    /** Whether a client of that user reads the ring with that number in place. */
    boolean readsRing(long clientId, long number, long uid) {
        ClientSession session = registry.session(clientId);
        return number != 0 && session != null && session.uid() == uid
            && session.endpoints().values().stream().anyMatch(each -> each.ringNumber() == number);
    }

    /** Whether a client embeds the driver. */
    boolean isEmbedded(long clientId) {
        ClientSession session = registry.session(clientId);
        return session != null && session.isEmbedded();
    }

    /** Whether a cycle would have more work than polling the descriptors and checking the deadlines. */
    public boolean hasWork() {
        if (!context.inbox().isEmpty() || fault != null || eventsWaiting || !ringing.isEmpty()
            || !commands.isEmpty() || registry.sessions().size() > embedded.size()) {
            return true;
        }
        return hasPosted();
    }

    /** Whether a client that embeds the driver has posted a command. */
    public boolean hasPosted() {
        for (int i = embedded.size() - 1; i >= 0; i--) {
            if (embedded.get(i).commands().word() != 0) {
                return true;
            }
        }
        return false;
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
            // a client that was ended for corruption has left the list already, and another has its place
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
        for (ClientSession session : registry.sessions().toArray(new ClientSession[0])) {
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

    /** A fault in one client's memory must not stop the other commands. */
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

    /** Takes a command whose steps run from the next call of {@link #executeCommands} on. */
    void begin(Command command) {
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
            context.log().clientFailed(EventKind.CLIENT_ENDED, session.id(), session.name(), session.pid(),
                new FabricException(errno, session + " was ended: " + reason,
                    "Only this client is concerned; it can connect again."));
        } else {
            context.log().client(EventKind.CLIENT_ENDED, session.id(), session.name(), session.pid(), reason);
        }
        try {
            session.proxy().send(new ClientEnded(errno, reason));
        } catch (InternalError ex) {
            // its control file is the truncated one: the client is notified of the end by its socket
            session.proxy().close();
        }
        takeBack(session, errno != FabricErrno.ESHUTDOWN);
    }

    private void takeBack(ClientSession session, boolean isLost) {
        session.end(isLost);
        // commands that are running end later and answer: the ring or socket may belong to another client then
        session.proxy().close();
        registry.remove(session);
        ringing.remove(session);
        embedded.remove(session);
        Runnable disconnect = sockets.leave(session);
        leaving.add(session.id());
        commands.add(new EndClientCommand(context, registry, session, () -> {
            leaving.remove(session.id());
            disconnect.run();
        }));
    }

    /** An access to shared memory failed on this thread; the next cycle handles it. */
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
            ClientSession session = registry.session(cut.clientId());
            if (session != null) {
                onCorruption(session, cut.reason());
            }
        }
        return 1;
    }

    /** Registers the client before it receives its welcome. */
    private final class Registration implements OpenedClient {
        private final OpenedClient opened;

        Registration(OpenedClient opened) {
            this.opened = opened;
        }

        @Override
        public void onOpened(ClientSession session) {
            registry.add(session);
            context.log().client(EventKind.CLIENT_CAME, session.id(), session.name(), session.pid(),
                session.isOfDriversUser() ? "it is attached" : "it is attached for user " + session.uid());
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

    /** Events of the engine, handed over from the progress thread. */
    private final class Listener extends SessionListener {
        @Override
        public void onCorruption(long clientId, String reason) {
            context.inbox().post(() -> {
                ClientSession session = registry.session(clientId);
                if (session != null) {
                    DriverConductor.this.onCorruption(session, reason);
                }
            });
        }

        @Override
        public void onCompletionQueueOverrun(long clientId, long cqId) {
            send(clientId, new CompletionQueueOverrun(cqId));
        }

        @Override
        public void onPeerDown(
            long clientId, long endpointId, long fiAddr, int errno, int provErrno, String address) {
            send(clientId, new PeerDown(endpointId, fiAddr, errno, provErrno, address));
        }

        @Override
        public void onConnectionRequest(
            long clientId, long passiveId, long requestId, String linkName, String address, byte[] cmData) {
            send(clientId, new ConnectionRequested(passiveId, requestId, linkName, address, cmData));
        }

        @Override
        public void onConnected(
            long clientId, long endpointId, String localAddress, String peerAddress, byte[] cmData) {
            send(clientId, new ConnectionMade(endpointId, localAddress, peerAddress, cmData));
        }

        @Override
        public void onConnectionFailed(long clientId, long objectId, int errno, byte[] cmData) {
            send(clientId, new ConnectionFailed(objectId, errno, cmData));
        }

        @Override
        public void onConnectionEnded(long clientId, long endpointId, int errno) {
            send(clientId, new ConnectionEnded(endpointId, errno));
        }

        private void send(long clientId, Event event) {
            context.inbox().post(() -> {
                ClientSession session = registry.session(clientId);
                if (session != null) {
                    session.proxy().send(event);
                }
            });
        }
    }
}
