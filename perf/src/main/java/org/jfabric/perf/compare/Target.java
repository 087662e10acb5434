package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A line of the table of targets: a ratio within each round, of one of JFabric's cells to a reference; or a value of
 * its own that needs no reference. Only valid rounds count, see {@link RoundState}.
 *
 * @param what       for people.
 * @param own        JFabric's cell.
 * @param metric     that is compared.
 * @param references reference values; of several, the one that is easiest to reach counts in each round; none if the
 *                   value itself counts.
 * @param must       ratio to reach: not more, or of a metric of which more is better, not less; {@link #SHOWN} if any
 *                   value will do.
 * @param goal       the same for the goal; not a number if there is none.
 * @param goalFor    the reference of the goal, if it is another one than that of the must; else null.
 * @param least      the ratio must not be less either; 0 if it may be.
 */
record Target(String what, Cell own, Metric metric, List<Reference> references, double must, double goal,
    Reference goalFor, double least) {
    /** A must that is met by any value: the target is shown. */
    static final double SHOWN = Double.POSITIVE_INFINITY;
    /** Fewer valid rounds than that are not judged. */
    static final int LEAST_VALID_ROUNDS = 7;

    /** A round is near if its ratio misses by no more than this. */
    private static final double TOLERANCE = 1.05;

    /**
     * Something to be compared with.
     *
     * @param cell   of the other contender, or another one of JFabric's.
     * @param factor of its value.
     */
    record Reference(Cell cell, double factor) {
    }

    /** Outcome of a target. */
    enum Outcome {
        /** Must and goal are met. */
        GOAL_MET("goal met", "goalMet"),
        /** The must is met. */
        MET("met", "met"),
        /** The must is not met. */
        MISSED("missed", "missed"),
        /** Too few rounds are valid, which is no miss. */
        NOT_JUDGED("not judged", "notJudged"),
        /** No round has what is compared. */
        NOT_MEASURED("not measured", "notMeasured");

        private final String text;
        private final String key;

        Outcome(String text, String key) {
            this.text = text;
            this.key = key;
        }

        /** For people. */
        String text() {
            return text;
        }

        /** In JSON. */
        String key() {
            return key;
        }
    }

    /**
     * Verdict on a target.
     *
     * @param target   judged.
     * @param outcome  in one word.
     * @param ratios   of the valid rounds that have both values.
     * @param ratio    their median; of all rounds if none is valid; not a number if there is none at all.
     * @param own      JFabric's value in the round with that ratio, or the mean of the two rounds in the middle.
     * @param other    the value that it was compared with in the same round or rounds, with its factor.
     * @param against  whose value that is; null without a reference.
     * @param near     valid rounds within 5 % of the must.
     * @param missedBy part by which the median misses the must, 0 if it does not or is not judged; of a must of 0 the
     *                 median itself.
     * @param states   the ratios of all rounds by their state.
     */
    record Verdict(
        Target target, Outcome outcome, double[] ratios, double ratio, double own, double other, Reference against,
        int near, double missedBy, Map<RoundState, Spread> states) {
        /** Returns true if any round has both values. */
        boolean measured() {
            return outcome != Outcome.NOT_MEASURED;
        }

        /** Returns true if the median meets the target and most rounds are near it. */
        boolean met() {
            return outcome == Outcome.MET || goalMet();
        }

        /** Returns true if the median meets the goal as well. */
        boolean goalMet() {
            return outcome == Outcome.GOAL_MET;
        }

        /** Rounds that count. */
        int validRounds() {
            return ratios.length;
        }
    }

    Target(String what, Cell own, Metric metric, List<Reference> references, double must, double goal,
        Reference goalFor) {
        this(what, own, metric, references, must, goal, goalFor, 0);
    }

    Target(String what, Cell own, Metric metric, Cell reference, double must, double goal) {
        this(what, own, metric, List.of(new Reference(reference, 1)), must, goal, null, 0);
    }

    /** A target for a value of its own. */
    static Target ofValue(String what, Cell own, Metric metric, double must, double goal) {
        return new Target(what, own, metric, List.of(), must, goal, null, 0);
    }

    /** All cells that it takes. */
    List<Cell> cells() {
        List<Cell> cells = new ArrayList<>(List.of(own));
        references.forEach(each -> cells.add(each.cell));
        return cells;
    }

    /** Returns true if there is a reference to compare with. */
    boolean isRatio() {
        return !references.isEmpty();
    }

    /** Valid rounds without which it is not judged: what is counted once needs one. */
    int neededRounds() {
        return metric.dependsOnHandOver() ? LEAST_VALID_ROUNDS : 1;
    }

    /** The must for people. */
    String mustText() {
        return must == SHOWN ? "shown" : least > 0 ? String.format(Locale.ROOT, "%.2f to %.2f", least, must)
            : String.format(Locale.ROOT, "%.2f", must);
    }

    /** The goal for people. */
    String goalText() {
        return Double.isNaN(goal) ? "-" : String.format(Locale.ROOT, "%.2f", goal);
    }

    Verdict judge(Results results) {
        RoundState[] states = results.states(metric, cells().toArray(Cell[]::new));
        double[] values = results.values(own, metric);
        double[] others = isRatio() ? reference(results) : Stream.of(states).mapToDouble(state -> 1).toArray();
        double[] ratios = Statistics.pairedRatios(values, others);
        Map<RoundState, Spread> byState = new EnumMap<>(Results.byState(ratios, states));
        double[] valid = Results.only(RoundState.VALID, ratios, states);
        boolean anyValid = byState.containsKey(RoundState.VALID);
        double[] middle = Statistics.middlePair(
            anyValid ? Results.only(RoundState.VALID, values, states) : values, others);
        double goalRatio = goalFor == null ? Statistics.median(valid)
            : Statistics.median(Results.only(
                RoundState.VALID, Statistics.pairedRatios(values, scaled(results, goalFor)), states));
        return verdict(Statistics.present(valid), Statistics.median(anyValid ? valid : ratios), goalRatio,
            isRatio() ? middle : new double[] {Statistics.median(anyValid ? valid : ratios), Double.NaN},
            against(results, others, middle[1]), byState);
    }

    /** Whose value the one in the middle is. */
    private Reference against(Results results, double[] others, double value) {
        Reference against = isRatio() ? references.getFirst() : null;
        for (Reference each : references) {
            double[] scaled = scaled(results, each);
            for (int round = 0; round < others.length; round++) {
                against = others[round] == value && scaled[round] == value ? each : against;
            }
        }
        return against;
    }

    private Verdict verdict(double[] ratios, double ratio, double goalRatio, double[] middle, Reference against,
        Map<RoundState, Spread> states) {
        int near = 0;
        for (double each : ratios) {
            near += reaches(each, must, TOLERANCE) && each * TOLERANCE >= least ? 1 : 0;
        }
        Outcome outcome;
        double missedBy = 0;
        if (states.isEmpty()) {
            outcome = Outcome.NOT_MEASURED;
        } else if (ratios.length < neededRounds()) {
            outcome = Outcome.NOT_JUDGED;
        } else {
            missedBy = missedBy(ratio);
            outcome = missedBy > 0 || 2 * near <= ratios.length ? Outcome.MISSED
                : reaches(goalRatio, goal, 1) ? Outcome.GOAL_MET : Outcome.MET;
        }
        return new Verdict(this, outcome, ratios, ratio, middle[0], middle[1], against, near, missedBy, states);
    }

    private double missedBy(double ratio) {
        if (ratio < least) {
            return least / ratio - 1;
        }
        return reaches(ratio, must, 1) ? 0
            : metric.moreIsBetter() ? must / ratio - 1 : must == 0 ? ratio : ratio / must - 1;
    }

    private boolean reaches(double ratio, double wanted, double tolerance) {
        return metric.moreIsBetter() ? ratio * tolerance >= wanted : ratio <= wanted * tolerance;
    }

    private double[] reference(Results results) {
        double[] easiest = scaled(results, references.getFirst());
        for (Reference reference : references) {
            double[] values = scaled(results, reference);
            for (int i = 0; i < easiest.length; i++) {
                // Of two that are both there; a missing one leaves the round out.
                easiest[i] = metric.moreIsBetter() ? Math.min(easiest[i], values[i]) : Math.max(easiest[i], values[i]);
            }
        }
        return easiest;
    }

    private double[] scaled(Results results, Reference reference) {
        double[] values = results.values(reference.cell, metric);
        for (int i = 0; i < values.length; i++) {
            values[i] *= reference.factor;
        }
        return values;
    }
}
