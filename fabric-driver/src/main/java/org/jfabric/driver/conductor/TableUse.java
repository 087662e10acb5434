package org.jfabric.driver.conductor;

import org.jfabric.driver.progress.ProgressAgent;
import org.jfabric.driver.resource.WaitPoint;
import org.jfabric.driver.stream.table.SharedTable;

/** A table that a client has open. Owner: conductor; the point belongs to the progress thread. */
final class TableUse {
    /** One progress thread looks after all tables. */
    static final int THREAD = 0;

    private final SharedTable table;
    private final boolean writes;
    private final WaitSetResource waitSet;
    private boolean wasLast;

    /**
     * A use that has begun.
     *
     * @param waitSet has the reader's point, or null.
     */
    TableUse(SharedTable table, boolean writes, WaitSetResource waitSet) {
        this.table = table;
        this.writes = writes;
        this.waitSet = waitSet;
    }

    SharedTable table() {
        return table;
    }

    WaitSetResource waitSet() {
        return waitSet;
    }

    /** Wakes the reader, or null. */
    WaitPoint point() {
        return waitSet == null ? null : waitSet.waitResource().points()[THREAD];
    }

    /** The client does not have it open any more. */
    void leave(Registry registry, boolean isLost) {
        wasLast = registry.tables().leave(table, writes, isLost);
    }

    /** Whether nobody has the table open since {@link #leave}, and its file goes. */
    boolean wasLast() {
        return wasLast;
    }

    /** Behind {@link #leave}; each progress thread, of which one does something. */
    void unwatch(int thread, ProgressAgent agent) {
        if (thread == THREAD && waitSet != null) {
            table.watch().remove(point());
        }
        if (thread == THREAD && wasLast) {
            agent.tables().remove(table.watch());
        }
    }
}
