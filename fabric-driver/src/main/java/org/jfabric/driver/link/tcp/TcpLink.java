package org.jfabric.driver.link.tcp;

import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Takeover;
import org.jfabric.driver.config.TcpConfig;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.ConnectionManager;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.support.AccessList;
import org.jfabric.driver.link.support.LocalAddresses;
import org.jfabric.driver.link.support.PeerRate;
import org.jfabric.driver.link.support.PeerRates;
import org.jfabric.driver.link.support.PollInterval;
import org.jfabric.driver.link.support.StallWatch;
import org.jfabric.driver.link.support.UnknownPeers;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.IoVector;
import org.jfabric.ffi.ZeroCopy;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * The link to endpoints on any host, also those of C programs. Each pair of endpoints has one connection.
 *
 * <p>Connections that were used recently are read in each poll. A {@link WatchedSet} is polled less often and reports
 * events of the others. A link without endpoints does no work.
 *
 * <p>Owner: progress agent.
 */
final class TcpLink extends Link {
    /** Polls between two checks of the epoll, at most. */
    private static final int POLLS_PER_CHECK = 32;
    /**
     * The same while every connection is read in each poll: then only new connections and deadlines wait for the check.
     */
    private static final int POLLS_PER_IDLE_CHECK = 256;
    /** The same while the socket of a connection in use is not writable: the epoll reports when it is. */
    private static final int POLLS_PER_BLOCKED_CHECK = 2;
    /**
     * Polls without work after which a connection is left to the epoll, divided by the number of connections that are
     * read in each poll.
     */
    private static final int IDLE_POLLS = 2048;
    private static final int HOT_PER_POLL = 64;
    private static final int PAUSED_PER_POLL = 16;
    private static final long LINGER_NS = 1_000_000_000L;
    /** The system counts the time between its questions in whole seconds. */
    private static final long SHORTEST_QUESTION_NS = 1_000_000_000L;
    private static final int MAX_PLACES = PieceList.MAX_PIECES + 2;

    private final String name;
    /** The peers that are admitted, or null. */
    private final AccessList access;
    /** What encrypted connections share, or null. */
    private final StreamSecurity tls;
    private final LinkServices services;
    private final DriverConfig config;
    private final int copyLimitBytes;
    private final long unknownPeerTimeoutNs;
    private final TcpNetwork network;
    private final ChannelLimits limits;
    /**
     * Counter of the system calls that have written messages; relative to the messages sent it shows how well they are
     * batched.
     */
    private final long writesCounter;
    private final WatchedSet watched;
    private final BufferPool readPool;
    private final BufferPool writePool;
    private final IoVector vector = new IoVector(MAX_PLACES);
    /** In the order of their opening, so that a run that is repeated ends them in the same order. */
    private final Map<LocalEndpoint, RdmEndpoint> endpoints = new LinkedHashMap<>();
    private final List<TcpAcceptor> acceptors = new ArrayList<>();
    /** Endpoints with channels or requests that wait for something other than an event. */
    private final List<RdmEndpoint> waiting = new ArrayList<>();
    private final TcpConnector connections = new TcpConnector(this);
    /** Calls of handlers that are deferred to the next poll. */
    private final ArrayDeque<Runnable> deferred = new ArrayDeque<>();
    private final Set<TcpConnection> open = new LinkedHashSet<>();
    private final Greetings greetings;
    /** What is taken of each host; null without a limit. */
    private final PeerRates rates;
    /** Outgoing connections that are not answered yet. */
    private final List<TcpConnection> dialing = new ArrayList<>();
    private final TcpCounters counters;
    /** Room for the system's reports of sends without a copy; null if the option is off. */
    private final ZeroCopy reports;
    /** Those that were used recently, and those that are not read until the engine has room for their message. */
    private final PolledConnections hot = new PolledConnections(HOT_PER_POLL);
    private final PolledConnections paused = new PolledConnections(PAUSED_PER_POLL);
    private final PollInterval untilCheck;
    /** Time of the next check of unknown peers for stalled messages. */
    private long stallCheckNs;

    /**
     * A link without endpoints.
     *
     * @param access the peers that are admitted, null for all.
     * @param tls    what its encrypted connections share, owned by the link; null if they are plain.
     */
    TcpLink(String name, LinkServices services, DriverConfig config, TcpNetwork network, ChannelLimits limits,
        AccessList access, StreamSecurity tls) {
        this.name = name;
        this.access = access;
        this.tls = tls;
        this.services = services;
        this.untilCheck = new PollInterval(services);
        this.config = config;
        this.network = network;
        this.limits = limits;
        this.writesCounter = services.counterAddress("tcp: writes to sockets");
        this.watched = network.watch(services);
        this.readPool = new BufferPool(config.get(TcpConfig.READ_AHEAD_BYTES));
        this.writePool = new BufferPool(config.get(TcpConfig.WRITE_BEHIND_BYTES));
        this.copyLimitBytes = config.get(TcpConfig.COPY_LIMIT_BYTES);
        this.unknownPeerTimeoutNs = config.get(TcpConfig.UNKNOWN_PEER_TIMEOUT_NS);
        this.greetings = new Greetings(config.get(TcpConfig.GREETING_LIMIT));
        this.counters = new TcpCounters(services);
        this.rates = rates(config);
        this.reports = config.get(TcpConfig.ZERO_COPY_BYTES) == 0 || tls != null ? null : new ZeroCopy();
        this.stallCheckNs = services.nowNs();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean reaches(String remoteAddress) {
        return SocketName.isName(remoteAddress);
    }

    @Override
    public boolean reaches(String ownAddress, String remoteAddress) {
        return reaches(remoteAddress) && !LocalAddresses.areOfTwoFamilies(ownAddress, remoteAddress);
    }

    @Override
    public void attach(LocalEndpoint endpoint) {
        if (!(endpoint.bound() instanceof TcpListener listener)) {
            return;
        }
        RdmEndpoint attached = new RdmEndpoint(this, endpoint, listener);
        add(attached.acceptor());
        endpoints.put(endpoint, attached);
    }

    @Override
    public void detach(LocalEndpoint endpoint) {
        RdmEndpoint detached = endpoints.remove(endpoint);
        if (detached == null) {
            return;
        }
        remove(detached.acceptor());
        for (TcpConnection connection : greetings.all()) {
            if (connection.owner() == detached) {
                connection.release();
            }
        }
        detached.detach();
    }

    @Override
    public void onInserted(LocalEndpoint endpoint, String address) {
        RdmEndpoint known = endpoints.get(endpoint);
        if (known != null) {
            known.onInserted(address);
        }
    }

    @Override
    public Channel connect(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
        return endpoints.get(endpoint).connect(remoteAddress, handler);
    }

    @Override
    public boolean isIdle() {
        return watched.size() == 0 && deferred.isEmpty();
    }

    @Override
    public int poll(int limit) {
        if (isIdle()) {
            return 0;
        }
        int work = 0;
        for (int i = deferred.size(); i > 0; i--) {
            deferred.removeFirst().run();
            work++;
        }
        if (untilCheck.isOver()) {
            work += check();
            untilCheck.restart(
                hot.size() == open.size() && waiting.isEmpty() ? POLLS_PER_IDLE_CHECK : POLLS_PER_CHECK);
        }
        return work + poll(hot, limit) + (paused.size() == 0 ? 0 : poll(paused, limit));
    }

    private int poll(PolledConnections list, int limit) {
        int work = 0;
        for (int i = list.turns(); i > 0; i--) {
            // the end of one connection may remove others
            TcpConnection connection = list.next();
            work += connection == null ? 0 : poll(connection, limit);
        }
        return work;
    }

    private int poll(TcpConnection connection, int limit) {
        int work = connection.poll(limit);
        if (connection.writer().isBlocked()) {
            untilCheck.shorten(POLLS_PER_BLOCKED_CHECK);
        }
        if (connection.polledIn == null) {
            // it has ended
            return work;
        }
        if (connection.isPaused()) {
            paused.take(connection);
        } else if (work > 0 || connection.polledIn == paused) {
            heat(connection);
        } else if (++connection.idlePolls * hot.size() > IDLE_POLLS && !connection.mustBePolled()) {
            connection.relax();
            cool(connection);
        }
        return work;
    }

    /**
     * Checks everything that need not be checked in each poll: events, deadlines, stalled messages and waiting
     * endpoints.
     */
    private int check() {
        int work = watched.poll();
        work += greetings.endLate(services.attendedNs());
        for (int i = dialing.size() - 1; i >= 0; i--) {
            TcpConnection connection = i < dialing.size() ? dialing.get(i) : null;
            if (connection != null && services.attendedNs() - connection.deadlineNs() > 0) {
                connection.end(FabricErrno.ETIMEDOUT);
                work++;
            }
        }
        for (int i = 0; i < acceptors.size(); i++) {
            acceptors.get(i).resume();
        }
        if (unknownPeerTimeoutNs > 0 && services.nowNs() - stallCheckNs > 0) {
            stallCheckNs = services.nowNs() + unknownPeerTimeoutNs / StallWatch.CHECKS;
            for (RdmEndpoint endpoint : List.copyOf(endpoints.values())) {
                work += endpoint.endStalled(services.nowNs(), unknownPeerTimeoutNs);
            }
        }
        for (int i = waiting.size() - 1; i >= 0; i--) {
            work += i < waiting.size() ? waiting.get(i).poll() : 0;
        }
        return work;
    }

    @Override
    public ConnectionManager connections() {
        return connections;
    }

    @Override
    public boolean arm() {
        if (!deferred.isEmpty()) {
            return false;
        }
        if (watched.size() == 0) {
            return true;
        }
        for (int i = 0; i < hot.size(); i++) {
            if (hot.at(i).hasWork()) {
                return false;
            }
        }
        // no event reports that the engine has room, and the polls before may have left some out
        for (int i = paused.hasMoreThanTurns() ? paused.size() : 0; i > 0; i--) {
            TcpConnection connection = paused.next();
            if (connection != null && poll(connection, 1) > 0) {
                return false;
            }
        }
        // the thread wakes for an event of the epoll, so that the next poll must check it
        untilCheck.shorten(0);
        return watched.arm();
    }

    @Override
    public boolean hasTimers() {
        if (!dialing.isEmpty() || !greetings.isEmpty() || !waiting.isEmpty()) {
            return true;
        }
        return hasTimers(hot) || hasTimers(paused) || acceptors.stream().anyMatch(TcpAcceptor::isPaused)
            || unknownPeerTimeoutNs > 0
            && endpoints.values().stream().anyMatch(RdmEndpoint::hasUnknownMidMessage);
    }

    private static boolean hasTimers(PolledConnections list) {
        for (int i = 0; i < list.size(); i++) {
            if (list.at(i).hasTimer()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close() {
        List.copyOf(endpoints.keySet()).forEach(this::detach);
        connections.close();
        for (TcpConnection connection : open.toArray(TcpConnection[]::new)) {
            connection.release();
        }
        watched.close();
        readPool.close();
        writePool.close();
        vector.close();
        if (reports != null) {
            reports.close();
        }
        if (tls != null) {
            tls.close();
        }
    }

    private static PeerRates rates(DriverConfig config) {
        PeerRate.Limits limits = new PeerRate.Limits(
            config.get(TcpConfig.PEER_RATE_BYTES), config.get(TcpConfig.PEER_RATE_MESSAGES));
        return limits.areNone() ? null : new PeerRates(limits);
    }

    // ---- calls of connections and endpoints ----

    ChannelLimits limits() {
        return limits;
    }

    WatchedSet watched() {
        return watched;
    }

    BufferPool readPool() {
        return readPool;
    }

    BufferPool writePool() {
        return writePool;
    }

    IoVector vector() {
        return vector;
    }

    TcpNetwork network() {
        return network;
    }

    /** The port of a connection over a socket: with TLS if the link is encrypted. */
    TcpPort secured(TcpPort socket, boolean isClient) {
        return tls == null ? socket : tls.secured(socket, isClient);
    }

    /** Reports files that have changed and cannot be used. */
    void reportProblemsOfFiles() {
        FabricException ofKeys = tls == null ? null : tls.takeProblem();
        FabricException ofAccess = access == null ? null : access.takeProblem();
        if (ofKeys != null) {
            onError(ofKeys);
        }
        if (ofAccess != null) {
            onError(ofAccess);
        }
    }

    /** The peers that are admitted, or null if all are. */
    AccessList access() {
        return access;
    }

    /**
     * Whether the access list admits a peer; a refusal is counted and logged.
     *
     * @param key fingerprint of its certificate, null if the connection is plain.
     */
    boolean admits(InetAddress host, String key) {
        boolean isAdmitted = access == null || access.admits(host, key);
        if (!isAdmitted) {
            refused(host, key == null ? "a plain connection" : "the key " + key);
        }
        return isAdmitted;
    }

    /** Whether the access list admits connections of a host; the key of an encrypted one is checked later. */
    boolean admits(InetAddress host) {
        if (tls == null) {
            return admits(host, null);
        }
        if (access != null && !access.admits(host)) {
            refused(host, "any key");
            return false;
        }
        return true;
    }

    private void refused(InetAddress host, String what) {
        counters.onNotAdmitted(new FabricException(FabricErrno.EACCES, "host " + host.getHostAddress() + " with " + what
            + " is not in the access list " + access, "If it is to connect, add a line for it."));
    }

    /** What is taken of each host; null without a limit. */
    PeerRates rates() {
        return rates;
    }

    /** What encrypted connections share, or null. */
    StreamSecurity tls() {
        return tls;
    }

    long writesCounter() {
        return writesCounter;
    }

    int copyLimitBytes() {
        return copyLimitBytes;
    }

    /** Until when a connection that begins now has to be up; compared with {@link #attendedNs()}. */
    long connectDeadlineNs() {
        return services.readAttendedNs() + config.get(TcpConfig.CONNECT_TIMEOUT_NS);
    }

    /** As {@link LinkServices#attendedNs()}. */
    long attendedNs() {
        return services.attendedNs();
    }

    long nowNs() {
        return services.nowNs();
    }

    /** The time now, for what is compared with times of the system or lasts from now on. */
    long readNs() {
        return services.environment().nanoTime();
    }

    long lingerDeadlineNs() {
        return services.readAttendedNs() + LINGER_NS;
    }

    void onError(Throwable error) {
        services.onError(error);
    }

    /** Begins to accept the connections of a listening socket. */
    void add(TcpAcceptor acceptor) {
        if (!watched.add(acceptor, Epoll.EPOLLIN)) {
            throw new FabricException(FabricErrno.ENOSPC, "the socket at " + acceptor.name() + " cannot be watched",
                "Raise fs.epoll.max_user_watches.");
        }
        acceptors.add(acceptor);
    }

    /** Reverses {@link #add(TcpAcceptor)}; the socket stays open. */
    void remove(TcpAcceptor acceptor) {
        watched.remove(acceptor);
        acceptors.remove(acceptor);
        acceptor.close();
    }

    /** Polls an endpoint with each check, as long as it has waiting channels or requests. */
    void waits(RdmEndpoint endpoint) {
        if (!waiting.contains(endpoint)) {
            waiting.add(endpoint);
        }
    }

    /** Reverses {@link #waits}. */
    void waitsNoMore(RdmEndpoint endpoint) {
        waiting.remove(endpoint);
    }

    /** Runs a task in the next poll: a handler is not called from inside a call of the engine. */
    void later(Runnable task) {
        deferred.add(task);
    }

    LinkServices services() {
        return services;
    }

    TcpCounters counters() {
        return counters;
    }

    /** Limits of the unknown peers of one endpoint. */
    UnknownPeers unknownPeers() {
        return new UnknownPeers(
            UnknownPeers.Limits.of(config), counters::refusedAddress);
    }

    /** Whether a peer's connection can be taken over when another process connects with the same address. */
    Takeover takeover() {
        return config.get(TcpConfig.TAKEOVER);
    }

    /** Whether the next incoming connection has to wait, because those before it still have to send their request. */
    boolean mustWaitToGreet() {
        return greetings.isFull(services.attendedNs() + config.get(TcpConfig.CONNECT_TIMEOUT_NS));
    }

    /** Makes room for a new incoming connection from a host. */
    void makeRoomToGreet(InetAddress host) {
        if (greetings.makeRoom(host)) {
            counters.onRefused();
        }
    }

    int backlog() {
        return config.get(TcpConfig.BACKLOG);
    }

    /** Adds a new connection to the watched ones; false if the system refuses that. */
    boolean add(TcpConnection connection) {
        if (!watched.add(connection, connection.events())) {
            return false;
        }
        open.add(connection);
        if (connection.isIncoming()) {
            greetings.add(connection);
        } else {
            dialing.add(connection);
        }
        connection.begin();
        return true;
    }

    /**
     * The connection's request or answer has arrived: the deadline ends, and keepalive begins because it may be silent
     * for long.
     */
    void settled(TcpConnection connection) {
        if (greetings.remove(connection) || dialing.remove(connection)) {
            keepAlive(connection.port());
        }
    }

    /** Has a connection send long payloads without a copy, if the option is on and its socket can do so. */
    void pin(TcpConnection connection) {
        if (reports != null && connection.port().allowPinned() == 0) {
            connection.writer().pin(
                new TcpPins(connection.port(), reports, counters), config.get(TcpConfig.ZERO_COPY_BYTES));
        }
    }

    /** Lets the system detect the loss of the peer's host while nothing is sent to it. */
    void keepAlive(TcpPort port) {
        long peerTimeoutNs = config.get(TcpConfig.PEER_TIMEOUT_NS);
        long questionNs = peerTimeoutNs == 0 ? Long.MAX_VALUE : Math.max(SHORTEST_QUESTION_NS, peerTimeoutNs / 3);
        long idleNs = config.get(TcpConfig.KEEPALIVE_IDLE_NS);
        port.keepAlive(seconds(idleNs == 0 && peerTimeoutNs > 0 ? questionNs : Math.min(idleNs, questionNs)),
            seconds(Math.min(config.get(TcpConfig.KEEPALIVE_INTERVAL_NS), questionNs)),
            config.get(TcpConfig.KEEPALIVE_PROBES));
        long userTimeoutNs = userTimeoutNs(config);
        if (userTimeoutNs > 0) {
            port.userTimeout((int) Math.ceilDiv(userTimeoutNs, 1_000_000L));
        }
    }

    /** Longest time for the peer's host to acknowledge sent bytes, 0 for the system's default. */
    static long userTimeoutNs(DriverConfig config) {
        return Math.max(config.get(TcpConfig.PEER_TIMEOUT_NS), config.get(TcpConfig.USER_TIMEOUT_NS));
    }

    private static int seconds(long durationNs) {
        return (int) Math.ceilDiv(durationNs, 1_000_000_000L);
    }

    /** Removes a connection that is about to be closed. */
    void remove(TcpConnection connection) {
        watched.remove(connection);
        open.remove(connection);
        if (!greetings.remove(connection)) {
            dialing.remove(connection);
        }
        cool(connection);
    }

    /** Reads a connection in each poll from now on. */
    void heat(TcpConnection connection) {
        connection.idlePolls = 0;
        hot.take(connection);
    }

    private static void cool(TcpConnection connection) {
        if (connection.polledIn != null) {
            connection.polledIn.remove(connection);
        }
    }
}
