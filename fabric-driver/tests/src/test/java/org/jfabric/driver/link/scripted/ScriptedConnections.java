package org.jfabric.driver.link.scripted;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.ConnectionManager;
import org.jfabric.driver.link.IncomingConnection;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.Listener;
import org.jfabric.driver.link.ListenerHandler;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.PeerAcceptor;
import org.jfabric.driver.link.support.MessageChannel;
import org.jfabric.driver.link.support.MessageConnector;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.SocketName;

/**
 * Connected channels without a medium, for protocols that are built on them: one link for each engine, all of one
 * network on one thread, doing to requests and messages what a {@link Script} says.
 */
public final class ScriptedConnections extends Link {
    /** What the links of one test share. */
    public static final class Network {
        final Script script;
        final Map<String, ScriptedListener> listeners = new HashMap<>();
        private final List<ScriptedConnections> links = new ArrayList<>();
        private int nextPort = 40_000;
        /** Receives that each end posts and counts; 0: messages need none. */
        public int receives;
        /** Requests that reached a listener. */
        public int requests;
        /** Requests that were rejected. */
        public int rejections;

        /**
         * A network without links.
         *
         * @param script of all of them.
         */
        public Network(Script script) {
            this.script = script;
        }

        /**
         * Whether nothing is on its way.
         *
         * @return true if polls would find nothing, now and later.
         */
        public boolean isQuiet() {
            return links.stream().allMatch(Link::arm);
        }

        /** Cuts every connection; both ends are told. */
        public void cut() {
            links.forEach(link -> link.channels.forEach(ScriptedConnection::cut));
        }

        /**
         * Sends what no protocol above would, on the only connection of an end.
         *
         * @param local address of the endpoint that it comes from.
         * @param flags {@code Flags.MSG}, or {@code Flags.TAGGED} with a tag.
         * @param tag   of a tagged one.
         * @param bytes payload.
         */
        public void send(String local, long flags, long tag, byte[] bytes) {
            for (ScriptedConnections link : links) {
                for (ScriptedConnection channel : link.channels) {
                    if (channel.isUp() && channel.localAddress().equals(local)) {
                        channel.sendRaw(flags, tag, bytes);
                        return;
                    }
                }
            }
            throw new AssertionError(local + " has no connection, seed " + script.seed());
        }

        /**
         * Connections that are up.
         *
         * @return a count of pairs.
         */
        public int connectionsUp() {
            return links.stream().mapToInt(
                link -> (int) link.channels.stream().filter(ScriptedConnection::isUp).count()).sum() / 2;
        }
    }

    final Network network;
    private final List<ScriptedConnection> channels = new ArrayList<>();
    private final List<ScriptedListener> told = new ArrayList<>();
    private final ConnectionManager manager = new Manager();

    /**
     * A link without connections.
     *
     * @param network that it belongs to.
     */
    public ScriptedConnections(Network network) {
        this.network = network;
        network.links.add(this);
    }

    /** A passive end. */
    final class ScriptedListener extends Listener {
        final String address;
        final ListenerHandler handler;

        ScriptedListener(String address, ListenerHandler handler) {
            this.address = address;
            this.handler = handler;
        }

        ScriptedConnections link() {
            return ScriptedConnections.this;
        }

        @Override
        public void close() {
            network.listeners.remove(address, this);
        }
    }

    private final class Manager extends MessageConnector {
        @Override
        public int cmDataBytes() {
            return 256;
        }

        @Override
        public int postedReceives() {
            return network.receives;
        }

        @Override
        public Listener listen(String address, byte[] authKey, int backlog, ListenerHandler handler) {
            throw new UnsupportedOperationException("addresses are bound before");
        }

        @Override
        public Listener listen(BoundAddress bound, byte[] authKey, int backlog, ListenerHandler handler) {
            ScriptedListener listener = new ScriptedListener(bound.address(), handler);
            network.listeners.put(bound.address(), listener);
            told.add(listener);
            return listener;
        }

        @Override
        public MessageChannel connect(
            LocalEndpoint endpoint, String remoteAddress, byte[] cmData, ConnectionHandler handler) {
            ScriptedConnection channel = new ScriptedConnection(
                ScriptedConnections.this, endpoint.address(), remoteAddress, handler);
            channel.request(cmData, network.script.stepAfter(network.script.maxConnectSteps));
            channels.add(channel);
            return channel;
        }
    }

    /** A request arrives. */
    void arrive(ScriptedConnection from, byte[] cmData) {
        ScriptedListener listener = network.listeners.get(from.remoteAddress());
        if (listener == null) {
            from.refused(new byte[0]);
            return;
        }
        network.requests++;
        SocketName name = SocketName.parse(from.localAddress()).withPort(network.nextPort++);
        listener.handler.onRequest(new Request(listener.link(), from, name.toString(), cmData));
    }

    private static final class Request extends IncomingConnection {
        private final ScriptedConnections link;
        private final ScriptedConnection from;
        private final String remoteAddress;
        private final byte[] cmData;

        Request(ScriptedConnections link, ScriptedConnection from, String remoteAddress, byte[] cmData) {
            this.link = link;
            this.from = from;
            this.remoteAddress = remoteAddress;
            this.cmData = cmData;
        }

        @Override
        public String remoteAddress() {
            return remoteAddress;
        }

        @Override
        public byte[] cmData() {
            return cmData;
        }

        @Override
        public MessageChannel accept(LocalEndpoint endpoint, byte[] answer, ConnectionHandler handler) {
            ScriptedConnection channel = new ScriptedConnection(
                link, endpoint.address(), remoteAddress, handler);
            channel.accept(from, answer);
            link.channels.add(channel);
            return channel;
        }

        @Override
        public void reject(byte[] answer) {
            link.network.rejections++;
            from.refused(answer);
        }
    }

    @Override
    public ConnectionManager connections() {
        return manager;
    }

    @Override
    public int poll(int limit) {
        int work = told.size();
        for (ScriptedListener listener : List.copyOf(told)) {
            listener.handler.onListening(listener.address);
        }
        told.clear();
        for (ScriptedConnection channel : List.copyOf(channels)) {
            work += channel.poll(limit);
        }
        channels.removeIf(ScriptedConnection::isOver);
        return work;
    }

    @Override
    public boolean arm() {
        return told.isEmpty() && channels.stream().allMatch(ScriptedConnection::isQuiet);
    }

    @Override
    public String name() {
        return "connections";
    }

    @Override
    public boolean reaches(String remoteAddress) {
        return SocketName.isName(remoteAddress);
    }

    @Override
    public void attach(LocalEndpoint endpoint) {
        throw new UnsupportedOperationException("connected endpoints are not attached");
    }

    @Override
    public void detach(LocalEndpoint endpoint) {
        throw new UnsupportedOperationException("connected endpoints are not attached");
    }

    @Override
    public Channel connect(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler) {
        throw new UnsupportedOperationException("FI_EP_RDM is what the protocol above makes");
    }

    @Override
    public PeerAcceptor acceptor() {
        return null;
    }

    @Override
    public void close() {
        channels.forEach(channel -> channel.close(FabricErrno.ESHUTDOWN));
        channels.clear();
    }
}
