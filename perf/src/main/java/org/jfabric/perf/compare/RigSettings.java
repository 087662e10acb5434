package org.jfabric.perf.compare;

import java.nio.file.Path;

/**
 * Settings that all contenders have in common.
 *
 * @param sliceNs   approximate length of a slice in nanoseconds.
 * @param spinning  true if these are two different processors.
 * @param baseline  class path of an older build of JFabric, or null.
 */
record RigSettings(Path directory, long sliceNs, int pingCpu, int pongCpu, boolean spinning, Baseline baseline) {
    /**
     * The clocks of a paced pass and of one with cold endpoints leave room for few messages, and a disk syncs slowly.
     */
    private static final int LONG_SLICES = 10;
    /** For the 99th percentile of what happens once in many milliseconds. */
    private static final int LONGEST_SLICES = 40;
    /** Of a program that is started for it, which has its own warm-up. */
    private static final int STARTED_SLICES = 4;

    long sliceNs(Pass pass) {
        return switch (pass) {
            case PACED, COLD, COMMIT, REPLAY -> LONG_SLICES * sliceNs;
            case WRITE -> LONGEST_SLICES * sliceNs;
            case RECORD -> STARTED_SLICES * sliceNs;
            default -> sliceNs;
        };
    }

    /** Length of a slice of a program that is started for it. */
    long startedNs() {
        return STARTED_SLICES * sliceNs;
    }

    /** A measurement of the hand-over by one of its loops. */
    long handOverNs() {
        return sliceNs / 5;
    }

    /** Warm-up of a cell that is opened again. */
    long warmNs() {
        return 2 * sliceNs;
    }

    /** Warm-up of the first cell of a kind in new processes in nanoseconds: until its code is compiled. */
    long firstWarmNs() {
        return 24 * sliceNs;
    }

    /** Approximate duration of a profiled pass in nanoseconds: long enough for enough samples. */
    long profileNs() {
        return 60 * sliceNs;
    }
}
