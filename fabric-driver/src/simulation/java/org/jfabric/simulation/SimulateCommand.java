package org.jfabric.simulation;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/** {@code ./fabric simulate}: runs seeds on one or several threads, and prints a line for each and totals. */
public final class SimulateCommand {
    private static final long NS_PER_S = 1_000_000_000L;
    /** The collector returns the memory of killed processes, and does not see how much of it is outside of the heap. */
    private static final int SEEDS_PER_COLLECTION = 16;
    private static final List<String> VALUES = List.of(
        "--seed", "--seeds", "--seconds", "--minutes", "--real-minutes", "--jobs", "--kills", "--link", "--traffic",
        "--only");
    private static final List<String> FLAGS = List.of("--shrink", "--quiet", "--events", "--leaks");
    private static final String USAGE = "usage: simulate [--seed S] [--seeds N | --real-minutes V]"
        + " [--seconds V | --minutes V] [--jobs N] [--kills N] [--link tcp|rxm|shm|udp|loopback|best]"
        + " [--traffic plain|soak|clients] [--only N,N] [--shrink] [--quiet]"
        + " [--events] [--leaks]";

    /**
     * What the command line asks for.
     *
     * @param seed      the first seed.
     * @param seeds     most seeds.
     * @param endNs     time of the system's clock after which no seed is begun.
     * @param duration  of each seed, in virtual time.
     * @param jobs      number of threads.
     * @param kills     mean number of kills that are added to each seed's faults.
     * @param link      null for a link that the seed chooses.
     * @param traffic   null for a kind that the seed chooses.
     * @param only      numbers of the faults that occur, null for all.
     * @param shrinks   whether faults that a failure does not need are dropped.
     * @param isQuiet   whether there is no line for a seed that does not fail.
     * @param findsLeaks whether each seed that leaves something is named.
     */
    private record Options(long seed, long seeds, long endNs, Duration duration, int jobs, double kills, String link,
        String traffic, String only, boolean shrinks, boolean isQuiet, boolean findsLeaks) {
        static Options of(String[] args) {
            Map<String, String> values = new HashMap<>();
            for (int i = 0; i < args.length; i++) {
                if (FLAGS.contains(args[i])) {
                    values.put(args[i], "");
                } else if (VALUES.contains(args[i]) && i + 1 < args.length) {
                    values.put(args[i], args[++i]);
                } else {
                    throw new IllegalArgumentException(args[i]);
                }
            }
            double seconds = values.containsKey("--minutes") ? 60 * Double.parseDouble(values.get("--minutes"))
                : Double.parseDouble(values.getOrDefault("--seconds", "0.1"));
            double realMinutes = Double.parseDouble(values.getOrDefault("--real-minutes", "0"));
            String one = realMinutes == 0 ? "1" : Long.toString(Long.MAX_VALUE / 2);
            return new Options(Long.parseLong(values.getOrDefault("--seed", "1")),
                Long.parseLong(values.getOrDefault("--seeds", one)),
                System.nanoTime() + (realMinutes == 0 ? Long.MAX_VALUE / 2 : (long) (realMinutes * 60 * NS_PER_S)),
                Duration.ofNanos((long) (seconds * NS_PER_S)),
                Integer.parseInt(values.getOrDefault("--jobs", "1")),
                Double.parseDouble(values.getOrDefault("--kills", "0")), values.get("--link"),
                values.get("--traffic"), values.get("--only"),
                values.containsKey("--shrink"), values.containsKey("--quiet"),
                values.containsKey("--leaks"));
        }

        /** The arguments that repeat a seed. */
        String repeat(long failed) {
            return "--seed " + failed + " --seconds " + duration.toNanos() / 1e9
                + (kills == 0 ? "" : " --kills " + kills) + (link == null ? "" : " --link " + link)
                + (traffic == null ? "" : " --traffic " + traffic);
        }
    }

    private final Options options;
    private final AtomicLong nextSeed;
    private final Map<Fault.Kind, Long> faults = new TreeMap<>();
    private long seeds;
    private long bad;
    private long operations;
    private long failed;
    private long restarts;
    private long refused;
    private long fallBacks;
    private long returns;
    private long errors;
    private long virtualNs;
    private long cpuNs;

    private SimulateCommand(Options options) {
        this.options = options;
        this.nextSeed = new AtomicLong(options.seed);
    }

    /**
     * Runs seeds. Exit status 0 if none fails and nothing leaks, 1 otherwise, 2 for wrong arguments.
     *
     * @param args see docs/simulation.md.
     * @throws InterruptedException if the thread is interrupted.
     */
    public static void main(String[] args) throws InterruptedException {
        Options options;
        try {
            options = Options.of(args);
        } catch (IllegalArgumentException wrong) {
            System.err.println("unknown or incomplete: " + wrong.getMessage());
            System.err.println(USAGE);
            System.exit(2);
            return;
        }
        if (List.of(args).contains("--events")) {
            Simulate.onEvent(System.out::println);
        }
        System.exit(new SimulateCommand(options).run() ? 0 : 1);
    }

    private boolean run() throws InterruptedException {
        long startNs = System.nanoTime();
        Leaks before = Leaks.count();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < options.jobs; i++) {
            threads.add(Thread.ofPlatform().name("simulation-" + i).start(this::runSeeds));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        printTotals((System.nanoTime() - startNs) / 1e9);
        Leaks after = before.await();
        // a run that has failed ends at once, and may leave something
        if (bad == 0) {
            printLeaks("all", before, after);
        }
        return bad == 0 && after.isLike(before);
    }

    private void runSeeds() {
        while (System.nanoTime() - options.endNs < 0) {
            long seed = nextSeed.getAndIncrement();
            if (seed - options.seed >= options.seeds) {
                return;
            }
            if (options.findsLeaks) {
                runForLeaks(seed);
            } else {
                run(seed);
            }
            if (seed % SEEDS_PER_COLLECTION == 0) {
                System.gc();
            }
        }
    }

    private void runForLeaks(long seed) {
        Leaks before = Leaks.count();
        run(seed);
        try {
            printLeaks("seed " + seed, before, before.await());
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private static void printLeaks(String where, Leaks before, Leaks after) {
        if (!after.isLike(before)) {
            System.out.println("LEAK of " + where + ": before " + before + ", afterwards " + after);
        }
    }

    private void run(long seed) {
        Simulate.Plan plan = plan(seed);
        if (options.only != null) {
            List<Fault> all = plan.faults();
            plan = plan.with(Stream.of(options.only.split(",")).map(each -> all.get(Integer.parseInt(each))).toList());
        }
        long startNs = cpuNs();
        try {
            Simulate.Result result = Simulate.run(seed, options.duration, plan);
            onResult(seed, plan, result, cpuNs() - startNs);
        } catch (SimulationFailure failure) {
            onFailure(seed, plan, failure);
        }
    }

    private Simulate.Plan plan(long seed) {
        Simulate.Plan plan = Simulate.plan(seed, options.duration, options.link, options.traffic);
        if (options.kills == 0) {
            return plan;
        }
        List<Fault> more = new ArrayList<>(plan.faults());
        long durationNs = options.duration.toNanos();
        // seeds of their own, so that the other faults are the same with and without them
        more.addAll(new Faults().add(Fault.Kind.KILL, options.kills * NS_PER_S / durationNs, durationNs / 16)
            .draw(seed ^ 0x6B696C6CL, plan.nodes(), durationNs));
        more.sort(Comparator.comparingLong(Fault::timeNs));
        return plan.with(more);
    }

    private static long cpuNs() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private synchronized void onResult(long seed, Simulate.Plan plan, Simulate.Result result, long tookNs) {
        seeds++;
        operations += result.operations();
        failed += result.failed();
        restarts += result.restarts();
        refused += result.refused();
        fallBacks += result.fallBacks();
        returns += result.returns();
        errors += result.errors().size();
        virtualNs += result.virtualNs();
        cpuNs += tookNs;
        result.faults().forEach((kind, count) -> faults.merge(kind, count, Long::sum));
        if (!options.isQuiet) {
            System.out.printf("seed %d: %d nodes, %s, %d faults, hash %016x, %d sent, %d failed, %d received,"
                + " %d accesses, %d refused, %d errors recorded, %.3f s in %.3f s of the processor, %.0f"
                + " operations/s%n", seed, plan.nodes(),
                plan.link() + " " + plan.traffic(), plan.faults().size(), result.hash(),
                result.sent(), result.failed(), result.received(), result.accesses(), result.refused(),
                result.errors().size(), result.virtualNs() / 1e9, tookNs / 1e9, result.operations() / (tookNs / 1e9));
        }
    }

    private void onFailure(long seed, Simulate.Plan plan, SimulationFailure failure) {
        SimulationFailure shown = options.shrinks ? Simulate.shrink(seed, options.duration, plan, failure) : failure;
        synchronized (this) {
            seeds++;
            bad++;
            System.out.println("seed " + seed + " FAILED with " + plan);
            shown.printStackTrace(System.out);
            System.out.println("repeat it with " + options.repeat(seed));
        }
    }

    private void printTotals(double tookS) {
        System.out.printf("%d seeds, %d failed; %,d operations, %,d of them with an error; %,d kills, %,d starts again,"
            + " faults %s; %,d objects refused, %,d errors recorded; %,d peers seen by the next link, %,d by the first"
            + " again; %.1f s of virtual time in %.1f s, %.1f s of the processor; %.0f"
            + " operations/s, %.2f kills/s%n", seeds, bad, operations, failed,
            faults.getOrDefault(Fault.Kind.KILL, 0L), restarts, faults, refused, errors, fallBacks, returns,
            virtualNs / 1e9, tookS, cpuNs / 1e9, operations / tookS, faults.getOrDefault(Fault.Kind.KILL, 0L) / tookS);
    }
}
