package org.jfabric.driver.link;

/**
 * A way to reach endpoints: loopback, shm, tcp, … One object for each driver and link.
 *
 * <p>Owner: progress agent, for every method.
 */
public abstract class Link {
    /**
     * The link's name as in options, discovery and counters.
     *
     * @return for example {@code shm}.
     */
    public abstract String name();

    /**
     * Whether this link is the path to an address.
     *
     * @param remoteAddress address of a remote endpoint.
     * @return true if {@link #connect} can be tried.
     */
    public abstract boolean reaches(String remoteAddress);

    /**
     * Whether this link is the path from an endpoint to an address, where that depends on the endpoint's own address.
     *
     * @param ownAddress    of an endpoint of this link.
     * @param remoteAddress address of a remote endpoint.
     * @return true if {@link #connect} can be tried.
     */
    public boolean reaches(String ownAddress, String remoteAddress) {
        return reaches(remoteAddress);
    }

    /**
     * Makes an endpoint reachable under its name.
     *
     * @param endpoint to be found by peers.
     */
    public abstract void attach(LocalEndpoint endpoint);

    /**
     * Ends what {@link #attach} began. Channels are closed by their handlers.
     *
     * @param endpoint attached before.
     */
    public abstract void detach(LocalEndpoint endpoint);

    /**
     * Begins a channel, or returns the one that the other side has begun. The handler is not called before the next
     * {@link #poll}. The channel can be used after {@link ChannelHandler#onUp}; {@link ChannelHandler#onDown} says
     * that it could not be made.
     *
     * @param endpoint      local end.
     * @param remoteAddress address of the remote end.
     * @param handler       the engine's side.
     * @return the channel, connecting or up.
     */
    public abstract Channel connect(LocalEndpoint endpoint, String remoteAddress, ChannelHandler handler);

    /**
     * An address vector of an endpoint has got an address, or the endpoint is opened with it. A link without
     * connections learns here whose messages it has to recognize, and may bring the channel up inside of this call.
     *
     * @param endpoint attached.
     * @param address  of a remote endpoint.
     */
    public void onInserted(LocalEndpoint endpoint, String address) {
        // most links hear of a peer when it connects
    }

    /**
     * Lets an endpoint receive what is sent to a group.
     *
     * @param endpoint attached.
     * @param group    from {@link BoundAddress#join}; the link closes it when the endpoint leaves or is detached.
     */
    public void join(LocalEndpoint endpoint, BoundAddress group) {
        throw new IllegalStateException("link " + name() + " has no multicast groups");
    }

    /**
     * Ends what {@link #join} began.
     *
     * @param endpoint attached.
     * @param group    address of the group; one that was not joined is passed over.
     */
    public void leave(LocalEndpoint endpoint, String group) {
        // a link without groups has nothing to leave
    }

    /**
     * One bounded step: takes what arrived, goes on with what could not be sent.
     *
     * @param limit messages to take at most from each peer.
     * @return messages taken and steps made; 0 if there was nothing to do.
     */
    public abstract int poll(int limit);

    /**
     * Prepares for the thread to sleep.
     *
     * @return false if work is pending and the thread must not sleep.
     */
    public abstract boolean arm();

    /**
     * Whether {@link #poll} has nothing to do until somebody calls this link or one of its channels, or a step that it
     * has submitted to another thread has ended.
     *
     * @return false also where the link cannot tell.
     */
    public boolean isIdle() {
        return false;
    }

    /**
     * Of a link that is not idle: where everything arrives that {@link #poll} would take. Good until somebody calls
     * this link or one of its channels otherwise than by {@link FrameChannel#sendShort}.
     *
     * @return null if there is more to look after than one ring, or no ring.
     */
    public ResidentRing residentRing() {
        return null;
    }

    /**
     * Takes connections of other drivers that arrive at the driver's socket.
     *
     * @return the acceptor, or null if this link has nothing to do with that socket.
     */
    public PeerAcceptor acceptor() {
        return null;
    }

    /**
     * Makes connections of connection-oriented endpoints.
     *
     * @return the manager, the same always, or null if this link connects none.
     */
    public ConnectionManager connections() {
        return null;
    }

    /** Ends all channels and gives back what the link holds. Handlers are not called. */
    public abstract void close();
}
