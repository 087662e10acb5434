package org.jfabric.driver.link;

import org.jfabric.driver.resource.RegisteredRegion;

/**
 * A channel on whose wire a payload can wait at its sender until the receiving side has fetched it: the peer announces
 * the message ({@link PayloadHandler#onAnnounce}), this side fetches the payload ({@link #pull}) and reports the end of
 * the fetch ({@link #finish}).
 *
 * <p>Owner: progress agent.
 */
public abstract class PayloadChannel extends Channel {
    /** A channel in the state connecting. */
    protected PayloadChannel(ChannelLimits limits, ChannelHandler handler) {
        super(limits, handler);
    }

    @Override
    public final PayloadChannel payloads() {
        return this;
    }

    /**
     * Fetches an announced payload directly into its destination.
     *
     * @param destRegion  region of a contiguous destination, retained until the fetch has ended or the channel is down;
     *                    null if the destination lies in no region that an application has registered.
     * @param destAddress native address of a contiguous destination.
     * @param destPieces  pieces of the destination, or null; valid until the fetch has ended or the channel is down.
     * @param length      bytes to fetch, at most those of the message.
     * @return {@link #DONE}; or {@link #PENDING}: {@link PayloadHandler#onPulled} follows; or a negative fabric errno.
     *     A {@link SegmentChannel} may also return {@code -FI_EOPNOTSUPP} (not possible for this source) or
     *     {@code -FI_EAGAIN} (not possible yet): request segments instead.
     */
    public abstract int pull(
        RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length);

    /**
     * Reports to the peer that an announced payload was fetched, or why not.
     *
     * @param errno     0 or a positive fabric errno.
     * @return {@link #DONE} or a negative fabric errno.
     */
    public abstract int finish(long operation, int errno, int grant);
}
