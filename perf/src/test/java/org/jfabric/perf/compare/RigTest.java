package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The rounds of systems that only note what is done with them. */
class RigTest {
    private static final Cell STREAM = new Cell(Contenders.INVOKER, Pass.STREAM, 64);
    private static final Target LATENCY = new Target("x", Runs.OWN, CellMetric.HALF_ROUND_TRIP, Runs.UCX, 0.9, 0.75);
    private static final Target RATE = Target.ofValue("y", STREAM, CellMetric.MESSAGE_RATE, 1, 1);

    private final List<String> done = new ArrayList<>();

    private final class Noting implements Contender {
        private final String id;
        private final boolean startsAnew;

        Noting(String id, boolean startsAnew) {
            this.id = id;
            this.startsAnew = startsAnew;
        }

        @Override
        public String id() {
            return id;
        }

        @Override
        public String title() {
            return id;
        }

        @Override
        public String missing() {
            return null;
        }

        @Override
        public String version() {
            return "1";
        }

        @Override
        public boolean can(Pass pass, int sizeBytes) {
            return pass == Pass.EXCHANGE;
        }

        @Override
        public boolean startsAnew() {
            return startsAnew;
        }

        @Override
        public void open(Pass pass, int sizeBytes) {
            done.add("open " + id);
        }

        @Override
        public SliceReading slice(Pass pass, int sizeBytes) {
            done.add(id);
            return new SliceReading(Map.of(CellMetric.HALF_ROUND_TRIP, 100.0), null);
        }

        @Override
        public void closeCell() {
            done.add("close " + id);
        }

        @Override
        public void close() {
            done.add("end " + id);
        }
    }

    private List<Contender> systems(String... ids) {
        List<Contender> systems = new ArrayList<>();
        for (String id : ids) {
            systems.add(new Noting(id, id.equals(UcxTool.POSIX.id())));
        }
        return systems;
    }

    @Test
    void shouldPutTheCellsOfATargetAndOfTheChartIntoAGroupAndOthersIntoTheirOwn() {
        List<Contender> systems = systems(Contenders.INVOKER, UcxTool.POSIX.id(), Contenders.SHARED);
        Cell shared = new Cell(Contenders.SHARED, Pass.EXCHANGE, 64);
        Cell put = new Cell(UcxTool.POSIX.id(), Pass.PUT, 64);
        Cell charted = new Cell(UcxTool.POSIX.id(), Pass.STREAM, 64);
        assertEquals(Set.of(List.of(Runs.OWN, Runs.UCX), List.of(STREAM, charted), List.of(shared), List.of(put)),
            Set.copyOf(Matrix.groups(systems, List.of(LATENCY, RATE), Set.of(64), false)));
        assertEquals(List.of(), Matrix.groups(systems, List.of(LATENCY, RATE), Set.of(1_000), false));
        // a target that this run cannot measure
        assertEquals(Set.of(List.of(Runs.OWN), List.of(STREAM)), Set.copyOf(Matrix.groups(
            systems(Contenders.INVOKER), List.of(LATENCY, RATE), Set.of(64), false)));
        assertTrue(Matrix.groups(systems, List.of(LATENCY), Set.of(8), true)
            .contains(List.of(new Cell(Contenders.SHARED, Pass.EXCHANGE, 8))));
    }

    @Test
    void shouldMeasureOnlyTheCellsOfTheChartSideBySide() {
        assertEquals(List.of(
            List.of(Runs.OWN, Runs.UCX), List.of(STREAM, new Cell(UcxTool.POSIX.id(), Pass.STREAM, 64))),
            Matrix.sideBySide(systems(Contenders.INVOKER, Contenders.SHARED, UcxTool.POSIX.id()), Set.of(8, 64)));
    }

    @Test
    void shouldNotMeasureInRoundsWhatIsCountedOnce() {
        Target collections = Target.ofValue("z", Targets.COLLECTED, CellMetric.COLLECTIONS, 0, 0);
        assertEquals(List.of(), Matrix.groups(systems(Contenders.INVOKER), List.of(collections), Set.of(64), false));
    }

    private List<String> slices(int rounds, List<Cell> group, Contender... systems) throws Exception {
        try (Rig rig = new Rig(List.of(systems), new HandOverProbe(new RigSettings(null, 1, 0, 0, false, null)))) {
            Results results = new Results();
            rig.sitting(group, rounds, results);
            // without two cores no round is valid, so that there are twice as many
            assertEquals(2 * rounds, results.rounds());
        }
        return done;
    }

    @Test
    void shouldMeasureInTheOppositeOrderInEverySecondRound() throws Exception {
        assertEquals(List.of("open a", "open b", "a", "b", "b", "a", "a", "b", "b", "a", "close a", "close b",
            "end a", "end b"), slices(2, List.of(new Cell("a", Pass.EXCHANGE, 64), new Cell("b", Pass.EXCHANGE, 64)),
                new Noting("a", false), new Noting("b", false)));
    }

    @Test
    void shouldMeasureBeforeAndBehindAProgramThatIsStartedForEachSlice() throws Exception {
        assertEquals(List.of("open a", "open b", "a", "b", "a", "a", "b", "a", "close a", "close b", "end a", "end b"),
            slices(1, List.of(new Cell("a", Pass.EXCHANGE, 64), new Cell("b", Pass.EXCHANGE, 64)),
                new Noting("a", false), new Noting("b", true)));
    }

    @Test
    void shouldTakeUcxForAPeerOnlyAsAReleaseBuild() {
        for (Target target : Targets.all(Map.of(Machine.VERSION + UcxTool.POSIX.id(), "1.13.1, revision 0"))) {
            boolean ucx = target.cells().stream().anyMatch(cell -> cell.system().equals(UcxTool.POSIX.id()));
            assertEquals(ucx ? "UCX 1.13.1, revision 0 is older than 1.22" : null, target.unfit(), target.what());
        }
        assertFalse(Targets.all(Map.of()).stream().anyMatch(target -> target.unfit() != null));
    }
}
