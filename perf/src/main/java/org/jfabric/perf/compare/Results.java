package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/** The rounds of a run. Owner: one thread. */
final class Results {
    private final List<Round> rounds = new ArrayList<>();

    /**
     * A slice of each cell that is compared.
     *
     * @param handOvers around the slices; null if there is nothing that depends on them.
     */
    record Round(HandOvers handOvers, Map<Cell, SliceReading> readings) {
        /** The value of a cell, not a number if there is none. */
        double value(Cell cell, CellMetric metric) {
            SliceReading reading = readings.get(cell);
            if (reading == null) {
                return Double.NaN;
            }
            CellMetric time = metric.inHandOversOf();
            return time == null ? reading.value(metric)
                : handOvers == null ? Double.NaN : reading.value(time) / handOvers.meanNs();
        }

        /** Returns true if the host was in one state in all slices, and all sides had their cores. */
        boolean isValid() {
            return handOvers != null && handOvers.alike()
                && readings.values().stream().allMatch(SliceReading::hadCores);
        }

        /** Returns true if the values of a metric count. */
        boolean isValid(CellMetric metric) {
            return !metric.dependsOnHandOver() || isValid();
        }
    }

    /**
     * One line of the result.
     *
     * @param values      of the valid rounds, or if none is valid of all.
     * @param inHandOvers median of the same rounds in their hand-overs; not a number if the metric is no time or no
     *                    hand-over was measured.
     * @param valid       number of rounds that are valid.
     */
    record Line(Cell cell, CellMetric metric, List<Round> rounds, Quartiles values, double inHandOvers, int valid) {
    }

    void add(HandOvers handOvers, Map<Cell, SliceReading> readings) {
        rounds.add(new Round(handOvers, readings));
    }

    /** All rounds so far. */
    int rounds() {
        return rounds.size();
    }

    /** Rounds that are valid. */
    long validRounds() {
        return rounds.stream().filter(Round::isValid).count();
    }

    /** The cells by pass and size, those of one kind in the order in which they were first measured. */
    List<Cell> cells() {
        Set<Cell> cells = new LinkedHashSet<>();
        rounds.forEach(round -> cells.addAll(round.readings.keySet()));
        return cells.stream().sorted(Comparator.comparing(Cell::pass).thenComparing(Cell::sizeBytes)).toList();
    }

    /** The rounds that have a value of a metric in each of some cells. */
    List<Round> rounds(CellMetric metric, List<Cell> cells) {
        return rounds.stream()
            .filter(round -> cells.stream().noneMatch(cell -> Double.isNaN(round.value(cell, metric)))).toList();
    }

    /** The valid ones of some rounds, or if none is valid all. */
    static List<Round> counted(CellMetric metric, List<Round> rounds) {
        List<Round> valid = rounds.stream().filter(round -> round.isValid(metric)).toList();
        return valid.isEmpty() ? rounds : valid;
    }

    static double[] values(List<Round> rounds, ToDoubleFunction<Round> value) {
        return rounds.stream().mapToDouble(value).toArray();
    }

    /** The median that {@link Line} is about, not a number if it was not measured. */
    double median(Cell cell, CellMetric metric) {
        return Statistics.median(
            values(counted(metric, rounds(metric, List.of(cell))), round -> round.value(cell, metric)));
    }

    /** Everything that was measured. */
    List<Line> lines() {
        List<Line> lines = new ArrayList<>();
        for (Cell cell : cells()) {
            for (CellMetric metric : CellMetric.values()) {
                List<Round> own = metric.inHandOversOf() == null ? rounds(metric, List.of(cell)) : List.of();
                if (!own.isEmpty()) {
                    lines.add(line(cell, metric, own));
                }
            }
        }
        return lines;
    }

    private static Line line(Cell cell, CellMetric metric, List<Round> own) {
        List<Round> counted = counted(metric, own);
        double[] inHandOvers = values(counted, round -> metric.isTime() && round.handOvers != null
            ? round.value(cell, metric) / round.handOvers.meanNs() : Double.NaN);
        return new Line(cell, metric, own, Quartiles.of(values(counted, round -> round.value(cell, metric))),
            Statistics.median(inHandOvers), (int) own.stream().filter(round -> round.isValid(metric)).count());
    }

    /** The distributions of all rounds of a cell together, or null if it has none. */
    Histogram histogram(Cell cell) {
        return rounds.stream().map(round -> round.readings.get(cell)).filter(Objects::nonNull)
            .map(SliceReading::histogram).filter(Objects::nonNull).reduce((all, each) -> {
                Histogram both = all.copy();
                both.add(each);
                return both;
            }).orElse(null);
    }
}
