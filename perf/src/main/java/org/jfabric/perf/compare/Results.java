package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/** The readings of all rounds by cell, in the order in which they were first measured. Owner: one thread. */
final class Results {
    /** Longest hand-over that is valid, if nothing else is wanted. */
    static final double MAX_HAND_OVER_NS = 70;

    private final Map<Cell, List<Reading>> byCell = new LinkedHashMap<>();
    private final int wanted;
    private final double maxHandOverNs;
    private int rounds;

    /**
     * No readings yet.
     *
     * @param wanted rounds that should be valid.
     */
    Results(int wanted) {
        this(wanted, MAX_HAND_OVER_NS);
    }

    /**
     * No readings yet.
     *
     * @param wanted        rounds that should be valid.
     * @param maxHandOverNs longest hand-over of a cache line around a cell that is valid.
     */
    Results(int wanted, double maxHandOverNs) {
        this.wanted = wanted;
        this.maxHandOverNs = maxHandOverNs;
    }

    /**
     * One line of the result.
     *
     * @param cell        the cell that was measured.
     * @param metric      of it.
     * @param median      of the valid rounds, or if none is valid of all.
     * @param min         of the same rounds.
     * @param max         of the same rounds.
     * @param values      by round, of all rounds; not a number where there is none.
     * @param inHandOvers median of the same rounds in hand-overs of the same cell; not a number if the metric is no
     *                    time or no hand-over was measured.
     * @param states      the rounds by state; of a metric that does not depend on the hand-over all are valid.
     */
    record Line(Cell cell, Metric metric, double median, double min, double max, double[] values,
        double inHandOvers, Map<RoundState, Spread> states) {
        /** Rounds that count. */
        int validRounds() {
            return states.containsKey(RoundState.VALID) ? states.get(RoundState.VALID).rounds() : 0;
        }
    }

    void add(Cell cell, int round, Reading reading) {
        List<Reading> readings = byCell.computeIfAbsent(cell, any -> new ArrayList<>());
        while (readings.size() <= round) {
            readings.add(null);
        }
        readings.set(round, reading);
        rounds = Math.max(rounds, round + 1);
    }

    /** Rounds begun so far; not every cell is in each of them. */
    int rounds() {
        return rounds;
    }

    /** Valid rounds that each target should have. */
    int wanted() {
        return wanted;
    }

    /** Longest hand-over that is valid. */
    double maxHandOverNs() {
        return maxHandOverNs;
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
        return byCell.getOrDefault(cell, List.of()).toArray(new Reading[rounds]);
    }

    /**
     * The values of a metric.
     *
     * @return by round, not a number where there is none.
     */
    double[] values(Cell cell, Metric metric) {
        return Arrays.stream(readings(cell)).mapToDouble(reading -> value(reading, metric)).toArray();
    }

    private static double value(Reading reading, Metric metric) {
        if (reading == null) {
            return Double.NaN;
        }
        if (metric.inHandOversOf() != null) {
            return reading.handOvers() == null ? Double.NaN
                : value(reading, metric.inHandOversOf()) / reading.handOvers().meanNs();
        }
        return reading.values().getOrDefault(metric, Double.NaN);
    }

    /** The middle of the rounds that {@link Line} is about, not a number if it was not measured. */
    double median(Cell cell, Metric metric) {
        Spread valid = Spread.of(only(RoundState.VALID, values(cell, metric), states(metric, cell)));
        return valid.rounds() > 0 ? valid.median() : Statistics.median(values(cell, metric));
    }

    /**
     * The state of each round, of several cells together.
     *
     * @param metric that is compared.
     * @param cells  all that are compared.
     * @return by round.
     */
    RoundState[] states(Metric metric, Cell... cells) {
        RoundState[] states = new RoundState[rounds];
        for (int i = 0; i < rounds; i++) {
            int round = i;
            states[round] = !metric.dependsOnHandOver() ? RoundState.VALID
                : RoundState.of(maxHandOverNs, Stream.of(cells).map(cell -> readings(cell)[round])
                    .map(reading -> reading == null ? null : reading.handOvers()).toArray(HandOvers[]::new));
        }
        return states;
    }

    /** The values of the rounds of one state; not a number for the others. */
    static double[] only(RoundState state, double[] values, RoundState[] states) {
        double[] only = values.clone();
        for (int round = 0; round < only.length; round++) {
            only[round] = states[round] == state ? only[round] : Double.NaN;
        }
        return only;
    }

    /** The values by state, without the states that no round has. */
    static Map<RoundState, Spread> byState(double[] values, RoundState[] states) {
        Map<RoundState, Spread> spreads = new EnumMap<>(RoundState.class);
        for (RoundState state : RoundState.values()) {
            Spread spread = Spread.of(only(state, values, states));
            if (spread.rounds() > 0) {
                spreads.put(state, spread);
            }
        }
        return spreads;
    }

    /** Everything that was measured. */
    List<Line> lines() {
        List<Line> lines = new ArrayList<>();
        for (Cell cell : byCell.keySet()) {
            for (Metric metric : Metric.values()) {
                double[] values = values(cell, metric);
                if (metric.inHandOversOf() == null && !Double.isNaN(Statistics.median(values))) {
                    lines.add(line(cell, metric, values));
                }
            }
        }
        return lines;
    }

    private Line line(Cell cell, Metric metric, double[] values) {
        RoundState[] states = states(metric, cell);
        Map<RoundState, Spread> byState = byState(values, states);
        boolean valid = byState.containsKey(RoundState.VALID);
        Spread shown = valid ? byState.get(RoundState.VALID) : Spread.of(values);
        double[] inHandOvers = new double[values.length];
        Reading[] readings = readings(cell);
        for (int round = 0; round < values.length; round++) {
            inHandOvers[round] = metric.isTime() && readings[round] != null && readings[round].handOvers() != null
                ? values[round] / readings[round].handOvers().meanNs() : Double.NaN;
        }
        return new Line(cell, metric, shown.median(), shown.min(), shown.max(), values,
            Statistics.median(valid ? only(RoundState.VALID, inHandOvers, states) : inHandOvers), byState);
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
