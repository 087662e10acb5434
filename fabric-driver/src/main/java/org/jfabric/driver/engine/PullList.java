package org.jfabric.driver.engine;


/**
 * The receives that take announced payloads of one peer, and the queue of those with a control message for the peer.
 * Linked through the records, so nothing is allocated.
 *
 * <p>Owner: progress agent.
 */
final class PullList {
    private ReceiveOperation first;
    private ReceiveOperation firstControl;
    private ReceiveOperation lastControl;

    ReceiveOperation first() {
        return first;
    }

    void add(ReceiveOperation operation) {
        operation.late.previousPull = null;
        operation.late.nextPull = first;
        if (first != null) {
            first.late.previousPull = operation;
        }
        first = operation;
    }

    void remove(ReceiveOperation operation) {
        if (operation.late.previousPull == null) {
            first = operation.late.nextPull;
        } else {
            operation.late.previousPull.late.nextPull = operation.late.nextPull;
        }
        if (operation.late.nextPull != null) {
            operation.late.nextPull.late.previousPull = operation.late.previousPull;
        }
        operation.late.nextPull = null;
        operation.late.previousPull = null;
    }

    boolean hasControl() {
        return firstControl != null;
    }

    void addControl(ReceiveOperation operation) {
        operation.late.nextControl = null;
        if (lastControl == null) {
            firstControl = operation;
        } else {
            lastControl.late.nextControl = operation;
        }
        lastControl = operation;
    }

    /**
     * Removes the oldest from the queue. Once its control message is sent, the record may be reused and be in a list
     * again.
     */
    ReceiveOperation takeControl() {
        ReceiveOperation operation = firstControl;
        firstControl = operation.late.nextControl;
        if (firstControl == null) {
            lastControl = null;
        }
        return operation;
    }

    /** Puts an operation back at the head of the queue, because the channel was full. */
    void returnControl(ReceiveOperation operation) {
        operation.late.nextControl = firstControl;
        firstControl = operation;
        if (lastControl == null) {
            lastControl = operation;
        }
    }

    void clearControl() {
        firstControl = null;
        lastControl = null;
    }
}
