package org.jfabric.driver.engine;

import org.jfabric.client.WorkRequest;
import org.jfabric.driver.link.TransmitOperation;

/**
 * An operation of an endpoint that waits for a counter. It occupies its place among the outstanding operations already:
 * a record of the transmit side, or a slot of the receive side.
 *
 * <p>Owner: progress agent.
 */
final class WaitingOperation extends WaitingWork {
    private final EndpointWork owner;
    final WorkRequest request = new WorkRequest();
    /** Counts the end of deferred work, or null. */
    CounterWriter completion;
    /** The reserved record; null for a receive. */
    TransmitOperation operation;
    /** Index in the owner's list. */
    int index;

    WaitingOperation(EndpointWork owner) {
        this.owner = owner;
    }

    @Override
    void start() {
        owner.start(this);
    }

    @Override
    void cancel() {
        owner.cancel(this);
    }

    @Override
    long domain() {
        return owner.domain();
    }
}
