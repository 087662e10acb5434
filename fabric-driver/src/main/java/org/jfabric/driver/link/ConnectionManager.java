package org.jfabric.driver.link;

/**
 * Connection management of a link (CM), for connection-oriented endpoints (FI_EP_MSG): connects them to listening
 * endpoints, with private data in both directions. {@link Link#connections()} returns it.
 *
 * <pre>
 *   connect ──▶ (on the way) ──▶ IncomingConnection at the listener
 *                                   │ accept                      │ reject, or no listener
 *   onConnected(data), onUp ◀───────┘   onFailed(errno, data) ◀───┘
 *        │  messages by the Channel, both ways
 *   ChannelHandler.onDown: the other side has closed its channel, or is lost
 * </pre>
 *
 * <p>No method waits. A later {@link Link#poll(int)} reports the result of a call to its handler; no handler is called
 * from inside the call. A connection is a {@link Channel} with one handler for connection management and one for
 * messages. Closing the channel abandons a connection that is not established yet, and shuts down one that is. The
 * caller cuts private data to {@link #cmDataBytes()} before it passes it. Neither side changes the arrays afterwards.
 *
 * <p>Owner: progress agent.
 */
public abstract class ConnectionManager {
    /** For the links that offer connected endpoints. */
    protected ConnectionManager() {
    }

    /**
     * Largest private data of a request, an answer and a refusal (FI_OPT_CM_DATA_SIZE). Returns the bytes, at most
     * {@link org.jfabric.EventEntry#MAX_DATA_LENGTH}.
     */
    public abstract int cmDataBytes();

    /**
     * Begins to listen for connection requests at an address; {@link ListenerHandler#onListening(String)} or
     * {@link ListenerHandler#onFailed(int)} follows.
     *
     * @param address  wanted by the passive endpoint, in the link's format; a link may complete it (port 0).
     * @param authKey  authorization key that a request must carry, empty for none.
     * @param backlog  number of requests that may wait for their answers. The handler counts them; a link whose
     *                 operating system queues requests passes the number to it.
     * @return the listener, which the caller closes.
     */
    public abstract Listener listen(String address, byte[] authKey, int backlog, ListenerHandler handler);

    /**
     * Begins to listen at an address that was bound before. For links that bind addresses ({@link LinkProvider#bind}).
     *
     * @param bound   address from the link's provider. A socket that listens already is closed with the listener; any
     *                other address stays with its owner.
     * @return the listener, which the caller closes.
     */
    public Listener listen(BoundAddress bound, byte[] authKey, int backlog, ListenerHandler handler) {
        throw new UnsupportedOperationException("this link binds no addresses");
    }

    /**
     * Requests a connection to a listening endpoint.
     *
     * @param endpoint      local end. It is not attached to the link, so {@link LocalEndpoint#handlerFor} is not used.
     * @param remoteAddress address at which a passive endpoint listens, one that {@link Link#reaches(String)}.
     * @return the channel, connecting; its {@link Channel#handler()} is {@link ConnectionHandler#channelHandler()}.
     */
    public abstract Channel connect(
        LocalEndpoint endpoint, String remoteAddress, byte[] cmData, ConnectionHandler handler);
}
