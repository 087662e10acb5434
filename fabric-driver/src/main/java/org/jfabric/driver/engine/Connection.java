package org.jfabric.driver.engine;

import java.util.Arrays;
import java.util.List;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.ConnectionManager;
import org.jfabric.driver.link.IncomingConnection;
import org.jfabric.driver.link.Link;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The one connection of a connection-oriented endpoint.
 *
 * <pre>
 *   IDLE --connect, accept--> CONNECTING --onConnected--> CONNECTED --shutdown, peer's end--> ENDED
 *     ^------onFailed-------------/
 * </pre>
 *
 * <p>A peer is created for each attempt and is the endpoint's only one, so sends go to it whatever destination address
 * they name. Owner: progress agent.
 */
final class Connection extends ConnectionHandler {
    private static final int IDLE = 0;
    private static final int CONNECTING = 1;
    private static final int CONNECTED = 2;
    private static final int ENDED = 3;

    private final LocalEndpoint local;
    private final List<Link> links;
    private final PeerTable peers;
    private final ConnectionListener listener;
    private int state = IDLE;
    private PeerSends peer;

    /**
     * A connection in the state IDLE.
     *
     * @param links that it may use, the preferred one first.
     */
    Connection(LocalEndpoint local, List<Link> links, PeerTable peers, ConnectionListener listener) {
        this.local = local;
        this.links = links;
        this.peers = peers;
        this.listener = listener;
    }

    /**
     * Requests a connection from a passive endpoint. The listener is notified of the result later.
     *
     * @param cmData  private data, truncated if a link takes less.
     * @throws FabricException {@link FabricErrno#EOPBADSTATE} if there is a connection, or was one;
     *     {@link FabricErrno#EHOSTUNREACH} if no link of the endpoint reaches the address.
     */
    void connect(String address, byte[] cmData) {
        requireIdle();
        for (Link link : links) {
            ConnectionManager manager = link.connections();
            if (manager != null && link.reaches(address)) {
                begin(address);
                peer.peer().connecting(manager.connect(local, address, cut(cmData, manager), this));
                return;
            }
        }
        throw new FabricException(FabricErrno.EHOSTUNREACH, "no link of the endpoint " + local.address()
            + " connects to " + address,
            "Open it with a link that reaches the address; fabric info --why shows which.");
    }

    /**
     * Accepts a request. The listener is notified of the result later.
     *
     * @param request that has no answer yet.
     * @param cmData  private data, truncated if the link takes less.
     * @throws FabricException {@link FabricErrno#EOPBADSTATE} if there is a connection, or was one.
     */
    void accept(IncomingConnection request, ConnectionManager manager, byte[] cmData) {
        requireIdle();
        begin(request.remoteAddress());
        peer.peer().connecting(request.accept(local, cut(cmData, manager), this));
    }

    /**
     * Shuts the connection down. Outstanding operations end with {@link FabricErrno#ECANCELED}, and the peer is
     * notified.
     *
     * @throws FabricException {@link FabricErrno#ENOTCONN} if it is not up.
     */
    void shutdown() {
        if (state != CONNECTED) {
            throw new FabricException(FabricErrno.ENOTCONN, "the endpoint " + local.address() + " is not connected"
                + (state == ENDED ? " any more" : ""), "Shut down only after FI_CONNECTED, and once.");
        }
        state = ENDED;
        Channel channel = peer.channel();
        try {
            peer.fail(FabricErrno.ECANCELED);
            listener.onEnded();
        } finally {
            // also if a client has truncated the file that entries are written to
            if (channel != null) {
                channel.close(FabricErrno.ESHUTDOWN);
            }
        }
    }

    /**
     * The peer is down. Called again for each later send.
     *
     * @param errno positive fabric errno.
     */
    void onPeerDown(int errno) {
        if (state == CONNECTED) {
            state = ENDED;
            try {
                listener.onShutdown(errno == FabricErrno.ESHUTDOWN ? 0 : errno);
            } finally {
                listener.onEnded();
            }
        }
    }

    @Override
    public ChannelHandler channelHandler() {
        return peer;
    }

    @Override
    public void onConnected(String localAddress, String peerAddress, byte[] cmData) {
        state = CONNECTED;
        listener.onConnected(localAddress, peerAddress, cmData);
    }

    @Override
    public void onFailed(int errno, byte[] cmData) {
        state = IDLE;
        // the channel is down already, so there is nothing to close
        peers.drop(peer);
        peer.onDown(errno);
        peer = null;
        listener.onFailed(errno, cmData);
    }

    private void begin(String address) {
        peer = peers.only(address);
        state = CONNECTING;
    }

    /**
     * Requires that the endpoint has no connection and never had one.
     *
     * @throws FabricException {@link FabricErrno#EOPBADSTATE}.
     */
    void requireIdle() {
        if (state != IDLE) {
            throw new FabricException(FabricErrno.EOPBADSTATE, "the endpoint " + local.address()
                + (state == CONNECTING ? " is connecting" : state == CONNECTED ? " is connected" : " was connected"),
                "Use an endpoint for one connection; open another one.");
        }
    }

    /**
     * Truncates private data to the manager's limit without an error, as libfabric does. Returns the data, at most as
     * long as the manager allows.
     */
    static byte[] cut(byte[] cmData, ConnectionManager manager) {
        int most = manager.cmDataBytes();
        return cmData.length <= most ? cmData : Arrays.copyOf(cmData, most);
    }
}
