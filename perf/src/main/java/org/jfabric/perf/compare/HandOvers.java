package org.jfabric.perf.compare;

/**
 * The bare hand-over of a cache line between the two cores, measured around a cell.
 *
 * @param beforeNs directly before it.
 * @param afterNs  directly after it.
 */
record HandOvers(double beforeNs, double afterNs) {
    /** Mean duration of a hand-over in nanoseconds; the cell's own value is divided by it. */
    double meanNs() {
        return (beforeNs + afterNs) / 2;
    }
}
