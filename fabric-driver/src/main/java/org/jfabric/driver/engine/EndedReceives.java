package org.jfabric.driver.engine;

import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * Ends receives: frees the slot in the receive queue, writes the completion entry, and returns the record to the pool.
 * Entries of one peer's messages are written in the order in which the messages were matched ({@link EntryOrder}). The
 * receive's {@link ReceiveMode} writes the entry.
 *
 * <p>Owner: progress agent.
 */
final class EndedReceives {
    private final ReceivePool pool;
    /** Later messages may overtake a message that is longer than this. */
    private final long orderedLimitBytes;
    private final ReachedLevels levels;

    EndedReceives(ReceivePool pool, long orderedLimitBytes, ReachedLevels levels) {
        this.pool = pool;
        this.levels = levels;
        this.orderedLimitBytes = orderedLimitBytes;
    }

    /** Registers a matched message whose payload arrives later. */
    void begin(ReceiveOperation operation) {
        operation.from.entryOrder().begin(operation, operation.messageLength <= orderedLimitBytes);
    }

    /** Writes the entry of a receive whose message is placed, and ends it. */
    void end(ReceiveOperation operation) {
        // a fault of the sender's memory that is raised here leaves no entry half written
        FaultPoint.pass();
        PeerReceives from = operation.from;
        if (from.entryOrder().isEmpty()) {
            reportSuccess(operation);
        } else if (isTurnOf(operation, ReceiveState.ENDED, 0, 0)) {
            reportSuccess(operation);
            reportEnded(from);
        }
    }

    /** Writes the error entry of a receive and ends it. */
    void fail(ReceiveOperation operation, long placed, int errno) {
        FaultPoint.pass();
        PeerReceives from = operation.from;
        if (from == null) {
            operation.mode.cancel(operation, errno);
        } else if (isTurnOf(operation, ReceiveState.ENDED, placed, errno)) {
            reportFailure(operation, placed, errno);
            reportEnded(from);
        }
    }

    /** The payload of an announced message was fetched, or is lost. Returns true if its entry is written. */
    boolean endPull(ReceiveOperation operation, int errno) {
        if (!operation.from.entryOrder().isEmpty()
            && !isTurnOf(operation, ReceiveState.ENDED_TO_TELL, operation.late.received, errno)) {
            return false;
        }
        reportPull(operation, errno);
        return true;
    }

    /**
     * Returns whether the entry of a placed or lost message may be written now; if not, the result is kept until its
     * turn. An operation that discards a message receives nothing, so it has no place in the order.
     */
    private boolean isTurnOf(ReceiveOperation operation, int endedState, long placed, int errno) {
        if ((operation.flags & Flags.DISCARD) != 0 || operation.from.entryOrder().isTurnOf(operation)) {
            return true;
        }
        operation.late.endedPlaced = placed;
        operation.late.endedErrno = errno;
        operation.state = endedState;
        if (errno == 0) {
            operation.late.endedErrno = operation.mode.delay(operation);
        }
        return false;
    }

    /**
     * The message of a receive was placed, but could not be copied to its client: a sender that waits for an
     * acknowledgement is notified of the loss. Called in the step in which the message was placed.
     */
    void notStored(ReceiveOperation operation) {
        operation.late.finishErrno = FabricErrno.EFAULT;
        levels.lost(FabricErrno.EFAULT);
    }

    /** Writes the entries that waited for the one that was just written. */
    void reportEnded(PeerReceives from) {
        for (ReceiveOperation next = from.entryOrder().pollEnded(); next != null;
            next = from.entryOrder().pollEnded()) {
            boolean isPull = next.state == ReceiveState.ENDED_TO_TELL;
            // marked as being processed, so that recovery finds it if an access to shared memory fails
            next.state = ReceiveState.POSTED;
            int errno = next.late.endedErrno;
            if (isPull && from.peer().channel() != null) {
                reportPull(next, errno);
                if (next.state == ReceiveState.FINISHING) {
                    // the entry before it may have ended with the channel, whose end the link has not reported yet; so
                    // the sender is notified in the next cycle
                    from.enqueueControl(next);
                }
                continue;
            }
            if (isPull) {
                from.removePull(next);
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

    /** Writes the error entry of a receive immediately, out of order, and returns the record to the pool. */
    void reportFailure(ReceiveOperation operation, long placed, int errno) {
        pool.ending(operation);
        operation.mode.fail(operation, placed, errno);
        release(operation);
    }

    /** Writes the entry of an announced message. The sender must then be notified, unless the payload stays there. */
    private void reportPull(ReceiveOperation operation, int errno) {
        if (errno != 0) {
            pool.endingLater(operation);
            operation.mode.fail(operation, operation.late.received, errno);
            operation.late.finishErrno = errno;
            operation.state = ReceiveState.FINISHING;
            return;
        }
        if (operation.isPreview()) {
            // its record is released in this step
            pool.ending(operation);
        }
        complete(operation);
        pulled(operation);
    }

    /** The entry of an announced message that was fetched is written. */
    void pulled(ReceiveOperation operation) {
        if (operation.isPreview()) {
            // the payload stays where it is until the message is claimed or discarded
            operation.from.removePull(operation);
            release(operation);
        } else {
            // the cell belongs to the application now and may be in use again before the sender is notified
            operation.cell = null;
            operation.state = ReceiveState.FINISHING;
        }
    }

    /**
     * Writes the entry of a receive whose message is placed, and keeps the record for the notification of the sender.
     */
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

    /** Releases the record after its entry was written. */
    void release(ReceiveOperation operation) {
        if (operation.mode instanceof OrdinaryReceives ordinary) {
            ordinary.release(operation);
        } else {
            operation.mode.release(operation);
        }
    }
}
