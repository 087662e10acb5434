package org.jfabric.driver.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jfabric.driver.hostile.Bystanders;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.test.Deadline;

/**
 * The daemons of a run: alpha is never killed, and serves two bystanders and all that is done to others; beta is killed
 * and started again.
 */
final class Fleet implements AutoCloseable {
    /** A driver has to serve again within that time, beyond what a first start in an empty directory takes. */
    static final long RESTART_MS = 500;

    /** Of a connection to beta, which is there or not. What leaks does so with each of some hundred kills. */
    private static final int SLACK = 8;
    private static final long HEAP_SLACK = 2 << 20;
    /** What a heap has at rest rises and falls: it is compared with the most of the first few. */
    private static final int HEAP_SAMPLES = 3;
    private static final long HEAP_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Path base;
    private final Path folder;
    private final Tally tally;
    private final String[] options;
    private final Map<String, Census> first = new HashMap<>();
    private final Map<String, Long> firstHeap = new HashMap<>();
    private final Map<String, Integer> compared = new HashMap<>();
    private final DriverProcess alpha;
    private final DriverView view;
    private final Bystanders bystanders;
    private final Set<String> files;
    private DriverProcess beta;
    private long coldNs;

    /** With further options of the drivers, NAME=VALUE. */
    Fleet(Path base, Path folder, Tally tally, String... options) {
        this.base = base;
        this.folder = folder;
        this.tally = tally;
        this.options = options;
        long begin = System.nanoTime();
        beta = launch("beta").awaitReady();
        coldNs = System.nanoTime() - begin;
        begin = System.nanoTime();
        alpha = launch("alpha").awaitReady();
        coldNs = Math.max(coldNs, System.nanoTime() - begin);
        view = new DriverView(alpha.directory());
        bystanders = new Bystanders("loopback", alpha.directory(), alpha.directory());
        bystanders.assertGoOn(2);
        files = clientFiles(alpha.directory());
    }

    private DriverProcess launch(String name) {
        List<String> all = new ArrayList<>(List.of("jfabric.link.enabled=" + Cell.LINKS, "jfabric.tcp.interface=lo",
            TortureDriver.FOLDER + '=' + folder));
        // of two values the later one counts
        all.addAll(List.of(options));
        return DriverProcess.launch(TortureDriver.class, base.resolve(name), all.toArray(String[]::new));
    }

    DriverProcess alpha() {
        return alpha;
    }

    DriverProcess beta() {
        return beta;
    }

    /** Kills beta; returns the time before. */
    long killBeta() {
        long begin = System.nanoTime();
        beta.kill();
        tally.add("killed: daemons", 1);
        return begin;
    }

    /** Beta again in the directory of the one that was killed. */
    void restartBeta() {
        checkOutput(beta);
        long begin = System.nanoTime();
        beta = launch("beta").awaitReady();
        long took = System.nanoTime() - begin;
        tally.time("driver ready again after kill -9", took);
        // a figure and no fault: on a busy machine one start takes three times as long as another
        if (took > coldNs + Deadline.ns(1) * RESTART_MS / 1_000) {
            tally.add("of these more than " + RESTART_MS + " ms later than a first start", 1);
        }
        Set<String> left = clientFiles(beta.directory());
        if (!left.isEmpty()) {
            throw new AssertionError("the killed driver's files are still there: " + left);
        }
    }

    /** Both live, and nothing went wrong in them. */
    void checkServing() {
        bystanders.assertGoOn(4);
        checkAlive(alpha);
        checkAlive(beta);
        view.assertExplained();
    }

    /** Alpha is as it was without clients but the bystanders: it is compared with the end of the first of that kind. */
    void checkAtRest(String kind) {
        checkServing();
        Deadline.awaitParked(() -> "files of clients that have ended: " + clientFiles(alpha.directory()) + ", of the"
            + " bystanders: " + files, () -> clientFiles(alpha.directory()).equals(files));
        Census baseline = first.get(kind);
        if (baseline == null) {
            first.put(kind, Census.of(alpha.process().pid()));
            firstHeap.put(kind, heap());
            return;
        }
        Deadline.awaitParked(() -> "alpha keeps after " + kind + ": "
            + Census.of(alpha.process().pid()).growthSince(baseline, SLACK) + ", "
            + Census.details(alpha.process().pid()),
            () -> Census.of(alpha.process().pid()).growthSince(baseline, SLACK) == null);
        if (compared.merge(kind, 1, Integer::sum) < HEAP_SAMPLES) {
            firstHeap.merge(kind, heap(), Math::max);
            return;
        }
        requireHeap("alpha in worlds of " + kind, this::heap, firstHeap.get(kind) + HEAP_SLACK, () -> "");
        tally.add("comparisons of descriptors, mappings, threads, heap", 1);
    }

    /** What has ended may be taken back a little later, so a process is asked again. */
    static void requireHeap(String whose, LongSupplier heap, long most, Supplier<?> state) {
        List<Long> seen = new ArrayList<>();
        Deadline.usual().until("the heap of " + whose + " to have at most " + most + " bytes again", () -> {
            seen.add(heap.getAsLong());
            return seen.getLast() <= most;
        }, () -> LockSupport.parkNanos(HEAP_PAUSE_NS), () -> "it had " + seen + "\n" + state.get());
    }

    private long heap() {
        return Long.parseLong(alpha.ask("census", "census"));
    }

    void checkAlive(DriverProcess driver) {
        checkOutput(driver);
        if (!driver.process().isAlive()) {
            throw new AssertionError("the driver of " + driver.directory() + " has ended:\n" + driver.output());
        }
    }

    private static void checkOutput(DriverProcess driver) {
        driver.output().lines().filter(line -> line.startsWith("fault ")).findFirst().ifPresent(line -> {
            throw new AssertionError(driver.directory() + ": " + line);
        });
    }

    /** What a driver said after its options. */
    static String said(DriverProcess driver) {
        String output = driver.output();
        return output.substring(Math.max(0, output.indexOf("jfabric driver ready")));
    }

    Bystanders bystanders() {
        return bystanders;
    }

    DriverView view() {
        return view;
    }

    /** Names of the files that a driver has made for clients. */
    static Set<String> clientFiles(Path directory) {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(each -> each.getFileName().toString())
                .filter(each -> each.matches("\\d+\\.(ctl|tq|rq|cq|mr|cntr|wait|view|slab)"))
                .collect(Collectors.toCollection(TreeSet::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** In order; nothing but what is kept on purpose may be left. */
    void end() {
        tally.add("messages of bystanders compared", bystanders.verified());
        bystanders.close();
        view.close();
        alpha.close();
        beta.close();
        checkOutput(alpha);
        checkOutput(beta);
        for (DriverProcess driver : new DriverProcess[] {alpha, beta}) {
            checkClean(driver.directory());
        }
    }

    /** The directory of a driver that has ended in order. */
    static void checkClean(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.list(directory)) {
            Set<String> left = files.map(each -> each.getFileName().toString())
                .filter(each -> !each.matches("errors-.*|record.previous|driver.marker"))
                .collect(Collectors.toCollection(TreeSet::new));
            if (!left.isEmpty()) {
                throw new AssertionError("left in " + directory + ": " + left);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** After a failure: whatever still runs. */
    @Override
    public void close() {
        if (alpha.process().isAlive()) {
            alpha.kill();
        }
        if (beta.process().isAlive()) {
            beta.kill();
        }
    }
}
