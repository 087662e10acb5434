package org.jfabric.driver.link;

/**
 * The engine's side of a channel whose messages come in pieces, besides its {@link ChannelHandler}: the link asks where
 * a message goes when it begins, and reports when it is there or lost.
 *
 * <p>Owner: progress agent.
 */
public abstract class StreamHandler {
    /**
     * Whether a message that no receive takes would be stored now. A link that streams may hand over a message that is
     * here as a whole by {@link ChannelHandler#onMessage} then, and must use {@link #place} otherwise.
     *
     * @param length bytes of the payload.
     * @return true if there is room for it.
     */
    public abstract boolean canStore(long length);

    /**
     * A message begins whose bytes will be read piece by piece: says where they go. After
     * {@link Placement.Action#PAUSE} the link asks again in each poll, with the same arguments and the same object,
     * until the answer is another.
     *
     * @param flags     as for {@link ChannelHandler#onMessage}.
     * @param tag       as for {@link ChannelHandler#onMessage}.
     * @param data      as for {@link ChannelHandler#onMessage}.
     * @param length    bytes of the payload.
     * @param placement filled with the answer.
     */
    public abstract void place(long flags, long tag, long data, long length, Placement placement);

    /**
     * All bytes of a placed message have arrived.
     *
     * @param placement as it was filled.
     */
    public abstract void onPlaced(Placement placement);

    /**
     * A placed message will not arrive as a whole.
     *
     * @param placement as it was filled.
     * @param errno     positive fabric errno.
     */
    public abstract void onAborted(Placement placement, int errno);

    /**
     * The peer has acknowledged a message of ours, on a wire that can ask for it ({@link ChannelLimits#levels()}).
     * Messages of the peer are acknowledged by the link itself, after {@link #onPlaced}.
     *
     * @param operation our id.
     * @param levels    reached: levels that were asked for.
     * @param errno     0, or why they never will be, a positive fabric errno.
     */
    public abstract void onAcknowledged(long operation, long levels, int errno);
}
