package org.jfabric.tool;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * Other use of the processors during a measurement: by other processes of this machine, and by the host of a
 * virtual one. The kernel counts both in ticks of 10 ms, so a short measurement says nothing. Owner: one thread.
 */
final class MachineLoad {
    private static final double TICKS_PER_SECOND = 100;
    private static final double NS_PER_SECOND = 1e9;
    /** A shorter time has too few ticks. */
    private static final double LEAST_SECONDS = 0.2;
    /** Cores that other processes may use before the machine counts as busy. */
    private static final double MOST_OTHERS_CORES = 0.1;
    private static final double MOST_STOLEN_PERCENT = 1;
    private static final int STEAL_WORD = 8;
    /** In /proc/PID/stat, behind the name in parentheses. */
    private static final int USER_WORD = 11;

    private final Path proc;
    private final List<Long> processes;
    private final int cores;
    private final LongSupplier clock;
    private final long beginNs;
    private final long beginOthers;
    private final long beginStolen;

    /**
     * Load since an object was made.
     *
     * @param stolenPercent part of all processors' time that the host used for others.
     */
    record Seen(double othersCores, double stolenPercent, int cores) {
        /** Nothing can be said. */
        static final Seen NOTHING = new Seen(0, 0, 0);

        boolean isBusy() {
            return othersCores > MOST_OTHERS_CORES || stolenPercent > MOST_STOLEN_PERCENT;
        }

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "other processes used %.1f of %d cores, the host took %.1f %%",
                othersCores, cores, stolenPercent);
        }
    }

    /**
     * Begins.
     *
     * @param processes that measure or are measured, this one aside.
     */
    MachineLoad(List<Long> processes) {
        this(Path.of("/proc"), processes, Runtime.getRuntime().availableProcessors(), System::nanoTime);
    }

    /** Begins, with another folder and clock for tests. */
    MachineLoad(Path proc, List<Long> processes, int cores, LongSupplier clock) {
        this.proc = proc;
        this.processes = List.copyOf(processes);
        this.cores = cores;
        this.clock = clock;
        beginNs = clock.getAsLong();
        beginOthers = othersTicks();
        beginStolen = machine()[STEAL_WORD];
    }

    /** Returns the load since this object was made. */
    Seen seen() {
        double seconds = (clock.getAsLong() - beginNs) / NS_PER_SECOND;
        if (seconds < LEAST_SECONDS) {
            return Seen.NOTHING;
        }
        double others = Math.max(0, othersTicks() - beginOthers) / TICKS_PER_SECOND / seconds;
        double stolen = 100 * (machine()[STEAL_WORD] - beginStolen) / TICKS_PER_SECOND / seconds / processors();
        return new Seen(others, Math.max(0, stolen), cores);
    }

    /** Time in user mode and in the kernel, interrupts aside: those of our own messages are among them. */
    private long othersTicks() {
        long[] words = machine();
        long own = ticks(proc.resolve("self"));
        for (long process : processes) {
            own += ticks(proc.resolve(Long.toString(process)));
        }
        return words[1] + words[2] + words[3] - own;
    }

    private static long ticks(Path process) {
        try {
            String stat = Files.readString(process.resolve("stat"));
            String[] words = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return Long.parseLong(words[USER_WORD]) + Long.parseLong(words[USER_WORD + 1]);
        } catch (NoSuchFileException gone) {
            return 0;
        } catch (IOException ex) {
            throw new ToolException(process + " cannot be read: " + ex + '.', ex);
        }
    }

    /** The line of all processors together: user, nice, system, idle, iowait, irq, softirq, steal from word 1 on. */
    private long[] machine() {
        try (var lines = Files.lines(proc.resolve("stat"))) {
            String[] words = lines.findFirst().orElse("").split("\\s+");
            long[] numbers = new long[Math.max(words.length, STEAL_WORD + 1)];
            for (int i = 1; i < words.length; i++) {
                numbers[i] = Long.parseLong(words[i]);
            }
            return numbers;
        } catch (IOException ex) {
            throw new ToolException(proc.resolve("stat") + " cannot be read: " + ex + '.', ex);
        }
    }

    /** All that /proc/stat counts, which may be more than this process may use. */
    private long processors() {
        try (var lines = Files.lines(proc.resolve("stat"))) {
            return Math.max(1, lines.filter(line -> line.matches("cpu\\d+ .*")).count());
        } catch (IOException ex) {
            throw new ToolException(proc.resolve("stat") + " cannot be read: " + ex + '.', ex);
        }
    }
}
