package org.jfabric.simulation;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import org.jfabric.tool.ToolVersion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code ./fabric simulate}: runs seeds on one or several threads, and prints a line for each and totals. */
@Command(
    name = "fabric simulate",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = "Runs drivers and clients in virtual time, with faults, and checks what they observe. A seed decides"
        + " everything. The exit status is 0 if no seed fails and nothing leaks. See docs/simulation.md.")
final class SimulateCommand implements Callable<Integer> {
    private static final long NS_PER_S = 1_000_000_000L;
    /** The collector returns the memory of killed processes, and does not see how much of it is outside of the heap. */
    private static final int SEEDS_PER_COLLECTION = 16;
    private static final List<String> LINKS = List.of("tcp", "rxm", "shm", "udp", "loopback", Simulate.BEST);

    @Option(names = "--seed", paramLabel = "S", defaultValue = "1", description = "The first seed, default 1.")
    private long firstSeed;

    @Option(names = "--seeds", paramLabel = "N", description = "Number of seeds; default 1, or as --real-minutes says.")
    private Long most;

    @Option(names = "--seconds", paramLabel = "V", defaultValue = "0.1",
        description = "Virtual time of each seed, default ${DEFAULT-VALUE}.")
    private double seconds;

    @Option(names = "--minutes", paramLabel = "V", description = "The same in minutes.")
    private Double minutes;

    @Option(names = "--real-minutes", paramLabel = "V", description = "How long seeds are begun.")
    private double realMinutes;

    @Option(names = "--jobs", paramLabel = "N", defaultValue = "1", description = "Threads, default 1.")
    private int jobs;

    @Option(names = "--kills", paramLabel = "N",
        description = "Mean number of kills that are added to the faults of each seed.")
    private double kills;

    @Option(names = "--link", paramLabel = "LINK",
        description = "tcp, rxm, shm, udp, loopback or best; default: as the seed chooses.")
    private String link;

    @Option(names = "--traffic", paramLabel = "KIND",
        description = "plain, soak (not over udp and best), clients (not over udp), recorded (over shm) or stream (over"
            + " udp); default: as the seed chooses, which is not stream.")
    private String traffic;

    @Option(names = "--only", paramLabel = "N", split = ",", description = "Only the faults with these numbers.")
    private List<Integer> only;

    @Option(names = "--shrink", description = "Leaves out the faults that a failure does not need.")
    private boolean shrinks;

    @Option(names = "--quiet", description = "No line for a seed that does not fail.")
    private boolean isQuiet;

    @Option(names = "--events", description = "Prints the events of all runs.")
    private boolean showsEvents;

    @Option(names = "--leaks", description = "Names each seed that leaves something.")
    private boolean findsLeaks;

    @Spec
    private CommandSpec spec;

    private Duration duration;
    private long endNs;
    private final AtomicLong nextSeed = new AtomicLong();
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

    private SimulateCommand() {
    }

    /** Runs seeds. Exit status 0 if none fails and nothing leaks, 1 otherwise, 2 for wrong arguments. */
    public static void main(String[] args) {
        int status = new CommandLine(new SimulateCommand()).execute(args);
        System.exit(System.out.checkError() && status == 0 ? 1 : status);
    }

    @Override
    public Integer call() throws InterruptedException {
        if (link != null && !LINKS.contains(link)) {
            throw wrong("--link", link, "is not one of " + String.join(", ", LINKS));
        }
        if (traffic != null && !Simulate.TRAFFICS.contains(traffic)) {
            throw wrong("--traffic", traffic, "is not one of " + String.join(", ", Simulate.TRAFFICS));
        }
        if (traffic != null && link != null && !Simulate.carries(link, traffic)) {
            throw wrong("--traffic", traffic, "does not run over link " + link);
        }
        duration = Duration.ofNanos((long) ((minutes == null ? seconds : 60 * minutes) * NS_PER_S));
        endNs = System.nanoTime() + (realMinutes == 0 ? Long.MAX_VALUE / 2 : (long) (realMinutes * 60 * NS_PER_S));
        nextSeed.set(firstSeed);
        if (most == null) {
            most = realMinutes == 0 ? 1 : Long.MAX_VALUE / 2;
        }
        if (showsEvents) {
            Simulate.onEvent(System.out::println);
        }
        return run() ? 0 : 1;
    }

    private ParameterException wrong(String option, String value, String what) {
        return new ParameterException(
            spec.commandLine(), "Invalid value for option '" + option + "': \"" + value + "\" " + what + '.');
    }

    private String repeat(long failedSeed) {
        return "--seed " + failedSeed + " --seconds " + duration.toNanos() / 1e9
            + (kills == 0 ? "" : " --kills " + kills) + (link == null ? "" : " --link " + link)
            + (traffic == null ? "" : " --traffic " + traffic);
    }

    private boolean run() throws InterruptedException {
        long startNs = System.nanoTime();
        Leaks before = Leaks.count();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < jobs; i++) {
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
        while (System.nanoTime() - endNs < 0) {
            long seed = nextSeed.getAndIncrement();
            if (seed - firstSeed >= most) {
                return;
            }
            if (findsLeaks) {
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
        if (only != null) {
            plan = plan.with(only.stream().map(plan.faults()::get).toList());
        }
        long startNs = cpuNs();
        try {
            Simulate.Result result = Simulate.run(seed, duration, plan);
            onResult(seed, plan, result, cpuNs() - startNs);
        } catch (SimulationFailure failure) {
            onFailure(seed, plan, failure);
        }
    }

    private Simulate.Plan plan(long seed) {
        Simulate.Plan plan = Simulate.plan(seed, duration, link, traffic);
        if (kills == 0) {
            return plan;
        }
        List<Fault> more = new ArrayList<>(plan.faults());
        long durationNs = duration.toNanos();
        // seeds of their own, so that the other faults are the same with and without them
        more.addAll(new Faults().add(Fault.Kind.KILL, kills * NS_PER_S / durationNs, durationNs / 16)
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
        if (!isQuiet) {
            System.out.printf("seed %d: %d nodes, %s, %d faults, hash %016x, %d sent, %d failed, %d received,"
                + " %d accesses, %d refused, %d errors recorded, %.3f s in %.3f s of the processor, %.0f"
                + " operations/s%n", seed, plan.nodes(),
                plan.link() + " " + plan.traffic(), plan.faults().size(), result.hash(),
                result.sent(), result.failed(), result.received(), result.accesses(), result.refused(),
                result.errors().size(), result.virtualNs() / 1e9, tookNs / 1e9, result.operations() / (tookNs / 1e9));
        }
    }

    private void onFailure(long seed, Simulate.Plan plan, SimulationFailure failure) {
        SimulationFailure shown = shrinks ? Simulate.shrink(seed, duration, plan, failure) : failure;
        synchronized (this) {
            seeds++;
            bad++;
            System.out.println("seed " + seed + " FAILED with " + plan);
            shown.printStackTrace(System.out);
            System.out.println("repeat it with " + repeat(seed));
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
