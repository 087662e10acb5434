package org.jfabric.driver.engine;

import org.jfabric.Flags;
import org.jfabric.driver.resource.FaultPoint;

/**
 * Ends receives: makes room for others, writes the entries, and gives the records back. Entries of one peer's messages
 * are written in the order in which the messages were matched ({@link EntryOrder}); what an entry says, and where it
 * goes, is the matter of the receive's {@link ReceiveMode}.
 *
 * <p>Owner: progress agent.
 */
final class EndedReceives {
    private final ReceivePool pool;
    /** Longer messages may be overtaken by those that were matched after them. */
    private final long orderedLimitBytes;

    EndedReceives(ReceivePool pool, long orderedLimitBytes) {
        this.pool = pool;
        this.orderedLimitBytes = orderedLimitBytes;
    }

    /** A message was matched whose payload comes later. */
    void begin(ReceiveOperation operation) {
        operation.peer.entryOrder().begin(operation, operation.messageLength <= orderedLimitBytes);
    }

    /** Writes the entry of a receive whose message is placed, and ends it. */
    void end(ReceiveOperation operation) {
        // raised here, a fault of the sender's memory leaves no report half written
        FaultPoint.pass();
        Peer peer = operation.peer;
        if (peer.entryOrder().isEmpty()) {
            reportSuccess(operation);
        } else if (isTurnOf(operation, ReceiveState.ENDED, 0, 0)) {
            reportSuccess(operation);
            reportEnded(peer);
        }
    }

    /** Writes the error entry of a receive and ends it. */
    void fail(ReceiveOperation operation, long placed, int errno) {
        FaultPoint.pass();
        Peer peer = operation.peer;
        if (peer == null) {
            operation.mode.cancel(operation, errno);
        } else if (isTurnOf(operation, ReceiveState.ENDED, placed, errno)) {
            reportFailure(operation, placed, errno);
            reportEnded(peer);
        }
    }

    /** The payload of an announced message was fetched, or is lost; true if its entry is written. */
    boolean endPull(ReceiveOperation operation, int errno) {
        if (!operation.peer.entryOrder().isEmpty()
            && !isTurnOf(operation, ReceiveState.ENDED_TO_TELL, operation.late.received, errno)) {
            return false;
        }
        reportPull(operation, errno);
        return true;
    }

    /**
     * Whether the entry of a message that is placed or lost may be written; if not, it is written in its turn. What
     * discards a message receives nothing, so it has no place in the order.
     */
    private boolean isTurnOf(ReceiveOperation operation, int endedState, long placed, int errno) {
        if ((operation.flags & Flags.DISCARD) != 0 || operation.peer.entryOrder().isTurnOf(operation)) {
            return true;
        }
        operation.late.endedPlaced = placed;
        operation.late.endedErrno = errno;
        operation.state = endedState;
        return false;
    }

    /** Writes the entries that waited for one that was written just now. */
    void reportEnded(Peer peer) {
        for (ReceiveOperation next = peer.entryOrder().pollEnded(); next != null;
            next = peer.entryOrder().pollEnded()) {
            boolean isPull = next.state == ReceiveState.ENDED_TO_TELL;
            // in hand, so that it is found if an access to shared memory fails
            next.state = ReceiveState.POSTED;
            int errno = next.late.endedErrno;
            if (isPull && peer.channel() != null) {
                reportPull(next, errno);
                if (next.state == ReceiveState.FINISHING) {
                    // what brought its turn may be the end of the channel, which the link has yet to report, so the
                    // sender is told in the next cycle
                    peer.enqueueControl(next);
                }
                continue;
            }
            if (isPull) {
                peer.removePull(next);
            }
            if (errno == 0) {
                reportSuccess(next);
            } else {
                reportFailure(next, next.late.endedPlaced, errno);
            }
        }
    }

    private void reportSuccess(ReceiveOperation operation) {
        pool.ending(operation);
        writeEntry(operation);
        release(operation);
    }

    /** Writes the error entry of a receive, whatever waits for its turn, and gives the record back. */
    void reportFailure(ReceiveOperation operation, long placed, int errno) {
        pool.ending(operation);
        operation.mode.fail(operation, placed, errno);
        release(operation);
    }

    /** Writes the entry of an announced message; its sender has yet to be told, unless the payload stays with it. */
    private void reportPull(ReceiveOperation operation, int errno) {
        if (errno != 0) {
            pool.endingLater(operation);
            operation.mode.fail(operation, operation.late.received, errno);
            operation.late.finishErrno = errno;
            operation.state = ReceiveState.FINISHING;
            return;
        }
        if (operation.isPreview()) {
            // its record comes back in this step
            pool.ending(operation);
        }
        complete(operation);
        pulled(operation);
    }

    /** The entry of an announced message that was fetched is written. */
    void pulled(ReceiveOperation operation) {
        if (operation.isPreview()) {
            // the payload stays where it is until the message is claimed or discarded
            operation.peer.removePull(operation);
            release(operation);
        } else {
            // out of our hands, and perhaps in use again before the sender could be told
            operation.cell = null;
            operation.state = ReceiveState.FINISHING;
        }
    }

    /** Writes the entry of a receive whose message is placed; its record is needed for some time. */
    void complete(ReceiveOperation operation) {
        pool.endingLater(operation);
        writeEntry(operation);
    }

    private void writeEntry(ReceiveOperation operation) {
        // Most are ordinary. Where receives of all three kinds end, a call of the superclass would not be inlined.
        if (operation.mode instanceof OrdinaryReceives ordinary) {
            ordinary.complete(operation);
        } else {
            operation.mode.complete(operation);
        }
    }

    /** Gives the record back; its entry is written. */
    void release(ReceiveOperation operation) {
        if (operation.mode instanceof OrdinaryReceives ordinary) {
            ordinary.release(operation);
        } else {
            operation.mode.release(operation);
        }
    }
}
