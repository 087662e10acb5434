package org.jfabric.driver.link;

/**
 * The engine's side of a connection that is being established. Called only from {@link Link#poll(int)}. The link calls
 * exactly one of {@link #onConnected} and {@link #onFailed}, once, unless the channel is closed before. All later
 * events go to {@link #channelHandler()}.
 *
 * <p>Owner: progress agent.
 */
public abstract class ConnectionHandler {
    /** For the engine's implementation. */
    protected ConnectionHandler() {
    }

    /**
     * The engine's side of the messages. Until the connection is established it is called as on any channel: {@code
     * onOpening} when a request or an answer that carries the first credit is sent, then {@code onGrant}, then {@link
     * #onConnected}, then {@code onUp}. After {@code onUp}, {@code onDown} means that the connection has ended: with
     * {@code FI_ESHUTDOWN} if the peer has shut it down, else with the errno of the failure. Before {@code onUp},
     * {@code onDown} is not called; {@link #onFailed} reports the failure. Returns the same object always.
     */
    public abstract ChannelHandler channelHandler();

    /**
     * The connection is established; {@code onUp} follows at once.
     *
     * @param localAddress address of this end: the endpoint's, with the parts that the link has filled in (port 0).
     * @param cmData       private data of the answer; empty at the accepting side.
     */
    public abstract void onConnected(String localAddress, String peerAddress, byte[] cmData);

    /**
     * The connection was refused, or could not be established.
     *
     * @param errno  positive fabric errno: {@code FI_ECONNREFUSED} if it was rejected or no endpoint listens there,
     *               {@code FI_EKEYREJECTED}, {@code FI_EHOSTUNREACH}, {@code FI_ETIMEDOUT}, {@code FI_ECONNABORTED} of
     *               a request whose peer is gone, ….
     * @param cmData private data of the refusal, or empty.
     */
    public abstract void onFailed(int errno, byte[] cmData);
}
