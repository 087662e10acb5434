package org.jfabric.driver.link;

import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * The engine's side of a {@link Channel}; there is one implementation. Links call it only from their
 * {@link Link#poll(int)}, and never from inside one of the channel's own methods. The loopback link is the exception,
 * because its two ends share the thread.
 *
 * <p>This class has the events that every wire reports. The other events are in three further classes. A link asks for
 * these when it makes the channel, and calls their methods under the same rules:
 *
 * <pre>
 *   {@link FrameHandler}     wires of frames: credit, acknowledgements, announcements, segments
 *   {@link PayloadHandler}   its base class: payloads that wait at their sender; for rxm too
 *   {@link StreamHandler}    wires whose messages arrive in pieces
 *   {@link RemoteHandler}    wires that carry remote memory access
 * </pre>
 *
 * <p>There are three ways to receive. <em>Resident</em>: header and payload have arrived ({@link #onMessage},
 * {@link FrameHandler#onSegment}); the engine copies the payload before it returns. <em>Streaming</em>: the header has
 * arrived and the payload follows ({@link StreamHandler#place}, then {@link StreamHandler#onPlaced} or
 * {@link StreamHandler#onAborted}). <em>Announced</em>: the payload waits at the sender
 * ({@link PayloadHandler#onAnnounce}).
 *
 * <p>Owner: progress agent.
 */
public abstract class ChannelHandler {
    /**
     * Flags of a write to registered memory, made by the peer's card, whose remote CQ data take a receive (mode
     * FI_RX_CQ_DATA). It is delivered as an untagged message without bytes; the upper 32 bits of its data are the
     * bytes that were written, the lower ones the remote CQ data.
     */
    public static final long WRITTEN = Flags.RMA | Flags.REMOTE_WRITE | Flags.REMOTE_CQ_DATA;

    /**
     * The handler for wires of frames. Returns the same object always; null if this handler is never used for such a
     * wire.
     */
    public FrameHandler frameHandler() {
        return null;
    }

    /**
     * The handler for wires where payloads wait at their sender. Returns the same object always; null if this handler
     * is never used for such a wire.
     */
    public PayloadHandler payloadHandler() {
        return null;
    }

    /**
     * The handler for wires whose messages arrive in pieces. Returns the same object always; null if this handler is
     * never used for such a wire.
     */
    public StreamHandler streamHandler() {
        return null;
    }

    /**
     * The part for wires that carry remote memory access. Returns the same object always; null if this handler is never
     * used for such a wire.
     */
    public RemoteHandler remoteHandler() {
        return null;
    }

    /**
     * A channel is about to be opened, by either side. The count of byte credit begins again. Returns the low 32 bits
     * of the first byte credit, which the link sends to the peer.
     */
    public abstract int onOpening();

    /**
     * Messages can be exchanged from now on. Called once, before any message; on a wire of frames after
     * {@link FrameHandler#onGrant} with the first credit.
     *
     * @param channel the channel, whichever side opened it.
     */
    public abstract void onUp(Channel channel);

    /**
     * The channel is lost, or could not be opened. No further call follows.
     *
     * @param errno positive fabric errno.
     */
    public abstract void onDown(int errno);

    /**
     * The channel has ended because the application has left a group. As {@link #onDown}, but the application gets no
     * event.
     */
    public void onLeft() {
        onDown(FabricErrno.ESHUTDOWN);
    }

    /** The channel accepts more, after a call has returned {@code -FI_EAGAIN}. */
    public abstract void onWritable();

    /**
     * Sets the time of the messages that follow with {@link Flags#TIMESTAMP} in their flags, and of streamed messages
     * that began with it and are placed next. Called by links whose endpoint asked for times only.
     *
     * @param timeNs when the message arrived, nanoseconds of the clock that the endpoint has asked for.
     */
    public void arrivedAt(long timeNs) {
        // most messages have no time
    }

    /**
     * A whole message has arrived.
     *
     * @param flags   {@code Flags.TAGGED} or {@code Flags.MSG}, with {@code Flags.REMOTE_CQ_DATA} if data counts, and
     *                {@code Flags.MULTICAST} if it was sent to a group, and {@code Flags.TIMESTAMP} if its time was
     *                set ({@link #arrivedAt}); or {@link #WRITTEN}.
     * @param tag     the tag, 0 for untagged messages.
     * @param address native address of the payload, valid during the call.
     */
    public abstract void onMessage(long flags, long tag, long data, long address, int length);

    /**
     * A pending {@link Channel#send} has reached the link's default level, or failed.
     *
     * @param operation the id that the operation had when it was sent, {@link TransmitOperation#id()}.
     * @param errno     0 or a positive fabric errno.
     */
    public abstract void onSent(long operation, int errno);

    /**
     * A pending {@link Channel#send} has left this host: as {@link #onSent} without an error, and the entry gets the
     * time. For links whose endpoint asked for it.
     *
     * @param timeNs nanoseconds of the clock that the endpoint has asked for; 0 if it is not known.
     */
    public void onDeparted(long operation, long timeNs) {
        onSent(operation, 0);
    }
}
