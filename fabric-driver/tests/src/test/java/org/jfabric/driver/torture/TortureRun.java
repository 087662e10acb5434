package org.jfabric.driver.torture;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jfabric.driver.kit.TestKeys;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestProcess;

/**
 * The controller: worlds one after the other, in an order that the seed determines, until the time is over. It ends
 * only processes that it has started.
 */
final class TortureRun implements AutoCloseable {
    private static final int SPARE = 1;
    private static final int MUTATIONS_AT_ONCE = 5_000;
    private static final int MOST_FAULTS = 5;
    private static final long NS_PER_S = TimeUnit.SECONDS.toNanos(1);

    private final List<Cell> cells;
    private final long seed;
    private final PrintStream out;
    private final Tally tally = new Tally();
    private final Sleeper sleeper = Sleeper.start();
    /** Of all directories of drivers. */
    private final Path root;
    private final boolean isDiskSmall;
    /** Of ledgers and memory, where there is stable storage. */
    private final Path folder;
    /** Processes that have no endpoint yet: to start one takes longer than most of what is done to it. */
    private final Deque<TestProcess> spare = new ArrayDeque<>();
    private Fleet fleet;
    /** Of the drivers, another one after each fault. */
    private Path base;
    private int numbers;
    private int faults;
    private boolean isTimeJudged = true;
    private Harm.Plan plan = Harm.Plan.USUAL;

    TortureRun(List<Cell> cells, long seed, PrintStream out) {
        this(cells, seed, out, null);
    }

    /** With the drivers' directories in a small file system, which is filled now and then; null for none. */
    TortureRun(List<Cell> cells, long seed, PrintStream out, Path disk) {
        isDiskSmall = disk != null;
        root = isDiskSmall ? disk : TestDirectory.create();
        this.cells = new ArrayList<>(cells);
        this.seed = seed;
        this.out = out;
        try {
            folder = Files.createTempDirectory("jfabric-torture");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Fleet fleet() {
        return fleet;
    }

    boolean isDiskSmall() {
        return isDiskSmall;
    }

    /** Operations that end late are noted and no faults: for a test, which must not depend on what else runs. */
    void noteTimesOnly() {
        isTimeJudged = false;
    }

    void plan(Harm.Plan newPlan) {
        plan = newPlan;
    }

    Harm.Plan plan() {
        return plan;
    }

    boolean isTimeJudged() {
        return isTimeJudged;
    }

    Tally tally() {
        return tally;
    }

    Sleeper sleeper() {
        return sleeper;
    }

    Path base() {
        return base;
    }

    Worker open(Cell cell, Path directory, long workerSeed) {
        while (spare.size() <= SPARE) {
            spare.add(Worker.spawn());
        }
        return Worker.open(spare.remove(), cell, directory, folder, ++numbers, workerSeed);
    }

    Conversation begin(Worker from, Worker to) {
        return Conversation.begin(folder, ++numbers, from, to);
    }

    /** Runs for that time; returns the number of faults. */
    int run(long seconds, long sliceSeconds) {
        long end = System.nanoTime() + seconds * NS_PER_S;
        for (int round = 0; faults < MOST_FAULTS && (round == 0 || System.nanoTime() - end < 0); round++) {
            Collections.shuffle(cells, new Random(seed + round));
            for (int i = 0; i < cells.size() && faults < MOST_FAULTS
                && (i == 0 && round == 0 || System.nanoTime() - end < 0); i++) {
                long left = end - System.nanoTime();
                world(cells.get(i), seed * 1_000_003 + round * 1_009L + i, Math.min(left, sliceSeconds * NS_PER_S));
            }
        }
        end();
        return faults;
    }

    /** One world; returns the number of faults so far. */
    int run(Cell cell, long seconds) {
        world(cell, seed, seconds * NS_PER_S);
        return faults;
    }

    /** Changed messages until each parser has so many; returns the number of faults. */
    int mutate(long count) {
        return mutate(count, EnumSet.allOf(Mutations.Parser.class));
    }

    /** The same for some of the parsers. */
    int mutate(long count, Set<Mutations.Parser> parsers) {
        try {
            // other drivers, with one more link
            end();
            begin(encrypted());
            try (Mutations mutations = new Mutations(fleet.alpha().directory(), seed)) {
                for (long next = 0; next < count;) {
                    next = Math.min(count, next + MUTATIONS_AT_ONCE);
                    for (Mutations.Parser parser : parsers) {
                        while (mutations.reached(parser) < next) {
                            mutations.some(parser);
                        }
                        mutations.checkServed();
                        fleet.checkServing();
                    }
                    out.println("torture: each parser has read " + next + " changed messages");
                }
                for (Mutations.Parser parser : parsers) {
                    tally.add("changed messages to " + parser, mutations.reached(parser));
                }
                tally.add("connections of the peer that writes garbage", mutations.connectionsOfPeer());
            }
            fleet.checkAtRest("mutations");
        } catch (AssertionError | RuntimeException | IOException e) {
            failed("mutations", seed, e);
        }
        end();
        return faults;
    }

    /** Options of drivers that have the encrypted link, too. */
    private String[] encrypted() {
        String[] keys = TestKeys.files(folder, "fleet", "fleet").options();
        String[] options = new String[keys.length / 2 + 1];
        for (int i = 0; i < keys.length; i += 2) {
            options[i / 2] = keys[i] + '=' + keys[i + 1];
        }
        options[keys.length / 2] = "jfabric.link.enabled=" + Cell.LINKS + ",tls";
        return options;
    }

    private void begin(String... options) throws IOException {
        if (fleet == null) {
            base = Files.createTempDirectory(root, "fleet");
            fleet = new Fleet(base, folder, tally, options);
        }
    }

    private void end() {
        if (fleet != null) {
            try {
                fleet.end();
            } catch (AssertionError | RuntimeException e) {
                fault("the end of the drivers", seed, e);
            } finally {
                fleet.close();
                fleet = null;
            }
        }
    }

    private void world(Cell cell, long worldSeed, long sliceNs) {
        World world = null;
        try {
            begin();
            world = new World(this, cell, new SplittableRandom(worldSeed));
            world.run(System.nanoTime() + sliceNs);
            tally.add("worlds", 1);
        } catch (AssertionError | RuntimeException | IOException e) {
            if (world != null) {
                world.dump();
                out.println(world);
            }
            failed(cell.toString(), worldSeed, e);
        } finally {
            if (world != null) {
                world.close();
            }
            deleteLedgers();
        }
    }

    /** Others take the place of drivers after a fault. */
    private void failed(String where, long worldSeed, Throwable fault) {
        fault(where, worldSeed, fault);
        if (fleet != null) {
            out.println("alpha:\n" + Fleet.said(fleet.alpha()) + "\nbeta:\n" + Fleet.said(fleet.beta())
                + "\nerrors of alpha: " + fleet.view().errors());
            fleet.close();
            fleet = null;
        }
    }

    /** What is no fault and yet worth a line. */
    void note(String text) {
        out.println("torture: " + text);
    }

    private void fault(String where, long worldSeed, Throwable fault) {
        faults++;
        out.println("FAULT in " + where + ", seed " + worldSeed + ": " + fault);
        fault.printStackTrace(out);
    }

    private void deleteLedgers() {
        try (var files = Files.list(folder)) {
            files.filter(each -> each.toString().endsWith(".ledger")).forEach(each -> each.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Also of a run that is interrupted: all processes of it end, and their directories are deleted. */
    @Override
    public synchronized void close() {
        sleeper.close();
        spare.forEach(TestProcess::close);
        spare.clear();
        if (fleet != null) {
            fleet.close();
            fleet = null;
        }
        for (Path each : List.of(root, folder)) {
            if (Files.exists(each)) {
                TestDirectory.delete(each);
            }
        }
    }
}
