package org.jfabric.driver.link;

/**
 * A connection request that waits for its answer. The engine answers it with exactly one call of {@link #accept} or
 * {@link #reject}.
 *
 * <p>The peer may abandon its request or die in the meantime. The link need not detect that before the answer:
 * {@link #accept} then leads to {@link ConnectionHandler#onFailed} with {@code FI_ECONNABORTED} in a later
 * {@link Link#poll(int)}, and {@link #reject} does nothing.
 *
 * <p>Owner: progress agent.
 */
public abstract class IncomingConnection {
    /** For the links that offer connected endpoints. */
    protected IncomingConnection() {
    }

    /** The peer that requests the connection. Returns the address of the peer's endpoint, in the link's format. */
    public abstract String remoteAddress();

    /** Private data of the request. Returns the bytes, or empty. */
    public abstract byte[] cmData();

    /**
     * Whether the peer is known to have abandoned its request.
     *
     * @return false also if the link cannot detect it before the answer.
     */
    public boolean isOver() {
        return false;
    }

    /**
     * Accepts the connection.
     *
     * @param endpoint local end, as for {@link ConnectionManager#connect}.
     * @param handler  gets the result: the connection is established, or has failed.
     */
    public abstract Channel accept(LocalEndpoint endpoint, byte[] cmData, ConnectionHandler handler);

    /** Rejects the connection; the peer gets {@code FI_ECONNREFUSED}. */
    public abstract void reject(byte[] cmData);
}
