package org.jfabric.driver.link;

/**
 * The engine's side of a {@link FrameChannel}, besides its {@link ChannelHandler}. Owner: progress agent.
 */
public abstract class FrameHandler extends PayloadHandler {
    /**
     * The peer has granted byte credit.
     *
     * @param grant low 32 bits of the byte credit granted by the peer so far.
     */
    public abstract void onGrant(int grant);

    /**
     * The peer has granted byte credit.
     *
     * @param grantLines as for {@link #onShort}.
     */
    public abstract void onGrantLines(int grantLines);

    /**
     * A whole message without remote CQ data or completion levels has arrived.
     *
     * @param kind       {@code Flags.TAGGED} or {@code Flags.MSG}.
     * @param tag        tag.
     * @param address    native address of the payload, valid during the call.
     * @param length     bytes.
     * @param grantLines byte credit that the message carried, in units of 64 bytes, low 16 bits; less than 2 MiB more
     *                   than the last credit.
     */
    public abstract void onShort(long kind, long tag, long address, int length, int grantLines);

    /**
     * Receives that have ended, for the endpoint of this channel and others that share its completion queue. A message
     * that is passed in has been matched and is placed when the call returns if the number has grown.
     *
     * @return a count; always 0 unless it is overridden.
     */
    public long endedReceives() {
        return 0;
    }

    /**
     * A whole message has arrived whose sender waits for {@link FrameChannel#acknowledge}.
     *
     * @param operation the peer's id of the operation.
     * @param flags     as for {@link ChannelHandler#onMessage}, with {@code Flags.DELIVERY_COMPLETE}, or
     *                  {@code Flags.MATCH_COMPLETE} with or without {@code Flags.FENCE}.
     * @param tag       as for {@link ChannelHandler#onMessage}.
     * @param data      as for {@link ChannelHandler#onMessage}.
     * @param address   as for {@link ChannelHandler#onMessage}.
     * @param length    as for {@link ChannelHandler#onMessage}.
     */
    public abstract void onMessageToAcknowledge(
        long operation, long flags, long tag, long data, long address, int length);

    /**
     * The peer has acknowledged a message of this side.
     *
     * @param operation id of the operation at this side.
     * @param levels    requested levels that are reached.
     * @param errno     0, or the reason why the levels will never be reached, a positive fabric errno.
     */
    public abstract void onAcknowledged(long operation, long levels, int errno);

    /**
     * The peer requests an announced payload in segments.
     *
     * @param operation id of the operation at this side, from the announcement.
     * @param sink      the peer's id, to be sent with each segment.
     * @param length    bytes wanted.
     */
    public abstract void onSegmentsRequested(long operation, long sink, long length);

    /**
     * A segment of a payload that this side has requested.
     *
     * @param sink    the id that this side gave in its request.
     * @param offset  offset of the segment in the message.
     * @param address native address of the bytes, valid during the call.
     * @param length  bytes.
     */
    public abstract void onSegment(long sink, long offset, long address, int length);

    /**
     * The peer has fetched an announced payload, or refused it.
     *
     * @param operation id of the operation at this side, from the announcement.
     * @param errno     0 or a positive fabric errno.
     */
    public abstract void onFinished(long operation, int errno);
}
