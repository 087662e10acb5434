package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * A line of the table of targets: a ratio within each round, of one of JFabric's cells to a reference; or a value of
 * its own that needs no reference. Only valid rounds count, see {@link Results.Round#isValid}.
 *
 * @param references reference values; of several, the one that is easiest to reach counts in each round; none if the
 *                   value itself counts.
 * @param must       ratio to reach: not more, or of a metric of which more is better, not less; {@link #SHOWN} if it
 *                   is shown only.
 * @param goal       the same for the goal; not a number if there is none.
 * @param goalFor    the reference of the goal, if it is another one than that of the must; else null.
 * @param least      the ratio must not be less either; 0 if it may be.
 */
record Target(String what, Cell own, CellMetric metric, List<Reference> references, double must, double goal,
    Reference goalFor, double least) {
    /** No must: the value is shown. */
    static final double SHOWN = Double.POSITIVE_INFINITY;
    /** Fewer valid rounds than that are not judged. */
    static final int LEAST_VALID_ROUNDS = 15;
    /** A control that differs from the reference by more shows that the differences are the machine's. */
    private static final double MOST_OF_CONTROL = 1.1;

    /**
     * Something to be compared with.
     *
     * @param cell      of the other contender, or another one of JFabric's.
     * @param unfit     why the other contender is no peer, so that there is no verdict: a clause; else null.
     * @param isControl true if it is the same as the other reference, and there is no verdict if they differ.
     */
    record Reference(Cell cell, double factor, String unfit, boolean isControl) {
        Reference(Cell cell, double factor) {
            this(cell, factor, null);
        }

        Reference(Cell cell, double factor, String unfit) {
            this(cell, factor, unfit, false);
        }

        static Reference control(Cell cell) {
            return new Reference(cell, 1, null, true);
        }

        private double value(Results.Round round, CellMetric metric) {
            return factor * round.value(cell, metric);
        }
    }

    /** Outcome of a target. */
    enum Outcome {
        /** Must and goal are met. */
        GOAL_MET("goal met", "goalMet"),
        /** The must is met. */
        MET("met", "met"),
        /** The must is not met. */
        MISSED("missed", "missed"),
        /** There is no must, whatever the goal is: neither a success nor a miss. */
        SHOWN("shown", "shown"),
        /** Too few rounds are valid, or the reference is no peer: no miss. */
        NOT_JUDGED("not judged", "notJudged"),
        /** No round has what is compared. */
        NOT_MEASURED("not measured", "notMeasured");

        private final String text;
        private final String key;

        Outcome(String text, String key) {
            this.text = text;
            this.key = key;
        }

        String text() {
            return text;
        }

        String key() {
            return key;
        }
    }

    /**
     * Verdict on a target.
     *
     * @param ratios   of the valid rounds, or if none is valid of all.
     * @param own      median of JFabric's values in the same rounds.
     * @param other    median of the values that they were compared with, with their factor; not a number without.
     * @param missedBy part by which the median misses the must, 0 if it does not or is not judged; of a must of 0 the
     *                 median itself.
     * @param valid    rounds of them that are valid.
     */
    record Verdict(Target target, Outcome outcome, Quartiles ratios, double own, double other, double missedBy,
        int rounds, int valid) {
        /** Returns true if any round has both values. */
        boolean measured() {
            return outcome != Outcome.NOT_MEASURED;
        }

        /** Returns true if the median meets the target. */
        boolean met() {
            return outcome == Outcome.MET || goalMet();
        }

        /** Returns true if the median meets the goal as well. */
        boolean goalMet() {
            return outcome == Outcome.GOAL_MET;
        }

        double ratio() {
            return ratios.median();
        }
    }

    Target(String what, Cell own, CellMetric metric, List<Reference> references, double must, double goal,
        Reference goalFor) {
        this(what, own, metric, references, must, goal, goalFor, 0);
    }

    Target(String what, Cell own, CellMetric metric, Cell reference, double must, double goal) {
        this(what, own, metric, List.of(new Reference(reference, 1)), must, goal, null, 0);
    }

    static Target ofValue(String what, Cell own, CellMetric metric, double must, double goal) {
        return new Target(what, own, metric, List.of(), must, goal, null, 0);
    }

    List<Cell> cells() {
        List<Cell> cells = new ArrayList<>(List.of(own));
        references.forEach(each -> cells.add(each.cell));
        return cells;
    }

    /** Returns true if there is a reference to compare with. */
    boolean isRatio() {
        return !references.isEmpty();
    }

    /** Valid rounds without which it is not judged: what does not depend on the state of the host needs one. */
    int neededRounds() {
        return metric.dependsOnHandOver() ? LEAST_VALID_ROUNDS : 1;
    }

    /** Why there is no verdict whatever the values are: a clause; null if there is one. */
    String unfit() {
        return references.stream().map(Reference::unfit).filter(Objects::nonNull).findFirst().orElse(null);
    }

    private boolean isShown() {
        return must == SHOWN || metric.moreIsBetter() && must == 0;
    }

    /** The must for people. */
    String mustText() {
        return isShown() ? "shown"
            : least > 0 ? String.format(Locale.ROOT, "%.2f to %.2f", least, must)
            : String.format(Locale.ROOT, "%.2f", must);
    }

    String goalText() {
        return Double.isNaN(goal) ? "-" : String.format(Locale.ROOT, "%.2f", goal);
    }

    Verdict judge(Results results) {
        List<Results.Round> rounds = results.rounds(metric, cells());
        List<Results.Round> counted = Results.counted(metric, rounds);
        int valid = (int) rounds.stream().filter(round -> round.isValid(metric)).count();
        Quartiles ratios = Quartiles.of(
            Results.values(counted, round -> round.value(own, metric) / reference(round, references)));
        double goalRatio = goalFor == null ? ratios.median() : Statistics.median(
            Results.values(counted, round -> round.value(own, metric) / reference(round, List.of(goalFor))));
        boolean judged = valid >= neededRounds() && unfit() == null && controlDiffersBy(results) <= MOST_OF_CONTROL;
        double missedBy = judged ? missedBy(ratios.median()) : 0;
        Outcome outcome = rounds.isEmpty() ? Outcome.NOT_MEASURED : !judged ? Outcome.NOT_JUDGED
            : isShown() ? Outcome.SHOWN : missedBy > 0 ? Outcome.MISSED
            : reaches(goalRatio, goal) ? Outcome.GOAL_MET : Outcome.MET;
        return new Verdict(this, outcome, ratios,
            Statistics.median(Results.values(counted, round -> round.value(own, metric))),
            isRatio() ? Statistics.median(Results.values(counted, round -> reference(round, references))) : Double.NaN,
            missedBy, rounds.size(), valid);
    }

    /** The factor between the median of the control and that of the reference; 1 without a control. */
    double controlDiffersBy(Results results) {
        List<Results.Round> counted = Results.counted(metric, results.rounds(metric, cells()));
        double ratio = references.stream().filter(Reference::isControl).mapToDouble(control -> Statistics.median(
            Results.values(counted, round -> control.value(round, metric) / reference(round, references))))
            .findFirst().orElse(1);
        return Math.max(ratio, 1 / ratio);
    }

    /** The value of the reference that is easiest to reach, or 1 without any. */
    private double reference(Results.Round round, List<Reference> those) {
        return those.stream().filter(each -> !each.isControl).mapToDouble(each -> each.value(round, metric))
            .reduce((one, other) -> metric.moreIsBetter() ? Math.min(one, other) : Math.max(one, other)).orElse(1);
    }

    private double missedBy(double ratio) {
        if (ratio < least) {
            return least / ratio - 1;
        }
        return reaches(ratio, must) ? 0
            : metric.moreIsBetter() ? must / ratio - 1 : must == 0 ? ratio : ratio / must - 1;
    }

    private boolean reaches(double ratio, double wanted) {
        return metric.moreIsBetter() ? ratio >= wanted : ratio <= wanted;
    }
}
