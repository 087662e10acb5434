package org.jfabric.perf.compare;

import java.nio.file.Path;

/**
 * What all contenders have in common.
 *
 * @param directory for drivers' files, in shared memory.
 * @param timedNs   least length of a timed pass.
 * @param pingCpu   processor of the sides that measure.
 * @param pongCpu   processor of the sides that answer, and of drivers.
 * @param spinning  whether these are two.
 * @param baseline  class path of an older build of JFabric, or null.
 */
record RigSettings(Path directory, long timedNs, int pingCpu, int pongCpu, boolean spinning, Baseline baseline) {
    private static final long LONGEST_HAND_OVER_NS = 40_000_000;

    /** A reading of the bare hand-over. */
    long handOverNs() {
        return Math.min(LONGEST_HAND_OVER_NS, timedNs / 4);
    }

    /** Warm-up of each cell. */
    long warmNs() {
        return timedNs / 5;
    }

    /** Warm-up of the first cell of a kind in processes that are new: until the compiler is done. */
    long firstWarmNs() {
        return timedNs * 3;
    }

    /** A pass that is looked into, about: long enough for samples, taken one by one. */
    long profileNs() {
        return timedNs * 3;
    }
}
