package org.jfabric.driver.stream.table;

import java.util.ArrayList;
import java.util.List;

/** The tables of a driver, as its progress thread sees them; without any, a cycle tests one empty list. */
public final class TableWatches {
    private final List<TableWatch> watches = new ArrayList<>();

    public TableWatches() {
    }

    public void add(TableWatch watch) {
        watches.add(watch);
    }

    /** The memory of that table is not accessed any more. */
    public void remove(TableWatch watch) {
        watches.remove(watch);
    }

    /** Wakes readers of tables that have changed. Returns their number. */
    public int poll() {
        int work = 0;
        for (int i = 0; i < watches.size(); i++) {
            work += watches.get(i).poll();
        }
        return work;
    }

    /** The same, after the driver has announced that it sleeps. */
    public int pollBeforeSleep() {
        int work = 0;
        for (int i = 0; i < watches.size(); i++) {
            work += watches.get(i).pollBeforeSleep();
        }
        return work;
    }
}
