package org.jfabric.driver.resource;

import java.math.BigDecimal;
import java.util.Arrays;
import org.agrona.UnsafeApi;
import org.jfabric.layout.MetricLabel;

/**
 * Times counted in buckets, published as a histogram among the counters of the {@code cnc} file. Each power of two has
 * the same number of buckets, up to 2<sup>34</sup> ns, 17 s.
 *
 * <p>A time is counted in memory of this thread; {@link #publish()} adds it to the counters. Owner: progress agent.
 */
public final class TimeHistogram {
    /** The last bucket with a bound ends at 2^34 ns. */
    private static final int LAST_BITS = 34;

    private final int firstBits;
    private final int stepBits;
    private final int[] counts;
    private final long[] addresses;
    private final long sumAddress;
    private long sumNs;
    private boolean changed;

    /** Opens a counter of the {@code cnc} file. */
    @FunctionalInterface
    public interface CounterOpener {
        /**
         * Opens a counter.
         *
         * @param type  {@link MetricLabel#BUCKET} or {@link MetricLabel#SUM}.
         * @param label of the form of {@link MetricLabel}.
         * @return native address of its 8 bytes; one writer, the progress agent.
         */
        long open(int type, String label);
    }

    /**
     * Opens the counters.
     *
     * @param firstBits the first bucket ends at 2 to the power of this, in nanoseconds.
     * @param stepBits  each power of two has 2 to the power of this buckets.
     */
    public TimeHistogram(CounterOpener counters, int firstBits, int stepBits, String name, String... labels) {
        this.firstBits = firstBits;
        this.stepBits = stepBits;
        this.counts = new int[(LAST_BITS - firstBits << stepBits) + 2];
        this.addresses = new long[counts.length];
        String[] bucketLabels = Arrays.copyOf(labels, labels.length + 2);
        bucketLabels[labels.length] = "le";
        for (int i = 0; i < addresses.length; i++) {
            bucketLabels[labels.length + 1] = i == addresses.length - 1 ? "+Inf" : seconds(boundNs(i));
            addresses[i] = counters.open(MetricLabel.BUCKET, MetricLabel.text(name, bucketLabels));
        }
        sumAddress = counters.open(MetricLabel.SUM, MetricLabel.text(name, labels));
    }

    /**
     * Counts a time.
     *
     * @param ns 0 or more.
     */
    public void record(long ns) {
        counts[bucket(ns)]++;
        sumNs += ns;
        changed = true;
    }

    /** Adds what was counted since the last call to the counters. */
    public void publish() {
        if (!changed) {
            return;
        }
        changed = false;
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] != 0) {
                add(addresses[i], counts[i]);
                counts[i] = 0;
            }
        }
        add(sumAddress, sumNs);
        sumNs = 0;
    }

    /** Begins again from 0. */
    public void reset() {
        Arrays.fill(counts, 0);
        sumNs = 0;
        changed = false;
        for (long address : addresses) {
            UnsafeApi.putLongRelease(null, address, 0);
        }
        UnsafeApi.putLongRelease(null, sumAddress, 0);
    }

    /** Number of buckets, with the last one, which has no bound. */
    int buckets() {
        return counts.length;
    }

    /** The bucket of a time: the first whose bound is not less. */
    int bucket(long ns) {
        long below = ns - 1;
        if (below < 1L << firstBits) {
            return 0;
        }
        int bits = 63 - Long.numberOfLeadingZeros(below);
        return bits >= LAST_BITS ? counts.length - 1
            : (bits - firstBits << stepBits) + (int) (below >>> bits - stepBits & steps() - 1) + 1;
    }

    /** Upper bound of a bucket, itself included. */
    long boundNs(int bucket) {
        if (bucket == 0) {
            return 1L << firstBits;
        }
        int bits = firstBits + (bucket - 1 >> stepBits);
        return steps() + 1 + (bucket - 1 & steps() - 1) << bits - stepBits;
    }

    private long steps() {
        return 1L << stepBits;
    }

    /** Exact decimal text of nanoseconds in seconds. */
    private static String seconds(long ns) {
        return BigDecimal.valueOf(ns, 9).stripTrailingZeros().toPlainString();
    }

    private static void add(long address, long amount) {
        UnsafeApi.putLongRelease(null, address, UnsafeApi.getLong(address) + amount);
    }
}
