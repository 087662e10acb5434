package org.jfabric.driver.engine;

import org.jfabric.FabricErrno;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.resource.FaultPoint;

/**
 * Fetching of announced payloads: in one copy where the link can reach the sender's region, else in segments; then the
 * sender is told.
 *
 * <pre>
 *   announced --- pull: done ------------------------------> entry --> FINISH
 *       |-------- pull: pending --> PULLING --- onPulled --> entry --> FINISH
 *       |-------- not reachable --> WANTS_SEGMENTS --> SEGMENTS --> entry --> FINISH
 *       |-------- discarded -----------------------------------------> entry --> FINISH
 *       '-------- the begin of it, by any of these ways -------------> entry, still announced
 * </pre>
 *
 * <p>Owner: progress agent.
 */
final class Pulls {
    private final EndedReceives ends;

    Pulls(EndedReceives ends) {
        this.ends = ends;
    }

    /** Begins to fetch the payload for a receive that was matched with it. */
    void start(ReceiveOperation operation, RemotePayload payload) {
        Peer peer = operation.peer;
        operation.late.announced(payload.operation());
        if (peer.payloads() == null) {
            ends.fail(operation, 0, FabricErrno.ECONNRESET);
            return;
        }
        ends.begin(operation);
        peer.addPull(operation);
        long length = operation.placedBytes();
        int result = length == 0
            ? Channel.DONE
            : peer.payloads().pull(payload, operation.region(), operation.address, operation.pieces, length);
        if (result == Channel.DONE) {
            end(operation, 0);
        } else if (result == Channel.PENDING) {
            operation.state = ReceiveState.PULLING;
        } else if (peer.segments() != null
            && (result == -FabricErrno.EOPNOTSUPP || result == -FabricErrno.EAGAIN)) {
            // a link that is busy now is not asked again: segments come through its normal flow
            operation.state = ReceiveState.WANTS_SEGMENTS;
            if (!tellPeer(peer, operation)) {
                peer.enqueueControl(operation);
            }
        } else {
            end(operation, -result);
        }
    }

    /** Tells the sender that it is done with a payload that nobody wants; the entry says what it was. */
    void decline(ReceiveOperation operation, RemotePayload payload) {
        Peer peer = operation.peer;
        operation.late.announced(payload.operation());
        if (peer.payloads() == null) {
            ends.end(operation);
            return;
        }
        peer.addPull(operation);
        end(operation, 0);
    }

    /** Sends what the peer has to know of this receive; false if the channel is full. */
    boolean tellPeer(Peer peer, ReceiveOperation operation) {
        if (operation.state == ReceiveState.WANTS_SEGMENTS) {
            int result = peer.segments().requestSegments(
                operation.late.remoteOperation, operation.id, operation.placedBytes(), peer.grant());
            if (result < 0) {
                peer.grantNotSent();
                return false;
            }
            operation.state = ReceiveState.SEGMENTS;
            return true;
        }
        if (peer.payloads().finish(operation.late.remoteOperation, operation.late.finishErrno, peer.grant()) < 0) {
            peer.grantNotSent();
            return false;
        }
        peer.removePull(operation);
        ends.release(operation);
        return true;
    }

    void onSegment(Peer peer, ReceiveOperation operation, long offset, long address, int length) {
        if (operation == null || operation.peer != peer || operation.state != ReceiveState.SEGMENTS
            || length <= 0 || offset != operation.late.received || length > operation.placedBytes() - offset) {
            peer.violation("sent a segment that was not asked for");
            return;
        }
        operation.place(offset, address, length);
        operation.late.received += length;
        if (operation.late.received == operation.placedBytes()) {
            end(operation, 0);
        }
    }

    void onPulled(Peer peer, long remoteOperation, int errno) {
        for (ReceiveOperation operation = peer.firstPull(); operation != null; operation = operation.late.nextPull) {
            if (operation.late.remoteOperation == remoteOperation && operation.state == ReceiveState.PULLING) {
                if (errno == 0) {
                    end(operation, 0);
                } else {
                    end(operation, errno);
                }
                return;
            }
        }
    }

    /** The pull was in hand when an access to shared memory failed. */
    void recover(ReceiveOperation operation) {
        Peer peer = operation.peer;
        if (operation.reported) {
            ends.pulled(operation);
            tell(peer, operation);
        } else {
            end(operation, FabricErrno.EIO);
        }
    }

    private void end(ReceiveOperation operation, int errno) {
        FaultPoint.pass();
        Peer peer = operation.peer;
        if (ends.endPull(operation, errno)) {
            tell(peer, operation);
            ends.reportEnded(peer);
        }
    }

    private void tell(Peer peer, ReceiveOperation operation) {
        if (operation.state == ReceiveState.FINISHING && !tellPeer(peer, operation)) {
            peer.enqueueControl(operation);
        }
    }
}
