package org.jfabric.driver.link;

/**
 * The engine's side of a channel whose messages arrive in pieces, in addition to its {@link ChannelHandler}. When a
 * message begins the link asks for its destination, and reports later that the message has arrived or is lost.
 *
 * <p>Owner: progress agent.
 */
public abstract class StreamHandler {
    /**
     * Whether the engine would store a message now if no posted receive matches it. If so, a streaming link may deliver
     * a message that has arrived as a whole by {@link ChannelHandler#onMessage}; otherwise it must use {@link #place}.
     */
    public abstract boolean canStore(long length);

    /**
     * Gives the destination of a message that begins and whose bytes will be read piece by piece. After
     * {@link Placement.Action#PAUSE} the link calls again in each poll, with the same arguments and the same object,
     * until the answer changes.
     */
    public abstract void place(long flags, long tag, long data, long length, Placement placement);

    /**
     * Of a group with a log: the position of the message that the next calls are about. Other links do not call it.
     */
    public void position(long position) {
        // most messages have none
    }

    /**
     * Messages of a group are lost to its reader. The application gets an error entry behind those of the messages
     * before, as far as these have receives.
     *
     * @param first position of the first of them.
     * @param last  position of the last one.
     * @return false if the entry has no place yet: the link delivers nothing and calls again in each poll.
     */
    public boolean onGap(long first, long last) {
        return true;
    }

    /** As {@link #onPlaced}, of a message with {@code Flags.TIMESTAMP}: when it arrived. */
    public void onPlacedAt(Placement placement, long timeNs) {
        onPlaced(placement);
    }

    /** All bytes of a placed message have arrived. */
    public abstract void onPlaced(Placement placement);

    /**
     * A placed message will not arrive completely.
     *
     * @param errno     positive fabric errno.
     */
    public abstract void onAborted(Placement placement, int errno);

    /**
     * The peer has acknowledged a message of this side, on a wire that supports the request for it
     * ({@link ChannelLimits#levels()}). The link itself acknowledges messages of the peer, after {@link #onPlaced}.
     *
     * @param errno     0, or the reason why the levels will never be reached, a positive fabric errno.
     */
    public abstract void onAcknowledged(long operation, long levels, int errno);
}
