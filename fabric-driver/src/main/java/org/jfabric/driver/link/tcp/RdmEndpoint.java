package org.jfabric.driver.link.tcp;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.CrossingRequests;
import org.jfabric.driver.link.support.PeerProtocol;
import org.jfabric.driver.link.support.PeerRequest;
import org.jfabric.driver.link.support.TrafficMarks;
import org.jfabric.ffi.SocketClass;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.ProtocolErrno;
import org.jfabric.info.SocketName;

/**
 * A reliable-datagram endpoint on the wire: its listening socket, and one connection to each peer, whichever side
 * requested it.
 *
 * <p>A peer is identified by the source address of its connections and the port on which it listens. For that reason
 * outgoing connections are bound to the address on which this endpoint listens. {@link CrossingRequests} answers the
 * peers' requests. After a peer has rejected a request, this endpoint waits for the peer's request, and tries again
 * later.
 *
 * <p>Owner: progress agent.
 */
final class RdmEndpoint extends ConnectionOwner {
    private static final long MAX_RETRY_NS = 500_000_000L;

    private final TcpLink link;
    private final LocalEndpoint endpoint;
    private final TcpListener listener;
    private final TcpAcceptor acceptor;
    private final SocketName local;
    private final int processId;
    private final SocketClass marks;
    private final CrossingRequests<RdmChannel, Request> peers;
    private final Map<TcpConnection, RdmChannel> byConnection = new HashMap<>();
    /** Accepting ends of connections of this endpoint to itself; the other end is a channel. */
    private final List<TcpConnection> ownEnds = new ArrayList<>();
    /**
     * Addresses of peers that cannot be connected to, with the time until which that is believed: any process of a host
     * can claim it of a port there. Those that are not connected are in the address vector.
     */
    private final Map<String, Long> behindFirewallUntilNs = new HashMap<>();
    /** Channels that wait for their next attempt, or for the report of their failure in the next poll. */
    private final List<RdmChannel> waiting = new ArrayList<>();

    RdmEndpoint(TcpLink link, LocalEndpoint endpoint, TcpListener listener) {
        this.link = link;
        this.endpoint = endpoint;
        this.listener = listener;
        this.acceptor = new TcpAcceptor(link, listener, this::onAccepted);
        this.local = listener.name();
        this.processId = listener.processId();
        this.marks = TrafficMarks.of(endpoint.trafficClass());
        this.peers = new CrossingRequests<>(
            endpoint, link.takeover(), link.unknownPeers(), this::newChannel, this::accept);
    }

    LocalEndpoint endpoint() {
        return endpoint;
    }

    TcpAcceptor acceptor() {
        return acceptor;
    }

    // ---- calls of the engine ----

    RdmChannel connect(String remoteAddress, ChannelHandler handler) {
        RdmChannel known = peers.find(remoteAddress);
        if (known != null) {
            return known;
        }
        RdmChannel channel = new RdmChannel(
            this, link.limits(), SocketName.parse(remoteAddress), remoteAddress, handler);
        channel.deadlineNs = link.connectDeadlineNs();
        peers.add(channel);
        if (isBehindFirewall(remoteAddress)) {
            channel.failure = FabricErrno.EFIREWALLADDR;
            await(channel);
        } else {
            dial(channel);
        }
        return channel;
    }

    private boolean isBehindFirewall(String remoteAddress) {
        Long untilNs = behindFirewallUntilNs.get(remoteAddress);
        return untilNs != null && link.attendedNs() - untilNs < 0;
    }

    void closeChannel(RdmChannel channel) {
        forget(channel);
        if (channel.connection() != null) {
            byConnection.remove(channel.connection());
            channel.connection().close();
        }
    }

    /** The endpoint is detached; the engine closes its channels. */
    void detach() {
        listener.close();
        link.waitsNoMore(this);
        releaseOwnEnds();
        peers.close(Request::release);
    }

    /** As {@link CrossingRequests#onInserted}. */
    void onInserted(String address) {
        peers.onInserted(address);
    }

    /** Resumes waiting channels and answers queued requests; 0 if there was nothing to do. */
    int poll() {
        int work = 0;
        for (int i = waiting.size() - 1; i >= 0; i--) {
            RdmChannel channel = i < waiting.size() ? waiting.get(i) : null;
            if (channel == null) {
                continue;
            }
            if (channel.failure != 0) {
                down(channel, channel.failure);
                work++;
            } else if (link.attendedNs() - channel.deadlineNs > 0) {
                down(channel, FabricErrno.ECONNREFUSED);
                work++;
            } else if (link.nowNs() - channel.retryNs > 0) {
                waiting.remove(i);
                dial(channel);
                work++;
            }
        }
        work += peers.poll(local);
        if (waiting.isEmpty() && !peers.isHolding()) {
            link.waitsNoMore(this);
        }
        return work;
    }

    private void await(RdmChannel channel) {
        waiting.add(channel);
        link.waits(this);
    }

    private void dial(RdmChannel channel) {
        channel.state = RdmChannel.DIALING;
        TcpPort port;
        try {
            port = link.secured(link.network().connect(local, channel.remote(), false, marks), true);
        } catch (FabricException e) {
            // the engine's handler is not called from inside the engine's call
            channel.failure = e.errno();
            await(channel);
            return;
        }
        TcpConnection connection = new TcpConnection(
            link, this, channel.remote(), port, TcpConnection.CONNECTING, channel.deadlineNs);
        connection.stamp(endpoint.arrivals());
        if (link.add(connection)) {
            channel.connection(connection);
            byConnection.put(connection, channel);
        } else {
            connection.release();
            channel.failure = FabricErrno.ENOSPC;
            await(channel);
        }
    }

    // ---- events of connections ----

    /** A peer has connected. */
    void onAccepted(TcpPort port, SocketName from) {
        port.mark(marks);
        TcpConnection connection = new TcpConnection(
            link, this, from, port, TcpConnection.GREETING, link.connectDeadlineNs());
        connection.stamp(endpoint.arrivals());
        if (!link.add(connection)) {
            connection.release();
        }
    }

    @Override
    void onConnected(TcpConnection connection) {
        connection.request(RdmConnectData.request(local.port(), processId).encode());
    }

    @Override
    void onCm(TcpConnection connection, CmMessage message) {
        RdmChannel channel = byConnection.get(connection);
        int wanted = channel == null ? CmMessage.REQUEST : CmMessage.RESPONSE;
        if (channel != null && message.type() == CmMessage.REJECT) {
            if (PeerProtocol.of(message.data()) == ProtocolErrno.RXM) {
                endOther(channel, connection, message.data(), "refused the connection. "
                    + ProtocolErrno.describe(ProtocolErrno.RXM));
            } else {
                onRejected(channel, connection);
            }
            return;
        }
        RdmConnectData data;
        try {
            data = RdmConnectData.decode(message.data());
        } catch (FabricException e) {
            endOther(channel, connection, message.data(), "sent connect data that is refused: " + e.getMessage());
            return;
        }
        if (message.type() != wanted) {
            connection.broken("began with a message of type " + message.type());
            connection.end(FabricErrno.EIO);
        } else if (channel != null) {
            channel.process = data.processId();
            up(channel, connection, message);
        } else {
            onRequest(connection, message, data);
        }
    }

    /** The peer's connect data are not those of this protocol. */
    private void endOther(RdmChannel channel, TcpConnection connection, byte[] data, String what) {
        int protocol = PeerProtocol.of(data);
        // data of the right length that are wrong belong to this protocol, and are broken
        if (channel != null && protocol != ProtocolErrno.TCP) {
            channel.otherProtocol = protocol;
        }
        if (channel == null) {
            connection.refuse(RdmConnectData.request(local.port(), processId).encode(), what);
            return;
        }
        connection.broken(what);
        connection.end(FabricErrno.EIO);
    }

    private void onRejected(RdmChannel channel, TcpConnection connection) {
        byConnection.remove(connection);
        channel.connection(null);
        connection.release();
        channel.state = RdmChannel.AWAITING;
        // the peer's own request is on its way if that was the reason; else the peer has not noticed an end yet
        channel.retryDelayNs = Math.min(2 * channel.retryDelayNs, MAX_RETRY_NS);
        channel.retryNs = link.nowNs() + channel.retryDelayNs;
        await(channel);
    }

    private void onRequest(TcpConnection connection, CmMessage message, RdmConnectData data) {
        Request request = new Request(connection, message, data);
        if (request.remote().equals(local)) {
            acceptOwn(connection, message, data);
            return;
        }
        RdmChannel channel = peers.find(request.remote().toString());
        if (channel != null && channel.isUp()) {
            // the end of the old connection may have arrived unread
            channel.connection().poll(Integer.MAX_VALUE);
        } else if (channel != null && data.isBehindFirewall() && channel.process() == 0) {
            // this side's attempt cannot succeed
            channel.dropAttempt();
            channel.state = RdmChannel.AWAITING;
        }
        peers.answer(request, local);
    }

    /** A request that has arrived on a connection. */
    private final class Request implements PeerRequest {
        private final TcpConnection connection;
        private final CmMessage message;
        private final RdmConnectData data;
        private final SocketName remote;

        Request(TcpConnection connection, CmMessage message, RdmConnectData data) {
            this.connection = connection;
            this.message = message;
            this.data = data;
            this.remote = connection.peerName().withPort(data.listenPort());
        }

        @Override
        public SocketName remote() {
            return remote;
        }

        @Override
        public int process() {
            return data.processId();
        }

        @Override
        public boolean isOver() {
            return connection.failure() != 0;
        }

        @Override
        public void hold() {
            connection.hold();
            link.waits(RdmEndpoint.this);
        }

        @Override
        public void reject() {
            connection.reject(message.data());
        }

        @Override
        public void refuse() {
            // the wire has the same answer for both
            reject();
        }

        @Override
        public void release() {
            connection.release();
        }
    }

    /** As {@link CrossingRequests#hasUnknownMidMessage}. */
    boolean hasUnknownMidMessage() {
        return peers.hasUnknownMidMessage();
    }

    /** As {@link CrossingRequests#endStalled}. */
    int endStalled(long nowNs, long timeoutNs) {
        return peers.endStalled(nowNs, timeoutNs);
    }

    private RdmChannel newChannel(Request request) {
        String address = request.remote().toString();
        RdmChannel channel = new RdmChannel(
            this, link.limits(), request.remote(), address, endpoint.handlerFor(address));
        peers.add(channel);
        return channel;
    }

    /** As {@link RdmChannel#dropAttempt}. */
    void dropAttempt(RdmChannel channel) {
        waiting.remove(channel);
        channel.failure = 0;
        if (channel.connection() != null) {
            byConnection.remove(channel.connection());
            channel.connection().release();
            channel.connection(null);
        }
    }

    private void accept(Request request, RdmChannel channel) {
        TcpConnection connection = request.connection;
        channel.process = request.process();
        channel.connection(connection);
        byConnection.put(connection, channel);
        if (request.data.isBehindFirewall()) {
            behindFirewallUntilNs.put(channel.remoteAddress(), link.connectDeadlineNs());
        } else {
            behindFirewallUntilNs.remove(channel.remoteAddress());
        }
        if (connection.respond(request.data.response(processId).encode())) {
            up(channel, connection, request.message);
        }
    }

    private static void up(RdmChannel channel, TcpConnection connection, CmMessage message) {
        channel.state = RdmChannel.UP;
        connection.up(message, channel);
        channel.handler().onOpening();
        channel.handler().onUp(channel);
    }

    private void releaseOwnEnds() {
        List.copyOf(ownEnds).forEach(TcpConnection::release);
        ownEnds.clear();
    }

    /** The other end of this connection is a channel of this endpoint: its messages arrive here, from the same peer. */
    private void acceptOwn(TcpConnection connection, CmMessage message, RdmConnectData data) {
        RdmChannel channel = peers.find(local.toString());
        if (channel == null || data.processId() != processId
            || !connection.respond(data.response(processId).encode())) {
            connection.release();
            return;
        }
        ownEnds.add(connection);
        connection.up(message, channel);
    }

    @Override
    void onLost(TcpConnection connection, int errno) {
        RdmChannel channel = byConnection.remove(connection);
        if (channel != null) {
            down(channel, errno);
        } else {
            ownEnds.remove(connection);
        }
    }

    private void down(RdmChannel channel, int errno) {
        forget(channel);
        channel.handler().onDown(errno);
    }

    private void forget(RdmChannel channel) {
        channel.state = RdmChannel.CLOSED;
        waiting.remove(channel);
        peers.remove(channel);
        if (!endpoint.knows(channel.remoteAddress())) {
            behindFirewallUntilNs.remove(channel.remoteAddress());
        }
        if (channel.remote().equals(local)) {
            // a message that the other end still reads would end neither with it nor with the next channel
            releaseOwnEnds();
        }
    }
}
