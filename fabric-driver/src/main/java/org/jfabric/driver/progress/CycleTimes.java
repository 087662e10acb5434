package org.jfabric.driver.progress;

import org.jfabric.driver.engine.EngineCounters;
import org.jfabric.driver.log.AgentLog;
import org.jfabric.driver.log.EventKind;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.driver.resource.SystemCounters;
import org.jfabric.driver.resource.TimeHistogram;

/**
 * How long duty cycles take: a histogram of the times between two reads of the clock, with four buckets for each power
 * of two. Up to 32 short cycles share one time, which is never less than the longest of them.
 *
 * <p>Owner: progress agent.
 */
public final class CycleTimes {
    /** Upper bound of the first bucket: 2^7 ns. */
    private static final int FIRST_BITS = 7;
    private static final int STEP_BITS = 2;
    private static final String NAME = "jfabric_driver_cycle_seconds";

    private final TimeHistogram histogram;
    private final SystemCounters counters;
    private final long slowNs;
    private final AgentLog log;
    private long longestNs;

    /**
     * Opens the counters.
     *
     * @param system   for the longest cycle and the slow ones.
     * @param slowNs   time from which a cycle is slow, exclusive.
     */
    public CycleTimes(EngineCounters counters, SystemCounters system, long slowNs, AgentLog log) {
        this.log = log;
        this.counters = system;
        this.slowNs = slowNs;
        this.histogram = new TimeHistogram(counters::open, FIRST_BITS, STEP_BITS, NAME);
    }

    void record(long ns, long cycles) {
        histogram.record(ns);
        if (ns > longestNs) {
            longestNs = ns;
            counters.max(SystemCounter.CYCLE_MAX_NS, ns);
        }
        if (ns > slowNs) {
            counters.add(SystemCounter.SLOW_CYCLES, 1);
            counters.set(SystemCounter.SLOW_CYCLE_TIME_MS, System.currentTimeMillis());
            log.event(EventKind.SLOW_CYCLE, 0, 0, ns, cycles, "");
        }
    }

    /** Adds what was recorded since the last call to the counters. */
    void publish() {
        histogram.publish();
    }

    /** Begins again from 0. */
    void reset() {
        longestNs = 0;
        counters.set(SystemCounter.CYCLE_MAX_NS, 0);
        counters.set(SystemCounter.SLOW_CYCLES, 0);
        counters.set(SystemCounter.SLOW_CYCLE_TIME_MS, 0);
        histogram.reset();
    }
}
