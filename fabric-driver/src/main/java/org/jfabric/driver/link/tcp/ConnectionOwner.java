package org.jfabric.driver.link.tcp;

import org.jfabric.FabricErrno;

/**
 * Decides what becomes of a connection: whom it joins, and what follows its end. Owner: progress agent.
 */
abstract class ConnectionOwner {
    /** The socket that we have asked for is connected; the owner sends its request. */
    abstract void onConnected(TcpConnection connection);

    /** The one message that begins a connection has come. */
    abstract void onCm(TcpConnection connection, CmMessage message);

    /** What it means that the peer has closed the connection in an orderly way: a positive fabric errno. */
    int errnoOfEnd() {
        return FabricErrno.ECONNRESET;
    }

    /**
     * The connection is closed; nothing follows.
     *
     * @param errno positive fabric errno.
     */
    abstract void onLost(TcpConnection connection, int errno);
}
