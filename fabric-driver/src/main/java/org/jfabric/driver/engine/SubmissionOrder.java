package org.jfabric.driver.engine;

import org.jfabric.driver.link.TransmitOperation;

import java.util.Set;

/**
 * Keeps the entries of an endpoint's sends in the order in which they were posted (comp_order FI_ORDER_STRICT of
 * {@code tx_attr}), whatever their destinations. A send that has ended waits here, with its record, for the older ones.
 *
 * <p>Only endpoints whose application requested that order have one. Owner: progress agent.
 */
final class SubmissionOrder {
    private TransmitOperation first;
    private TransmitOperation last;

    void add(TransmitOperation operation) {
        operation.nextSubmitted = null;
        if (last == null) {
            first = operation;
        } else {
            last.nextSubmitted = operation;
        }
        last = operation;
    }

    /** A send has ended; removes it and returns true if it is the oldest. Otherwise the caller marks it as ended. */
    boolean isTurnOf(TransmitOperation operation) {
        if (operation != first) {
            return false;
        }
        removeFirst();
        return true;
    }

    /** Removes and returns the oldest send if it has ended; else returns null. */
    TransmitOperation pollEnded() {
        TransmitOperation oldest = first;
        if (oldest == null || oldest.state != TransmitOperation.ENDED) {
            return null;
        }
        removeFirst();
        return oldest;
    }

    void addEndedTo(Set<TransmitOperation> operations) {
        for (TransmitOperation operation = first; operation != null; operation = operation.nextSubmitted) {
            if (operation.state == TransmitOperation.ENDED) {
                operations.add(operation);
            }
        }
    }

    private void removeFirst() {
        TransmitOperation removed = first;
        first = removed.nextSubmitted;
        removed.nextSubmitted = null;
        if (first == null) {
            last = null;
        }
    }
}
