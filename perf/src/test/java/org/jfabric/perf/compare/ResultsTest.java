package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ResultsTest {
    private final Results results = new Results();

    private void add(double value, HandOvers handOvers) {
        results.add(handOvers,
            Map.of(Runs.OWN, new SliceReading(
                Map.of(CellMetric.HALF_ROUND_TRIP, value, CellMetric.MEMORY, 7.0), null)));
    }

    @Test
    void shouldTakeHandOversForAlikeWithinAFactor() {
        assertTrue(Runs.around(56, 70).alike());
        assertTrue(Runs.around(260, 200).alike());
        assertFalse(Runs.around(60, 80).alike());
        assertFalse(Runs.around(250, 60).alike());
        assertFalse(Runs.around(Double.NaN, 60).alike());
        assertFalse(Runs.around(60, Double.NaN).alike());
        assertEquals(63, Runs.around(56, 70).meanNs());
        assertEquals(31.5, Runs.around(56, 70).meanBareNs());
    }

    @Test
    void shouldCountOnlyRoundsInWhichTheHostDidNotChange() {
        add(90, Runs.around(60, 60));
        add(120, Runs.around(60, 200));
        add(400, Runs.around(200, 200));
        add(100, Runs.around(50, 50));
        Results.Line time = results.lines().getFirst();
        assertEquals(new Quartiles(3, 95, 100, 250), time.values());
        assertEquals(2, time.inHandOvers(), 1e-9);
        assertEquals(3, time.valid());
        assertEquals(4, time.rounds().size());
        assertEquals(4, results.lines().getLast().valid());
        assertEquals(3, results.validRounds());
        assertEquals(100, results.median(Runs.OWN, CellMetric.HALF_ROUND_TRIP));
        assertArrayEquals(new double[] {1.5, 120 / 130.0, 2, 2}, Results.values(
            results.rounds(CellMetric.HALF_ROUND_TRIP_IN_HAND_OVERS, List.of(Runs.OWN)),
            round -> round.value(Runs.OWN, CellMetric.HALF_ROUND_TRIP_IN_HAND_OVERS)), 1e-9);
    }

    @Test
    void shouldNotCountARoundInWhichASideWaitedForItsCore() {
        add(90, Runs.VALID);
        results.add(
            Runs.VALID, Map.of(Runs.OWN, new SliceReading(Map.of(CellMetric.HALF_ROUND_TRIP, 500.0), null, 0.06)));
        results.add(
            Runs.VALID, Map.of(Runs.OWN, new SliceReading(Map.of(CellMetric.HALF_ROUND_TRIP, 94.0), null, 0.04)));
        assertEquals(92, results.median(Runs.OWN, CellMetric.HALF_ROUND_TRIP));
        assertEquals(2, results.validRounds());
    }

    @Test
    void shouldShowAllRoundsIfNoneIsValid() {
        add(300, Runs.around(100, 200));
        add(301, null);
        Results.Line line = results.lines().getFirst();
        assertEquals(300.5, line.values().median());
        assertEquals(0, line.valid());
        assertEquals(2, line.inHandOvers(), 1e-9);
    }

    @Test
    void shouldFindOnlyRoundsThatHaveAllCells() {
        add(90, Runs.VALID);
        Runs.pairs(results, CellMetric.HALF_ROUND_TRIP, Runs.OWN, new double[] {1}, Runs.UCX, new double[] {2});
        assertEquals(1, results.rounds(CellMetric.HALF_ROUND_TRIP, List.of(Runs.OWN, Runs.UCX)).size());
        assertEquals(2, results.rounds(CellMetric.HALF_ROUND_TRIP, List.of(Runs.OWN)).size());
        assertEquals(0, results.rounds(CellMetric.MESSAGE_RATE, List.of(Runs.OWN)).size());
        assertEquals(Double.NaN, results.median(Runs.UCX, CellMetric.MEMORY));
    }

    /** Adds slices of two cells, a turn each time, by the hand-overs around them; returns the values of the rounds. */
    private List<String> rounds(double[]... turns) {
        Slices slices = new Slices(List.of(Runs.OWN, Runs.UCX), results);
        int number = 0;
        for (double[] turn : turns) {
            number++;
            for (int i = 0; i < 2; i++) {
                slices.add(i == 0 ? Runs.OWN : Runs.UCX,
                    new SliceReading(Map.of(CellMetric.HALF_ROUND_TRIP, (double) number), null, turn[2 * i + 1]),
                    Runs.around(turn[2 * i], turn[2 * i]));
            }
        }
        slices.end();
        return results.rounds(CellMetric.HALF_ROUND_TRIP, List.of(Runs.OWN, Runs.UCX)).stream()
            .map(round -> String.format("%.0f %.0f %s", round.value(Runs.OWN, CellMetric.HALF_ROUND_TRIP),
                round.value(Runs.UCX, CellMetric.HALF_ROUND_TRIP), round.isValid() ? "valid" : "-")).toList();
    }

    @Test
    void shouldPutTogetherSlicesOfOneStateOfTheHost() {
        // the second turn has the states of the first one the other way round; the third one those of both
        assertEquals(List.of("2 1 valid", "1 2 valid", "3 3 valid"),
            rounds(new double[] {60, 0, 200, 0}, new double[] {200, 0, 65, 0}, new double[] {60, 0, 70, 0}));
    }

    @Test
    void shouldNotCountSlicesOfStatesThatNoOtherCellHadOrThatWaited() {
        assertEquals(List.of("2 3 valid", "1 1 -", "3 2 -"),
            rounds(new double[] {60, 0.2, 60, 0}, new double[] {100, 0, 200, 0}, new double[] {400, 0, 120, 0}));
    }
}
