package org.jfabric.driver.link.shm;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
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
import org.jfabric.driver.link.ResidentRing;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The link to endpoints of this user's other drivers on this host. There is one connection for each driver, for any
 * number of endpoints.
 *
 * <p>Owner: progress agent.
 */
final class ShmLink extends Link {
    private final LinkServices services;
    private final ShmConfig config;
    private final ChannelLimits limits;
    private final long copiedBytesCounter;
    private final Map<String, LocalEndpoint> endpoints = new HashMap<>();
    private final Map<String, ShmConnection> byDriver = new HashMap<>();
    private final ShmConnector connector;
    private final PeerAcceptor acceptor = new Acceptor();
    private final ShmConnections connections = new ShmConnections(this);
    private final ShmGroups groups;
    private ShmConnection[] polled = new ShmConnection[0];
    private boolean parks;
    private boolean closed;

    ShmLink(LinkServices services, ShmConfig config, ChannelLimits limits) {
        this.services = services;
        this.config = config;
        this.limits = limits;
        this.copiedBytesCounter = services.counterAddress("shm: bytes taken by single copy");
        this.connector = new ShmConnector(this, services, config);
        this.groups = new ShmGroups(this, services, config);
    }

    @Override
    public String name() {
        return ShmLinkProvider.NAME;
    }

    @Override
    public boolean reaches(String remoteAddress) {
        String driver = FabricName.driverOf(remoteAddress);
        return driver != null && !driver.equals(services.driverName()) && FabricName.isValidPart(driver);
    }

    @Override
    public void attach(LocalEndpoint endpoint) {
        endpoints.put(endpoint.address(), endpoint);
    }

    @Override
    public void detach(LocalEndpoint endpoint) {
        endpoints.remove(endpoint.address(), endpoint);
        groups.detach(endpoint);
    }

    @Override
    public boolean namesGroups() {
        return true;
    }

    @Override
    public void join(LocalEndpoint endpoint, GroupName group, long flags, GroupHandler handler) {
        groups.join(endpoint, group, flags, handler);
    }

    @Override
    public void leave(LocalEndpoint endpoint, String group) {
        groups.leave(endpoint, group);
    }

    ShmGroups groups() {
        return groups;
    }

    @Override
    public Channel connect(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
        return connection(remoteAddress).open(endpoint, remoteAddress, handler);
    }

    /** The connection to the driver of an address; made if there is none. */
    ShmConnection connection(String remoteAddress) {
        String driver = FabricName.driverOf(remoteAddress);
        ShmConnection connection = byDriver.get(driver);
        if (connection == null) {
            connection = add(driver, ShmConnection.DIALING);
            connector.dial(connection);
        }
        return connection;
    }

    @Override
    public ConnectionManager connections() {
        return connections;
    }

    @Override
    public int poll(int limit) {
        ShmConnection[] connections = polled;
        int work = groups.isEmpty() ? 0 : groups.poll(limit);
        for (int i = 0; i < connections.length; i++) {
            work += connections[i].poll(limit);
        }
        return work;
    }

    @Override
    public boolean isIdle() {
        return polled.length == 0 && groups.isEmpty();
    }

    @Override
    public ResidentRing residentRing() {
        return polled.length == 1 && groups.isEmpty() && polled[0].isResident() ? polled[0] : null;
    }

    @Override
    public boolean arm() {
        boolean armed = groups.arm();
        for (ShmConnection connection : polled) {
            armed &= connection.arm();
        }
        return armed;
    }

    @Override
    public boolean hasTimers() {
        for (ShmConnection connection : polled) {
            if (connection.hasTimer()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void onMayPark() {
        parks = true;
        for (ShmConnection connection : polled) {
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
        groups.close();
        for (ShmConnection connection : polled) {
            connection.state(ShmConnection.DOWN);
            connection.release();
        }
        polled = new ShmConnection[0];
        byDriver.clear();
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

    boolean isClosed() {
        return closed;
    }

    ChannelLimits limits() {
        return limits;
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
        byDriver.remove(connection.peerName(), connection);
        polled = Arrays.stream(polled).filter(other -> other != connection).toArray(ShmConnection[]::new);
    }

    private ShmConnection add(String driver, int state) {
        ShmConnection connection = new ShmConnection(
            this, services, driver, state, services.nowNs() + config.connectTimeoutNs());
        byDriver.put(driver, connection);
        polled = Arrays.copyOf(polled, polled.length + 1);
        polled[polled.length - 1] = connection;
        return connection;
    }

    /** Accepts the hellos of drivers that connect to this one. */
    private final class Acceptor extends PeerAcceptor {
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
            if (closed || !FabricName.isValidPart(peer) || peer.equals(services.driverName())) {
                refuse(fd, FabricErrno.EINVAL, "a driver cannot be called " + peer + " here");
                return;
            }
            accept(fd, hello, peer);
        }

        private void accept(int fd, ShmHello hello, String peer) {
            ShmConnection connection = byDriver.get(peer);
            if (connection != null && isStale(connection, hello)) {
                replace(connection, fd);
                connection = null;
            }
            if (connection != null) {
                boolean dialing = connection.state() == ShmConnection.DIALING
                    || connection.state() == ShmConnection.GREETING;
                // of two drivers that connect to each other the attempt of the one with the smaller name continues
                boolean isOursKept = dialing && services.driverName().compareTo(peer) < 0;
                if (isOursKept || !dialing && connection.state() != ShmConnection.AWAITING) {
                    refuse(fd, FabricErrno.EALREADY, "the two drivers are connecting already");
                    return;
                }
            } else {
                connection = add(peer, ShmConnection.AWAITING);
            }
            connector.accept(connection, fd, hello);
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
