package org.jfabric.driver.link.tcp;

import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.ConnectionHandler;

/**
 * A channel between connection-oriented endpoints.
 *
 * <p>Owner: progress agent.
 */
final class MsgChannel extends TcpChannel {
    /** The connection is being established. */
    static final int CONNECTING = 0;
    /** Messages can be exchanged. */
    static final int UP = 1;
    /** Closed or lost. */
    static final int CLOSED = 2;

    private final TcpConnector connections;
    private final ConnectionHandler connectionHandler;
    int state = CONNECTING;
    /** Private data of the outgoing request; null at the accepting side. */
    byte[] request;

    MsgChannel(TcpConnector connections, ChannelLimits limits, ConnectionHandler connectionHandler) {
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
