package org.jfabric.driver.engine.rx;

import org.jfabric.FabricErrno;
import org.jfabric.driver.engine.peer.Peer;
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
    private final Receiver receiver;
    private final ReceivePool pool;

    Pulls(Receiver receiver, ReceivePool pool) {
        this.receiver = receiver;
        this.pool = pool;
    }

    /** Begins to fetch the payload for a receive that was matched with it. */
    void start(ReceiveOperation operation, RemotePayload payload) {
        Peer peer = operation.peer;
        operation.remoteOperation = payload.operation();
        operation.received = 0;
        operation.finishErrno = 0;
        if (peer.channel() == null) {
            receiver.fail(operation, 0, FabricErrno.ECONNRESET);
            return;
        }
        receiver.begin(operation);
        peer.addPull(operation);
        long length = operation.placedBytes();
        int result = length == 0
            ? Channel.DONE
            : peer.channel().pull(payload, operation.region(), operation.address, operation.pieces, length);
        if (result == Channel.DONE) {
            end(operation, 0);
        } else if (result == Channel.PENDING) {
            operation.state = ReceiveOperation.PULLING;
        } else if (result == -FabricErrno.EOPNOTSUPP || result == -FabricErrno.EAGAIN) {
            // a link that is busy now is not asked again: segments come through its normal flow
            operation.state = ReceiveOperation.WANTS_SEGMENTS;
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
        operation.remoteOperation = payload.operation();
        operation.received = 0;
        operation.finishErrno = 0;
        if (peer.channel() == null) {
            receiver.end(operation);
            return;
        }
        peer.addPull(operation);
        end(operation, 0);
    }

    /** Sends what the peer has to know of this receive; false if the channel is full. */
    boolean tellPeer(Peer peer, ReceiveOperation operation) {
        if (operation.state == ReceiveOperation.WANTS_SEGMENTS) {
            int result = peer.channel().requestSegments(
                operation.remoteOperation, operation.id, operation.placedBytes(), peer.grant());
            if (result < 0) {
                peer.grantNotSent();
                return false;
            }
            operation.state = ReceiveOperation.SEGMENTS;
            return true;
        }
        if (peer.channel().finish(operation.remoteOperation, operation.finishErrno, peer.grant()) < 0) {
            peer.grantNotSent();
            return false;
        }
        peer.removePull(operation);
        receiver.release(operation);
        return true;
    }

    void onSegment(Peer peer, ReceiveOperation operation, long offset, long address, int length) {
        if (operation == null || operation.peer != peer || operation.state != ReceiveOperation.SEGMENTS
            || length <= 0 || offset != operation.received || length > operation.placedBytes() - offset) {
            peer.violation("sent a segment that was not asked for");
            return;
        }
        operation.place(offset, address, length);
        operation.received += length;
        if (operation.received == operation.placedBytes()) {
            end(operation, 0);
        }
    }

    void onPulled(Peer peer, long remoteOperation, int errno) {
        for (ReceiveOperation operation = peer.firstPull(); operation != null; operation = operation.nextPull) {
            if (operation.remoteOperation == remoteOperation && operation.state == ReceiveOperation.PULLING) {
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
            ended(operation);
            tell(peer, operation);
        } else {
            end(operation, FabricErrno.EIO);
        }
    }

    private void end(ReceiveOperation operation, int errno) {
        FaultPoint.pass();
        Peer peer = operation.peer;
        if (peer.entryOrder().isEmpty()
            || receiver.isTurnOf(operation, ReceiveOperation.ENDED_TO_TELL, operation.received, errno)) {
            report(operation, errno);
            tell(peer, operation);
            receiver.reportEnded(peer);
        }
    }

    /**
     * Writes an entry whose turn has come. What brought it may be the end of the channel, which the link has yet to
     * report, so the sender is told in the next cycle.
     */
    void reportEnded(ReceiveOperation operation, int errno) {
        Peer peer = operation.peer;
        report(operation, errno);
        if (operation.state == ReceiveOperation.FINISHING) {
            peer.enqueueControl(operation);
        }
    }

    /** Writes the entry; the sender has yet to be told, unless the payload stays with it. */
    private void report(ReceiveOperation operation, int errno) {
        if (errno != 0) {
            receiver.writeError(operation, operation.received, errno);
            operation.finishErrno = errno;
            operation.state = ReceiveOperation.FINISHING;
            return;
        }
        if (operation.isPreview()) {
            // its record comes back in this step
            pool.ending(operation);
        }
        receiver.complete(operation);
        ended(operation);
    }

    private void ended(ReceiveOperation operation) {
        if (operation.isPreview()) {
            // the payload stays where it is until the message is claimed or discarded
            operation.peer.removePull(operation);
            receiver.release(operation);
        } else {
            // out of our hands, and perhaps in use again before the sender could be told
            operation.cell = null;
            operation.state = ReceiveOperation.FINISHING;
        }
    }

    private void tell(Peer peer, ReceiveOperation operation) {
        if (operation.state == ReceiveOperation.FINISHING && !tellPeer(peer, operation)) {
            peer.enqueueControl(operation);
        }
    }
}
