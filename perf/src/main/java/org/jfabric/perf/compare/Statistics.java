package org.jfabric.perf.compare;

import java.util.Arrays;

/** Summaries of the values of the rounds. */
final class Statistics {
    private Statistics() {
    }

    /**
     * The middle value, or the mean of the two in the middle.
     *
     * @param values those that are not a number are left out.
     * @return not a number if there is none.
     */
    static double median(double... values) {
        return quantile(values, 0.5);
    }

    /**
     * The value below which a part of the values lies, with a straight line between the two values around it.
     *
     * @param values those that are not a number are left out.
     * @param part   0 for the least value, 1 for the greatest.
     * @return not a number if there is none.
     */
    static double quantile(double[] values, double part) {
        double[] sorted = present(values);
        if (sorted.length == 0) {
            return Double.NaN;
        }
        Arrays.sort(sorted);
        double at = part * (sorted.length - 1);
        double below = sorted[(int) at];
        return below + (sorted[(int) Math.ceil(at)] - below) * (at - (int) at);
    }

    static double[] present(double... values) {
        return Arrays.stream(values).filter(value -> !Double.isNaN(value)).toArray();
    }
}
