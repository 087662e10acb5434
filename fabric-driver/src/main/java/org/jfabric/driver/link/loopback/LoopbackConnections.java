package org.jfabric.driver.link.loopback;

import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.ConnectionManager;
import org.jfabric.driver.link.IncomingConnection;
import org.jfabric.driver.link.Listener;
import org.jfabric.driver.link.ListenerHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.ReliableLinkProvider;
import org.jfabric.info.FabricErrno;

/**
 * Connections between endpoints of this driver. Each call adds a step that runs in the next cycle; at each step the
 * other side may have given up.
 *
 * <p>Owner: progress agent.
 */
final class LoopbackConnections extends ConnectionManager {
    private static final byte[] NO_DATA = {};

    private final LoopbackLink link;
    private final ChannelLimits limits;
    private final long gatherAddress;
    private final byte[] directory;
    private final Map<String, Listening> listeners = new HashMap<>();
    private final ArrayDeque<Runnable> steps = new ArrayDeque<>();

    LoopbackConnections(LoopbackLink link, ChannelLimits limits, long gatherAddress, byte[] directory) {
        this.link = link;
        this.limits = limits;
        this.gatherAddress = gatherAddress;
        this.directory = directory;
    }

    private void later(Runnable step) {
        steps.add(step);
        link.pending();
    }

    /** Runs the steps that exist at the start of the poll; those that they add run in the next cycle. */
    int poll() {
        int work = steps.size();
        for (int i = 0; i < work; i++) {
            steps.removeFirst().run();
        }
        return work;
    }

    void close() {
        listeners.clear();
        steps.clear();
    }

    @Override
    public int cmDataBytes() {
        return ReliableLinkProvider.CM_DATA_BYTES;
    }

    @Override
    public Listener listen(String address, byte[] authKey, int backlog, ListenerHandler handler) {
        Listening listening = new Listening(address, authKey, handler);
        if (listeners.putIfAbsent(address, listening) == null) {
            later(listening::begin);
        } else {
            later(() -> handler.onFailed(FabricErrno.EADDRINUSE));
        }
        return listening;
    }

    @Override
    public Channel connect(LocalEndpoint endpoint, String remoteAddress, byte[] cmData, ConnectionHandler handler) {
        LoopbackChannel channel = new LoopbackChannel(limits, handler.channelHandler(), gatherAddress, directory);
        Incoming request = new Incoming(endpoint, remoteAddress, cmData, handler, channel);
        later(request::offer);
        return channel;
    }

    private final class Listening extends Listener {
        private final String address;
        private final byte[] authKey;
        private final ListenerHandler handler;

        Listening(String address, byte[] authKey, ListenerHandler handler) {
            this.address = address;
            this.authKey = authKey;
            this.handler = handler;
        }

        void begin() {
            if (listeners.get(address) == this) {
                handler.onListening(address);
            }
        }

        @Override
        public void close() {
            listeners.remove(address, this);
        }
    }

    /** A connection request, before and after its listener got it, with both sides. */
    private final class Incoming extends IncomingConnection {
        private final LocalEndpoint from;
        private final String toAddress;
        private final byte[] cmData;
        private final ConnectionHandler handler;
        private final LoopbackChannel channel;

        Incoming(
            LocalEndpoint from, String toAddress, byte[] cmData, ConnectionHandler handler, LoopbackChannel channel) {
            this.from = from;
            this.toAddress = toAddress;
            this.cmData = cmData;
            this.handler = handler;
            this.channel = channel;
        }

        void offer() {
            if (channel.isClosed()) {
                return;
            }
            Listening listening = listeners.get(toAddress);
            if (listening == null) {
                handler.onFailed(FabricErrno.ECONNREFUSED, NO_DATA);
            } else if (!MessageDigest.isEqual(listening.authKey, from.authKey())) {
                handler.onFailed(FabricErrno.EKEYREJECTED, NO_DATA);
            } else if (!listening.handler.onRequest(this)) {
                handler.onFailed(FabricErrno.ECONNREFUSED, NO_DATA);
            }
        }

        @Override
        public String remoteAddress() {
            return from.address();
        }

        @Override
        public byte[] cmData() {
            return cmData;
        }

        @Override
        public Channel accept(LocalEndpoint endpoint, byte[] answer, ConnectionHandler acceptor) {
            LoopbackChannel there = new LoopbackChannel(limits, acceptor.channelHandler(), gatherAddress, directory);
            later(() -> join(endpoint, answer, acceptor, there));
            return there;
        }

        @Override
        public void reject(byte[] answer) {
            later(() -> {
                if (!channel.isClosed()) {
                    handler.onFailed(FabricErrno.ECONNREFUSED, answer);
                }
            });
        }

        private void join(
            LocalEndpoint endpoint, byte[] answer, ConnectionHandler acceptor, LoopbackChannel there) {
            if (there.isClosed()) {
                if (!channel.isClosed()) {
                    handler.onFailed(FabricErrno.ECONNREFUSED, NO_DATA);
                }
                return;
            }
            if (channel.isClosed()) {
                acceptor.onFailed(FabricErrno.ECONNABORTED, NO_DATA);
                return;
            }
            channel.join(there);
            there.join(channel);
            int grantHere = channel.handler().onOpening();
            int grantThere = there.handler().onOpening();
            channel.frameHandler().onGrant(grantThere);
            there.frameHandler().onGrant(grantHere);
            handler.onConnected(from.address(), endpoint.address(), answer);
            channel.handler().onUp(channel);
            acceptor.onConnected(endpoint.address(), from.address(), NO_DATA);
            there.handler().onUp(there);
        }
    }
}
