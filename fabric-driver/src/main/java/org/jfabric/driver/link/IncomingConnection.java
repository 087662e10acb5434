package org.jfabric.driver.link;

/**
 * A request for a connection that waits for its answer: exactly one call of {@link #accept} or {@link #reject}.
 *
 * <p>The peer may give up, or die, meanwhile. That need not be noticed before the answer: {@link #accept} then ends in
 * {@link ConnectionHandler#onFailed} with {@code FI_ECONNABORTED} in a later {@link Link#poll(int)}, and
 * {@link #reject} does nothing.
 *
 * <p>Owner: progress agent.
 */
public abstract class IncomingConnection {
    /** For the links that offer connected endpoints. */
    protected IncomingConnection() {
    }

    /**
     * Who asks.
     *
     * @return address of the peer's endpoint, in the link's format.
     */
    public abstract String remoteAddress();

    /**
     * Private data of the request.
     *
     * @return the bytes, perhaps none.
     */
    public abstract byte[] cmData();

    /**
     * Whether it is known that the peer has given up.
     *
     * @return false also where the link does not see it before the answer.
     */
    public boolean isOver() {
        return false;
    }

    /**
     * Makes the connection.
     *
     * @param endpoint local end, as for {@link ConnectionManager#connect}.
     * @param cmData   private data of the answer.
     * @param handler  told when messages can be exchanged, or why not.
     * @return the channel, connecting.
     */
    public abstract Channel accept(LocalEndpoint endpoint, byte[] cmData, ConnectionHandler handler);

    /**
     * Refuses the connection: the peer is told {@code FI_ECONNREFUSED}.
     *
     * @param cmData private data of the refusal.
     */
    public abstract void reject(byte[] cmData);
}
