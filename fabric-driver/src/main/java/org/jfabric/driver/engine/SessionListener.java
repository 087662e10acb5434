package org.jfabric.driver.engine;

/**
 * Receives the engine's events of a client for the conductor. The engine calls it on the progress thread; an
 * implementation must only queue the event for the conductor.
 */
public abstract class SessionListener {
    /** For the conductor's implementation. */
    protected SessionListener() {
    }

    /** The client violated the protocol of its queues; the conductor must end it. */
    public abstract void onCorruption(long clientId, String reason);

    /** One of the client's completion queues has overrun: an entry found no free slot. Called once for each queue. */
    public abstract void onCompletionQueueOverrun(long clientId, long cqId);

    /**
     * A peer of one of the client's endpoints is down, or could not be reached.
     *
     * @param fiAddr     the peer in the endpoint's address vector, or -1.
     * @param errno      positive fabric errno.
     * @param provErrno  error number of the link, else the same errno.
     */
    public abstract void onPeerDown(
        long clientId, long endpointId, long fiAddr, int errno, int provErrno, String address);

    /** A peer requests a connection from one of the client's passive endpoints. */
    public void onConnectionRequest(
        long clientId, long passiveId, long requestId, String linkName, String address, byte[] cmData) {
        // only where there are connection-oriented endpoints
    }

    /** A connection of one of the client's endpoints is established. */
    public void onConnected(
        long clientId, long endpointId, String localAddress, String peerAddress, byte[] cmData) {
        // only where there are connection-oriented endpoints
    }

    /**
     * A connection of one of the client's endpoints failed, or a passive endpoint has stopped listening.
     *
     * @param objectId its endpoint, or passive endpoint.
     * @param errno    positive fabric errno.
     */
    public void onConnectionFailed(long clientId, long objectId, int errno, byte[] cmData) {
        // only where there are connection-oriented endpoints
    }

    /**
     * The peer of one of the client's connected endpoints has closed the connection, or the connection is lost.
     *
     * @param errno      0 for an orderly close, else a positive fabric errno.
     */
    public void onConnectionEnded(long clientId, long endpointId, int errno) {
        // only where there are connection-oriented endpoints
    }
}
