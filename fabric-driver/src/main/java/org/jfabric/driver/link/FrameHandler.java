package org.jfabric.driver.link;

/**
 * The engine's side of a {@link FrameChannel}, besides its {@link ChannelHandler}. Owner: progress agent.
 */
public abstract class FrameHandler extends PayloadHandler {
    /**
     * The peer's byte credit for us.
     *
     * @param grant low 32 bits of all that was granted so far.
     */
    public abstract void onGrant(int grant);

    /**
     * A whole message without remote data or levels.
     *
     * @param kind       {@code Flags.TAGGED} or {@code Flags.MSG}.
     * @param tag        tag.
     * @param address    native address of the payload, good until the call returns.
     * @param length     bytes.
     * @param grantLines byte credit that came with it, in units of 64 bytes, low 16 bits; less than 2 MiB more than the
     *                   last one.
     */
    public abstract void onShort(long kind, long tag, long address, int length, int grantLines);

    /**
     * A whole message is here, whose sender waits for {@link FrameChannel#acknowledge}.
     *
     * @param operation the peer's id of the operation.
     * @param flags     as for {@link ChannelHandler#onMessage}, with {@code Flags.DELIVERY_COMPLETE}, or
     *                  {@code Flags.MATCH_COMPLETE} and perhaps {@code Flags.FENCE}.
     * @param tag       as for {@link ChannelHandler#onMessage}.
     * @param data      as for {@link ChannelHandler#onMessage}.
     * @param address   as for {@link ChannelHandler#onMessage}.
     * @param length    as for {@link ChannelHandler#onMessage}.
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
     * The peer has taken an announced payload, or refused it.
     *
     * @param operation our id from the announcement.
     * @param errno     0 or a positive fabric errno.
     */
    public abstract void onFinished(long operation, int errno);
}
