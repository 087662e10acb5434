package org.jfabric.driver.link.shm;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ShmConfig;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.ConnectionManager;
import org.jfabric.driver.link.GroupHandler;
import org.jfabric.driver.link.GroupName;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.PeerAcceptor;
import org.jfabric.driver.link.PlainMessages;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.driver.stream.GroupWire;
import org.jfabric.driver.stream.Groups;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;

/**
 * The link to endpoints of this user's other drivers on this host. There is one connection for each driver, for any
 * number of endpoints.
 *
 * <p>Owner: progress agent.
 */
final class ShmLink extends Link {
    private final LinkServices services;
    private final DriverConfig config;
    private final ChannelLimits limits;
    private final long copiedBytesCounter;
    private final Map<String, LocalEndpoint> endpoints = new HashMap<>();
    private final String name;
    /** Whether the peers are the other progress threads of this driver, and not other drivers. */
    private final boolean isInside;
    private final Map<PeerThread, ShmConnection> byThread = new HashMap<>();
    private final ShmConnector connector;
    private final PeerAcceptor acceptor = new Acceptor();
    private final ShmConnections connections = new ShmConnections(this);
    /** Those of its thread, which a link between threads shares with link shm. */
    private Groups groups;
    /** The link between threads, if this is link shm and there is one. */
    private ShmLink between;
    private final ShmPollOrder order = new ShmPollOrder();
    private ShmConnection[] all = new ShmConnection[0];
    private boolean parks;
    private boolean closed;

    /** A progress thread of a driver. */
    private record PeerThread(String driver, int thread) {
    }

    ShmLink(LinkServices services, DriverConfig config, ChannelLimits limits, String name, boolean isInside) {
        this.name = name;
        this.isInside = isInside;
        this.services = services;
        this.config = config;
        this.limits = limits;
        this.copiedBytesCounter = services.counterAddress(
            isInside ? "loopback: bytes taken by single copy" : "shm: bytes taken by single copy");
        this.connector = new ShmConnector(this, services, config);
        this.groups = new Groups(
            services, config, this::wire,
            address -> endpoints.containsKey(address) || services.threadOf(address) >= 0);
    }

    /** Reaches readers and writers of groups on the other progress threads by the link between these. */
    void reachThreads(ShmLink linkBetween) {
        between = linkBetween;
        linkBetween.groups = groups;
    }

    private GroupWire wire(String driver, int thread) {
        ShmLink by = services.driverName().equals(driver) ? between : this;
        return by == null ? null : by.connection(driver, thread).groups();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean reaches(String remoteAddress) {
        String driver = FabricName.driverOf(remoteAddress);
        if (isInside) {
            int thread = services.threadOf(remoteAddress);
            return thread >= 0 && thread != services.thread();
        }
        return driver != null && !driver.equals(services.driverName()) && FabricName.isValidPart(driver);
    }

    @Override
    public void attach(LocalEndpoint endpoint) {
        endpoints.put(endpoint.address(), endpoint);
        services.opened(endpoint.address());
    }

    @Override
    public void detach(LocalEndpoint endpoint) {
        endpoints.remove(endpoint.address(), endpoint);
        if (!isInside) {
            groups.detach(endpoint);
        }
        services.closed(endpoint.address());
    }

    @Override
    public boolean namesGroups() {
        return !isInside;
    }

    @Override
    public void join(
        LocalEndpoint endpoint, GroupName group, long flags, LogPosition from, boolean inPlace,
        GroupHandler handler) {
        groups.join(endpoint, group, flags, from, inPlace, handler);
    }

    @Override
    public void leave(LocalEndpoint endpoint, String group) {
        if (!isInside) {
            groups.leave(endpoint, group);
        }
    }

    Groups groups() {
        return groups;
    }

    @Override
    public Channel connect(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
        return connection(remoteAddress).opening().open(endpoint, remoteAddress, handler);
    }

    /**
     * The connection to the progress thread of an address; made if there is none. Other drivers have their endpoints on
     * the first thread, or say there which one has it.
     */
    ShmConnection connection(String remoteAddress) {
        return connection(
            FabricName.driverOf(remoteAddress), isInside ? Math.max(0, services.threadOf(remoteAddress)) : 0);
    }

    /** The connection to a progress thread; made if there is none. */
    private ShmConnection connection(String driver, int thread) {
        ShmConnection connection = byThread.get(new PeerThread(driver, thread));
        if (connection == null) {
            connection = add(driver, thread, ShmConnection.DIALING);
            connector.dial(connection);
        }
        return connection;
    }

    /** Connects once more to a peer that has refused because it was connecting, too. */
    void dial(ShmConnection connection) {
        connector.dial(connection);
    }

    @Override
    public ConnectionManager connections() {
        return connections;
    }

    @Override
    public int poll(int limit) {
        return (isInside || groups.isEmpty() ? 0 : groups.poll(limit)) + order.poll(limit);
    }

    @Override
    public PlainMessages plainMessages() {
        return groups.isEmpty() ? order.plainMessages() : null;
    }

    /** A connection has something to do, or may have. */
    void wake(ShmConnection connection) {
        order.wake(connection);
    }

    @Override
    public boolean isIdle() {
        return all.length == 0 && groups.isEmpty();
    }

    @Override
    public boolean arm() {
        boolean armed = groups.arm();
        for (ShmConnection connection : all) {
            armed &= connection.arm();
        }
        return armed;
    }

    @Override
    public boolean hasTimers() {
        for (ShmConnection connection : all) {
            if (connection.hasTimer()) {
                return true;
            }
        }
        return groups.hasTimers();
    }

    @Override
    public void onMayPark() {
        parks = true;
        for (ShmConnection connection : all) {
            connection.announceParking();
        }
    }

    /** Whether this driver has begun to sleep although its peers did not expect it when they connected. */
    boolean parks() {
        return parks;
    }

    @Override
    public PeerAcceptor acceptor() {
        return acceptor;
    }

    @Override
    public void close() {
        closed = true;
        if (!isInside) {
            groups.close();
        }
        for (ShmConnection connection : all) {
            order.remove(connection);
            connection.state(ShmConnection.DOWN);
            connection.release();
        }
        all = new ShmConnection[0];
        byThread.clear();
        endpoints.clear();
        connections.close();
    }

    /** Passes a request to the endpoint that listens at an address; 0, or the errno with which it is refused. */
    int offer(String address, byte[] authKey, ShmIncoming request) {
        return connections.offer(address, authKey, request);
    }

    int cmDataBytes() {
        return connections.cmDataBytes();
    }

    /**
     * Runs a task that belongs to no open connection in a later cycle. The task goes by way of the resource thread, so
     * that the duty cycle need not poll a queue that is almost always empty.
     */
    void later(Runnable step) {
        services.submit(new ResourceTask() {
            @Override
            protected void execute() {
                // no slow work
            }

            @Override
            protected void onDone() {
                if (!closed) {
                    step.run();
                }
            }

            @Override
            protected void onFailed(Throwable cause) {
                services.onError(cause);
            }
        });
    }

    void opened(String address) {
        services.opened(address);
    }

    /** A listener has left its address. */
    void closed(String address) {
        services.closed(address);
    }

    boolean isClosed() {
        return closed;
    }

    ChannelLimits limits() {
        return limits;
    }

    /** The progress thread of this driver that has an endpoint or listener; -1 if there is none but this one. */
    int otherThread(String address) {
        int thread = services.threadOf(address);
        return thread == services.thread() ? -1 : thread;
    }

    /** A peer's endpoint is on another of its progress threads: the channel is opened there. */
    void move(ShmChannel channel, ShmConnection from, int thread) {
        from.channels().take(channel);
        connection(from.peerName(), thread).opening().adopt(channel);
    }

    /** The channel of a handler that waits on the connection to another thread of the same driver, or null. */
    ShmChannel takeWaiting(ChannelHandler handler, ShmConnection asking) {
        for (ShmConnection other : all) {
            if (other != asking && other.peerName().equals(asking.peerName())) {
                ShmChannel waiting = other.channels().waiting(handler);
                if (waiting != null) {
                    other.channels().take(waiting);
                    return waiting;
                }
            }
        }
        return null;
    }

    LocalEndpoint endpoint(String address) {
        return endpoints.get(address);
    }

    String driverOf(String address) {
        return FabricName.driverOf(address);
    }

    void copied(long lengthBytes) {
        // one writer, read by tools: no ordering is needed, but the store must not tear
        UnsafeApi.putLongOpaque(
            null, copiedBytesCounter, UnsafeApi.getLong(copiedBytesCounter) + lengthBytes);
    }

    void remove(ShmConnection connection) {
        byThread.remove(new PeerThread(connection.peerName(), connection.peerThread()), connection);
        all = Arrays.stream(all).filter(other -> other != connection).toArray(ShmConnection[]::new);
        order.remove(connection);
    }

    private ShmConnection add(String driver, int thread, int state) {
        ShmConnection connection = new ShmConnection(
            this, services, driver, thread, state,
            services.readAttendedNs() + config.get(ShmConfig.CONNECT_TIMEOUT_NS));
        byThread.put(new PeerThread(driver, thread), connection);
        all = Arrays.copyOf(all, all.length + 1);
        all[all.length - 1] = connection;
        order.add(connection);
        return connection;
    }

    /** Accepts the hellos of drivers that connect to this one. */
    private final class Acceptor extends PeerAcceptor {
        @Override
        public int thread(DirectBuffer message, int length) {
            try {
                ShmHello hello = ShmHello.decode(message, length);
                return hello.driverName().equals(services.driverName()) == isInside ? hello.receiver() : -1;
            } catch (FabricException e) {
                // refused by the first acceptor
                return -1;
            }
        }

        @Override
        public void onPeer(int fd, DirectBuffer message, int length) {
            ShmHello hello;
            try {
                hello = ShmHello.decode(message, length);
            } catch (FabricException e) {
                services.onError(e);
                refuse(fd, e.errno(), e.getMessage());
                return;
            }
            String peer = hello.driverName();
            if (closed || !FabricName.isValidPart(peer) || peer.equals(services.driverName()) != isInside) {
                refuse(fd, FabricErrno.EINVAL, "a driver cannot be called " + peer + " here");
                return;
            }
            if (hello.receiver() != services.thread()) {
                refuse(fd, FabricErrno.EINVAL, "this driver has no progress thread " + hello.receiver());
                return;
            }
            accept(fd, hello, peer);
        }

        private void accept(int fd, ShmHello hello, String peer) {
            PeerThread key = new PeerThread(peer, hello.sender());
            ShmConnection connection = byThread.get(key);
            if (connection != null && isStale(connection, hello)) {
                replace(connection, fd);
                connection = null;
            }
            if (connection != null) {
                boolean dialing = connection.state() == ShmConnection.DIALING
                    || connection.state() == ShmConnection.GREETING;
                // of two drivers that connect to each other the attempt of the one with the smaller name continues
                boolean isOursKept = dialing && isSmaller(key);
                if (isOursKept || !dialing && connection.state() != ShmConnection.AWAITING) {
                    refuse(fd, FabricErrno.EALREADY, "the two drivers are connecting already");
                    return;
                }
            } else {
                connection = add(peer, hello.sender(), ShmConnection.AWAITING);
            }
            connector.accept(connection, fd, hello);
        }

        private boolean isSmaller(PeerThread peer) {
            return isInside ? services.thread() < peer.thread : services.driverName().compareTo(peer.driver) < 0;
        }

        /** The peer was killed, and another driver has its name before the end of the old socket was seen. */
        private void replace(ShmConnection connection, int fd) {
            try {
                connection.onReplaced();
            } catch (InternalError e) {
                // of some memory: the new driver asks again
                refuse(fd, FabricErrno.ECONNRESET, "the connection of the driver before it is being ended");
                throw e;
            }
        }

        private boolean isStale(ShmConnection connection, ShmHello hello) {
            boolean settled = connection.state() == ShmConnection.UP || connection.state() == ShmConnection.MAPPING;
            return settled && connection.files() != null && connection.files().peerOwner() != null
                && !connection.files().peerOwner().equals(hello.owner());
        }

        private void refuse(int fd, int errno, String reason) {
            // a peer that has accepted this driver's hello in the meantime has closed this socket, and needs no answer
            ShmHello.refusal(services.ownerId(), services.driverName(), errno, reason).trySend(fd);
            services.unwatchAndClose(fd);
        }
    }
}
