package org.jfabric.driver.stream.table;

import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.WaitPoint;
import org.jfabric.layout.TableDescriptor;

/**
 * Looks for changes of one table and wakes the readers that sleep. The writer says nothing to the driver, unless that
 * sleeps and the word <em>watched</em> is set. Owner: progress agent.
 */
public final class TableWatch {
    private final long address;
    private final List<Reader> readers = new ArrayList<>();
    private long seen;
    private boolean isWatched;
    private boolean isCut;

    /** A reader that may sleep, and whether it rings the driver's doorbell when it does. */
    private record Reader(WaitPoint point, boolean rings) {
    }

    TableWatch(long address) {
        this.address = address;
    }

    /**
     * A reader can sleep from now on.
     *
     * @param rings whether it wakes a sleeping driver before it sleeps itself.
     */
    public void add(WaitPoint point, boolean rings) {
        readers.add(new Reader(point, rings));
    }

    /** Ends {@link #add}: the point's memory is not accessed for this reader any more. */
    public void remove(WaitPoint point) {
        for (int i = 0; i < readers.size(); i++) {
            if (readers.get(i).point == point) {
                // readers of one wait set have one point: one of them goes
                readers.remove(i);
                return;
            }
        }
    }

    /** Wakes those who sleep if there was a change. Returns how many there were. */
    int poll() {
        // the version stays in the writer's cache while nobody sleeps
        if (!isWanted(false)) {
            return 0;
        }
        long version = version();
        if (version == seen) {
            return 0;
        }
        int woken = 0;
        for (int i = 0; i < readers.size(); i++) {
            woken += readers.get(i).point.onChange() ? 1 : 0;
        }
        // last: if a late fault of a client's memory is raised in here, the next call wakes the others
        seen = version;
        return woken;
    }

    /** As {@link #poll}, with a driver that has announced its sleep: a change from now on wakes it, if need be. */
    int pollBeforeSleep() {
        boolean wanted = isWanted(true);
        if (wanted != isWatched) {
            isWatched = wanted;
            store(wanted ? 1 : 0);
            // the writer stores the version, fences and loads the word
            UnsafeApi.fullFence();
        }
        return poll();
    }

    /** Whether a reader sleeps; or, if that counts, will perhaps without ringing. */
    private boolean isWanted(boolean countsSilent) {
        for (int i = 0; i < readers.size(); i++) {
            if (countsSilent && !readers.get(i).rings || readers.get(i).point.isWanted()) {
                return true;
            }
        }
        return false;
    }

    /** A table that was cut changes no more: its readers find that out themselves. */
    private long version() {
        try {
            long version = isCut ? seen : UnsafeApi.getLongAcquire(null, address + TableDescriptor.VERSION_OFFSET);
            FaultPoint.pass();
            return version;
        } catch (InternalError cut) {
            isCut = true;
            return seen;
        }
    }

    private void store(int watched) {
        try {
            if (!isCut) {
                UnsafeApi.putIntVolatile(null, address + TableDescriptor.WATCHED_OFFSET, watched);
            }
            FaultPoint.pass();
        } catch (InternalError cut) {
            isCut = true;
        }
    }
}
