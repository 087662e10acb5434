package org.jfabric.driver.link.rxm;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.ProtocolErrno;
import org.jfabric.SocketName;
import org.jfabric.driver.config.Takeover;
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
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.driver.link.support.MessageConnections;
import org.jfabric.driver.link.support.PeerProtocol;
import org.jfabric.driver.link.support.StallWatch;
import org.jfabric.driver.link.support.Strangers;

import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The connections of one local endpoint: at most one with each peer, whichever side began it.
 *
 * <p>A peer is known by the address from which its connection comes and the port in its private data. Where both sides
 * ask at once, the request of the greater address goes on:
 *
 * <pre>
 *   own request is on its way, peer &lt; we     refuse theirs ("already"), ours goes on
 *   own request is on its way, peer &gt; we     give ours up, accept theirs
 *   connected, same process                  refuse ("already")
 *   connected, another process               hold it until it is known whether the old one is over: accept then
 *   one too many that nobody has inserted    refuse, and count
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class RxmPeers extends ListenerHandler {
    private static final int BACKLOG = 4096;
    private static final long MAX_RETRY_NS = 500_000_000L;

    private final RxmLink link;
    private final LocalEndpoint endpoint;
    private final LinkServices services;
    private final MessageConnections connections;
    private final ChannelLimits limits;
    private final RxmSettings settings;
    private final Strangers strangers;
    private final Map<String, RxmChannel> byAddress = new HashMap<>();
    private final List<RxmChannel> polled = new ArrayList<>();
    private final ArrayDeque<Runnable> later = new ArrayDeque<>();
    private final ArrayDeque<IncomingConnection> requests = new ArrayDeque<>();
    /** Channels of peers that the application does not know. */
    private final List<RxmChannel> unknown = new ArrayList<>();
    /** Requests in the name of peers that have a connection, one for each; by address. */
    private final Map<String, IncomingConnection> claims = new HashMap<>();
    /** When unknown peers inside of a message are checked again. */
    private long stallCheckNs;
    private final int process = ThreadLocalRandom.current().nextInt(1, Integer.MAX_VALUE);
    private Listener listener;
    private SocketName name;
    private int nextIndex;
    /** Why nobody can reach the endpoint, nor be reached by it; 0 if nothing is wrong. */
    private int failure;

    RxmPeers(
        RxmLink link, LocalEndpoint endpoint, LinkServices services, MessageConnections connections,
        ChannelLimits limits, RxmSettings settings) {
        this.link = link;
        this.endpoint = endpoint;
        this.services = services;
        this.connections = connections;
        this.limits = limits;
        this.settings = settings;
        this.strangers = new Strangers(settings.strangers(), link::refusals);
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
        // also those whose peers the engine has not heard of yet
        List.copyOf(polled).forEach(channel -> channel.close(FabricErrno.ECONNABORTED));
    }

    private void refuseRequests() {
        requests.forEach(request -> request.reject(RxmConnectData.toRefusal(RxmConnectData.REASON_REFUSED)));
        requests.clear();
        claims.values().forEach(claim -> claim.reject(RxmConnectData.toRefusal(RxmConnectData.REASON_REFUSED)));
        claims.clear();
    }

    // ---- our own requests ----

    Channel connect(String remoteAddress, ChannelHandler handler) {
        RxmChannel known = byAddress.get(remoteAddress);
        if (known != null && known.handler() == handler) {
            return known;
        }
        RxmChannel channel = add(remoteAddress, handler);
        channel.deadlineNs = services.nowNs() + settings.connectTimeoutNs();
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
        byAddress.put(remoteAddress, channel);
        polled.add(channel);
        return channel;
    }

    private void dial(RxmChannel channel) {
        RxmConnectData request = new RxmConnectData(
            name.port(), flowControl(), settings.eagerLimitBytes(), receives(), number(channel));
        channel.below(connections.connect(
            endpoint, channel.remoteAddress(), request.toRequest(), new Dialed(channel)));
    }

    /** On where the link below counts receives; not where connections share them, or need none. */
    private int flowControl() {
        return connections.postedReceives() == 0 ? RxmConnectData.FLOW_OFF : RxmConnectData.FLOW_ON;
    }

    private int receives() {
        int posted = connections.postedReceives();
        return posted == 0 ? RxmPackets.COUNT : posted;
    }

    private long number(RxmChannel channel) {
        return (long) process << 32 | channel.index;
    }

    /** What becomes of a request of ours. */
    private final class Dialed extends ConnectionHandler {
        private final RxmChannel channel;

        Dialed(RxmChannel channel) {
            this.channel = channel;
        }

        @Override
        public ChannelHandler channelHandler() {
            return channel.receiver();
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
            channel.up(acceptance, connections.postedReceives());
        }

        @Override
        public void onFailed(int errno, byte[] cmData) {
            if (errno == FabricErrno.ECONNREFUSED && PeerProtocol.of(cmData) == ProtocolErrno.TCP) {
                channel.otherProtocol = ProtocolErrno.TCP;
                broken(channel, "refused the connection. " + ProtocolErrno.describe(ProtocolErrno.TCP));
                channel.down(FabricErrno.EIO);
            } else if (errno == FabricErrno.ECONNREFUSED
                && RxmConnectData.reason(cmData) == RxmConnectData.REASON_ALREADY) {
                // the peer's own request is on its way, or the peer has yet to notice the end of an old connection
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
            "See whether another program uses the port, or whether the address is one of this host."));
        refuseRequests();
        for (RxmChannel channel : List.copyOf(polled)) {
            // one that is up, where the device was taken away: nothing comes up from it any more
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
        SocketName peer = SocketName.parse(request.remoteAddress()).withPort(data.port());
        RxmChannel known = byAddress.get(peer.toString());
        if (peer.equals(name) && data.process() == process) {
            acceptOwn(request, known, data);
            return;
        }
        if (known != null && refuses(known, peer, data)) {
            request.reject(RxmConnectData.toRefusal(RxmConnectData.REASON_ALREADY));
            return;
        }
        if (known != null && known.state == RxmChannel.UP && !mayTakeOver(request, known)) {
            return;
        }
        RxmChannel channel = known;
        if (known != null && known.state == RxmChannel.UP) {
            lose(known, FabricErrno.ECONNRESET);
            channel = null;
        } else if (known != null && known.below() != null) {
            known.below().close(FabricErrno.ECONNABORTED);
        }
        if (channel == null) {
            boolean isStranger = !endpoint.knows(peer.toString());
            if (isStranger && !admit(peer.inetAddress())) {
                request.reject(RxmConnectData.toRefusal(RxmConnectData.REASON_REFUSED));
                return;
            }
            channel = add(peer.toString(), endpoint.handlerFor(peer.toString()));
            if (isStranger) {
                channel.isStranger = true;
                unknown.add(channel);
            }
        }
        accept(request, channel, data);
    }

    /** Whether a peer's connection is over, so that a request may have its place; else that waits, or is refused. */
    private boolean mayTakeOver(IncomingConnection request, RxmChannel known) {
        String address = known.remoteAddress();
        int verdict = MessageChannel.LIVES;
        if (settings.takeover() == Takeover.PROBE && !claims.containsKey(address)) {
            verdict = known.below().probe();
        }
        if (verdict == MessageChannel.ASKING) {
            claims.put(address, request);
        } else if (verdict == MessageChannel.LIVES) {
            request.reject(RxmConnectData.toRefusal(RxmConnectData.REASON_ALREADY));
        }
        return verdict == MessageChannel.OVER;
    }

    /** Goes on with requests that wait; how many have their answers. */
    private int decideClaims() {
        int decided = 0;
        for (String address : List.copyOf(claims.keySet())) {
            IncomingConnection claim = claims.remove(address);
            if (!claim.isOver()) {
                // waits again if nothing is known yet
                answer(claim);
                decided += claims.containsKey(address) ? 0 : 1;
                continue;
            }
            claim.reject(RxmConnectData.toRefusal(RxmConnectData.REASON_UNSPECIFIED));
            RxmChannel known = byAddress.get(address);
            if (known != null && known.below() != null) {
                known.below().endProbe();
            }
            decided++;
        }
        return decided;
    }

    /** A place for a peer that the application does not know: those that have left, but for what waits, give theirs. */
    private boolean admit(InetAddress host) {
        for (int i = unknown.size() - 1; i >= 0 && !strangers.hasPlace(host); i--) {
            RxmChannel channel = i < unknown.size() ? unknown.get(i) : null;
            if (channel != null && channel.state == RxmChannel.UP && channel.below().hasLeft()
                && strangers.couldLeaveTo(host(channel), host)) {
                lose(channel, FabricErrno.ECONNRESET);
            }
        }
        return strangers.admit(host);
    }

    /** Ends connections of unknown peers that have stopped inside of a message; how many. */
    private int endStalled() {
        int ended = 0;
        for (int i = unknown.size() - 1; i >= 0; i--) {
            RxmChannel channel = i < unknown.size() ? unknown.get(i) : null;
            if (channel != null && channel.state == RxmChannel.UP
                && channel.isStalled(services.nowNs(), settings.unknownTimeoutNs())) {
                link.log(new FabricException(FabricErrno.ETIMEDOUT, "peer " + channel.remoteAddress() + " of "
                    + endpoint.address() + " has begun a message and not sent the rest of it",
                    "Its connection was closed. See " + TcpConfig.UNKNOWN_PEER_TIMEOUT_NS.name() + '.'));
                lose(channel, FabricErrno.ETIMEDOUT);
                ended++;
            }
        }
        return ended;
    }

    private static void lose(RxmChannel channel, int errno) {
        channel.below().close(errno);
        channel.down(errno);
    }

    private static InetAddress host(RxmChannel channel) {
        return SocketName.parse(channel.remoteAddress()).inetAddress();
    }

    /** The endpoint asks itself: this connection's other end is a channel of ours. */
    private void acceptOwn(IncomingConnection request, RxmChannel asking, RxmConnectData data) {
        if (asking == null || asking.hasOwnEnd()) {
            request.reject(RxmConnectData.toRefusal(RxmConnectData.REASON_REFUSED));
            return;
        }
        RxmChannel own = new RxmChannel(
            this, limits, settings, endpoint, asking.remoteAddress(), asking.handler());
        own.index = nextIndex++;
        polled.add(own);
        asking.ownEnd(own);
        accept(request, own, data);
    }

    private boolean refuses(RxmChannel known, SocketName peer, RxmConnectData data) {
        boolean isMade = known.state == RxmChannel.UP || known.process != 0;
        if (isMade) {
            return known.state != RxmChannel.UP || known.process == data.process() || known.process == 0;
        }
        return known.below() != null && peer.compareTo(name) < 0;
    }

    private void accept(IncomingConnection request, RxmChannel channel, RxmConnectData data) {
        channel.process = data.process();
        channel.awaitsRequest = false;
        RxmConnectData acceptance = new RxmConnectData(
            0, flowControl(), 0, receives(), number(channel));
        // as MessageConnections promises
        channel.below((MessageChannel) request.accept(
            endpoint, acceptance.toAcceptance(), new Accepted(channel, data)));
    }

    /** What becomes of an acceptance. */
    private final class Accepted extends ConnectionHandler {
        private final RxmChannel channel;
        private final RxmConnectData request;

        Accepted(RxmChannel channel, RxmConnectData request) {
            this.channel = channel;
            this.request = request;
        }

        @Override
        public ChannelHandler channelHandler() {
            return channel.receiver();
        }

        @Override
        public void onConnected(String localAddress, String peerAddress, byte[] cmData) {
            channel.up(request, connections.postedReceives());
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
        if (!claims.isEmpty()) {
            work += decideClaims();
        }
        if (!unknown.isEmpty() && settings.unknownTimeoutNs() > 0 && services.nowNs() - stallCheckNs > 0) {
            stallCheckNs = services.nowNs() + settings.unknownTimeoutNs() / StallWatch.CHECKS;
            work += endStalled();
        }
        for (int i = polled.size() - 1; i >= 0; i--) {
            RxmChannel channel = polled.get(i);
            work += channel.receiver().retry();
            work += channel.poll();
            if (channel.awaitsRequest) {
                work += askAgain(channel);
            }
        }
        return work;
    }

    private int askAgain(RxmChannel channel) {
        if (services.nowNs() - channel.deadlineNs > 0) {
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

    boolean isIdle() {
        return later.isEmpty() && requests.isEmpty() && polled.stream().noneMatch(RxmChannel::hasNews);
    }

    /** The application knows a peer from now on; also one that it forgets again, until its connection ends. */
    void onInserted(String address) {
        RxmChannel channel = byAddress.get(address);
        if (channel != null) {
            isNoStranger(channel);
        }
    }

    private void isNoStranger(RxmChannel channel) {
        if (channel.isStranger) {
            channel.isStranger = false;
            unknown.remove(channel);
            strangers.leave(host(channel));
        }
    }

    void remove(RxmChannel channel) {
        isNoStranger(channel);
        byAddress.remove(channel.remoteAddress(), channel);
        polled.remove(channel);
    }

    void broken(RxmChannel channel, String what) {
        link.log(new FabricException(
            FabricErrno.EIO, "peer " + channel.remoteAddress() + " of " + endpoint.address() + ' ' + what,
            "Its connection was closed."));
    }
}
