package org.jfabric.driver.link.loopback;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.FrameChannel;
import org.jfabric.driver.link.FrameHandler;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.RegisteredRegion;

/**
 * One end of a pair of endpoints of the same driver. A message is handed to the other end's handler in the call that
 * sends it; the payload is copied once, from the sender's region to its destination; a short one that is in several
 * pieces is put together first.
 *
 * <p>Owner: progress agent.
 */
final class LoopbackChannel extends FrameChannel {
    private static final long KIND_AND_DATA = Flags.TAGGED | Flags.MSG | Flags.REMOTE_CQ_DATA;

    private final RemotePayload payload = new RemotePayload();
    private final long gatherAddress;
    private LoopbackChannel twin;
    private boolean closed;

    LoopbackChannel(ChannelLimits limits, ChannelHandler handler, long gatherAddress) {
        super(limits, handler);
        this.gatherAddress = gatherAddress;
    }

    void join(LoopbackChannel other) {
        twin = other;
    }

    /** Whether its handler has given it up, perhaps before it was joined. */
    boolean isClosed() {
        return closed;
    }

    @Override
    public int send(TransmitOperation operation, int grant) {
        LoopbackChannel other = twin;
        if (other == null) {
            return -FabricErrno.ECONNRESET;
        }
        FrameHandler peer = other.frameHandler();
        peer.onGrant(grant);
        long address = operation.pieces == null ? operation.address : gather(operation);
        if (operation.isAcknowledged()) {
            peer.onMessageToAcknowledge(
                operation.id(), operation.flags & KIND_AND_DATA | operation.awaitedOfPeer(), operation.tag,
                operation.data, address, (int) operation.length);
        } else {
            other.handler().onMessage(
                operation.flags & KIND_AND_DATA, operation.tag, operation.data, address, (int) operation.length);
        }
        return DONE;
    }

    @Override
    public int sendShort(long kind, long tag, long address, int length, int grant) {
        LoopbackChannel other = twin;
        if (other == null) {
            return -FabricErrno.ECONNRESET;
        }
        other.frameHandler().onGrant(grant);
        other.handler().onMessage(kind, tag, 0, address, length);
        return DONE;
    }

    /** A message has come with the call that sent it, so there is nothing to wait for. */
    @Override
    public void markSent() {
        // taken already
    }

    @Override
    public boolean isMarkTaken() {
        return true;
    }

    /**
     * Puts a short message of several pieces together. The other end takes whole messages at one address; it has copied
     * this one when the call returns, and sends nothing from inside of it, so one place for all channels is enough.
     */
    private long gather(TransmitOperation operation) {
        operation.copyTo(0, gatherAddress, operation.length);
        return gatherAddress;
    }

    @Override
    public int announce(TransmitOperation operation, int grant) {
        LoopbackChannel other = twin;
        if (other == null) {
            return -FabricErrno.ECONNRESET;
        }
        FrameHandler peer = other.frameHandler();
        peer.onGrant(grant);
        // the operation holds its region until it is finished, so the address stays good for the other end
        if (operation.pieces == null) {
            payload.set(operation.id(), operation.length, RemotePayload.NO_REGION, 0, operation.address);
        } else {
            describe(operation);
        }
        peer.onAnnounce(
            operation.flags & KIND_AND_DATA | operation.awaitedOfPeer(), operation.tag, operation.data, payload);
        return DONE;
    }

    private void describe(TransmitOperation operation) {
        payload.begin(operation.id());
        for (int i = 0; i < operation.pieces.count(); i++) {
            payload.add(RemotePayload.NO_REGION, 0, operation.pieces.address(i), operation.pieces.length(i));
        }
    }

    @Override
    public int pull(
        RemotePayload source, RegisteredRegion destRegion, long destAddress, PieceList destPieces, long length) {
        long done = 0;
        for (int i = 0; done < length; i++) {
            long bytes = Math.min(source.length(i), length - done);
            copyPulled(source.regionOffset(i), done, bytes, destAddress, destPieces);
            done += bytes;
        }
        return DONE;
    }

    @Override
    public int finish(long operation, int errno, int grant) {
        LoopbackChannel other = twin;
        if (other != null) {
            other.frameHandler().onGrant(grant);
            other.frameHandler().onFinished(operation, errno);
        }
        return DONE;
    }

    @Override
    public int acknowledge(long operation, long levels, int errno, int grant) {
        LoopbackChannel other = twin;
        if (other != null) {
            other.frameHandler().onGrant(grant);
            other.frameHandler().onAcknowledged(operation, levels, errno);
        }
        return DONE;
    }

    @Override
    public int sendGrant(int grant) {
        LoopbackChannel other = twin;
        if (other != null) {
            other.frameHandler().onGrant(grant);
        }
        return DONE;
    }

    @Override
    public void close(int errno) {
        LoopbackChannel other = twin;
        twin = null;
        closed = true;
        if (other != null && other != this) {
            other.twin = null;
            other.handler().onDown(errno);
        }
    }
}
