package org.jfabric.perf.compare;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/** Summaries of the values of the rounds. */
final class Statistics {
    private Statistics() {
    }

    /**
     * The middle value, or the mean of the two in the middle.
     *
     * @param values at least one; those that are not a number are left out.
     * @return not a number if there is none.
     */
    static double median(double... values) {
        double[] sorted = Arrays.stream(values).filter(value -> !Double.isNaN(value)).sorted().toArray();
        int middle = sorted.length / 2;
        if (sorted.length == 0) {
            return Double.NaN;
        }
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /** The values that are there. */
    static double[] present(double... values) {
        return Arrays.stream(values).filter(value -> !Double.isNaN(value)).toArray();
    }

    static double min(double... values) {
        return Arrays.stream(values).filter(value -> !Double.isNaN(value)).min().orElse(Double.NaN);
    }

    static double max(double... values) {
        return Arrays.stream(values).filter(value -> !Double.isNaN(value)).max().orElse(Double.NaN);
    }

    /**
     * The ratio of each round: what disturbs a machine for longer than a cell disturbs both of its values.
     *
     * @param own   values by round.
     * @param other values by round, as many.
     * @return by round; not a number where one of the two is missing.
     */
    static double[] pairedRatios(double[] own, double[] other) {
        double[] ratios = new double[own.length];
        for (int round = 0; round < ratios.length; round++) {
            double ratio = own[round] / other[round];
            ratios[round] = Double.isFinite(ratio) ? ratio : Double.NaN;
        }
        return ratios;
    }

    /**
     * The two values whose ratio is the median of {@link #pairedRatios}; of an even number of rounds the means of the
     * two in the middle.
     *
     * @param own   values by round.
     * @param other values by round.
     * @return own and other value, not numbers if no round has both.
     */
    static double[] middlePair(double[] own, double[] other) {
        int[] rounds = IntStream.range(0, Math.min(own.length, other.length))
            .filter(round -> Double.isFinite(own[round] / other[round])).boxed()
            .sorted(Comparator.comparingDouble(round -> own[round] / other[round])).mapToInt(round -> round).toArray();
        if (rounds.length == 0) {
            return new double[] {Double.NaN, Double.NaN};
        }
        int lower = rounds[(rounds.length - 1) / 2];
        int upper = rounds[rounds.length / 2];
        return new double[] {(own[lower] + own[upper]) / 2, (other[lower] + other[upper]) / 2};
    }
}
