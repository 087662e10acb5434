package org.jfabric.perf.compare;

/**
 * The hand-over of a cache line between the two cores, measured directly before and directly after the slices of a
 * round.
 *
 * @param before first measurement.
 */
record HandOvers(HandOver before, HandOver after) {
    /** Measurements in one state of the host are within this factor of each other. */
    static final double MOST_CHANGE = 1.3;

    /**
     * One measurement in nanoseconds, not numbers where two threads cannot spin at once.
     *
     * @param ns     through the loop that all systems use, see {@link HandOverSide}; targets are given in it.
     * @param bareNs of two loops without anything else.
     */
    record HandOver(double ns, double bareNs) {
    }

    /** Mean of both in nanoseconds; the values of the round are divided by it. */
    double meanNs() {
        return (before.ns + after.ns) / 2;
    }

    /** The same of the bare loops. */
    double meanBareNs() {
        return (before.bareNs + after.bareNs) / 2;
    }

    /** Returns true if the host did not change its state meanwhile, so that the values of the round are comparable. */
    boolean alike() {
        return alike(before.ns, after.ns);
    }

    private static boolean alike(double one, double other) {
        return Math.max(one, other) <= MOST_CHANGE * Math.min(one, other);
    }
}
