package org.jfabric.driver.resource;

import org.agrona.concurrent.status.AtomicCounter;
import org.agrona.concurrent.status.CountersManager;

/**
 * The counters of {@link SystemCounter}, made in the order of the constants so that the id is the ordinal.
 *
 * <p>Any thread may add; counters of only one thread are written without a locked instruction.
 */
public final class SystemCounters {
    private final AtomicCounter[] counters = new AtomicCounter[SystemCounter.count()];

    public SystemCounters(CountersManager manager) {
        for (SystemCounter counter : SystemCounter.values()) {
            counters[counter.ordinal()] = manager.newCounter(counter.label());
        }
    }

    /**
     * Adds to a counter; any thread.
     *
     * @param amount  may be negative.
     */
    public void add(SystemCounter counter, long amount) {
        counters[counter.ordinal()].getAndAdd(amount);
    }

    /**
     * Raises a counter that only the calling thread writes.
     *
     * @param value   the new value, if it is the greatest so far.
     */
    public void max(SystemCounter counter, long value) {
        counters[counter.ordinal()].proposeMaxRelease(value);
    }

    /** Sets a counter that only the calling thread writes. */
    public void set(SystemCounter counter, long value) {
        counters[counter.ordinal()].setRelease(value);
    }

    public long value(SystemCounter counter) {
        return counters[counter.ordinal()].get();
    }
}
