package org.jfabric.driver.engine;

import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.info.FabricErrno;

/**
 * The receiver's side of the rendezvous protocol: fetches the payloads of messages that their senders have announced.
 * The link pulls a payload in one copy if it can access the sender's region. Else the sender is asked to send it in
 * segments. In both cases the receive's entry is written when the payload is here, and the sender is then notified by a
 * FINISH, so that it can complete its send.
 *
 * <pre>
 *   announced --- pull: done ------------------------------> entry --> FINISH
 *       |-------- pull: pending --> PULLING --- onPulled --> entry --> FINISH
 *       |-------- not reachable --> WANTS_SEGMENTS --> SEGMENTS --> entry --> FINISH
 *       |-------- discarded -----------------------------------------> entry --> FINISH
 *       '-------- the prefix, by any of these paths -----------------> entry, still announced
 * </pre>
 *
 * <p>The prefix is for buffered receives: they report the first bytes of a long message, and the message stays
 * announced until the application claims or discards it.
 *
 * <p>Owner: progress agent.
 */
final class Pulls {
    private final EndedReceives ends;

    Pulls(EndedReceives ends) {
        this.ends = ends;
    }

    /** Begins to fetch the payload of a message for the receive that it was matched with. */
    void start(ReceiveOperation operation, RemotePayload payload) {
        PeerReceives from = operation.from;
        operation.late.announced(payload.operation());
        if (from.peer().payloads() == null) {
            ends.fail(operation, 0, FabricErrno.ECONNRESET);
            return;
        }
        ends.begin(operation);
        from.addPull(operation);
        long length = operation.placedBytes();
        int result = length == 0
            ? Channel.DONE
            : from.peer().payloads().pull(payload, operation.region(), operation.address, operation.pieces, length);
        if (result == Channel.DONE) {
            end(operation, 0);
        } else if (result == Channel.PENDING) {
            operation.state = ReceiveState.PULLING;
        } else if (from.peer().segments() != null
            && (result == -FabricErrno.EOPNOTSUPP || result == -FabricErrno.EAGAIN)) {
            // a link that cannot pull yet is not asked again: segments use its normal flow control
            operation.state = ReceiveState.WANTS_SEGMENTS;
            if (!tellPeer(from, operation)) {
                from.enqueueControl(operation);
            }
        } else {
            end(operation, -result);
        }
    }

    /** Finishes a discarded message: its payload is not fetched, the entry describes it, and the sender is notified. */
    void decline(ReceiveOperation operation, RemotePayload payload) {
        PeerReceives from = operation.from;
        operation.late.announced(payload.operation());
        if (from.peer().payloads() == null) {
            ends.end(operation);
            return;
        }
        from.addPull(operation);
        end(operation, 0);
    }

    /**
     * Sends what the receive has to tell its sender, according to its state: the request for segments, or FINISH.
     * Returns false if the channel is full.
     */
    boolean tellPeer(PeerReceives from, ReceiveOperation operation) {
        if (operation.state == ReceiveState.WANTS_SEGMENTS) {
            int result = from.peer().segments().requestSegments(
                operation.late.remoteOperation, operation.id, operation.placedBytes(), from.grant());
            if (result < 0) {
                from.grantNotSent();
                return false;
            }
            operation.state = ReceiveState.SEGMENTS;
            return true;
        }
        LatePayload late = operation.late;
        if (from.peer().payloads().finish(late.remoteOperation, late.finishErrno, from.grant()) < 0) {
            from.grantNotSent();
            return false;
        }
        from.removePull(operation);
        ends.release(operation);
        return true;
    }

    /** The peer sends a segment. Segments come in order; {@code operation} is null if the peer's id names none. */
    void onSegment(PeerReceives from, ReceiveOperation operation, long offset, long address, int length) {
        if (operation == null || operation.from != from || operation.state != ReceiveState.SEGMENTS
            || length <= 0 || offset != operation.late.received || length > operation.placedBytes() - offset) {
            from.peer().violation("sent a segment that was not requested");
            return;
        }
        operation.place(offset, address, length);
        operation.late.received += length;
        if (operation.late.received == operation.placedBytes()) {
            end(operation, 0);
        }
    }

    /** The link has ended a pending pull of that send of the peer. Ignored if none is pending. */
    void onPulled(PeerReceives from, long remoteOperation, int errno) {
        for (ReceiveOperation operation = from.firstPull(); operation != null; operation = operation.late.nextPull) {
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

    /**
     * Ends a pull that was being processed when an access to shared memory failed. If its entry is written already,
     * only the sender is still to be notified; else it ends with an error.
     */
    void recover(ReceiveOperation operation) {
        PeerReceives from = operation.from;
        if (operation.reported) {
            ends.pulled(operation);
            notifySender(from, operation);
        } else {
            end(operation, FabricErrno.EIO);
        }
    }

    /** Writes the entry, if it is its turn, and notifies the sender. */
    private void end(ReceiveOperation operation, int errno) {
        // marked as being processed: neither the link nor the peer ends it once more, so that recovery has to
        operation.state = ReceiveState.POSTED;
        FaultPoint.pass();
        PeerReceives from = operation.from;
        if (ends.endPull(operation, errno)) {
            notifySender(from, operation);
            ends.reportEnded(from);
        }
    }

    private void notifySender(PeerReceives from, ReceiveOperation operation) {
        if (operation.state == ReceiveState.FINISHING && !tellPeer(from, operation)) {
            from.enqueueControl(operation);
        }
    }
}
