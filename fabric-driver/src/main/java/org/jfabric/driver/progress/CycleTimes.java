package org.jfabric.driver.progress;

import java.math.BigDecimal;
import java.util.Arrays;
import org.agrona.UnsafeApi;
import org.jfabric.driver.engine.EngineCounters;
import org.jfabric.driver.log.AgentLog;
import org.jfabric.driver.log.EventKind;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.driver.resource.SystemCounters;
import org.jfabric.layout.MetricLabel;

/**
 * How long duty cycles take: a histogram of the times between two reads of the clock, with four buckets for each power
 * of two. Up to 32 short cycles share one time, which is never less than the longest of them.
 *
 * <p>A time is counted in memory of this thread; {@link #publish()} adds it to the counters. Owner: progress agent.
 */
public final class CycleTimes {
    /** Upper bound of the first bucket: 2^7 ns. */
    private static final int FIRST_BITS = 7;
    /** The last bucket with a bound ends at 2^34 ns, 17 s. */
    private static final int LAST_BITS = 34;
    /** Buckets with a bound, and one for what is longer. */
    static final int BUCKETS = ((LAST_BITS - FIRST_BITS) << 2) + 2;
    private static final String NAME = "jfabric_driver_cycle_seconds";

    private final int[] counts = new int[BUCKETS];
    private final long[] addresses = new long[BUCKETS];
    private final long sumAddress;
    private final SystemCounters counters;
    private final long slowNs;
    private final AgentLog log;
    private long sumNs;
    private long longestNs;

    /**
     * Opens the counters.
     *
     * @param counters of the driver.
     * @param system   for the longest cycle and the slow ones.
     * @param slowNs   time from which a cycle is slow, exclusive.
     * @param log      of the agent, for slow cycles.
     */
    public CycleTimes(EngineCounters counters, SystemCounters system, long slowNs, AgentLog log) {
        this.log = log;
        this.counters = system;
        this.slowNs = slowNs;
        for (int i = 0; i < BUCKETS; i++) {
            addresses[i] = counters.open(
                MetricLabel.BUCKET, MetricLabel.text(NAME, "le", i == BUCKETS - 1 ? "+Inf" : seconds(boundNs(i))));
        }
        sumAddress = counters.open(MetricLabel.SUM, MetricLabel.text(NAME));
    }

    /** Exact decimal text of nanoseconds in seconds. */
    private static String seconds(long ns) {
        return BigDecimal.valueOf(ns, 9).stripTrailingZeros().toPlainString();
    }

    /** The bucket of a time: the first whose bound is not less. */
    static int bucket(long ns) {
        long below = ns - 1;
        if (below < 1L << FIRST_BITS) {
            return 0;
        }
        int bits = 63 - Long.numberOfLeadingZeros(below);
        return bits >= LAST_BITS ? BUCKETS - 1 : ((bits - FIRST_BITS) << 2) + (int) (below >>> bits - 2 & 3) + 1;
    }

    /** Upper bound of a bucket, itself included. */
    static long boundNs(int bucket) {
        if (bucket == 0) {
            return 1L << FIRST_BITS;
        }
        int bits = FIRST_BITS + (bucket - 1 >> 2);
        return 5L + (bucket - 1 & 3) << bits - 2;
    }

    /**
     * Records a time.
     *
     * @param ns     between two reads of the clock.
     * @param cycles that share it.
     */
    void record(long ns, long cycles) {
        counts[bucket(ns)]++;
        sumNs += ns;
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
        if (sumNs == 0) {
            return;
        }
        for (int i = 0; i < BUCKETS; i++) {
            if (counts[i] != 0) {
                add(addresses[i], counts[i]);
                counts[i] = 0;
            }
        }
        add(sumAddress, sumNs);
        sumNs = 0;
    }

    /** Begins again from 0. */
    void reset() {
        Arrays.fill(counts, 0);
        sumNs = 0;
        longestNs = 0;
        counters.set(SystemCounter.CYCLE_MAX_NS, 0);
        counters.set(SystemCounter.SLOW_CYCLES, 0);
        counters.set(SystemCounter.SLOW_CYCLE_TIME_MS, 0);
        for (long address : addresses) {
            UnsafeApi.putLongRelease(null, address, 0);
        }
        UnsafeApi.putLongRelease(null, sumAddress, 0);
    }

    private static void add(long address, long amount) {
        UnsafeApi.putLongRelease(null, address, UnsafeApi.getLong(address) + amount);
    }
}
