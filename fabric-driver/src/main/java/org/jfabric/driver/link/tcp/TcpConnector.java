package org.jfabric.driver.link.tcp;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.Listener;
import org.jfabric.driver.link.ListenerHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.MessageConnector;
import org.jfabric.driver.link.support.TrafficMarks;
import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * Connection management of connection-oriented endpoints: each has one connection, with the application's private data
 * in the messages that begin it.
 *
 * <p>Owner: progress agent.
 */
final class TcpConnector extends MessageConnector {
    private static final byte[] NO_DATA = {};

    private final TcpLink link;
    private final Owner owner = new Owner();
    private final Map<TcpConnection, MsgChannel> channels = new HashMap<>();
    private final Map<TcpConnection, MsgListener> requests = new HashMap<>();
    private final List<MsgListener> listeners = new ArrayList<>();

    TcpConnector(TcpLink link) {
        this.link = link;
    }

    @Override
    public int cmDataBytes() {
        return CmMessage.MAX_DATA_LENGTH;
    }

    @Override
    public Listener listen(String address, byte[] authKey, int backlog, ListenerHandler handler) {
        MsgListener listener = new MsgListener(handler);
        listeners.add(listener);
        if (authKey.length != 0) {
            link.later(() -> listener.fail(FabricErrno.EOPNOTSUPP));
        } else if (!SocketName.isName(address)) {
            link.later(() -> listener.fail(FabricErrno.EINVAL));
        } else {
            link.services().submit(new ListenTask(listener, link.network(), SocketName.parse(address), backlog));
        }
        return listener;
    }

    @Override
    public Listener listen(BoundAddress bound, byte[] authKey, int backlog, ListenerHandler handler) {
        if (!(bound instanceof TcpListener opened)) {
            // a reservation, which stays with its owner
            return listen(bound.address(), authKey, backlog, handler);
        }
        MsgListener listener = new MsgListener(handler);
        listeners.add(listener);
        link.later(() -> listener.begin(opened));
        return listener;
    }

    @Override
    public MsgChannel connect(
        LocalEndpoint endpoint, String remoteAddress, byte[] cmData, ConnectionHandler handler) {
        MsgChannel channel = new MsgChannel(this, link.limits(), handler);
        SocketName remote = SocketName.parse(remoteAddress);
        TcpPort port;
        try {
            // a reserved address belongs to this endpoint alone, so that its port is free
            port = link.secured(link.network().connect(local(endpoint, remote), remote,
                endpoint.bound() instanceof TcpReservation, TrafficMarks.of(endpoint.trafficClass())), true);
        } catch (FabricException e) {
            link.later(() -> fail(channel, e.errno(), NO_DATA));
            return channel;
        }
        TcpConnection connection = new TcpConnection(
            link, owner, remote, port, TcpConnection.CONNECTING, link.connectDeadlineNs());
        connection.stamp(endpoint.arrivals());
        channel.connection(connection);
        channel.request = cmData;
        channels.put(connection, channel);
        if (!link.add(connection)) {
            channels.remove(connection);
            connection.release();
            link.later(() -> fail(channel, FabricErrno.ENOSPC, NO_DATA));
        }
        return channel;
    }

    /** The source address of the connection: the endpoint's address, or one that the system chooses. */
    private static SocketName local(LocalEndpoint endpoint, SocketName remote) {
        String address = endpoint.address();
        if (SocketName.isName(address)) {
            return SocketName.parse(address);
        }
        return SocketName.parse(remote.isIn6() ? SocketName.IN6_SCHEME + "[::]:0" : SocketName.IN_SCHEME + "0.0.0.0:0");
    }

    /** The driver ends; no handler is called. */
    void close() {
        List.copyOf(listeners).forEach(MsgListener::close);
    }

    // ---- channels ----

    void closeChannel(MsgChannel channel) {
        TcpConnection connection = channel.connection();
        if (connection != null) {
            channels.remove(connection);
            connection.close();
        }
    }

    private void fail(MsgChannel channel, int errno, byte[] data) {
        if (channel.state == MsgChannel.CONNECTING) {
            channel.state = MsgChannel.CLOSED;
            channel.connectionHandler().onFailed(errno, data);
        }
    }

    private void up(MsgChannel channel, byte[] data) {
        TcpConnection connection = channel.connection();
        channel.state = MsgChannel.UP;
        SocketName local = connection.port().localName();
        channel.handler().onOpening();
        channel.connectionHandler().onConnected(
            local == null ? "" : local.toString(), connection.peerName().toString(), data);
        if (channel.state == MsgChannel.UP) {
            channel.handler().onUp(channel);
        }
    }

    MsgChannel accept(
        LocalEndpoint endpoint, TcpConnection connection, CmMessage request, byte[] cmData,
        ConnectionHandler handler) {
        MsgChannel channel = new MsgChannel(this, link.limits(), handler);
        channel.connection(connection);
        channels.put(connection, channel);
        if (connection.isOpen()) {
            connection.port().mark(TrafficMarks.of(endpoint.trafficClass()));
            connection.stamp(endpoint.arrivals());
        }
        if (!connection.isOpen() || connection.failure() != 0 || !connection.respond(cmData)) {
            link.later(() -> {
                connection.release();
                channels.remove(connection);
                fail(channel, FabricErrno.ECONNABORTED, NO_DATA);
            });
            return channel;
        }
        // reported in a later poll, before anything is read from the connection
        link.later(() -> {
            if (channel.state == MsgChannel.CONNECTING && connection.isOpen()) {
                connection.up(request, channel);
                up(channel, NO_DATA);
            }
        });
        return channel;
    }

    /** The owner of outgoing and incoming connections. */
    private final class Owner extends ConnectionOwner {
        @Override
        int errnoOfEnd() {
            return FabricErrno.ESHUTDOWN;
        }

        @Override
        void onConnected(TcpConnection connection) {
            connection.request(channels.get(connection).request);
        }

        @Override
        void onCm(TcpConnection connection, CmMessage message) {
            MsgChannel channel = channels.get(connection);
            MsgListener listener = requests.remove(connection);
            if (channel != null && message.type() == CmMessage.RESPONSE) {
                connection.up(message, channel);
                up(channel, message.data());
            } else if (channel != null && message.type() == CmMessage.REJECT) {
                channels.remove(connection);
                connection.release();
                fail(channel, FabricErrno.ECONNREFUSED, message.data());
            } else if (listener != null && message.type() == CmMessage.REQUEST) {
                connection.hold();
                if (!listener.handler.onRequest(new TcpIncoming(TcpConnector.this, connection, message))) {
                    connection.reject(NO_DATA);
                }
            } else {
                connection.broken("began with a message of type " + message.type());
                connection.end(FabricErrno.EIO);
            }
        }

        @Override
        void onLost(TcpConnection connection, int errno) {
            requests.remove(connection);
            MsgChannel channel = channels.remove(connection);
            if (channel == null) {
                return;
            }
            if (channel.state == MsgChannel.UP) {
                channel.state = MsgChannel.CLOSED;
                channel.handler().onDown(errno);
            } else {
                fail(channel, errno == FabricErrno.ESHUTDOWN ? FabricErrno.ECONNREFUSED : errno, NO_DATA);
            }
        }
    }

    /** A passive endpoint. */
    private final class MsgListener extends Listener {
        private final ListenerHandler handler;
        private TcpListener listening;
        private TcpAcceptor acceptor;
        private boolean closed;

        MsgListener(ListenerHandler handler) {
            this.handler = handler;
        }

        void begin(TcpListener opened) {
            if (closed) {
                opened.close();
                return;
            }
            listening = opened;
            acceptor = new TcpAcceptor(link, opened, this::onAccepted);
            try {
                link.add(acceptor);
            } catch (FabricException e) {
                fail(e.errno());
                return;
            }
            handler.onListening(opened.address());
        }

        void fail(int errno) {
            if (!closed) {
                close();
                handler.onFailed(errno);
            }
        }

        private void onAccepted(TcpPort port, SocketName from) {
            TcpConnection connection = new TcpConnection(
                link, owner, from, port, TcpConnection.GREETING, link.connectDeadlineNs());
            if (link.add(connection)) {
                requests.put(connection, this);
            } else {
                connection.release();
            }
        }

        @Override
        public void close() {
            closed = true;
            listeners.remove(this);
            if (acceptor != null) {
                link.remove(acceptor);
            }
            if (listening != null) {
                listening.close();
            }
            for (Map.Entry<TcpConnection, MsgListener> request : List.copyOf(requests.entrySet())) {
                if (request.getValue() == this) {
                    requests.remove(request.getKey());
                    request.getKey().release();
                }
            }
        }
    }

    /** Opens a listening socket. */
    private static final class ListenTask extends ResourceTask {
        private final MsgListener listener;
        private final TcpNetwork network;
        private final SocketName name;
        private final int backlog;
        private TcpListener opened;

        ListenTask(MsgListener listener, TcpNetwork network, SocketName name, int backlog) {
            this.listener = listener;
            this.network = network;
            this.name = name;
            this.backlog = backlog;
        }

        @Override
        protected void execute() {
            opened = network.listen(name, backlog);
        }

        @Override
        protected void onDone() {
            listener.begin(opened);
        }

        @Override
        protected void onFailed(Throwable cause) {
            listener.fail(cause instanceof FabricException e ? e.errno() : FabricErrno.EIO);
        }
    }
}
