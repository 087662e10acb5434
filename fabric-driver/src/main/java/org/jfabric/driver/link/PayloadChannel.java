package org.jfabric.driver.link;

import org.jfabric.driver.resource.RegisteredRegion;

/**
 * A channel on whose wire a payload can wait at its sender until the receiving side has fetched it: the peer announces
 * the message ({@link PayloadHandler#onAnnounce}), this side fetches the payload ({@link #pull}) and reports that it
 * has it ({@link #finish}).
 *
 * <p>Owner: progress agent.
 */
public abstract class PayloadChannel extends Channel {
    /**
     * A channel in the state connecting.
     *
     * @param limits  what this channel can carry.
     * @param handler the engine's side.
     */
    protected PayloadChannel(ChannelLimits limits, ChannelHandler handler) {
        super(limits, handler);
    }

    @Override
    public final PayloadChannel payloads() {
        return this;
    }

    /**
     * Fetches an announced payload straight into its destination.
     *
     * @param source      where the payload is, as the announcement said.
     * @param destRegion  region of a destination in one piece, held until the fetch has ended or the channel is down;
     *                    null if it lies in none that an application has registered.
     * @param destAddress native address of the destination, if that is in one piece.
     * @param destPieces  pieces of the destination, or null; good until the fetch has ended or the channel is down.
     * @param length      bytes to fetch, at most those of the message.
     * @return {@link #DONE}; or {@link #PENDING}: {@link PayloadHandler#onPulled} follows; or a negative fabric errno,
     *     of a {@link SegmentChannel} also {@code -FI_EOPNOTSUPP} and {@code -FI_EAGAIN}: not possible for this source
     *     (yet), ask for segments instead.
     */
    public abstract int pull(
        RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length);

    /**
     * Tells the peer that an announced payload was taken, or why not.
     *
     * @param operation the peer's id of the operation.
     * @param errno     0 or a positive fabric errno.
     * @param grant     as for {@link #send}.
     * @return {@link #DONE} or a negative fabric errno.
     */
    public abstract int finish(long operation, int errno, int grant);
}
