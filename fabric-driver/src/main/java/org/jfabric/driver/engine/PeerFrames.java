package org.jfabric.driver.engine;

import org.jfabric.driver.link.FrameHandler;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.FabricErrno;

/**
 * Handles the events of a peer whose wire carries frames or announced payloads.
 *
 * <p>Owner: progress agent.
 */
final class PeerFrames extends FrameHandler {
    private final Peer peer;
    /** The endpoint's receiver, cached for each message. */
    private final Receiver receiver;
    private final PeerContext context;
    private final ByteCredit credit;
    private final Outbox outbox;

    PeerFrames(Peer peer, PeerContext context, ByteCredit credit, Outbox outbox) {
        this.peer = peer;
        this.receiver = context.receiver();
        this.context = context;
        this.credit = credit;
        this.outbox = outbox;
    }

    @Override
    public void onGrant(int grant) {
        if (credit.onGrant(grant) && outbox.onCredit()) {
            peer.schedule();
        }
    }

    @Override
    public void onGrantLines(int grantLines) {
        if (credit.onGrantLines(grantLines) && outbox.onCredit()) {
            peer.schedule();
        }
    }

    @Override
    public void onShort(long kind, long tag, long address, int length, int grantLines) {
        if (credit.onGrantLines(grantLines) && outbox.onCredit()) {
            peer.schedule();
        }
        credit.received(length);
        receiver.onMessage(peer, kind, tag, 0, address, length);
    }

    @Override
    public long endedReceives() {
        return receiver.endedReceives();
    }

    @Override
    public void onMessageToAcknowledge(
        long operation, long flags, long tag, long data, long address, int length) {
        credit.received(length);
        receiver.onMessageToAcknowledge(peer, operation, flags, tag, data, address, length);
    }

    @Override
    public void onAcknowledged(long operation, long levels, int errno) {
        peer.acknowledged(operation, levels, errno);
    }

    @Override
    public void onAnnounce(long flags, long tag, long data, RemotePayload source) {
        credit.received(source.lengthBytes());
        peer.onAnnounced(source.lengthBytes());
        context.receiver().onAnnounce(peer, flags, tag, data, source);
    }

    @Override
    public void onPulled(long operation, int errno) {
        context.receiver().onPulled(peer, operation, errno);
    }

    @Override
    public void onSegmentsRequested(long operationId, long sink, long length) {
        TransmitOperation operation = context.sender().find(operationId);
        if (operation == null || operation.peer != peer || peer.segments() == null
            || !outbox.segment(operation, sink, length)) {
            peer.violation("requested segments of an operation that was not announced");
        } else {
            peer.schedule();
        }
    }

    @Override
    public void onSegment(long sink, long offset, long address, int length) {
        context.receiver().onSegment(peer, sink, offset, address, length);
    }

    @Override
    public void onFinished(long operationId, int errno) {
        TransmitOperation operation = context.sender().find(operationId);
        if (operation == null || operation.peer != peer
            || operation.state != TransmitOperation.ANNOUNCED && operation.state != TransmitOperation.SEGMENTING) {
            peer.violation("finished an operation that was not announced");
            return;
        }
        outbox.disown(operation);
        if (errno == 0 && operation.awaited != 0) {
            // the acknowledgement of its fence is still outstanding
            outbox.own(operation, TransmitOperation.AWAITING);
        } else {
            // the errno is from the peer and is validated: an entry needs a positive one
            int reason = errno == 0 ? operation.failure : errno;
            context.sender().end(operation, reason >= 0 ? reason : FabricErrno.EIO);
        }
        peer.scheduleWaiting();
    }
}
