package org.jfabric.driver.link.loopback;

import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.FrameChannel;
import org.jfabric.driver.link.FrameHandler;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * One end of a pair of endpoints of the same driver. A message is delivered to the other end's handler in the call that
 * sends it. The payload is copied once, from the sender's region to its destination; a short one in several pieces is
 * gathered first.
 *
 * <p>Owner: progress agent.
 */
final class LoopbackChannel extends FrameChannel {
    private static final long KIND_AND_DATA = Flags.TAGGED | Flags.MSG | Flags.REMOTE_CQ_DATA;

    private final RemotePayload payload = new RemotePayload();
    private final LoopbackRemote remote = new LoopbackRemote(this);
    private final long gatherAddress;
    private final byte[] directory;
    private LoopbackChannel twin;
    private boolean closed;

    LoopbackChannel(ChannelLimits limits, ChannelHandler handler, long gatherAddress, byte[] directory) {
        super(limits, handler);
        this.gatherAddress = gatherAddress;
        this.directory = directory;
    }

    void join(LoopbackChannel other) {
        twin = other;
    }

    /** The other end; null if it is gone. */
    LoopbackChannel twin() {
        return twin;
    }

    @Override
    public byte[] regionDirectory() {
        return directory;
    }

    @Override
    public RemoteChannel remoteMemory() {
        return remote;
    }

    /** Whether it was closed, possibly before it was joined. */
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

    /** Does nothing: a message was delivered in the call that sent it. */
    @Override
    public void markSent() {
        // delivered already
    }

    @Override
    public boolean isMarkTaken() {
        return true;
    }

    /**
     * Gathers a short message of several pieces. The other end takes a message at one address. It has copied it when
     * the call returns, and sends nothing within the call, so one buffer for all channels is enough.
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
        // the operation retains its region until it is finished, so the address stays valid for the other end
        if ((operation.flags & Flags.LENT) != 0 && operation.region != null && operation.pieces == null) {
            RegisteredRegion region = operation.region;
            payload.set(
                operation.id(), operation.length, region.number(), region.generation(), operation.address);
            payload.lentOffset(operation.address - region.address());
        } else if (operation.pieces == null) {
            payload.set(operation.id(), operation.length, RemotePayload.NO_REGION, 0, operation.address);
        } else {
            describe(operation);
        }
        peer.onAnnounce(
            operation.flags & (KIND_AND_DATA | Flags.LENT) | operation.awaitedOfPeer(), operation.tag, operation.data,
            payload);
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
    public boolean hasMore() {
        // what is sent arrives in the same call
        return false;
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
