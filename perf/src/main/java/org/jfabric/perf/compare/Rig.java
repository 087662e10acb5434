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
    /** Room for the rounds of a run that has to end within ten minutes, start, last pass and profiles aside. */
    private static final long ROUNDS_LIMIT_NS = 490_000_000_000L;

    private final PrintWriter progress;
    private final long profileNs;
    private final List<Contender> contenders = new ArrayList<>();
    private final List<String> missing = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final Map<String, String> environment;

    /**
     * Prepares a run; nothing is started yet.
     *
     * @param settings of the rig.
     * @param systems  ids of the contenders to measure.
     * @param jfabric  JFabric's version.
     * @param progress where to say how far it is.
     */
    Rig(RigSettings settings, Set<String> systems, String jfabric, PrintWriter progress) throws InterruptedException {
        this.progress = progress;
        profileNs = settings.profileNs();
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
        if (Machine.load() > Runtime.getRuntime().availableProcessors()) {
            notes.add(String.format(Locale.ROOT, "The machine was busy when the run began: load %.1f on %d cores.",
                Machine.load(), Runtime.getRuntime().availableProcessors()));
        }
        if (!settings.spinning()) {
            notes.add("Both sides had to share one core: these are figures of the scheduler.");
        }
    }

    /**
     * Runs everything.
     *
     * @param sizes    of messages, in bytes.
     * @param full     the whole matrix.
     * @param rounds   at least 1.
     * @param limited  whether to give up rounds that do not fit into the time that a default run may take.
     * @param messages of the pass that counts garbage collections, 0 for none.
     */
    Comparison run(Set<Integer> sizes, boolean full, int rounds, boolean limited, long messages)
        throws InterruptedException {
        List<Cell> cells = Matrix.cells(contenders, sizes, full);
        if (cells.isEmpty()) {
            throw new ToolException("Nothing is to be measured: none of these systems is compared with these sizes; "
                + "--full measures each system with each size.");
        }
        long started = System.nanoTime();
        long verified = verify(cells);
        Results results = new Results(rounds);
        Set<Cell> failed = new LinkedHashSet<>();
        for (int round = 0; round < rounds; round++) {
            long begin = System.nanoTime();
            say("round %d of %d", round + 1, rounds);
            for (Cell cell : round % 2 == 0 ? cells : cells.reversed()) {
                if (!failed.contains(cell)) {
                    measure(cell, round, results, failed);
                }
            }
            long now = System.nanoTime();
            if (limited && round + 1 < rounds && now - started + (now - begin) > ROUNDS_LIMIT_NS) {
                notes.add("Only " + (round + 1) + " of " + rounds + " rounds fitted into ten minutes: the machine is"
                    + " slow or busy. --rounds " + rounds + " runs them all.");
                break;
            }
            say("  %d cells took %.0f s", cells.size() - failed.size(), (now - begin) / NS_PER_SECOND);
        }
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

    /** Another library's failure is no reason to throw away hours of measurements; our own is. */
    private void measure(Cell cell, int round, Results results, Set<Cell> failed) throws InterruptedException {
        Contender contender = byId(cell.system());
        try {
            results.add(cell, round, contender.measure(cell.pass(), cell.sizeBytes()));
        } catch (ToolException ex) {
            if (cell.system().startsWith("jfabric")) {
                throw ex;
            }
            failed.add(cell);
            contender.close();
            notes.add("Not measured any further: " + cell + ", in round " + (round + 1) + ": " + ex.getMessage());
            say("  %s failed: %s", cell, ex.getMessage());
        }
    }

    private long verify(List<Cell> cells) throws InterruptedException {
        say("comparing contents");
        long verified = 0;
        for (Cell cell : cells) {
            if (cell.pass() != Pass.PACED) {
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
                say("looking where the time of %s goes", cell);
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
        for (Contender contender : contenders) {
            contender.close();
        }
    }
}
