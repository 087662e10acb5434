package org.jfabric.perf.compare;

import java.util.List;

/**
 * A line of the table of targets: a ratio within each round, of one of JFabric's cells to a reference; or a value of
 * its own that needs no reference.
 *
 * @param what       for people.
 * @param own        JFabric's cell.
 * @param metric     that is compared.
 * @param references what it is compared with; of several, the one that is easiest to reach counts in each round; none
 *                   if the value itself counts.
 * @param must       ratio to reach: not more, or of a metric of which more is better, not less.
 * @param goal       the same for the goal.
 * @param goalFor    the reference of the goal, if it is another one than that of the must; else null.
 */
record Target(String what, Cell own, Metric metric, List<Reference> references, double must, double goal,
    Reference goalFor) {
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

    /**
     * What became of a target.
     *
     * @param target   judged.
     * @param ratios   of the rounds that have both values.
     * @param ratio    their median, not a number if there is none.
     * @param own      JFabric's value in the round with that ratio, or the mean of the two rounds in the middle.
     * @param other    the value that it was compared with in the same round or rounds, with its factor.
     * @param against  whose value that is; null without a reference.
     * @param near     rounds within 5 % of the must.
     * @param met      whether the median meets it and most rounds are near.
     * @param goalMet  whether the median meets the goal as well.
     * @param missedBy part by which the median misses the must, 0 if it does not; of a must of 0 the median itself.
     */
    record Verdict(
        Target target, double[] ratios, double ratio, double own, double other, Reference against, int near,
        boolean met, boolean goalMet, double missedBy) {
        boolean measured() {
            return ratios.length > 0;
        }
    }

    Target(String what, Cell own, Metric metric, Cell reference, double must, double goal) {
        this(what, own, metric, List.of(new Reference(reference, 1)), must, goal, null);
    }

    /** A target for a value of its own. */
    static Target ofValue(String what, Cell own, Metric metric, double must, double goal) {
        return new Target(what, own, metric, List.of(), must, goal, null);
    }

    Verdict judge(Results results) {
        double[] values = results.values(own, metric);
        if (!isRatio()) {
            double[] present = Statistics.present(values);
            return judge(present, new double[] {Statistics.median(present), Double.NaN}, null, results);
        }
        double[] others = reference(results);
        double[] middle = Statistics.middlePair(values, others);
        Reference against = references.getFirst();
        for (Reference each : references) {
            for (int round = 0; round < others.length; round++) {
                against = others[round] == middle[1] && scaled(results, each)[round] == middle[1] ? each : against;
            }
        }
        return judge(Statistics.pairedRatios(values, others), middle, against, results);
    }

    /** Whether there is something to compare with. */
    boolean isRatio() {
        return !references.isEmpty();
    }

    private Verdict judge(double[] ratios, double[] middle, Reference against, Results results) {
        double ratio = Statistics.median(ratios);
        int near = 0;
        for (double each : ratios) {
            near += reaches(each, must, TOLERANCE) ? 1 : 0;
        }
        double goalRatio = goalFor == null ? ratio : Statistics.median(Statistics.pairedRatios(
            results.values(own, metric), scaled(results, goalFor)));
        boolean met = ratios.length > 0 && reaches(ratio, must, 1) && 2 * near > ratios.length;
        double missedBy = ratios.length == 0 || reaches(ratio, must, 1) ? 0
            : metric.moreIsBetter() ? must / ratio - 1 : must == 0 ? ratio : ratio / must - 1;
        return new Verdict(this, ratios, ratio, middle[0], middle[1], against, near, met,
            met && reaches(goalRatio, goal, 1), missedBy);
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
