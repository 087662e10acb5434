package org.jfabric.driver.resource;

import org.agrona.ErrorHandler;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * The syncs of one persistent region, one at a time. Waiters that are added while one is running wait for the next one,
 * which serves all of them.
 *
 * <p>After a failure the region is failed for ever: the kernel shows an error of the storage once and then takes the
 * bytes for written, so a later sync proves nothing about them.
 *
 * <p>Owner: progress agent; the sync itself runs on a resource thread.
 */
public final class RegionSync {
    private final StableStorage storage;
    private final ResourceAgent resource;
    private final Inbox inbox;
    private final SystemCounters counters;
    private final ErrorHandler errorHandler;
    /** Served by the sync that is running: the first one, from which the others follow. */
    private SyncWaiter served;
    /** Served by the next one. */
    private final WaitList waiting = new WaitList();
    private boolean isRunning;
    private boolean hasFailed;

    /** First in, first out. */
    private static final class WaitList {
        private SyncWaiter first;
        private SyncWaiter last;

        boolean isEmpty() {
            return first == null;
        }

        void add(SyncWaiter waiter) {
            if (first == null) {
                first = waiter;
            } else {
                last.next = waiter;
            }
            last = waiter;
        }

        /** Takes all of them: the first one, from which the others follow. */
        SyncWaiter take() {
            SyncWaiter taken = first;
            first = null;
            return taken;
        }
    }

    /** The syncs of a region without writes. */
    public RegionSync(
        StableStorage storage, ResourceAgent resource, Inbox inbox, SystemCounters counters,
        ErrorHandler errorHandler) {
        this.storage = storage;
        this.resource = resource;
        this.inbox = inbox;
        this.counters = counters;
        this.errorHandler = errorHandler;
    }

    /** Whether a sync has failed. */
    public boolean hasFailed() {
        return hasFailed;
    }

    /**
     * Waits for a sync that begins after this call.
     *
     * @param waiter in no list; notified once, in a later cycle, or at once if a sync has failed before.
     */
    public void await(SyncWaiter waiter) {
        if (hasFailed) {
            waiter.onSynced(FabricErrno.EIO);
            return;
        }
        waiting.add(waiter);
        if (!isRunning) {
            begin();
        }
    }

    private void begin() {
        served = waiting.take();
        isRunning = true;
        resource.submit(new Sync(), inbox);
    }

    /** Notifies all; a fault of the memory of one of them does not concern the others. */
    private static void end(SyncWaiter first, int errno) {
        InternalError fault = null;
        for (SyncWaiter each = first; each != null;) {
            SyncWaiter following = each.next;
            each.next = null;
            try {
                each.onSynced(errno);
            } catch (InternalError ex) {
                fault = ex;
            }
            each = following;
        }
        if (fault != null) {
            throw fault;
        }
    }

    private final class Sync extends ResourceTask {
        @Override
        protected boolean isSync() {
            return true;
        }

        @Override
        protected void execute() {
            storage.sync();
            counters.add(SystemCounter.REGION_SYNCS, 1);
        }

        @Override
        protected void onDone() {
            SyncWaiter ended = served;
            isRunning = false;
            if (!waiting.isEmpty()) {
                begin();
            }
            end(ended, 0);
        }

        @Override
        protected void onFailed(Throwable cause) {
            isRunning = false;
            hasFailed = true;
            errorHandler.onError(new FabricException(FabricErrno.EIO,
                "a persistent region could not be written to stable storage: " + cause.getMessage(),
                "All its further commits fail. Check the storage, then register the file again and write anew what "
                    + "was not committed.", cause));
            SyncWaiter last = served;
            while (last.next != null) {
                last = last.next;
            }
            last.next = waiting.take();
            end(served, FabricErrno.EIO);
        }
    }
}
