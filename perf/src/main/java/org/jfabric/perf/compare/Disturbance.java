package org.jfabric.perf.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Notices what may have spoilt a reading. */
final class Disturbance {
    /** Threads of the kernel and of the JVM take a core away now and then; more than this is another process. */
    private static final double SWITCHES_PER_SECOND = 50;
    private static final double LEAST_CPU_SHARE = 0.95;
    private static final double MOST_STEAL_SHARE = 0.01;
    private static final double MOST_OVER_PLAN = 1.02;
    private static final double NS_PER_SECOND = 1e9;
    private static final double TICKS_PER_SECOND = 100;
    private static final int STEAL_WORD = 8;

    private final long beginNs = System.nanoTime();
    private final long stealTicks = stealTicks();
    private final List<String> found = new ArrayList<>();

    /**
     * Checks a side that should have had a core for itself.
     *
     * @param who          title of the side.
     * @param switches     times that it lost its core.
     * @param ownPerSecond times a second that threads of the same contender take a core.
     * @param cpuNs        processor time of its process.
     * @param elapsedNs    meanwhile.
     */
    void check(String who, long switches, double ownPerSecond, double cpuNs, long elapsedNs) {
        double perSecond = switches * NS_PER_SECOND / Math.max(1, elapsedNs);
        if (perSecond > SWITCHES_PER_SECOND + ownPerSecond) {
            found.add(String.format(Locale.ROOT, "%s lost its core %.0f times a second", who, perSecond));
        }
        if (cpuNs < LEAST_CPU_SHARE * elapsedNs) {
            found.add(String.format(Locale.ROOT, "%s had its core for %.0f %% of the time", who,
                100.0 * cpuNs / elapsedNs));
        }
    }

    /**
     * Checks a pass with a fixed rate.
     *
     * @param elapsedNs that it took.
     * @param plannedNs count over rate.
     */
    void checkRate(double elapsedNs, double plannedNs) {
        if (elapsedNs > MOST_OVER_PLAN * plannedNs) {
            found.add(String.format(Locale.ROOT, "the rate was not kept: the pass took %.0f %% of its time",
                100 * elapsedNs / plannedNs));
        }
    }

    /** Returns what was noticed, including processor time that the host took since this object was made. */
    List<String> found() {
        double seconds = (System.nanoTime() - beginNs) / NS_PER_SECOND;
        double share = (stealTicks() - stealTicks) / TICKS_PER_SECOND
            / Math.max(seconds * Runtime.getRuntime().availableProcessors(), 1 / TICKS_PER_SECOND);
        List<String> all = new ArrayList<>(found);
        if (share > MOST_STEAL_SHARE) {
            all.add(String.format(Locale.ROOT, "the host took %.1f %% of the processors' time", 100 * share));
        }
        return all;
    }

    private static long stealTicks() {
        try {
            String[] words = Files.readAllLines(Path.of("/proc/stat")).getFirst().split("\\s+");
            return words.length > STEAL_WORD ? Long.parseLong(words[STEAL_WORD]) : 0;
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
