package org.jfabric.driver.conductor;

import org.agrona.concurrent.IdleStrategy;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.DescriptorWatcher;
import org.jfabric.driver.resource.Inbox;

/**
 * Lets the conductor's own thread sleep in the native epoll: descriptors and its inbox wake it. Owner: that thread.
 */
public final class ConductorIdleStrategy implements IdleStrategy {
    private static final int NANOS_PER_MS = 1_000_000;
    private static final int RETRY_MS = 1;

    private final DriverConductor conductor;
    private final DescriptorWatcher watcher;
    private final Inbox inbox;
    private final int timeoutMs;

    /**
     * A strategy for the conductor's thread in DEDICATED.
     *
     * @param parkTimeoutNs longest sleep in nanoseconds.
     */
    public ConductorIdleStrategy(
        DriverConductor conductor, DescriptorWatcher watcher, Inbox inbox, long parkTimeoutNs) {
        this.conductor = conductor;
        this.watcher = watcher;
        this.inbox = inbox;
        this.timeoutMs = (int) Math.max(1, parkTimeoutNs / NANOS_PER_MS);
    }

    @Override
    public void idle(int workCount) {
        if (workCount > 0 || !inbox.isEmpty()) {
            sleep(0);
        } else {
            idle();
        }
    }

    @Override
    public void idle() {
        sleep(conductor.hasPendingEvents() ? RETRY_MS : timeoutMs);
    }

    @Override
    public void reset() {
        // no state
    }

    private void sleep(int sleepMs) {
        try {
            watcher.poll(sleepMs, inbox);
            FaultPoint.pass();
        } catch (InternalError ex) {
            conductor.onFault(ex);
        }
    }
}
