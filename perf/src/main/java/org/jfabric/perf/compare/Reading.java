package org.jfabric.perf.compare;

import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * Result of one round in one cell.
 *
 * @param values       of the metrics.
 * @param disturbances events that may have spoilt it, one sentence each; empty if there were none.
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
