package org.jfabric.driver.link;

/**
 * A channel of frames between processes, where {@link #pull} may answer {@code -FI_EOPNOTSUPP} or {@code -FI_EAGAIN}:
 * the peer is then asked to send the payload in segments.
 *
 * <p>Owner: progress agent.
 */
public abstract class SegmentChannel extends FrameChannel {
    /**
     * A channel in the state connecting.
     *
     * @param limits  what this channel can carry.
     * @param handler the engine's side, one that has {@link ChannelHandler#frameHandler()}.
     */
    protected SegmentChannel(ChannelLimits limits, ChannelHandler handler) {
        super(limits, handler);
    }

    @Override
    public final SegmentChannel segments() {
        return this;
    }

    /**
     * Asks the peer to send an announced payload in segments.
     *
     * @param operation the peer's id of the operation.
     * @param sink      our id, which comes back with each segment.
     * @param length    bytes wanted, from the start of the payload.
     * @param grant     as for {@link #send}.
     * @return {@link #DONE} or a negative fabric errno.
     */
    public abstract int requestSegments(long operation, long sink, long length, int grant);

    /**
     * Sends the next piece of an announced payload.
     *
     * @param operation with {@link TransmitOperation#sink()} and the bytes sent so far.
     * @param length    bytes of this piece, at most {@link ChannelLimits#segmentLimitBytes()}.
     * @param grant     as for {@link #send}.
     * @return {@link #DONE} or a negative fabric errno.
     */
    public abstract int sendSegment(TransmitOperation operation, int length, int grant);
}
