package org.jfabric.driver.config;

import java.util.List;


/**
 * Threads of the driver, their cores, and their idle times. Immutable.
 */
public final class ThreadingConfig {

    /** {@code jfabric.threading.mode}. */
    public static final Option<ThreadingMode> MODE = Option.oneOf("jfabric.threading.mode", ThreadingMode.class)
        .defaultsTo(ThreadingMode.SHARED)
        .rule("DEDICATED, SHARED or INVOKER", mode -> true)
        .why("DEDICATED spins on a core of its own for the lowest latency; SHARED parks when idle; INVOKER leaves "
            + "the cycles to the embedding application's calls.");

    /** {@code jfabric.threading.progressThreads}. */
    public static final Option<Integer> PROGRESS_THREADS = Option.count("jfabric.threading.progressThreads")
        .defaultsTo(1)
        .range(1, 64)
        .why("Several progress threads in DEDICATED, each with endpoints of its own; each spins on a core. Raise it "
            + "where one thread cannot carry the messages of several applications or contexts. Other modes have no "
            + "progress thread of their own, so only 1 is possible there.");

    /** {@code jfabric.threading.progressCpu}. */
    public static final Option<Integer> PROGRESS_CPU = Option.cpu("jfabric.threading.progressCpu")
        .defaultsTo(-1)
        .range(-1, 1023)
        .why("Pin the progress thread (in SHARED: the one thread) to an isolated core, so that the scheduler "
            + "never moves or interrupts it; -1 leaves it to the scheduler. Several threads take this core and the "
            + "next ones. Without effect in INVOKER.");

    /** {@code jfabric.threading.conductorCpu}. */
    public static final Option<Integer> CONDUCTOR_CPU = Option.cpu("jfabric.threading.conductorCpu")
        .defaultsTo(-1)
        .range(-1, 1023)
        .why("Keep the conductor off the cores of your own threads; -1 leaves it to the scheduler. Only DEDICATED "
            + "has a thread of its own for it.");

    /** {@code jfabric.threading.idleSpinNs}. */
    public static final Option<Long> IDLE_SPIN_NS = Option.durationNs("jfabric.threading.idleSpinNs")
        .defaultsTo(100_000L)
        .range(0L, 10_000_000_000L)
        .why("Longest time without work before a SHARED driver parks; after its first 2 us the thread yields its core "
            + "between two polls. Raise it where messages come in short pauses and the wake-up costs more than the "
            + "spinning; lower it to use the processor less.");

    /** {@code jfabric.threading.parkTimeoutNs}. */
    public static final Option<Long> PARK_TIMEOUT_NS = Option.durationNs("jfabric.threading.parkTimeoutNs")
        .defaultsTo(100_000_000L)
        .range(100_000L, 10_000_000_000L)
        .why("Longest sleep of a parked thread without a doorbell; timers are late by at most this. Raise it to "
            + "wake an idle host less often.");

    static final OptionGroup GROUP = new OptionGroup(
        "threading", "Threads and cores",
        List.of(MODE, PROGRESS_THREADS, PROGRESS_CPU, CONDUCTOR_CPU, IDLE_SPIN_NS, PARK_TIMEOUT_NS));

    private final ThreadingMode mode;
    private final int progressThreads;
    private final int progressCpu;
    private final int conductorCpu;
    private final long idleSpinNs;
    private final long parkTimeoutNs;

    ThreadingConfig(ConfigSource source) {
        mode = source.value(MODE);
        progressThreads = source.value(PROGRESS_THREADS);
        progressCpu = source.value(PROGRESS_CPU);
        conductorCpu = source.value(CONDUCTOR_CPU);
        idleSpinNs = source.value(IDLE_SPIN_NS);
        parkTimeoutNs = source.value(PARK_TIMEOUT_NS);
        source.check(
            mode == ThreadingMode.DEDICATED || progressThreads == 1,
            "only mode DEDICATED has progress threads of its own, any other mode allows 1; set 1, or choose DEDICATED",
            MODE, PROGRESS_THREADS);
        source.check(
            mode != ThreadingMode.DEDICATED || progressCpu < 0 || conductorCpu < progressCpu
                || conductorCpu >= progressCpu + progressThreads,
            "a spinning progress thread would starve a conductor on the same CPU; choose other CPUs, or -1 for one",
            MODE, PROGRESS_THREADS, PROGRESS_CPU, CONDUCTOR_CPU);
    }

    /**
     * The threads that run the duty cycles.
     *
     * @return the mode.
     */
    public ThreadingMode mode() {
        return mode;
    }

    /**
     * The number of progress threads.
     *
     * @return 1 or more; 1 unless the mode is DEDICATED.
     */
    public int progressThreads() {
        return progressThreads;
    }

    /**
     * CPU of the progress thread; in SHARED of the one thread.
     *
     * @return CPU number, or -1 for none.
     */
    public int progressCpu() {
        return progressCpu;
    }

    /**
     * CPU of the conductor's thread in DEDICATED.
     *
     * @return CPU number, or -1 for none.
     */
    public int conductorCpu() {
        return conductorCpu;
    }

    /**
     * Longest time without work before a SHARED driver parks.
     *
     * @return nanoseconds, 0 to 10 s.
     */
    public long idleSpinNs() {
        return idleSpinNs;
    }

    /**
     * Longest sleep of a parked thread without a doorbell.
     *
     * @return nanoseconds, from 100 us to 10 s.
     */
    public long parkTimeoutNs() {
        return parkTimeoutNs;
    }
}
