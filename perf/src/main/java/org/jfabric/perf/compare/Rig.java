package org.jfabric.perf.compare;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jfabric.tool.ToolException;

/**
 * Runs the rounds. The cells that are compared are opened together and measured in turns of short slices, one after
 * the other while the others are stopped, in every second turn in the opposite order. {@link Slices} makes rounds of
 * them. Each group of cells has several such sittings, spread over the run. Owner: the main thread.
 */
final class Rig implements AutoCloseable {
    /** The cells of a group are opened so often, so that no result depends on one placement in memory. */
    static final int SITTINGS = 3;

    private static final long COLLECTIONS_TIMEOUT_NS = 60_000_000_000L;
    private static final double NS_PER_SECOND = 1e9;
    private static final long NS_PER_MINUTE = 60_000_000_000L;
    /** For the profiles, which come behind the rounds. */
    private static final long PROFILES_NS = 20_000_000_000L;
    /** What no target judges has one round for so many of the others. */
    private static final int SHOWN_PART = 4;
    /** Turns of a sitting at most, in times of the rounds that should be valid. */
    private static final int MOST_TIMES = 2;
    /** The same of the chart, in whose rounds many systems have to meet the same state of the host. */
    private static final int MOST_TIMES_OF_CHART = 6;

    private final PrintWriter progress;
    private final long profileNs;
    private final List<Contender> contenders = new ArrayList<>();
    private final List<String> missing = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final Map<String, String> environment;
    private final List<Target> targets;
    private final HandOverProbe probe;
    /** The system that is being used. */
    private String current;

    /** Prepares a run; nothing is started yet. */
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
        targets = Targets.all(environment);
        if (Machine.load() > Runtime.getRuntime().availableProcessors()) {
            notes.add(String.format(Locale.ROOT, "The machine was busy when the run began: load %.1f on %d cores.",
                Machine.load(), Runtime.getRuntime().availableProcessors()));
        }
        if (!settings.spinning()) {
            notes.add("Both sides had to share one core: these are figures of the scheduler.");
        }
    }

    /** Prepares sittings only. */
    Rig(List<Contender> contenders, HandOverProbe probe) {
        this.contenders.addAll(contenders);
        this.probe = probe;
        progress = null;
        profileNs = 0;
        environment = Map.of();
        targets = List.of();
    }

    /** Runs the rounds of the chart only. */
    Comparison runSideBySide(Set<Integer> sizes, int rounds, long limitNs) throws InterruptedException {
        List<List<Cell>> groups = new ArrayList<>(Matrix.sideBySide(contenders, sizes));
        long endNs = System.nanoTime() + limitNs;
        long verified = verify(groups);
        Results results = new Results();
        sittings(groups, rounds, endNs, results);
        return new Comparison(environment, titles(), results, missing, notes, verified, 0, 0, List.of());
    }

    /**
     * Runs everything.
     *
     * @param rounds   valid ones that each group should have.
     * @param limitNs  of the whole run, after which no further sitting is begun.
     * @param messages of the pass that counts garbage collections, 0 for none.
     */
    Comparison run(Set<Integer> sizes, boolean full, int rounds, long limitNs, long messages)
        throws InterruptedException {
        List<List<Cell>> groups = new ArrayList<>(Matrix.groups(contenders, targets, sizes, full));
        long started = System.nanoTime();
        long verified = verify(groups);
        Results results = new Results();
        sittings(groups, rounds,
            started + limitNs - PROFILES_NS - (messages > 0 ? COLLECTIONS_TIMEOUT_NS : 0), results);
        JvmContender.Collected collected = collections(sizes, messages);
        if (collected.messages() >= Targets.COLLECTED_MESSAGES) {
            results.add(null, Map.of(Targets.COLLECTED, new SliceReading(Map.of(
                CellMetric.COLLECTIONS, (double) collected.load().collections(),
                CellMetric.OWN_BYTES, (double) collected.load().ownBytes(),
                CellMetric.ALL_BYTES, (double) collected.load().allBytes()), null)));
        }
        return new Comparison(environment, titles(), results, missing, notes, verified, collected.messages(),
            collected.load().collections(), profiles(sizes));
    }

    private void sittings(List<List<Cell>> groups, int rounds, long endNs, Results results)
        throws InterruptedException {
        int sittings = Math.min(SITTINGS, rounds);
        for (int sitting = 0; sitting < sittings; sitting++) {
            long begin = System.nanoTime();
            say("sitting %d of %d, %d groups of cells", sitting + 1, sittings, groups.size());
            for (List<Cell> group : List.copyOf(groups)) {
                if (sitting > 0 && System.nanoTime() - endNs > 0) {
                    notes.add(String.format(Locale.ROOT, "The run ended in sitting %d of %d, because its minutes were"
                        + " over: the machine is slow or busy, or changes its state often. --minutes gives it more.",
                        sitting + 1, sittings));
                    return;
                }
                try {
                    sitting(group, Math.ceilDiv(isJudged(group) ? rounds : Math.ceilDiv(rounds, SHOWN_PART), sittings),
                        results);
                } catch (ToolException ex) {
                    leaveOut(group, ex);
                    groups.remove(group);
                }
            }
            say("  it took %.0f s", (System.nanoTime() - begin) / NS_PER_SECOND);
            Collections.reverse(groups);
        }
    }

    private boolean isJudged(List<Cell> group) {
        return targets.stream().anyMatch(target -> target.cells().equals(group) && target.unfit() == null)
            || isCharted(group);
    }

    private static boolean isCharted(List<Cell> group) {
        return SideBySide.cells().stream().anyMatch(charted -> group.size() > 2 && charted.containsAll(group));
    }

    /** Opens the cells of a group and takes turns until enough rounds are valid, or there were too many turns. */
    void sitting(List<Cell> group, int wanted, Results results) throws InterruptedException {
        for (Cell cell : group) {
            of(cell).open(cell.pass(), cell.sizeBytes());
        }
        List<Cell> order = order(group);
        int most = group.getFirst().pass() == Pass.FRESH ? 1
            : wanted * (isCharted(group) ? MOST_TIMES_OF_CHART : MOST_TIMES);
        Slices slices = new Slices(group, results);
        int valid = 0;
        HandOvers.HandOver before = probe.read();
        for (int turn = 0; turn < most && valid < wanted; turn++) {
            for (Cell cell : turn % 2 == 0 ? order : order.reversed()) {
                SliceReading reading = of(cell).slice(cell.pass(), cell.sizeBytes());
                HandOvers.HandOver after = probe.read();
                valid += slices.add(cell, reading, HandOvers.of(before, after)) ? 1 : 0;
                before = after;
            }
        }
        slices.end();
        for (Cell cell : group) {
            of(cell).closeCell();
        }
    }

    /** A cell whose program is started for each slice, which takes a while, has the group's own one on both sides. */
    private List<Cell> order(List<Cell> group) {
        List<Cell> order = new ArrayList<>(group);
        if (group.size() > 1 && group.stream().anyMatch(cell -> of(cell).startsAnew())) {
            order.add(group.getFirst());
        }
        return order;
    }

    /** Another library's failure is no reason to throw away a long run; one of JFabric is. */
    private void leaveOut(List<Cell> group, ToolException failure) {
        if (current.startsWith("jfabric") && !current.startsWith(Contenders.BASELINE)) {
            throw failure;
        }
        group.forEach(cell -> byId(cell.system()).close());
        notes.add("Not measured any further: " + group + ": " + failure.getMessage());
        say("  %s failed: %s", group, failure.getMessage());
    }

    private long verify(List<List<Cell>> groups) throws InterruptedException {
        if (groups.isEmpty()) {
            throw new ToolException("Nothing is to be measured: none of these systems is compared with these sizes; "
                + "--full measures each system with each size.");
        }
        say("comparing contents");
        Set<Cell> cells = new LinkedHashSet<>();
        groups.forEach(cells::addAll);
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
            return new JvmContender.Collected(0, new PassLoad(0, 0, 0, 0));
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

    private Contender of(Cell cell) {
        current = cell.system();
        return byId(current);
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
        titles.put(Contenders.BARE_HAND_OVER, "bare hand-over of a cache line, without the loop of the other systems");
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
