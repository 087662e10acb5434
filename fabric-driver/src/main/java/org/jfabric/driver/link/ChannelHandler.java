package org.jfabric.driver.link;

/**
 * The engine's side of a {@link Channel}; there is one implementation. Links call it from their
 * {@link Link#poll(int)} only, and never from inside one of the channel's own calls, except for the loopback link,
 * whose two ends share the thread.
 *
 * <p>Three shapes of receiving are served. <em>Resident</em>: header and bytes are there ({@link #onMessage},
 * {@link #onSegment}); the engine copies before it returns. <em>Streaming</em>: the header is there and the bytes
 * follow ({@link #place}, then {@link #onPlaced} or {@link #onAborted}). <em>Announced</em>: the payload waits at the
 * sender ({@link #onAnnounce}).
 *
 * <p>Owner: progress agent.
 */
public abstract class ChannelHandler {
    /**
     * A channel is about to be opened, by either side: credit starts anew.
     *
     * @return low 32 bits of the first grant, for the other side.
     */
    public abstract int onOpening();

    /**
     * Messages can be exchanged now; called once before any message, after {@link #onGrant} with the first credit.
     *
     * @param channel the channel, whichever side began it.
     */
    public abstract void onUp(Channel channel);

    /**
     * The channel is lost, or could not be made. Nothing follows.
     *
     * @param errno positive fabric errno.
     */
    public abstract void onDown(int errno);

    /** After an answer of {@code -FI_EAGAIN}: the channel takes more now. */
    public abstract void onWritable();

    /**
     * The peer's byte credit for us.
     *
     * @param grant low 32 bits of all that was granted so far.
     */
    public abstract void onGrant(int grant);

    /**
     * A whole message is here.
     *
     * @param flags   {@code Flags.TAGGED} or {@code Flags.MSG}, with {@code Flags.REMOTE_CQ_DATA} if data counts, and
     *                {@code Flags.MULTICAST} if it was sent to a group.
     * @param tag     the tag, 0 for untagged messages.
     * @param data    remote CQ data.
     * @param address native address of the payload, valid during the call.
     * @param length  bytes of the payload.
     */
    public abstract void onMessage(long flags, long tag, long data, long address, int length);

    /**
     * A whole message is here, whose sender waits for {@link Channel#acknowledge}. For links of our own wire; a link
     * that streams acknowledges by itself, after {@link #onPlaced}.
     *
     * @param operation the peer's id of the operation.
     * @param flags     as for {@link #onMessage}, with {@code Flags.DELIVERY_COMPLETE}, or
     *                  {@code Flags.MATCH_COMPLETE} and perhaps {@code Flags.FENCE}.
     * @param tag       as for {@link #onMessage}.
     * @param data      as for {@link #onMessage}.
     * @param address   as for {@link #onMessage}.
     * @param length    as for {@link #onMessage}.
     */
    public abstract void onMessageToAcknowledge(
        long operation, long flags, long tag, long data, long address, int length);

    /**
     * The peer has acknowledged a message of ours.
     *
     * @param operation our id.
     * @param levels    reached: levels that were asked for.
     * @param errno     0, or why they never will be, a positive fabric errno.
     */
    public abstract void onAcknowledged(long operation, long levels, int errno);

    /**
     * A message is waiting at the sender. The object is the link's and only valid during the call.
     *
     * @param flags  as for {@link #onMessage}, perhaps with {@code Flags.FENCE}: to be acknowledged.
     * @param tag    as for {@link #onMessage}.
     * @param data   as for {@link #onMessage}.
     * @param source length and place of the payload.
     */
    public abstract void onAnnounce(long flags, long tag, long data, RemotePayload source);

    /**
     * The peer asks for a payload in segments.
     *
     * @param operation our id from the announcement.
     * @param sink      to be sent with each segment.
     * @param length    bytes wanted.
     */
    public abstract void onSegmentsRequested(long operation, long sink, long length);

    /**
     * A piece of a payload that we asked for.
     *
     * @param sink    our id.
     * @param offset  place of the piece in the message.
     * @param address native address of the bytes, valid during the call.
     * @param length  bytes.
     */
    public abstract void onSegment(long sink, long offset, long address, int length);

    /**
     * A pending {@link Channel#pull} has ended.
     *
     * @param operation the peer's id of the operation.
     * @param errno     0 or a positive fabric errno.
     */
    public abstract void onPulled(long operation, int errno);

    /**
     * The peer has taken an announced payload, or refused it.
     *
     * @param operation our id from the announcement.
     * @param errno     0 or a positive fabric errno.
     */
    public abstract void onFinished(long operation, int errno);

    /**
     * A pending {@link Channel#send} has reached the link's default level, or failed.
     *
     * @param operation our id.
     * @param errno     0 or a positive fabric errno.
     */
    public abstract void onSent(long operation, int errno);

    /**
     * Whether a message that no receive takes would be stored now. A link that streams may hand over a message that is
     * here as a whole by {@link #onMessage} then, and must use {@link #place} otherwise.
     *
     * @param length bytes of the payload.
     * @return true if there is room for it.
     */
    public abstract boolean canStore(long length);

    /**
     * The link has posted receives of this connection again; of links that count them
     * ({@link ConnectionManager#postedReceives()}).
     *
     * @param count since the last call.
     */
    public void onReposted(int count) {
    }

    /**
     * A message waits, itself or behind another, because there is no room: whether it can be taken all the same. Asked
     * once for each by links that count receives, so that credit does not wait behind messages.
     *
     * @param address native address of the payload, valid during the call.
     * @param length  bytes of the payload.
     * @return true if it was taken; false if it has to wait for its turn.
     */
    public boolean takesEarly(long address, int length) {
        return false;
    }

    /**
     * A message begins whose bytes will be read piece by piece: says where they go. After
     * {@link Placement.Action#PAUSE} the link asks again in each poll, with the same arguments and the same object,
     * until the answer is another.
     *
     * @param flags     as for {@link #onMessage}.
     * @param tag       as for {@link #onMessage}.
     * @param data      as for {@link #onMessage}.
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
}
