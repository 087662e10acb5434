package org.jfabric.driver.link.rxm;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.config.TcpConfig;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.IncomingConnection;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.Listener;
import org.jfabric.driver.link.ListenerHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.CrossingRequests;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.driver.link.support.MessageConnector;
import org.jfabric.driver.link.support.PeerProtocol;
import org.jfabric.driver.link.support.PeerRequest;
import org.jfabric.driver.link.support.StallWatch;
import org.jfabric.driver.link.support.UnknownPeers;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.ProtocolErrno;
import org.jfabric.info.SocketName;

/**
 * The connections of one local endpoint: at most one with each peer, whichever side began it.
 *
 * <p>A peer is identified by the source address of its connection and the port in its private data.
 * {@link CrossingRequests} answers the peers' requests: "already" if it rejects one, "refused" if it has no room.
 *
 * <p>Owner: progress agent.
 */
final class RxmPeers extends ListenerHandler {
    private static final int BACKLOG = 4096;
    private static final long MAX_RETRY_NS = 500_000_000L;

    private final RxmLink link;
    private final LocalEndpoint endpoint;
    private final LinkServices services;
    private final MessageConnector connections;
    private final ChannelLimits limits;
    private final RxmSettings settings;
    private final CrossingRequests<RxmChannel, Request> peers;
    private final List<RxmChannel> polled = new ArrayList<>();
    private final ArrayDeque<Runnable> later = new ArrayDeque<>();
    private final ArrayDeque<IncomingConnection> requests = new ArrayDeque<>();
    /** Time of the next check for unknown peers that stall within a message. */
    private long stallCheckNs;
    private final int process;
    private Listener listener;
    private SocketName name;
    private int nextIndex;
    /** Why no peer can reach the endpoint or be reached by it, a positive errno; 0 without an error. */
    private int failure;

    RxmPeers(
        RxmLink link, LocalEndpoint endpoint, LinkServices services, MessageConnector connections,
        ChannelLimits limits, RxmSettings settings) {
        this.link = link;
        this.endpoint = endpoint;
        this.services = services;
        this.connections = connections;
        this.limits = limits;
        this.settings = settings;
        this.process = services.environment().randomNumber();
        this.peers = new CrossingRequests<>(
            endpoint, settings.takeover(), new UnknownPeers(settings.unknownPeers(), link::refusals),
            this::newChannel, this::accept);
    }

    void listen() {
        listener = connections.listen(endpoint.bound(), endpoint.authKey(), BACKLOG, this);
    }

    void close() {
        if (listener != null) {
            listener.close();
            listener = null;
        }
        refuseRequests();
        // also channels that the engine does not use yet
        List.copyOf(polled).forEach(channel -> channel.close(FabricErrno.ECONNABORTED));
    }

    private void refuseRequests() {
        requests.forEach(request -> request.reject(RxmConnectData.toRefusal(RxmConnectData.REASON_REFUSED)));
        requests.clear();
        peers.close(Request::refuse);
    }

    // ---- our own requests ----

    Channel connect(String remoteAddress, ChannelHandler handler) {
        RxmChannel known = peers.find(remoteAddress);
        if (known != null && known.handler() == handler) {
            return known;
        }
        RxmChannel channel = add(remoteAddress, handler);
        channel.deadlineNs = services.readAttendedNs() + settings.connectTimeoutNs();
        if (failure != 0) {
            later.add(() -> channel.down(failure));
        } else if (name != null) {
            dial(channel);
        }
        return channel;
    }

    private RxmChannel add(String remoteAddress, ChannelHandler handler) {
        RxmChannel channel = new RxmChannel(this, limits, settings, endpoint, remoteAddress, handler);
        channel.index = nextIndex++;
        peers.add(channel);
        polled.add(channel);
        return channel;
    }

    private void dial(RxmChannel channel) {
        channel.receives = connections.postedReceives();
        RxmConnectData request = new RxmConnectData(
            name.port(), flowControl(channel), settings.eagerLimitBytes(), receives(channel), number(channel));
        channel.below(connections.connect(
            endpoint, channel.remoteAddress(), request.toRequest(), new Dialed(channel)));
    }

    /** On if the link below counts receives; off if connections share them or need none. */
    private static int flowControl(RxmChannel channel) {
        return channel.receives == 0 ? RxmConnectData.FLOW_OFF : RxmConnectData.FLOW_ON;
    }

    private static int receives(RxmChannel channel) {
        return channel.receives == 0 ? RxmPackets.COUNT : channel.receives;
    }

    private long number(RxmChannel channel) {
        return (long) process << 32 | channel.index;
    }

    /** Handles the result of our own request. */
    private final class Dialed extends ConnectionHandler {
        private final RxmChannel channel;

        Dialed(RxmChannel channel) {
            this.channel = channel;
        }

        @Override
        public ChannelHandler channelHandler() {
            return channel.reader();
        }

        @Override
        public void onConnected(String localAddress, String peerAddress, byte[] cmData) {
            RxmConnectData acceptance = RxmConnectData.ofAcceptance(cmData);
            if (acceptance == null) {
                channel.otherProtocol = PeerProtocol.of(cmData);
                channel.broken("accepted a connection with " + cmData.length + " bytes of private data. "
                    + ProtocolErrno.describe(channel.otherProtocol));
                return;
            }
            channel.process = acceptance.process();
            channel.up(acceptance);
        }

        @Override
        public void onFailed(int errno, byte[] cmData) {
            if (errno == FabricErrno.ECONNREFUSED && PeerProtocol.of(cmData) == ProtocolErrno.TCP) {
                channel.otherProtocol = ProtocolErrno.TCP;
                broken(channel, "refused the connection. " + ProtocolErrno.describe(ProtocolErrno.TCP));
                channel.down(FabricErrno.EIO);
            } else if (errno == FabricErrno.ECONNREFUSED
                && RxmConnectData.reason(cmData) == RxmConnectData.REASON_ALREADY) {
                // the peer's own request is in progress, or the peer has not yet noticed the end of an old connection
                channel.below(null);
                channel.awaitsRequest = true;
                channel.retryNs = services.nowNs() + channel.retryDelayNs;
                channel.retryDelayNs = Math.min(2 * channel.retryDelayNs, MAX_RETRY_NS);
            } else {
                channel.down(errno);
            }
        }
    }

    // ---- requests of peers ----

    @Override
    public void onListening(String address) {
        name = SocketName.parse(address);
        for (RxmChannel channel : List.copyOf(polled)) {
            if (channel.below() == null) {
                dial(channel);
            }
        }
    }

    @Override
    public void onFailed(int errno) {
        failure = errno;
        services.onError(new FabricException(
            errno, "endpoint " + endpoint.address() + " of link " + link.name() + " cannot be reached",
            "Check whether another program uses the port, or whether the address is one of this host."));
        refuseRequests();
        for (RxmChannel channel : List.copyOf(polled)) {
            // up, but its device was removed: no event arrives from it any more
            if (channel.below() != null) {
                channel.below().close(errno);
            }
            channel.down(errno);
        }
    }

    @Override
    public boolean onRequest(IncomingConnection request) {
        requests.add(request);
        return true;
    }

    private void answer(IncomingConnection request) {
        String mismatch = RxmConnectData.mismatch(request.cmData(), settings.eagerLimitBytes());
        if (mismatch != null) {
            link.log(new FabricException(
                FabricErrno.ECONNREFUSED, "peer " + request.remoteAddress() + " was refused: " + mismatch));
            request.reject(RxmConnectData.toRefusal(RxmConnectData.REASON_REFUSED));
            return;
        }
        RxmConnectData data = RxmConnectData.ofRequest(request.cmData());
        Request asked = new Request(request, data);
        if (asked.remote().equals(name) && data.process() == process) {
            acceptOwn(asked, peers.find(name.toString()));
        } else {
            peers.answer(asked, name);
        }
    }

    /** A request with compatible private data. */
    private static final class Request implements PeerRequest {
        private final IncomingConnection incoming;
        private final RxmConnectData data;
        private final SocketName remote;

        Request(IncomingConnection incoming, RxmConnectData data) {
            this.incoming = incoming;
            this.data = data;
            this.remote = SocketName.parse(incoming.remoteAddress()).withPort(data.port());
        }

        @Override
        public SocketName remote() {
            return remote;
        }

        @Override
        public int process() {
            return data.process();
        }

        @Override
        public boolean isOver() {
            return incoming.isOver();
        }

        @Override
        public void hold() {
            // the link below keeps the request until it is answered
        }

        @Override
        public void reject() {
            incoming.reject(RxmConnectData.toRefusal(RxmConnectData.REASON_ALREADY));
        }

        @Override
        public void refuse() {
            incoming.reject(RxmConnectData.toRefusal(RxmConnectData.REASON_REFUSED));
        }

        @Override
        public void release() {
            incoming.reject(RxmConnectData.toRefusal(RxmConnectData.REASON_UNSPECIFIED));
        }
    }

    private RxmChannel newChannel(Request request) {
        String address = request.remote().toString();
        return add(address, endpoint.handlerFor(address));
    }

    /** The endpoint connects to itself: the other end of the connection is a channel of ours. */
    private void acceptOwn(Request request, RxmChannel asking) {
        if (asking == null || asking.hasOwnEnd()) {
            request.refuse();
            return;
        }
        RxmChannel own = new RxmChannel(
            this, limits, settings, endpoint, asking.remoteAddress(), asking.handler());
        own.index = nextIndex++;
        polled.add(own);
        asking.ownEnd(own);
        accept(request, own);
    }

    private void accept(Request request, RxmChannel channel) {
        channel.process = request.process();
        channel.awaitsRequest = false;
        channel.receives = connections.postedReceives();
        RxmConnectData acceptance = new RxmConnectData(
            0, flowControl(channel), 0, receives(channel), number(channel));
        // guaranteed by MessageConnector
        channel.below((MessageChannel) request.incoming.accept(
            endpoint, acceptance.toAcceptance(), new Accepted(channel, request.data)));
    }

    /** Handles the result of an acceptance. */
    private final class Accepted extends ConnectionHandler {
        private final RxmChannel channel;
        private final RxmConnectData request;

        Accepted(RxmChannel channel, RxmConnectData request) {
            this.channel = channel;
            this.request = request;
        }

        @Override
        public ChannelHandler channelHandler() {
            return channel.reader();
        }

        @Override
        public void onConnected(String localAddress, String peerAddress, byte[] cmData) {
            channel.up(request);
        }

        @Override
        public void onFailed(int errno, byte[] cmData) {
            channel.down(errno);
        }
    }

    // ---- steps ----

    LinkServices services() {
        return services;
    }

    int poll() {
        int work = requests.size();
        for (IncomingConnection request = requests.poll(); request != null; request = requests.poll()) {
            answer(request);
        }
        for (Runnable step = later.poll(); step != null; step = later.poll()) {
            step.run();
            work++;
        }
        work += peers.poll(name);
        if (peers.hasUnknown() && settings.unknownTimeoutNs() > 0 && services.nowNs() - stallCheckNs > 0) {
            stallCheckNs = services.nowNs() + settings.unknownTimeoutNs() / StallWatch.CHECKS;
            work += peers.endStalled(services.nowNs(), settings.unknownTimeoutNs());
        }
        for (int i = polled.size() - 1; i >= 0; i--) {
            RxmChannel channel = polled.get(i);
            work += channel.reader().retry();
            work += channel.poll();
            if (channel.awaitsRequest) {
                work += askAgain(channel);
            }
        }
        return work;
    }

    private int askAgain(RxmChannel channel) {
        if (services.attendedNs() - channel.deadlineNs > 0) {
            channel.down(FabricErrno.ECONNREFUSED);
            return 1;
        }
        if (services.nowNs() - channel.retryNs > 0) {
            channel.awaitsRequest = false;
            dial(channel);
            return 1;
        }
        return 0;
    }

    /** Whether a channel waits for its next attempt. */
    boolean isWaiting() {
        return polled.stream().anyMatch(channel -> channel.awaitsRequest);
    }

    /** Whether a deadline passes unless the endpoint is polled. */
    boolean hasTimer() {
        return peers.isHolding() || settings.unknownTimeoutNs() > 0 && peers.hasUnknownMidMessage()
            || polled.stream().anyMatch(RxmChannel::hasTimer);
    }

    boolean isIdle() {
        return later.isEmpty() && requests.isEmpty() && polled.stream().noneMatch(RxmChannel::hasNews);
    }

    /** As {@link CrossingRequests#onInserted}. */
    void onInserted(String address) {
        peers.onInserted(address);
    }

    void remove(RxmChannel channel) {
        peers.remove(channel);
        polled.remove(channel);
    }

    /** An unknown peer has begun a message and does not send the rest. */
    void stalled(RxmChannel channel) {
        link.log(new FabricException(FabricErrno.ETIMEDOUT, "peer " + channel.remoteAddress() + " of "
            + endpoint.address() + " has begun a message and not sent the rest of it",
            "Its connection was closed. See " + TcpConfig.UNKNOWN_PEER_TIMEOUT_NS.name() + '.'));
    }

    void broken(RxmChannel channel, String what) {
        link.log(new FabricException(
            FabricErrno.EIO, "peer " + channel.remoteAddress() + " of " + endpoint.address() + ' ' + what,
            "Its connection was closed."));
    }
}
