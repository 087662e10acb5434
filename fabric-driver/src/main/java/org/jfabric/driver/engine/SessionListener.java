package org.jfabric.driver.engine;

/**
 * Told by the engine what the conductor must know of a client. Calls come on the progress thread and must only hand
 * over.
 */
public abstract class SessionListener {
    /** For the conductor's implementation. */
    protected SessionListener() {
    }

    /**
     * The client broke the rules of its queues; it must be ended.
     *
     * @param clientId the client.
     * @param reason   what was seen, for the log and for the client's end.
     */
    public abstract void onCorruption(long clientId, String reason);

    /**
     * An entry found no room in one of the client's completion queues; told once for each queue.
     *
     * @param clientId the client.
     * @param cqId     its completion queue.
     */
    public abstract void onCompletionQueueOverrun(long clientId, long cqId);

    /**
     * A peer of one of the client's endpoints is gone, or could not be reached.
     *
     * @param clientId   the client.
     * @param endpointId its endpoint.
     * @param fiAddr     the peer in the endpoint's address vector, or -1.
     * @param errno      positive fabric errno.
     * @param provErrno  what the link says besides, else the errno again.
     * @param address    the peer's address.
     */
    public abstract void onPeerDown(
        long clientId, long endpointId, long fiAddr, int errno, int provErrno, String address);

    /**
     * A peer asks one of the client's passive endpoints for a connection.
     *
     * @param clientId  the client.
     * @param passiveId its passive endpoint.
     * @param requestId to answer the request by.
     * @param linkName  link by which it came.
     * @param address   the peer's address.
     * @param cmData    private data.
     */
    public void onConnectionRequest(
        long clientId, long passiveId, long requestId, String linkName, String address, byte[] cmData) {
        // only where there are connection-oriented endpoints
    }

    /**
     * A connection of one of the client's endpoints is made.
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
     * A connection of one of the client's endpoints could not be made, or a passive one listens no more.
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
     * The peer of one of the client's connected endpoints has ended the connection, or is lost.
     *
     * @param clientId   the client.
     * @param endpointId its endpoint.
     * @param errno      0 for an orderly end, else why it was lost.
     */
    public void onConnectionEnded(long clientId, long endpointId, int errno) {
        // only where there are connection-oriented endpoints
    }
}
