package org.jfabric.perf.compare;

import java.util.Collection;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * The hand-over of a cache line between the two cores, measured directly before and directly after each slice of a
 * round.
 *
 * @param least shortest of the measurements.
 * @param most  longest of them.
 */
record HandOvers(HandOver least, HandOver most) {
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

    /** The extremes of some measurements. */
    static HandOvers of(HandOver... measurements) {
        return extremes(Stream.of(measurements));
    }

    /** The extremes of all. */
    static HandOvers of(Collection<HandOvers> all) {
        return extremes(all.stream().flatMap(each -> Stream.of(each.least, each.most)));
    }

    private static HandOvers extremes(Stream<HandOver> measurements) {
        Comparator<HandOver> order = Comparator.comparingDouble(HandOver::ns);
        HandOver[] sorted = measurements.sorted(order).toArray(HandOver[]::new);
        return new HandOvers(sorted[0], sorted[sorted.length - 1]);
    }

    /** Mean of both in nanoseconds; the values of the round are divided by it. */
    double meanNs() {
        return (least.ns + most.ns) / 2;
    }

    /** The same of the bare loops. */
    double meanBareNs() {
        return (least.bareNs + most.bareNs) / 2;
    }

    /** Returns true if the host was in one state all the time, so that the values of the round are comparable. */
    boolean alike() {
        return most.ns <= MOST_CHANGE * least.ns;
    }
}
