package org.jfabric.driver.engine;

/** Receives the events of one endpoint's connection. Owner: progress agent. */
abstract class ConnectionListener {
    /** For the endpoint's implementation. */
    protected ConnectionListener() {
    }

    abstract void onConnected(String localAddress, String peerAddress, byte[] cmData);

    /**
     * The connection was refused or could not be made.
     *
     * @param errno  positive fabric errno.
     */
    abstract void onFailed(int errno, byte[] cmData);

    /**
     * The peer has ended the connection, or is lost.
     *
     * @param errno 0 for an orderly shutdown, else the positive fabric errno of the failure.
     */
    abstract void onShutdown(int errno);

    /** The connection has ended, from either side. Receives that no message can match any more must end. */
    abstract void onEnded();
}
