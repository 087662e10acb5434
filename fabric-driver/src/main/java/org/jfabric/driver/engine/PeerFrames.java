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
    private final PeerSends sends;
    private final PeerReceives receives;
    /** The endpoint's receiver, cached for each message. */
    private final Receiver receiver;
    private final Sender sender;
    private final ByteCredit credit;
    private final Outbox outbox;

    PeerFrames(PeerSends sends, Sender sender, Receiver receiver) {
        this.sends = sends;
        this.receives = sends.receives();
        this.receiver = receiver;
        this.sender = sender;
        this.credit = sends.peer().credit();
        this.outbox = sends.outbox();
    }

    @Override
    public void onGrant(int grant) {
        if (credit.onGrant(grant) && outbox.onCredit()) {
            sends.schedule();
        }
    }

    @Override
    public void onGrantLines(int grantLines) {
        if (credit.onGrantLines(grantLines) && outbox.onCredit()) {
            sends.schedule();
        }
    }

    @Override
    public void onShort(long kind, long tag, long address, int length, int grantLines) {
        if (credit.onGrantLines(grantLines) && outbox.onCredit()) {
            sends.schedule();
        }
        credit.received(length);
        receiver.onMessage(receives, kind, tag, 0, address, length);
    }

    @Override
    public long endedReceives() {
        return receiver.endedReceives();
    }

    @Override
    public void onMessageToAcknowledge(
        long operation, long flags, long tag, long data, long address, int length) {
        credit.received(length);
        receiver.onMessageToAcknowledge(receives, operation, flags, tag, data, address, length);
    }

    @Override
    public void onAcknowledged(long operation, long levels, int errno) {
        sends.acknowledged(operation, levels, errno);
    }

    @Override
    public void onAnnounce(long flags, long tag, long data, RemotePayload source) {
        credit.received(source.lengthBytes());
        if (sends.isShort(source.lengthBytes()) && credit.isTooSmallFor(source.lengthBytes())) {
            // perhaps announced because the window was always too small for it
            receives.resizeWindow();
        }
        receiver.onAnnounce(receives, flags, tag, data, source);
    }

    @Override
    public void onPulled(long operation, int errno) {
        receiver.onPulled(receives, operation, errno);
    }

    @Override
    public void onSegmentsRequested(long operationId, long sink, long length) {
        TransmitOperation operation = sender.find(operationId);
        if (operation == null || operation.peer != sends || sends.peer().segments() == null
            || !outbox.segment(operation, sink, length)) {
            sends.violation("requested segments of an operation that was not announced");
        } else {
            sends.schedule();
        }
    }

    @Override
    public void onSegment(long sink, long offset, long address, int length) {
        receiver.onSegment(receives, sink, offset, address, length);
    }

    @Override
    public void onFinished(long operationId, int errno) {
        TransmitOperation operation = sender.find(operationId);
        if (operation == null || operation.peer != sends
            || operation.state != TransmitOperation.ANNOUNCED && operation.state != TransmitOperation.SEGMENTING) {
            sends.violation("finished an operation that was not announced");
            return;
        }
        outbox.disown(operation);
        if (errno == 0 && operation.awaited != 0) {
            // the acknowledgement of its fence is still outstanding
            outbox.own(operation, TransmitOperation.AWAITING);
        } else {
            // the errno is from the peer and is validated: an entry needs a positive one
            int reason = errno == 0 ? operation.failure : errno;
            sender.end(operation, reason >= 0 ? reason : FabricErrno.EIO);
        }
        sends.scheduleWaiting();
    }
}
