package org.jfabric.driver.link.tcp;

import org.jfabric.info.FabricErrno;

/**
 * The owner of connections: decides which endpoints a connection joins, and handles its end. Owner: progress agent.
 */
abstract class ConnectionOwner {
    /** An outgoing socket is connected; the owner sends its request. */
    abstract void onConnected(TcpConnection connection);

    /** The message that begins a connection has arrived. */
    abstract void onCm(TcpConnection connection, CmMessage message);

    /** The positive fabric errno to report when the peer closes the connection in an orderly way. */
    int errnoOfEnd() {
        return FabricErrno.ECONNRESET;
    }

    /**
     * The connection is closed. No further call follows.
     *
     * @param errno positive fabric errno.
     */
    abstract void onLost(TcpConnection connection, int errno);
}
