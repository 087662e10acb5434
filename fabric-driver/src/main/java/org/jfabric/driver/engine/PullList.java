package org.jfabric.driver.engine;


/**
 * The receives that take announced payloads of one peer, and which of them have something to tell it once its channel
 * has room. Linked through the records, so nothing is allocated.
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
        operation.previousPull = null;
        operation.nextPull = first;
        if (first != null) {
            first.previousPull = operation;
        }
        first = operation;
    }

    void remove(ReceiveOperation operation) {
        if (operation.previousPull == null) {
            first = operation.nextPull;
        } else {
            operation.previousPull.nextPull = operation.nextPull;
        }
        if (operation.nextPull != null) {
            operation.nextPull.previousPull = operation.previousPull;
        }
        operation.nextPull = null;
        operation.previousPull = null;
    }

    boolean hasControl() {
        return firstControl != null;
    }

    void addControl(ReceiveOperation operation) {
        operation.nextControl = null;
        if (lastControl == null) {
            firstControl = operation;
        } else {
            lastControl.nextControl = operation;
        }
        lastControl = operation;
    }

    /** Takes the oldest out; once it was told its peer, the record may be used again and stand in a list. */
    ReceiveOperation takeControl() {
        ReceiveOperation operation = firstControl;
        firstControl = operation.nextControl;
        if (firstControl == null) {
            lastControl = null;
        }
        return operation;
    }

    /** Puts one back that could not be told yet. */
    void returnControl(ReceiveOperation operation) {
        operation.nextControl = firstControl;
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
