package org.jfabric.perf.compare;

/**
 * Some rounds of a value or a ratio.
 *
 * @param rounds that have one.
 * @param median of them.
 * @param min    of them.
 * @param max    of them.
 */
record Spread(int rounds, double median, double min, double max) {
    /**
     * Sums up.
     *
     * @param values by round; those that are not a number are left out.
     */
    static Spread of(double... values) {
        double[] present = Statistics.present(values);
        return new Spread(
            present.length, Statistics.median(present), Statistics.min(present), Statistics.max(present));
    }
}
