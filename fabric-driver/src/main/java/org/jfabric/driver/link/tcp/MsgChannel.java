package org.jfabric.driver.link.tcp;

import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.ConnectionHandler;

/**
 * A channel between connection-oriented endpoints.
 *
 * <p>Owner: progress agent.
 */
final class MsgChannel extends TcpChannel {
    /** On the way up. */
    static final int CONNECTING = 0;
    /** Messages flow. */
    static final int UP = 1;
    /** Gone. */
    static final int CLOSED = 2;

    private final TcpConnections connections;
    private final ConnectionHandler connectionHandler;
    int state = CONNECTING;
    /** Private data of our request; null at the accepting side. */
    byte[] request;

    MsgChannel(TcpConnections connections, ChannelLimits limits, ConnectionHandler connectionHandler) {
        super(limits, connectionHandler.channelHandler());
        this.connections = connections;
        this.connectionHandler = connectionHandler;
    }

    ConnectionHandler connectionHandler() {
        return connectionHandler;
    }

    @Override
    public void close(int errno) {
        if (state != CLOSED) {
            state = CLOSED;
            connections.closeChannel(this);
        }
    }
}
