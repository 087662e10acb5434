package org.jfabric.perf.compare;

import java.nio.file.Path;

/**
 * Settings that all contenders have in common.
 *
 * @param directory for drivers' files, in shared memory.
 * @param timedNs   least length of a timed pass.
 * @param pingCpu   processor of the sides that measure.
 * @param pongCpu   processor of the sides that answer, and of drivers.
 * @param spinning  true if these are two different processors.
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

    /** Warm-up of the first cell of a kind in new processes in nanoseconds: until its code is compiled. */
    long firstWarmNs() {
        return timedNs * 3;
    }

    /** Approximate duration of a profiled pass in nanoseconds: long enough for enough samples. */
    long profileNs() {
        return timedNs * 3;
    }
}
