package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RigTest {
    private static final Cell STREAM = new Cell(Contenders.INVOKER, Pass.STREAM, 64);
    private static final Target LATENCY = new Target("x", Runs.OWN, Metric.HALF_ROUND_TRIP, Runs.UCX, 0.9, 0.75);
    private static final Target RATE = Target.ofValue("y", STREAM, Metric.MESSAGE_RATE, 1, 1);

    private final Results results = new Results(7);

    private void measure(Cell cell, Metric metric, int round, double handOverNs) {
        results.add(cell, round,
            new Reading(Map.of(metric, 1.0), List.of(), null, new HandOvers(handOverNs, handOverNs)));
    }

    @Test
    void shouldRepeatTheCellsOfTargetsThatHaveTooFewValidRounds() {
        List<Cell> cells = List.of(Runs.OWN, Runs.UCX, STREAM);
        for (int round = 0; round < 7; round++) {
            measure(Runs.OWN, Metric.HALF_ROUND_TRIP, round, 60);
            measure(Runs.UCX, Metric.HALF_ROUND_TRIP, round, round == 3 ? 250 : 60);
            measure(STREAM, Metric.MESSAGE_RATE, round, 60);
        }
        assertEquals(Set.of(Runs.OWN, Runs.UCX), Rig.lacking(List.of(LATENCY, RATE), results, cells, Set.of()));
        assertEquals(Set.of(), Rig.lacking(List.of(LATENCY, RATE), results, cells, Set.of(Runs.UCX)));
        measure(Runs.OWN, Metric.HALF_ROUND_TRIP, 7, 60);
        measure(Runs.UCX, Metric.HALF_ROUND_TRIP, 7, 60);
        assertEquals(Set.of(), Rig.lacking(List.of(LATENCY, RATE), results, cells, Set.of()));
    }

    @Test
    void shouldNotRepeatForATargetThatThisRunCannotMeasure() {
        assertEquals(Set.of(STREAM), Rig.lacking(List.of(LATENCY, RATE), results, List.of(Runs.OWN, STREAM), Set.of()));
    }

    @Test
    void shouldGoOnUpToThreeTimesTheRoundsUnlessTheyAreTooFewForAnyVerdict() {
        assertEquals(33, new Rig.Rounds(11, Long.MAX_VALUE, 70).most());
        assertEquals(21, new Rig.Rounds(7, Long.MAX_VALUE, 70).most());
        assertEquals(6, new Rig.Rounds(6, Long.MAX_VALUE, 70).most());
        assertEquals(1, new Rig.Rounds(1, Long.MAX_VALUE, 70).most());
    }

    @Test
    void shouldNotWaitForRoundsOfWhatIsCountedOnce() {
        Target collections = Target.ofValue("z", Targets.COLLECTED, Metric.COLLECTIONS, 0, 0);
        assertTrue(Rig.lacking(List.of(collections), results, List.of(Runs.OWN), Set.of()).isEmpty());
    }
}
