package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** The readings of all rounds by cell, in the order in which they were first measured. Owner: one thread. */
final class Results {
    private final Map<Cell, Reading[]> byCell = new LinkedHashMap<>();
    private final int rounds;

    Results(int rounds) {
        this.rounds = rounds;
    }

    /**
     * One line of the result.
     *
     * @param cell   what was measured.
     * @param metric of it.
     * @param median of the rounds.
     * @param min    of the rounds.
     * @param max    of the rounds.
     * @param values by round; not a number where there is none.
     */
    record Line(Cell cell, Metric metric, double median, double min, double max, double[] values) {
    }

    void add(Cell cell, int round, Reading reading) {
        byCell.computeIfAbsent(cell, any -> new Reading[rounds])[round] = reading;
    }

    int rounds() {
        return rounds;
    }

    List<Cell> cells() {
        return List.copyOf(byCell.keySet());
    }

    /**
     * The readings of a cell.
     *
     * @return by round, with null where there is none.
     */
    Reading[] readings(Cell cell) {
        return byCell.getOrDefault(cell, new Reading[rounds]).clone();
    }

    /**
     * The values of a metric.
     *
     * @return by round, not a number where there is none.
     */
    double[] values(Cell cell, Metric metric) {
        return Arrays.stream(readings(cell)).mapToDouble(reading ->
            reading == null ? Double.NaN : reading.values().getOrDefault(metric, Double.NaN)).toArray();
    }

    /** The middle of the rounds, not a number if it was not measured. */
    double median(Cell cell, Metric metric) {
        return Statistics.median(values(cell, metric));
    }

    /** Everything that was measured. */
    List<Line> lines() {
        List<Line> lines = new ArrayList<>();
        for (Cell cell : byCell.keySet()) {
            for (Metric metric : Metric.values()) {
                double[] values = values(cell, metric);
                if (!Double.isNaN(Statistics.median(values))) {
                    lines.add(new Line(cell, metric, Statistics.median(values), Statistics.min(values),
                        Statistics.max(values), values));
                }
            }
        }
        return lines;
    }

    /** The distributions of all rounds of a cell together, or null if it has none. */
    Histogram histogram(Cell cell) {
        Histogram all = null;
        for (Reading reading : readings(cell)) {
            if (reading != null && reading.histogram() != null) {
                if (all == null) {
                    all = reading.histogram().copy();
                } else {
                    all.add(reading.histogram());
                }
            }
        }
        return all;
    }

    /** Rounds of a cell in which something was noticed. */
    int disturbedRounds(Cell cell) {
        int disturbed = 0;
        for (Reading reading : readings(cell)) {
            if (reading != null && !reading.disturbances().isEmpty()) {
                disturbed++;
            }
        }
        return disturbed;
    }
}
