package org.jfabric.driver.resource;

/** Waits for a sync of a region; in one list at a time. Owner: progress agent. */
public abstract class SyncWaiter {
    SyncWaiter next;

    protected SyncWaiter() {
    }

    /**
     * A sync that began after {@link RegionSync#await} has ended.
     *
     * @param errno 0: all bytes that were stored before are on stable storage; else {@code FI_EIO}.
     */
    protected abstract void onSynced(int errno);
}
