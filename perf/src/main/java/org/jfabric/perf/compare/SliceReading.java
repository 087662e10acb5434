package org.jfabric.perf.compare;

import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * What a slice of a cell has found.
 *
 * @param histogram distribution of a paced pass, or null.
 * @param waited    part of the time that one of the sides waited for its core, because another program had it.
 */
record SliceReading(Map<CellMetric, Double> values, Histogram histogram, double waited) {
    /** Another program that has the core once has it longer, and a slice without one waits for much less. */
    private static final double MOST_WAITED = 0.05;

    SliceReading {
        values = Map.copyOf(values);
    }

    SliceReading(Map<CellMetric, Double> values, Histogram histogram) {
        this(values, histogram, 0);
    }

    /** Returns true if the sides had their cores for themselves. */
    boolean hadCores() {
        return waited <= MOST_WAITED;
    }

    /** The value of a metric, not a number if there is none. */
    double value(CellMetric metric) {
        return values.getOrDefault(metric, Double.NaN);
    }
}
