package org.jfabric.driver.config;

/**
 * Threads of the driver, their cores, and their idle times.
 */
public final class ThreadingConfig {
    static final OptionGroup GROUP = new OptionGroup("threading", "Threads and cores", ThreadingConfig::check);

    /** {@code jfabric.threading.mode}. */
    public static final Option<ThreadingMode> MODE = GROUP.oneOf("jfabric.threading.mode", ThreadingMode.class)
        .defaultsTo(ThreadingMode.SHARED)
        .rule("DEDICATED, SHARED or INVOKER", mode -> true)
        .why("DEDICATED spins on a core of its own for the lowest latency; SHARED parks when idle; INVOKER leaves "
            + "the cycles to the embedding application's calls.");

    /** {@code jfabric.threading.progressThreads}. */
    public static final Option<Integer> PROGRESS_THREADS = GROUP.count("jfabric.threading.progressThreads")
        .defaultsTo(1)
        .range(1, 64)
        .why("Several progress threads in DEDICATED, each with endpoints of its own; each spins on a core. Raise it "
            + "where one thread cannot carry the messages of several applications or contexts. Other modes have no "
            + "progress thread of their own, so only 1 is possible there.");

    /** {@code jfabric.threading.progressCpu}. */
    public static final Option<Integer> PROGRESS_CPU = GROUP.cpu("jfabric.threading.progressCpu")
        .defaultsTo(-1)
        .range(-1, 1023)
        .why("Pin the progress thread (in SHARED: the one thread) to an isolated core, so that the scheduler "
            + "never moves or interrupts it; -1 leaves it to the scheduler. Several threads take this core and the "
            + "next ones. Without effect in INVOKER.");

    /** {@code jfabric.threading.conductorCpu}. */
    public static final Option<Integer> CONDUCTOR_CPU = GROUP.cpu("jfabric.threading.conductorCpu")
        .defaultsTo(-1)
        .range(-1, 1023)
        .why("Keep the conductor off the cores of your own threads; -1 leaves it to the scheduler. Only DEDICATED "
            + "has a thread of its own for it.");

    /** {@code jfabric.threading.idleSpinNs}. */
    public static final Option<Long> IDLE_SPIN_NS = GROUP.durationNs("jfabric.threading.idleSpinNs")
        .defaultsTo(100_000L)
        .range(0L, 10_000_000_000L)
        .why("Longest time without work before a SHARED driver parks; after its first 2 us the thread yields its core "
            + "between two polls. Raise it where messages come in short pauses and the wake-up costs more than the "
            + "spinning; lower it to use the processor less.");

    /** {@code jfabric.threading.parkTimeoutNs}. */
    public static final Option<Long> PARK_TIMEOUT_NS = GROUP.durationNs("jfabric.threading.parkTimeoutNs")
        .defaultsTo(100_000_000L)
        .range(100_000L, 10_000_000_000L)
        .why("Longest sleep of a parked thread without a doorbell; timers are late by at most this. Raise it to "
            + "wake an idle host less often.");

    private ThreadingConfig() {
    }

    private static void check(DriverConfig config, ConfigSource source) {
        boolean isDedicated = config.get(MODE) == ThreadingMode.DEDICATED;
        int progressThreads = config.get(PROGRESS_THREADS);
        int progressCpu = config.get(PROGRESS_CPU);
        int conductorCpu = config.get(CONDUCTOR_CPU);
        source.check(
            isDedicated || progressThreads == 1,
            "only mode DEDICATED has progress threads of its own, any other mode allows 1; set 1, or choose DEDICATED",
            MODE, PROGRESS_THREADS);
        source.check(
            !isDedicated || progressCpu < 0 || conductorCpu < progressCpu
                || conductorCpu >= progressCpu + progressThreads,
            "a spinning progress thread would starve a conductor on the same CPU; choose other CPUs, or -1 for one",
            MODE, PROGRESS_THREADS, PROGRESS_CPU, CONDUCTOR_CPU);
    }
}
