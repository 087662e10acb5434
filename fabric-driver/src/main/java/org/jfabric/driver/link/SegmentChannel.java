package org.jfabric.driver.link;

/**
 * A channel of frames between processes, where {@link #pull} may return {@code -FI_EOPNOTSUPP} or {@code -FI_EAGAIN}.
 * This side then requests the payload in segments.
 *
 * <p>Owner: progress agent.
 */
public abstract class SegmentChannel extends FrameChannel {
    /**
     * A channel in the state connecting.
     *
     * @param handler the engine's side, one that has {@link ChannelHandler#frameHandler()}.
     */
    protected SegmentChannel(ChannelLimits limits, ChannelHandler handler) {
        super(limits, handler);
    }

    @Override
    public final SegmentChannel segments() {
        return this;
    }

    /** Requests an announced payload in segments from the peer. Returns {@link #DONE} or a negative fabric errno. */
    public abstract int requestSegments(long operation, long sink, long length, int grant);

    /**
     * Sends the next segment of an announced payload.
     *
     * @param operation operation with {@link TransmitOperation#sink()} and the number of bytes sent so far.
     * @param length    bytes of this segment, at most {@link ChannelLimits#segmentLimitBytes()}.
     * @return {@link #DONE} or a negative fabric errno.
     */
    public abstract int sendSegment(TransmitOperation operation, int length, int grant);
}
