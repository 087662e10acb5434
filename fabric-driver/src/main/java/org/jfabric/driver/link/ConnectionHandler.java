package org.jfabric.driver.link;

/**
 * The engine's side of a connection that is being made. Called from {@link Link#poll(int)} only: exactly one of both
 * methods, once, unless the channel is closed before. What follows is told to {@link #channelHandler()}.
 *
 * <p>Owner: progress agent.
 */
public abstract class ConnectionHandler {
    /** For the engine's implementation. */
    protected ConnectionHandler() {
    }

    /**
     * The engine's side of the messages. On the way up it is called as on any channel: {@code onOpening} when a request
     * or an answer is sent that carries the first credit, then {@code onGrant}, then {@link #onConnected}, then
     * {@code onUp}. After {@code onUp}, {@code onDown} means that the connection is over: {@code FI_ESHUTDOWN} if the
     * peer has shut it down, else what was seen. Before, it is not called: {@link #onFailed} says so.
     *
     * @return the same object always.
     */
    public abstract ChannelHandler channelHandler();

    /**
     * The connection is made; {@code onUp} follows at once.
     *
     * @param localAddress of this end: that of the endpoint, or what the link has completed it to.
     * @param peerAddress  of the other end.
     * @param cmData       private data of the answer; none at the accepting side.
     */
    public abstract void onConnected(String localAddress, String peerAddress, byte[] cmData);

    /**
     * The connection was refused, or could not be made.
     *
     * @param errno  positive fabric errno: {@code FI_ECONNREFUSED} if it was rejected or nobody listens,
     *               {@code FI_EKEYREJECTED}, {@code FI_EHOSTUNREACH}, {@code FI_ETIMEDOUT}, {@code FI_ECONNABORTED} of
     *               a request whose peer is gone, ….
     * @param cmData private data of the refusal, perhaps none.
     */
    public abstract void onFailed(int errno, byte[] cmData);
}
