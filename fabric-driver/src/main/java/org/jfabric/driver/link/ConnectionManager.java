package org.jfabric.driver.link;

/**
 * What a link does for connection-oriented endpoints (FI_EP_MSG): connects them to listening ones, with private data in
 * both directions. {@link Link#connections()} answers it.
 *
 * <pre>
 *   connect ──▶ (on the way) ──▶ IncomingConnection at the listener
 *                                   │ accept                      │ reject, or no listener
 *   onConnected(data), onUp ◀───────┘   onFailed(errno, data) ◀───┘
 *        │  messages by the Channel, both ways
 *   ChannelHandler.onDown: the other side has closed its channel, or is lost
 * </pre>
 *
 * <p>Nothing here waits. What a call begins is told to its handler by a later {@link Link#poll(int)}, never from inside
 * the call. A connection is a {@link Channel} with one handler for what CM has to tell and one for messages; closing
 * the channel gives up a connection that is not made yet, and shuts down one that is. Private data is cut to
 * {@link #cmDataBytes()} before it is handed over; arrays are not changed by either side afterwards.
 *
 * <p>Owner: progress agent.
 */
public abstract class ConnectionManager {
    /** For the links that offer connected endpoints. */
    protected ConnectionManager() {
    }

    /**
     * Most bytes of private data in a request, an answer and a refusal (FI_OPT_CM_DATA_SIZE).
     *
     * @return bytes, at most {@link org.jfabric.EventEntry#MAX_DATA_LENGTH}.
     */
    public abstract int cmDataBytes();

    /**
     * Begins to take requests for an address; {@link ListenerHandler#onListening(String)} or
     * {@link ListenerHandler#onFailed(int)} follows.
     *
     * @param address  wanted by the passive endpoint, in the link's format; a link may complete it (port 0).
     * @param authKey  authorization key that a request must show, empty for none.
     * @param backlog  requests that may wait for their answers; the handler counts them, a link whose system queues
     *                 requests by itself gives it to the system.
     * @param handler  told of requests.
     * @return to be closed.
     */
    public abstract Listener listen(String address, byte[] authKey, int backlog, ListenerHandler handler);

    /**
     * The same for an address that was bound before; of links that bind addresses ({@link LinkProvider#bind}).
     *
     * @param bound   by the link's provider; closed with the listener if it listened already, else kept by its owner.
     * @param authKey as above.
     * @param backlog as above.
     * @param handler as above.
     * @return to be closed.
     */
    public Listener listen(BoundAddress bound, byte[] authKey, int backlog, ListenerHandler handler) {
        throw new UnsupportedOperationException("this link binds no addresses");
    }

    /**
     * Asks a listening endpoint for a connection.
     *
     * @param endpoint      local end, not attached to the link: {@link LocalEndpoint#handlerFor} is not for it.
     * @param remoteAddress where a passive endpoint listens, one that {@link Link#reaches(String)}.
     * @param cmData        private data of the request.
     * @param handler       told of the answer.
     * @return the channel, connecting; its {@link Channel#handler()} is {@link ConnectionHandler#channelHandler()}.
     */
    public abstract Channel connect(
        LocalEndpoint endpoint, String remoteAddress, byte[] cmData, ConnectionHandler handler);
}
