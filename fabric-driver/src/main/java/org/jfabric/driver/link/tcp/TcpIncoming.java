package org.jfabric.driver.link.tcp;

import org.jfabric.driver.link.ConnectionHandler;
import org.jfabric.driver.link.IncomingConnection;
import org.jfabric.driver.link.LocalEndpoint;

/**
 * A connection request that waits for its answer.
 *
 * <p>Owner: progress agent.
 */
final class TcpIncoming extends IncomingConnection {
    private final TcpConnector connections;
    private final TcpConnection connection;
    private final CmMessage request;

    TcpIncoming(TcpConnector connections, TcpConnection connection, CmMessage request) {
        this.connections = connections;
        this.connection = connection;
        this.request = request;
    }

    @Override
    public String remoteAddress() {
        return connection.peerName().toString();
    }

    @Override
    public byte[] cmData() {
        return request.data();
    }

    @Override
    public boolean isOver() {
        return !connection.isOpen() || connection.failure() != 0;
    }

    @Override
    public MsgChannel accept(LocalEndpoint endpoint, byte[] cmData, ConnectionHandler handler) {
        return connections.accept(endpoint, connection, request, cmData, handler);
    }

    @Override
    public void reject(byte[] cmData) {
        if (connection.isOpen()) {
            connection.reject(cmData);
        }
    }
}
