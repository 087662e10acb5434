package org.jfabric.driver.metrics;

import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A value that is measured, or a histogram.
 *
 * @param name    of its family, with the unit and without a suffix such as {@code _total}.
 * @param labels  what is measured; with {@link #name} unique in a snapshot.
 * @param value   in base units: seconds, bytes, numbers; of a histogram the sum of its entries.
 * @param buckets of a histogram, by bound; otherwise empty.
 */
public record Metric(String name, Kind kind, Map<String, String> labels, BigDecimal value, List<Bucket> buckets) {
    /** How a value changes, by the terms of OpenMetrics. */
    public enum Kind {
        /** It only grows, until its object ends. */
        COUNTER,
        /** It goes up and down. */
        GAUGE,
        /** Always 1; the labels are the information. */
        INFO,
        /** Entries counted by their size. */
        HISTOGRAM,
        /** Any of these. */
        UNKNOWN;

        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * One bucket of a histogram.
     *
     * @param bound greatest value in it, as a decimal, or {@code +Inf}.
     * @param count its own entries, without those of smaller buckets.
     */
    public record Bucket(String bound, long count) {
    }

    /**
     * The unit, by which the name ends. Returns {@code bytes}, {@code seconds}, or an empty text for a plain number.
     */
    public String unit() {
        return name.endsWith("_bytes") ? "bytes" : name.endsWith("_seconds") ? "seconds" : "";
    }

    /** The number of entries of a histogram. */
    public long count() {
        return buckets.stream().mapToLong(Bucket::count).sum();
    }

    /**
     * The bound that a share of a histogram's entries does not exceed.
     *
     * @param share above 0, 1 at most.
     * @return the bound of a bucket, null without entries, positive infinity beyond the last bound.
     */
    public Double quantile(double share) {
        long wanted = Math.max(1, (long) Math.ceil(count() * share));
        long below = 0;
        for (Bucket bucket : buckets) {
            below += bucket.count();
            if (below >= wanted) {
                return bucket.bound().equals("+Inf") ? Double.POSITIVE_INFINITY : Double.valueOf(bucket.bound());
            }
        }
        return null;
    }
}
