package org.jfabric.driver.engine;

/**
 * Receives the engine's events of a client for the conductor. The engine calls it on the progress thread; an
 * implementation must only queue the event for the conductor.
 */
public abstract class SessionListener {
    /** For the conductor's implementation. */
    protected SessionListener() {
    }

    /**
     * The client violated the protocol of its queues; the conductor must end it.
     *
     * @param clientId the client.
     * @param reason   the violation, for the log and for the message to the client.
     */
    public abstract void onCorruption(long clientId, String reason);

    /**
     * One of the client's completion queues has overrun: an entry found no free slot. Called once for each queue.
     *
     * @param clientId the client.
     * @param cqId     its completion queue.
     */
    public abstract void onCompletionQueueOverrun(long clientId, long cqId);

    /**
     * A peer of one of the client's endpoints is down, or could not be reached.
     *
     * @param clientId   the client.
     * @param endpointId its endpoint.
     * @param fiAddr     the peer in the endpoint's address vector, or -1.
     * @param errno      positive fabric errno.
     * @param provErrno  error number of the link, else the same errno.
     * @param address    the peer's address.
     */
    public abstract void onPeerDown(
        long clientId, long endpointId, long fiAddr, int errno, int provErrno, String address);

    /**
     * A peer requests a connection from one of the client's passive endpoints.
     *
     * @param clientId  the client.
     * @param passiveId its passive endpoint.
     * @param requestId identifies the request in the answer.
     * @param linkName  link on which it arrived.
     * @param address   the peer's address.
     * @param cmData    private data.
     */
    public void onConnectionRequest(
        long clientId, long passiveId, long requestId, String linkName, String address, byte[] cmData) {
        // only where there are connection-oriented endpoints
    }

    /**
     * A connection of one of the client's endpoints is established.
     *
     * @param clientId     the client.
     * @param endpointId   its endpoint.
     * @param localAddress of this end.
     * @param peerAddress  of the other end.
     * @param cmData       private data of the answer.
     */
    public void onConnected(
        long clientId, long endpointId, String localAddress, String peerAddress, byte[] cmData) {
        // only where there are connection-oriented endpoints
    }

    /**
     * A connection of one of the client's endpoints failed, or a passive endpoint has stopped listening.
     *
     * @param clientId the client.
     * @param objectId its endpoint, or passive endpoint.
     * @param errno    positive fabric errno.
     * @param cmData   private data of the refusal.
     */
    public void onConnectionFailed(long clientId, long objectId, int errno, byte[] cmData) {
        // only where there are connection-oriented endpoints
    }

    /**
     * The peer of one of the client's connected endpoints has closed the connection, or the connection is lost.
     *
     * @param clientId   the client.
     * @param endpointId its endpoint.
     * @param errno      0 for an orderly close, else a positive fabric errno.
     */
    public void onConnectionEnded(long clientId, long endpointId, int errno) {
        // only where there are connection-oriented endpoints
    }
}
