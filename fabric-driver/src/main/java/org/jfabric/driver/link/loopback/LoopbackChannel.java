package org.jfabric.driver.link.loopback;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.layout.Words;

/**
 * One end of a pair of endpoints of the same driver. A message is handed to the other end's handler in the call that
 * sends it; the payload is copied once, from the sender's region to its destination.
 *
 * <p>Owner: progress agent.
 */
final class LoopbackChannel extends Channel {
    private static final long KIND_AND_DATA = Flags.TAGGED | Flags.MSG | Flags.REMOTE_CQ_DATA;

    private final RemotePayload payload = new RemotePayload();
    private LoopbackChannel twin;

    LoopbackChannel(ChannelLimits limits, ChannelHandler handler) {
        super(limits, handler);
    }

    void join(LoopbackChannel other) {
        twin = other;
    }

    @Override
    public int send(TransmitOperation operation, int grant) {
        LoopbackChannel other = twin;
        if (other == null) {
            return -FabricErrno.ECONNRESET;
        }
        ChannelHandler peer = other.handler();
        peer.onGrant(grant);
        if (operation.isAcknowledged()) {
            peer.onMessageToAcknowledge(
                operation.id(), operation.flags & KIND_AND_DATA | operation.awaitedOfPeer(), operation.tag,
                operation.data, operation.address, (int) operation.length);
        } else {
            peer.onMessage(
                operation.flags, operation.tag, operation.data, operation.address, (int) operation.length);
        }
        return DONE;
    }

    @Override
    public int announce(TransmitOperation operation, int grant) {
        LoopbackChannel other = twin;
        if (other == null) {
            return -FabricErrno.ECONNRESET;
        }
        ChannelHandler peer = other.handler();
        peer.onGrant(grant);
        // the operation holds its region until it is finished, so the address stays good for the other end
        payload.set(operation.id(), operation.length, RemotePayload.NO_REGION, 0, operation.address);
        peer.onAnnounce(
            operation.flags & KIND_AND_DATA | operation.awaitedOfPeer(), operation.tag, operation.data, payload);
        return DONE;
    }

    @Override
    public int pull(RemotePayload source, long destAddress, long length) {
        Words.copy(source.regionOffset(), destAddress, length);
        return DONE;
    }

    @Override
    public int requestSegments(long operation, long sink, long length, int grant) {
        return -FabricErrno.EOPNOTSUPP;
    }

    @Override
    public int sendSegment(TransmitOperation operation, int length, int grant) {
        return -FabricErrno.EOPNOTSUPP;
    }

    @Override
    public int finish(long operation, int errno, int grant) {
        LoopbackChannel other = twin;
        if (other != null) {
            other.handler().onGrant(grant);
            other.handler().onFinished(operation, errno);
        }
        return DONE;
    }

    @Override
    public int acknowledge(long operation, long levels, int errno, int grant) {
        LoopbackChannel other = twin;
        if (other != null) {
            other.handler().onGrant(grant);
            other.handler().onAcknowledged(operation, levels, errno);
        }
        return DONE;
    }

    @Override
    public int sendGrant(int grant) {
        LoopbackChannel other = twin;
        if (other != null) {
            other.handler().onGrant(grant);
        }
        return DONE;
    }

    @Override
    public void close(int errno) {
        LoopbackChannel other = twin;
        twin = null;
        if (other != null && other != this) {
            other.twin = null;
            other.handler().onDown(errno);
        }
    }
}
