package org.jfabric.perf.compare;

/**
 * Some values of rounds.
 *
 * @param first  quartile of them; not a number without any.
 */
record Quartiles(int rounds, double first, double median, double third) {
    /**
     * Sums up.
     *
     * @param values by round; those that are not a number are left out.
     */
    static Quartiles of(double... values) {
        double[] present = Statistics.present(values);
        return new Quartiles(present.length, Statistics.quantile(present, 0.25), Statistics.quantile(present, 0.5),
            Statistics.quantile(present, 0.75));
    }
}
