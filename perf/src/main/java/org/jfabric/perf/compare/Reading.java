package org.jfabric.perf.compare;

import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * What one round has found in one cell.
 *
 * @param values       of the metrics.
 * @param disturbances what was noticed that may have spoilt it, one sentence each; empty if nothing was.
 * @param histogram    distribution of a paced pass, or null.
 * @param handOvers    of a cache line around it, or null.
 */
record Reading(Map<Metric, Double> values, List<String> disturbances, Histogram histogram, HandOvers handOvers) {
    Reading {
        values = Map.copyOf(values);
        disturbances = List.copyOf(disturbances);
    }

    Reading(Map<Metric, Double> values, List<String> disturbances, Histogram histogram) {
        this(values, disturbances, histogram, null);
    }

    /** The same with what was measured around it. */
    Reading with(HandOvers around) {
        return new Reading(values, disturbances, histogram, around);
    }
}
