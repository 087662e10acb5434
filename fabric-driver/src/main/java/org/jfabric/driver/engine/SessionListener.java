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
     * @param address    the peer's address.
     */
    public abstract void onPeerDown(long clientId, long endpointId, long fiAddr, int errno, String address);
}
