package org.jfabric.driver.link.tcp;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.SocketName;
import org.jfabric.driver.config.Sockets;
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
import org.jfabric.driver.link.support.LocalAddresses;
import org.jfabric.driver.link.support.StallWatch;
import org.jfabric.driver.link.support.Strangers;
import org.jfabric.ffi.Epoll;
import org.jfabric.ffi.IoVector;

import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reaches endpoints anywhere, also those of C programs: one connection for each pair of endpoints.
 *
 * <p>Connections that were used lately are read in each poll; a {@link WatchedSet} tells, now and then, which others
 * have something. A link without endpoints does nothing at all.
 *
 * <p>Owner: progress agent.
 */
final class TcpLink extends Link {
    /** Polls between two looks at the epoll: its price is that of several cycles without work. */
    private static final int POLLS_PER_LOOK = 32;
    /** The same while every connection is read in each poll: only new ones and deadlines wait for the look then. */
    private static final int POLLS_PER_IDLE_LOOK = 256;
    /** The same while the system takes no more of a connection in use: the epoll tells when it does. */
    private static final int POLLS_PER_BLOCKED_LOOK = 2;
    /** Empty reads after which a connection is left to the epoll, shared by all that are read in each poll. */
    private static final int IDLE_POLLS = 2048;
    private static final long LINGER_NS = 1_000_000_000L;
    private static final int MAX_PLACES = PieceList.MAX_PIECES + 2;

    private final LinkServices services;
    private final TcpConfig config;
    private final ChannelLimits limits;
    /** System calls that have written messages; over those sent it tells how well they are put together. */
    private final long writesCounter;
    private final WatchedSet watched;
    private final BufferPool readPool;
    private final BufferPool writePool;
    private final IoVector vector = new IoVector(MAX_PLACES);
    private final Map<LocalEndpoint, RdmEndpoint> endpoints = new IdentityHashMap<>();
    private final List<TcpAcceptor> acceptors = new ArrayList<>();
    /** Endpoints with channels that wait for something else than an event. */
    private final List<RdmEndpoint> waiting = new ArrayList<>();
    private final TcpConnections connections = new TcpConnections(this);
    /** What is to be told in the next poll. */
    private final ArrayDeque<Runnable> news = new ArrayDeque<>();
    private final Set<TcpConnection> open = new HashSet<>();
    private final Greetings greetings;
    /** Connections of ours that have no answer yet. */
    private final List<TcpConnection> dialing = new ArrayList<>();
    private final TcpCounters counters;
    private TcpConnection[] hot = new TcpConnection[8];
    private int hotCount;
    private int pollsToLook;
    /** When unknown peers in the middle of a message are checked again. */
    private long stallCheckNs;

    TcpLink(LinkServices services, TcpConfig config, ChannelLimits limits) {
        this.services = services;
        this.config = config;
        this.limits = limits;
        this.writesCounter = services.counterAddress("tcp: writes to sockets");
        this.watched = WatchedSet.of(config.sockets(), services);
        this.readPool = new BufferPool(config.readAheadBytes());
        this.writePool = new BufferPool(config.writeBehindBytes());
        this.greetings = new Greetings(config.greetingLimit());
        this.counters = new TcpCounters(services);
        this.stallCheckNs = services.nowNs();
    }

    @Override
    public String name() {
        return TcpLinkProvider.NAME;
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
        return watched.size() == 0 && news.isEmpty();
    }

    @Override
    public int poll(int limit) {
        if (isIdle()) {
            return 0;
        }
        int work = 0;
        for (int i = news.size(); i > 0; i--) {
            news.removeFirst().run();
            work++;
        }
        if (--pollsToLook < 0) {
            work += look();
            pollsToLook = hotCount == open.size() && waiting.isEmpty() ? POLLS_PER_IDLE_LOOK : POLLS_PER_LOOK;
        }
        for (int i = hotCount - 1; i >= 0; i--) {
            // one that ends may take others out
            if (i < hotCount) {
                work += poll(hot[i], limit);
            }
        }
        return work;
    }

    private int poll(TcpConnection connection, int limit) {
        int work = connection.poll(limit);
        if (connection.output().isBlocked()) {
            pollsToLook = Math.min(pollsToLook, POLLS_PER_BLOCKED_LOOK);
        }
        if (work > 0) {
            connection.idlePolls = 0;
        } else if (++connection.idlePolls * hotCount > IDLE_POLLS && !connection.mustBePolled()) {
            connection.relax();
            cool(connection);
        }
        return work;
    }

    /** What need not be looked at in each poll. */
    private int look() {
        int work = watched.poll();
        work += greetings.endLate(services.nowNs());
        for (int i = dialing.size() - 1; i >= 0; i--) {
            TcpConnection connection = i < dialing.size() ? dialing.get(i) : null;
            if (connection != null && services.nowNs() - connection.deadlineNs() > 0) {
                connection.end(FabricErrno.ETIMEDOUT);
                work++;
            }
        }
        for (int i = 0; i < acceptors.size(); i++) {
            acceptors.get(i).resume();
        }
        if (config.unknownPeerTimeoutNs() > 0 && services.nowNs() - stallCheckNs > 0) {
            stallCheckNs = services.nowNs() + config.unknownPeerTimeoutNs() / StallWatch.CHECKS;
            for (RdmEndpoint endpoint : List.copyOf(endpoints.values())) {
                work += endpoint.endStalled(services.nowNs(), config.unknownPeerTimeoutNs());
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
        if (!news.isEmpty()) {
            return false;
        }
        if (watched.size() == 0) {
            return true;
        }
        for (int i = 0; i < hotCount; i++) {
            if (hot[i].hasWork()) {
                return false;
            }
        }
        // what wakes the thread is something that the epoll knows
        pollsToLook = 0;
        return watched.arm();
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
    }

    // ---- for its connections ----

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

    Sockets sockets() {
        return config.sockets();
    }

    long writesCounter() {
        return writesCounter;
    }

    int copyLimitBytes() {
        return config.copyLimitBytes();
    }

    long connectTimeoutNs() {
        return config.connectTimeoutNs();
    }

    long nowNs() {
        return services.nowNs();
    }

    long lingerDeadlineNs() {
        return System.nanoTime() + LINGER_NS;
    }

    void onError(Throwable error) {
        services.onError(error);
    }

    /** Takes what connects to a listening socket. */
    void add(TcpAcceptor acceptor) {
        if (!watched.add(acceptor, Epoll.EPOLLIN)) {
            throw new FabricException(FabricErrno.ENOSPC, "the socket at " + acceptor.name() + " cannot be watched",
                "Raise fs.epoll.max_user_watches.");
        }
        acceptors.add(acceptor);
    }

    /** Ends {@link #add(TcpAcceptor)}; the socket stays open. */
    void remove(TcpAcceptor acceptor) {
        watched.remove(acceptor);
        acceptors.remove(acceptor);
    }

    /** Asks an endpoint from time to time, as long as it has channels that wait. */
    void waits(RdmEndpoint endpoint) {
        if (!waiting.contains(endpoint)) {
            waiting.add(endpoint);
        }
    }

    /** Nothing of that endpoint waits any more. */
    void waitsNoMore(RdmEndpoint endpoint) {
        waiting.remove(endpoint);
    }

    /** Does something in the next poll: a handler is not told from inside of its own call. */
    void later(Runnable task) {
        news.add(task);
    }

    LinkServices services() {
        return services;
    }

    TcpCounters counters() {
        return counters;
    }

    /** What strangers may have of one endpoint. */
    Strangers strangers() {
        return new Strangers(
            new Strangers.Limits(config.strangerLimit(), config.strangersPerHost()), counters::refusedAddress);
    }

    /** What becomes of a peer's connection when somebody else says to be that peer. */
    Takeover takeover() {
        return config.takeover();
    }

    /** One more has connected, from that host. */
    void makeRoomToGreet(InetAddress host) {
        if (greetings.makeRoom(host)) {
            counters.onRefused();
        }
    }

    int backlog() {
        return config.backlog();
    }

    /** Watches a new connection; false if the system does not. */
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
        return true;
    }

    /** It is known whose it is, and it may be silent for long from now on. */
    void settled(TcpConnection connection) {
        if (greetings.remove(connection) || dialing.remove(connection)) {
            keepAlive(connection.port());
        }
    }

    /** Lets the system notice that the peer's host is gone while nothing is sent to it. */
    void keepAlive(TcpPort port) {
        port.keepAlive(seconds(config.keepaliveIdleNs()), seconds(config.keepaliveIntervalNs()),
            config.keepaliveProbes());
        if (config.userTimeoutNs() > 0) {
            port.userTimeout((int) Math.ceilDiv(config.userTimeoutNs(), 1_000_000L));
        }
    }

    private static int seconds(long durationNs) {
        return (int) Math.ceilDiv(durationNs, 1_000_000_000L);
    }

    /** It is about to be closed. */
    void remove(TcpConnection connection) {
        watched.remove(connection);
        open.remove(connection);
        if (!greetings.remove(connection)) {
            dialing.remove(connection);
        }
        cool(connection);
    }

    /** Reads it in each poll from now on. */
    void heat(TcpConnection connection) {
        connection.idlePolls = 0;
        if (!connection.isHot) {
            connection.isHot = true;
            if (hotCount == hot.length) {
                hot = Arrays.copyOf(hot, 2 * hotCount);
            }
            hot[hotCount++] = connection;
        }
    }

    private void cool(TcpConnection connection) {
        if (connection.isHot) {
            connection.isHot = false;
            int index = 0;
            while (hot[index] != connection) {
                index++;
            }
            hot[index] = hot[--hotCount];
            hot[hotCount] = null;
        }
    }
}
