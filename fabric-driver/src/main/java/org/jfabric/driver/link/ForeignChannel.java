package org.jfabric.driver.link;

import org.jfabric.FabricErrno;
import org.jfabric.driver.resource.RegisteredRegion;

/**
 * A channel over a wire that is not our own: without frames for announcements, segments, acknowledgements of single
 * levels and byte credit. The engine asks for none of these where {@link ChannelLimits#isStream()}.
 *
 * <p>Owner: progress agent.
 */
public abstract class ForeignChannel extends Channel {
    /**
     * A channel in the state connecting.
     *
     * @param limits  what this channel can carry.
     * @param handler the engine's side.
     */
    protected ForeignChannel(ChannelLimits limits, ChannelHandler handler) {
        super(limits, handler);
    }

    @Override
    public final int announce(TransmitOperation operation, int grant) {
        return -FabricErrno.EOPNOTSUPP;
    }

    @Override
    public int pull(
        RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length) {
        return -FabricErrno.EOPNOTSUPP;
    }

    @Override
    public final int requestSegments(long operation, long sink, long length, int grant) {
        return -FabricErrno.EOPNOTSUPP;
    }

    @Override
    public final int sendSegment(TransmitOperation operation, int length, int grant) {
        return -FabricErrno.EOPNOTSUPP;
    }

    @Override
    public int finish(long operation, int errno, int grant) {
        return -FabricErrno.EOPNOTSUPP;
    }

    @Override
    public final int acknowledge(long operation, long levels, int errno, int grant) {
        return -FabricErrno.EOPNOTSUPP;
    }

    /** Grants have no frame, and nobody on such a wire waits for one. */
    @Override
    public final int sendGrant(int grant) {
        return DONE;
    }
}
