package org.jfabric.perf.compare;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jfabric.tool.ToolException;

/**
 * Runs the rounds: within a round every cell once, what is compared one after the other, in the next round in the
 * opposite order, so that a drift of the machine falls on all. Owner: the main thread.
 */
final class Rig implements AutoCloseable {
    private static final long COLLECTIONS_TIMEOUT_NS = 60_000_000_000L;

    private static final double NS_PER_SECOND = 1e9;
    private static final long NS_PER_MINUTE = 60_000_000_000L;
    /** For the profiles, which come behind the rounds. */
    private static final long PROFILES_NS = 50_000_000_000L;
    /** Rounds at most, in times of those that should be valid. */
    private static final int MOST_TIMES = 3;

    private final PrintWriter progress;
    private final long profileNs;
    private final List<Contender> contenders = new ArrayList<>();
    private final List<String> missing = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final Map<String, String> environment;
    private final List<Target> targets;
    private final HandOverProbe probe;

    /**
     * Prepares a run; nothing is started yet.
     *
     * @param settings of the rig.
     * @param systems  ids of the contenders to measure.
     * @param jfabric  JFabric's version.
     * @param progress receives progress messages.
     */
    Rig(RigSettings settings, Set<String> systems, String jfabric, PrintWriter progress) throws InterruptedException {
        this.progress = progress;
        profileNs = settings.profileNs();
        probe = new HandOverProbe(settings);
        List<Contender> all = Contenders.all(settings, jfabric);
        for (Contender contender : all) {
            if (systems.contains(contender.id())) {
                if (contender.missing() == null) {
                    contenders.add(contender);
                } else {
                    missing.add(contender.missing());
                    progress.println(contender.missing());
                }
            }
        }
        environment = Machine.environment(settings, all);
        targets = Targets.all(Targets.Ucx.of(environment));
        if (Machine.load() > Runtime.getRuntime().availableProcessors()) {
            notes.add(String.format(Locale.ROOT, "The machine was busy when the run began: load %.1f on %d cores.",
                Machine.load(), Runtime.getRuntime().availableProcessors()));
        }
        if (!settings.spinning()) {
            notes.add("Both sides had to share one core: these are figures of the scheduler.");
        }
    }

    /**
     * Limits for the rounds of a run.
     *
     * @param wanted        valid rounds that each target should have; so many rounds of all cells there are at least.
     * @param limitNs       of the whole run, after which no further round is begun.
     * @param maxHandOverNs longest hand-over around a cell that is valid.
     */
    record Rounds(int wanted, long limitNs, double maxHandOverNs) {
        /** Rounds at most. With too few for any verdict there is no sense in more. */
        int most() {
            return wanted < Target.LEAST_VALID_ROUNDS ? wanted : wanted * MOST_TIMES;
        }
    }

    /**
     * Runs everything.
     *
     * @param sizes    of messages, in bytes.
     * @param full     the whole matrix.
     * @param rounds   of the run.
     * @param messages of the pass that counts garbage collections, 0 for none.
     */
    Comparison run(Set<Integer> sizes, boolean full, Rounds rounds, long messages) throws InterruptedException {
        List<Cell> cells = Matrix.cells(contenders, targets, sizes, full);
        if (cells.isEmpty()) {
            throw new ToolException("Nothing is to be measured: none of these systems is compared with these sizes; "
                + "--full measures each system with each size.");
        }
        long started = System.nanoTime();
        long verified = verify(cells);
        Results results = new Results(rounds.wanted, rounds.maxHandOverNs);
        long reserveNs = PROFILES_NS + (messages > 0 ? COLLECTIONS_TIMEOUT_NS : 0);
        rounds(cells, rounds, started - reserveNs, results);
        JvmContender.Collected collected = collections(sizes, messages);
        if (collected.messages() >= Targets.COLLECTED_MESSAGES) {
            results.add(Targets.COLLECTED, 0, new Reading(Map.of(
                Metric.COLLECTIONS, (double) collected.load().collections(),
                Metric.OWN_BYTES, (double) collected.load().ownBytes(),
                Metric.ALL_BYTES, (double) collected.load().allBytes()), List.of(), null));
        }
        return new Comparison(environment, titles(), results, missing, notes, verified, collected.messages(),
            collected.load().collections(), profiles(sizes));
    }

    /** Runs the wanted number of rounds of all cells, then more of those whose targets have too few valid ones. */
    private void rounds(List<Cell> cells, Rounds rounds, long countedFromNs, Results results)
        throws InterruptedException {
        Set<Cell> failed = new LinkedHashSet<>();
        // duration of the round before: the first one, with the start of all processes, is longer than the others
        long lastNs = 0;
        for (int round = 0; round < rounds.most(); round++) {
            Set<Cell> lacking = lacking(targets, results, cells, failed);
            List<Cell> now = new ArrayList<>(round < rounds.wanted ? cells
                : cells.stream().filter(lacking::contains).toList());
            now.removeAll(failed);
            if (now.isEmpty()) {
                return;
            }
            long begin = System.nanoTime();
            if (round > 0 && begin - countedFromNs + lastNs > rounds.limitNs) {
                notes.add(String.format(Locale.ROOT, "The run ended after round %d, because its %d minutes were over,"
                    + " without %d valid rounds of each target: the machine is slow, busy or changes its state."
                    + " --minutes gives it more.", round, rounds.limitNs / NS_PER_MINUTE, rounds.wanted));
                return;
            }
            say("round %d, %d cells%s", round + 1, now.size(), round < rounds.wanted ? " of " + rounds.wanted
                + " rounds" : ": again what has too few valid rounds");
            double handOver = probe.read();
            for (Cell cell : round % 2 == 0 ? now : now.reversed()) {
                Reading reading = measure(cell, round, failed);
                double after = probe.read();
                if (reading != null) {
                    results.add(cell, round, reading.with(new HandOvers(handOver, after)));
                }
                handOver = after;
            }
            lastNs = System.nanoTime() - begin;
            say("  %d cells took %.0f s", now.size(), lastNs / NS_PER_SECOND);
        }
    }

    /**
     * Selects the cells that have to be measured again.
     *
     * @param targets of the run.
     * @param results so far.
     * @param cells   of the run.
     * @param failed  those that cannot be measured.
     * @return the cells of all targets that have fewer valid rounds than are wanted.
     */
    static Set<Cell> lacking(List<Target> targets, Results results, List<Cell> cells, Set<Cell> failed) {
        Set<Cell> lacking = new LinkedHashSet<>();
        for (Target target : targets) {
            List<Cell> own = target.cells();
            if (cells.containsAll(own) && own.stream().noneMatch(failed::contains)
                && target.judge(results).validRounds() < results.wanted()) {
                lacking.addAll(own);
            }
        }
        return lacking;
    }

    /**
     * Measures a cell. Another library's failure is no reason to throw away hours of measurements; our own is.
     *
     * @return null if it failed.
     */
    private Reading measure(Cell cell, int round, Set<Cell> failed) throws InterruptedException {
        Contender contender = byId(cell.system());
        try {
            return contender.measure(cell.pass(), cell.sizeBytes());
        } catch (ToolException ex) {
            if (cell.system().startsWith("jfabric") && !cell.system().startsWith(Contenders.BASELINE)) {
                throw ex;
            }
            failed.add(cell);
            contender.close();
            notes.add("Not measured any further: " + cell + ", in round " + (round + 1) + ": " + ex.getMessage());
            say("  %s failed: %s", cell, ex.getMessage());
            return null;
        }
    }

    private long verify(List<Cell> cells) throws InterruptedException {
        say("comparing contents");
        long verified = 0;
        for (Cell cell : cells) {
            if (cell.pass() != Pass.PACED && cell.pass() != Pass.FRESH) {
                verified += byId(cell.system()).verify(cell.pass(), cell.sizeBytes());
            }
        }
        return verified;
    }

    private JvmContender.Collected collections(Set<Integer> sizes, long messages) throws InterruptedException {
        Contender own = byId(Contenders.INVOKER);
        if (messages == 0 || own == null || !sizes.contains(Targets.SIZE)) {
            return new JvmContender.Collected(0, new ThreadLoad(0, 0, 0, 0, 0));
        }
        say("counting garbage collections in %,d messages", messages);
        JvmContender.Collected found = ((JvmContender) own).collections(messages, COLLECTIONS_TIMEOUT_NS);
        notes.add(String.format(Locale.ROOT, "Of %,d messages at full rate the threads that sent and received them"
            + " allocated %,d bytes of heap, all threads of their processes %,d.", found.messages(),
            found.load().ownBytes(), found.load().allBytes()));
        if (found.messages() < messages) {
            notes.add(String.format(Locale.ROOT, "Garbage collections were counted in %,d instead of %,d messages:"
                + " more did not fit into a minute.", found.messages(), messages));
        }
        return found;
    }

    private List<Comparison.SideProfile> profiles(Set<Integer> sizes) throws InterruptedException {
        List<Comparison.SideProfile> profiles = new ArrayList<>();
        for (Cell cell : Targets.PROFILED) {
            Contender own = byId(cell.system());
            if (own != null && sizes.contains(cell.sizeBytes())) {
                say("profiling %s", cell);
                profiles.addAll(((JvmContender) own).profile(cell.pass(), cell.sizeBytes(), profileNs));
            }
        }
        return profiles;
    }

    private Contender byId(String id) {
        for (Contender contender : contenders) {
            if (contender.id().equals(id)) {
                return contender;
            }
        }
        return null;
    }

    private Map<String, String> titles() {
        Map<String, String> titles = new LinkedHashMap<>();
        for (Contender contender : contenders) {
            titles.put(contender.id(), contender.title());
        }
        return titles;
    }

    private void say(String format, Object... values) {
        progress.printf(Locale.ROOT, format + "%n", values);
        progress.flush();
    }

    /** Ends all processes. */
    @Override
    public void close() {
        probe.close();
        for (Contender contender : contenders) {
            contender.close();
        }
    }
}
