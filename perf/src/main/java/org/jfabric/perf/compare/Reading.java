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
 */
record Reading(Map<Metric, Double> values, List<String> disturbances, Histogram histogram) {
    Reading {
        values = Map.copyOf(values);
        disturbances = List.copyOf(disturbances);
    }
}
