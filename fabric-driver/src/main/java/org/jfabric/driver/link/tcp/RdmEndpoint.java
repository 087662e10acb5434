package org.jfabric.driver.link.tcp;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.ProtocolErrno;
import org.jfabric.SocketName;
import org.jfabric.driver.config.Takeover;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.driver.link.support.PeerProtocol;
import org.jfabric.driver.link.support.Strangers;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A reliable-datagram endpoint on the wire: where it listens, and one connection to each peer, whichever side began.
 *
 * <p>A peer is known by the address that its connections come from and the port that it listens on, so that ours are
 * bound to the address that we listen on. When both sides connect at once, the attempt of the one with the greater
 * address goes on and the other side's is rejected.
 *
 * <pre>
 *   request of a peer while      we have none      accept
 *                                we connect too    accept if its address is greater than ours, and drop ours
 *                                we are connected  reject if its process id is the same; else hold it without an
 *                                                  answer until it is known whether the old one is over: accept then
 *                                else              reject
 *   request of a peer that the application does not know, beyond the limits of such peers: reject, and count
 *   our own attempt is rejected                    wait for the peer's; try again later
 * </pre>
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
    private final Strangers strangers;
    private final Map<String, RdmChannel> channels = new HashMap<>();
    private final Map<TcpConnection, RdmChannel> byConnection = new HashMap<>();
    /** Connections of this endpoint to itself: their other ends are channels. */
    private final List<TcpConnection> ownEnds = new ArrayList<>();
    /** Channels of peers that the application does not know. */
    private final List<RdmChannel> unknown = new ArrayList<>();
    /** Requests in the name of peers that have a connection, one for each; by address. */
    private final Map<String, Claim> claims = new HashMap<>();
    /** Channels that wait: for their next attempt, or for telling why there will be none. */
    private final List<RdmChannel> waiting = new ArrayList<>();

    /** A request of another process under the address of a peer, which waits for its answer. */
    private record Claim(TcpConnection connection, CmMessage message, RdmConnectData data) {
    }

    RdmEndpoint(TcpLink link, LocalEndpoint endpoint, TcpListener listener) {
        this.link = link;
        this.endpoint = endpoint;
        this.listener = listener;
        this.acceptor = new TcpAcceptor(link, listener, this::onAccepted);
        this.local = listener.name();
        this.processId = listener.processId();
        this.strangers = link.strangers();
    }

    LocalEndpoint endpoint() {
        return endpoint;
    }

    TcpAcceptor acceptor() {
        return acceptor;
    }

    // ---- what the engine asks for ----

    RdmChannel connect(String remoteAddress, ChannelHandler handler) {
        RdmChannel known = channels.get(remoteAddress);
        if (known != null) {
            return known;
        }
        RdmChannel channel = new RdmChannel(
            this, link.limits(), SocketName.parse(remoteAddress), remoteAddress, handler);
        // not the cycle's clock, which stands while nobody runs cycles
        channel.deadlineNs = System.nanoTime() + link.connectTimeoutNs();
        channels.put(remoteAddress, channel);
        dial(channel);
        return channel;
    }

    void closeChannel(RdmChannel channel) {
        forget(channel);
        if (channel.connection() != null) {
            byConnection.remove(channel.connection());
            channel.connection().close();
        }
    }

    /** The endpoint is gone; its channels are closed by the engine. */
    void detach() {
        listener.close();
        link.waitsNoMore(this);
        List.copyOf(ownEnds).forEach(TcpConnection::release);
        ownEnds.clear();
        claims.values().forEach(claim -> claim.connection.release());
        claims.clear();
    }

    /** The application knows a peer from now on; also one that it forgets again, until its connection ends. */
    void onInserted(String address) {
        RdmChannel channel = channels.get(address);
        if (channel != null) {
            isNoStranger(channel);
        }
    }

    private void isNoStranger(RdmChannel channel) {
        if (channel.isStranger) {
            channel.isStranger = false;
            unknown.remove(channel);
            strangers.leave(channel.remote().inetAddress());
        }
    }

    /** Goes on with channels that wait; 0 if there was nothing to do. */
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
            } else if (link.nowNs() - channel.deadlineNs > 0) {
                down(channel, FabricErrno.ECONNREFUSED);
                work++;
            } else if (link.nowNs() - channel.retryNs > 0) {
                waiting.remove(i);
                dial(channel);
                work++;
            }
        }
        if (!claims.isEmpty()) {
            for (String address : List.copyOf(claims.keySet())) {
                work += decide(address, claims.get(address));
            }
        }
        if (waiting.isEmpty() && claims.isEmpty()) {
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
            port = TcpPort.connect(link.sockets(), local, channel.remote(), false);
        } catch (FabricException e) {
            // the engine is not told from inside of its call
            channel.failure = e.errno();
            await(channel);
            return;
        }
        TcpConnection connection = new TcpConnection(
            link, this, channel.remote(), port, TcpConnection.CONNECTING, channel.deadlineNs);
        if (link.add(connection)) {
            channel.connection(connection);
            byConnection.put(connection, channel);
        } else {
            connection.release();
            channel.failure = FabricErrno.ENOSPC;
            await(channel);
        }
    }

    // ---- what comes of connections ----

    /** Somebody has connected. */
    void onAccepted(TcpPort port, SocketName from) {
        TcpConnection connection = new TcpConnection(
            link, this, from, port, TcpConnection.GREETING, System.nanoTime() + link.connectTimeoutNs());
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
            endOther(channel, connection, message.data(), "sent what is refused with " + e.getMessage());
            return;
        }
        if (message.type() != wanted) {
            connection.broken("began with a message of type " + message.type());
            connection.end(FabricErrno.EIO);
        } else if (channel != null) {
            channel.processId = data.processId();
            up(channel, connection, message);
        } else {
            onRequest(connection, message, data);
        }
    }

    /** The peer's connect data is none of ours. */
    private void endOther(RdmChannel channel, TcpConnection connection, byte[] data, String what) {
        int protocol = PeerProtocol.of(data);
        // of the right length and still not right: ours, and broken
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
        // its own request is on its way if it was rejected for that; else the peer has yet to notice an end
        channel.retryDelayNs = Math.min(2 * channel.retryDelayNs, MAX_RETRY_NS);
        channel.retryNs = link.nowNs() + channel.retryDelayNs;
        await(channel);
    }

    private void onRequest(TcpConnection connection, CmMessage message, RdmConnectData data) {
        SocketName remote = connection.peerName().withPort(data.listenPort());
        String address = remote.toString();
        if (remote.equals(local)) {
            acceptOwn(connection, message, data);
            return;
        }
        RdmChannel channel = channels.get(address);
        if (channel != null && channel.state == RdmChannel.UP) {
            // its end may be there to be read, before it is believed that the peer has forgotten a connection
            channel.connection().poll(Integer.MAX_VALUE);
            channel = channels.get(address);
        }
        if (channel != null && isClaimed(channel, data)) {
            if (link.takeover() == Takeover.PROBE && !claims.containsKey(address)) {
                connection.hold();
                claims.put(address, new Claim(connection, message, data));
                link.waits(this);
            } else {
                connection.reject(message.data());
            }
        } else if (channel == null) {
            boolean isStranger = !endpoint.knows(address);
            if (isStranger && !admit(remote.inetAddress())) {
                connection.reject(message.data());
                return;
            }
            channel = newChannel(remote, address);
            if (isStranger) {
                channel.isStranger = true;
                unknown.add(channel);
            }
            accept(channel, connection, message, data);
        } else if (channel.state == RdmChannel.AWAITING
            || channel.state == RdmChannel.DIALING && remote.compareTo(local) > 0) {
            dropOwnAttempt(channel);
            accept(channel, connection, message, data);
        } else {
            connection.reject(message.data());
        }
    }

    /** Whether another process asks for a connection under the address of a peer that has one. */
    private static boolean isClaimed(RdmChannel channel, RdmConnectData data) {
        return channel.state == RdmChannel.UP && channel.processId != 0 && channel.processId != data.processId();
    }

    /** Goes on with a request that waits; 0 if its answer is not known yet. */
    private int decide(String address, Claim claim) {
        RdmChannel channel = channels.get(address);
        boolean isConnected = channel != null && channel.state == RdmChannel.UP;
        int verdict = MessageChannel.OVER;
        if (claim.connection.failure() != 0) {
            // it has given up
            claims.remove(address);
            claim.connection.release();
            if (isConnected) {
                channel.endProbe();
            }
            return 1;
        }
        if (isConnected) {
            verdict = channel.probe();
        }
        if (verdict == MessageChannel.ASKING) {
            return 0;
        }
        claims.remove(address);
        if (verdict == MessageChannel.LIVES) {
            claim.connection.reject(claim.message.data());
            return 1;
        }
        if (isConnected) {
            channel.connection().end(FabricErrno.ECONNRESET);
        }
        onRequest(claim.connection, claim.message, claim.data);
        return 1;
    }

    /** A place for a peer that the application does not know: those that have left, but for what waits, give theirs. */
    private boolean admit(InetAddress host) {
        for (int i = unknown.size() - 1; i >= 0 && !strangers.hasPlace(host); i--) {
            RdmChannel channel = i < unknown.size() ? unknown.get(i) : null;
            if (channel != null && channel.hasLeft()
                && strangers.couldLeaveTo(channel.remote().inetAddress(), host)) {
                channel.connection().end(FabricErrno.ECONNRESET);
            }
        }
        return strangers.admit(host);
    }

    /** Ends connections of unknown peers that have stopped inside of a message; how many. */
    int endStalled(long nowNs, long timeoutNs) {
        int ended = 0;
        for (int i = unknown.size() - 1; i >= 0; i--) {
            RdmChannel channel = i < unknown.size() ? unknown.get(i) : null;
            if (channel != null && channel.isStalled(nowNs, timeoutNs)) {
                channel.connection().stalled();
                ended++;
            }
        }
        return ended;
    }

    private RdmChannel newChannel(SocketName remote, String address) {
        RdmChannel channel = new RdmChannel(this, link.limits(), remote, address, endpoint.handlerFor(address));
        channels.put(address, channel);
        return channel;
    }

    private void dropOwnAttempt(RdmChannel channel) {
        waiting.remove(channel);
        channel.failure = 0;
        if (channel.connection() != null) {
            byConnection.remove(channel.connection());
            channel.connection().release();
            channel.connection(null);
        }
    }

    private void accept(
        RdmChannel channel, TcpConnection connection, CmMessage message, RdmConnectData data) {
        channel.processId = data.processId();
        channel.connection(connection);
        byConnection.put(connection, channel);
        if (connection.respond(data.response(processId).encode())) {
            up(channel, connection, message);
        }
    }

    private static void up(RdmChannel channel, TcpConnection connection, CmMessage message) {
        channel.state = RdmChannel.UP;
        connection.up(message, channel);
        channel.handler().onOpening();
        channel.handler().onUp(channel);
    }

    /** The other end of this connection is a channel of ours: messages come out here, for the same peer. */
    private void acceptOwn(TcpConnection connection, CmMessage message, RdmConnectData data) {
        RdmChannel channel = channels.get(local.toString());
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
        isNoStranger(channel);
        waiting.remove(channel);
        channels.remove(channel.remoteAddress(), channel);
    }
}
