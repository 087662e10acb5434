package org.jfabric.driver.link;

/**
 * The engine's side of a {@link Channel}; there is one implementation. Links call it from their
 * {@link Link#poll(int)} only, and never from inside one of the channel's own calls, except for the loopback link,
 * whose two ends share the thread.
 *
 * <p>Here is what every wire reports. The rest is in parts, which a link asks for when it makes the channel, and whose
 * methods are called under the same rules:
 *
 * <pre>
 *   {@link FrameHandler}     wires of frames: credit, acknowledgements, announcements, segments
 *   {@link PayloadHandler}   the part of it about payloads that wait at their sender; of rxm too
 *   {@link StreamHandler}    wires whose messages come in pieces
 * </pre>
 *
 * <p>Three shapes of receiving are served. <em>Resident</em>: header and bytes are there ({@link #onMessage},
 * {@link FrameHandler#onSegment}); the engine copies before it returns. <em>Streaming</em>: the header is there and the
 * bytes follow ({@link StreamHandler#place}, then {@link StreamHandler#onPlaced} or {@link StreamHandler#onAborted}).
 * <em>Announced</em>: the payload waits at the sender ({@link PayloadHandler#onAnnounce}).
 *
 * <p>Owner: progress agent.
 */
public abstract class ChannelHandler {
    /**
     * The part for wires of frames.
     *
     * @return the same object always; null if this handler is never used for such a wire.
     */
    public FrameHandler frameHandler() {
        return null;
    }

    /**
     * The part for wires where payloads wait at their sender.
     *
     * @return the same object always; null if this handler is never used for such a wire.
     */
    public PayloadHandler payloadHandler() {
        return null;
    }

    /**
     * The part for wires whose messages come in pieces.
     *
     * @return the same object always; null if this handler is never used for such a wire.
     */
    public StreamHandler streamHandler() {
        return null;
    }

    /**
     * A channel is about to be opened, by either side: credit starts anew.
     *
     * @return low 32 bits of the first grant, for the other side.
     */
    public abstract int onOpening();

    /**
     * Messages can be exchanged now; called once before any message, on a wire of frames after
     * {@link FrameHandler#onGrant} with the first credit.
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
     * A pending {@link Channel#send} has reached the link's default level, or failed.
     *
     * @param operation our id.
     * @param errno     0 or a positive fabric errno.
     */
    public abstract void onSent(long operation, int errno);
}
