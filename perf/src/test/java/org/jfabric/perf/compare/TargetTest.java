package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jfabric.perf.compare.Target.Outcome;
import org.junit.jupiter.api.Test;

class TargetTest {
    private static final Cell COPY = new Cell(Contenders.COPY, Pass.STREAM, 65_536);
    private static final Cell OWN_STREAM = new Cell(Contenders.INVOKER, Pass.STREAM, 65_536);
    private static final Cell UCX_STREAM = new Cell(UcxTool.POSIX.id(), Pass.STREAM, 65_536);
    private static final Target LATENCY = new Target("x", Runs.OWN, CellMetric.HALF_ROUND_TRIP, Runs.UCX, 0.9, 0.75);
    private static final int ROUNDS = 15;

    private final Results results = new Results();

    private static double[] all(double value) {
        double[] values = new double[ROUNDS];
        Arrays.fill(values, value);
        return values;
    }

    private void latencies(double... own) {
        Runs.pairs(results, CellMetric.HALF_ROUND_TRIP, Runs.OWN, own, Runs.UCX, all(100));
    }

    private void latency(double own, HandOvers handOvers) {
        results.add(handOvers, Map.of(Runs.OWN, new SliceReading(Map.of(CellMetric.HALF_ROUND_TRIP, own), null),
            Runs.UCX, new SliceReading(Map.of(CellMetric.HALF_ROUND_TRIP, 100.0), null)));
    }

    @Test
    void shouldBeMetWhenTheMedianIs() {
        latencies(80, 85, 88, 89, 120, 120, 120, 80, 85, 88, 89, 120, 120, 120, 89);
        Target.Verdict verdict = LATENCY.judge(results);
        assertEquals(new Quartiles(15, 0.865, 0.89, 1.2), verdict.ratios());
        assertEquals(Outcome.MET, verdict.outcome());
        assertTrue(verdict.met());
        assertFalse(verdict.goalMet());
        assertEquals(0, verdict.missedBy());
        assertEquals(89, verdict.own());
        assertEquals(100, verdict.other());
        assertEquals("0.890 (0.865 to 1.200, 15 of 15 rounds valid), must 0.90, goal 0.75: met",
            ResultText.outcome(verdict));
    }

    @Test
    void shouldNotJudgeFewerThanFifteenValidRounds() {
        latencies(Arrays.copyOf(all(99), ROUNDS - 1));
        latency(99, Runs.around(60, 100));
        Target.Verdict verdict = LATENCY.judge(results);
        assertEquals(Outcome.NOT_JUDGED, verdict.outcome());
        assertFalse(verdict.met());
        assertEquals(0, verdict.missedBy());
        assertEquals("0.990 (0.990 to 0.990, 14 of 15 rounds valid), must 0.90, goal 0.75: not judged:"
            + " 15 valid rounds are needed", ResultText.outcome(verdict));
    }

    @Test
    void shouldCountOnlyRoundsInWhichTheHostDidNotChange() {
        latencies(all(80));
        for (int round = 0; round < 2 * ROUNDS; round++) {
            latency(150, Runs.around(60, 250));
        }
        Target.Verdict verdict = LATENCY.judge(results);
        assertEquals(0.8, verdict.ratio(), 1e-9);
        assertEquals(80, verdict.own());
        assertEquals(Outcome.MET, verdict.outcome());
        assertEquals(15, verdict.valid());
        assertEquals(45, verdict.rounds());
    }

    /** All values of a round are of one state, whichever it is. */
    @Test
    void shouldCountRoundsOfEachState() {
        for (int round = 0; round < ROUNDS; round++) {
            double factor = round % 2 == 0 ? 1 : 3;
            HandOvers handOvers = Runs.around(60 * factor, 60 * factor);
            results.add(handOvers, Map.of(
                Runs.OWN, new SliceReading(Map.of(CellMetric.HALF_ROUND_TRIP, 80 * factor), null),
                Runs.UCX, new SliceReading(Map.of(CellMetric.HALF_ROUND_TRIP, 100 * factor), null)));
        }
        assertEquals(new Quartiles(15, 0.8, 0.8, 0.8), LATENCY.judge(results).ratios());
        assertEquals(Outcome.MET, LATENCY.judge(results).outcome());
    }

    @Test
    void shouldShowTheRatioOfAllRoundsIfNoneIsValid() {
        for (int round = 0; round < ROUNDS; round++) {
            latency(80, Runs.around(60, 250));
        }
        Target.Verdict verdict = LATENCY.judge(results);
        assertEquals(Outcome.NOT_JUDGED, verdict.outcome());
        assertEquals(0.8, verdict.ratio(), 1e-9);
        assertEquals(0, verdict.valid());
        assertEquals(80, verdict.own());
    }

    @Test
    void shouldTellByHowMuchItIsMissed() {
        latencies(all(99));
        Target.Verdict verdict = LATENCY.judge(results);
        assertEquals(Outcome.MISSED, verdict.outcome());
        assertEquals(0.1, verdict.missedBy(), 1e-9);
        assertTrue(ResultText.outcome(verdict).endsWith("missed by 10 %"), ResultText.outcome(verdict));
    }

    @Test
    void shouldMeetTheGoalBesides() {
        latencies(all(70));
        assertTrue(LATENCY.judge(results).goalMet());
    }

    @Test
    void shouldNotBeMetByRoundsThatHaveOnlyOneOfBoth() {
        Runs.add(results, Runs.OWN, CellMetric.HALF_ROUND_TRIP, all(1));
        Runs.add(results, Runs.UCX, CellMetric.HALF_ROUND_TRIP, all(9));
        Target.Verdict verdict = LATENCY.judge(results);
        assertFalse(verdict.measured());
        assertFalse(verdict.met());
        assertEquals("not measured", ResultText.outcome(verdict));
    }

    @Test
    void shouldNotJudgeAgainstWhatIsNoPeer() {
        latencies(all(70));
        Target unfit = new Target("x", Runs.OWN, CellMetric.HALF_ROUND_TRIP,
            List.of(new Target.Reference(Runs.UCX, 1, "it is old")), 0.9, 0.75, null);
        Target.Verdict verdict = unfit.judge(results);
        assertEquals(Outcome.NOT_JUDGED, verdict.outcome());
        assertTrue(ResultText.outcome(verdict).endsWith("not judged: it is old"), ResultText.outcome(verdict));
    }

    @Test
    void shouldWantMoreWhereMoreIsBetter() {
        Target rate = new Target("x", OWN_STREAM, CellMetric.MESSAGE_RATE, UCX_STREAM, 1.0, 1.25);
        Runs.pairs(results, CellMetric.MESSAGE_RATE, OWN_STREAM, all(80), UCX_STREAM, all(100));
        Target.Verdict verdict = rate.judge(results);
        assertFalse(verdict.met());
        assertEquals(0.25, verdict.missedBy(), 1e-9);
    }

    @Test
    void shouldWantARatioBetweenTwoBounds() {
        Target even = new Target("x", Runs.OWN, CellMetric.HALF_ROUND_TRIP, List.of(new Target.Reference(Runs.UCX, 1)),
            1.03, Double.NaN, null, 0.97);
        latencies(all(100));
        assertTrue(ResultText.outcome(even.judge(results)).endsWith("must 0.97 to 1.03, goal -: met"));
        for (int more = 0; more < 2; more++) {
            latencies(all(87));
        }
        assertEquals(0.97 / 0.87 - 1, even.judge(results).missedBy(), 1e-9);
        assertEquals(Outcome.MISSED, even.judge(results).outcome());
        for (int more = 0; more < 4; more++) {
            latencies(all(110));
        }
        assertEquals(Outcome.MISSED, even.judge(results).outcome());
    }

    @Test
    void shouldOnlyShowWhatHasNoMust() {
        Target shown = Target.ofValue("x", Runs.OWN, CellMetric.FRESH_OVER_STEADY, Target.SHOWN, 3);
        Runs.add(results, Runs.OWN, CellMetric.FRESH_OVER_STEADY, 40);
        assertTrue(ResultText.outcome(shown.judge(results)).endsWith("must shown, goal 3.00: shown"));
        Runs.add(results, Runs.OWN, CellMetric.FRESH_OVER_STEADY, 2, 2);
        assertEquals(Outcome.SHOWN, shown.judge(results).outcome());
        assertFalse(shown.judge(results).met());
    }

    @Test
    void shouldJudgeInHandOversOfTheSameRound() {
        Target handOvers = Target.ofValue("x", Runs.OWN, CellMetric.HALF_ROUND_TRIP_IN_HAND_OVERS, 1.9, 1.5);
        latencies(all(102));
        Target.Verdict verdict = handOvers.judge(results);
        assertEquals(1.7, verdict.ratio(), 1e-9);
        assertEquals(Outcome.MET, verdict.outcome());
    }

    @Test
    void shouldCompareWithTheSmallerOfTwoReferencesAndTheGoalWithItsOwn() {
        Target.Reference ucx = new Target.Reference(UCX_STREAM, 1);
        Target bandwidth = new Target("x", OWN_STREAM, CellMetric.BANDWIDTH,
            List.of(ucx, new Target.Reference(COPY, 0.9)), 1, 1, ucx);
        for (int round = 0; round < ROUNDS; round++) {
            results.add(Runs.VALID, Map.of(OWN_STREAM, new SliceReading(Map.of(CellMetric.BANDWIDTH, 95.0), null),
                UCX_STREAM, new SliceReading(Map.of(CellMetric.BANDWIDTH, 120.0), null),
                COPY, new SliceReading(Map.of(CellMetric.BANDWIDTH, 100.0), null)));
        }
        Target.Verdict verdict = bandwidth.judge(results);
        assertEquals(95 / 90.0, verdict.ratio(), 1e-9);
        assertTrue(verdict.met());
        assertFalse(verdict.goalMet());
        assertEquals(90, verdict.other(), 1e-9);
    }

    @Test
    void shouldJudgeAValueThatNeedsNoReference() {
        Target cycles = Target.ofValue("x", Runs.OWN, CellMetric.COLD_CYCLES, 64, 64);
        Runs.add(results, Runs.OWN, CellMetric.COLD_CYCLES, all(128));
        Runs.add(results, Runs.OWN, CellMetric.COLD_CYCLES, 3);
        Target.Verdict verdict = cycles.judge(results);
        assertEquals(16, verdict.ratios().rounds());
        assertEquals(128, verdict.ratio());
        assertFalse(verdict.met());
        assertEquals(1, verdict.missedBy());
    }

    @Test
    void shouldJudgeWhatMustNotBeAtAll() {
        Target none = Target.ofValue("x", Targets.COLLECTED, CellMetric.COLLECTIONS, 0, 0);
        assertEquals("not measured", ResultText.outcome(none.judge(results)));
        results.add(null, Map.of(Targets.COLLECTED, new SliceReading(Map.of(CellMetric.COLLECTIONS, 0.0), null)));
        assertTrue(none.judge(results).goalMet());
        results.add(null, Map.of(Targets.COLLECTED, new SliceReading(Map.of(CellMetric.COLLECTIONS, 4.0), null)));
        assertFalse(none.judge(results).met());
        assertTrue(ResultText.outcome(none.judge(results)).endsWith("must 0.00, goal 0.00: missed"));
    }

    @Test
    void shouldNameOnlySystemsThatThereAre() {
        List<Cell> cells = new ArrayList<>(Targets.beside());
        Targets.all(Map.of()).forEach(target -> cells.addAll(target.cells()));
        assertTrue(cells.containsAll(Targets.PROFILED));
        cells.forEach(cell -> assertTrue(Contenders.IDS.contains(cell.system()), cell.toString()));
    }

    @Test
    void shouldNotJudgeBesideAControlThatDiffers() {
        Target target = new Target("x", Runs.OWN, CellMetric.HALF_ROUND_TRIP, List.of(
            new Target.Reference(Runs.UCX, 1), Target.Reference.control(COPY)), 1.2, 1.05, null);
        for (int i = 0; i < Target.LEAST_VALID_ROUNDS; i++) {
            results.add(Runs.VALID, Map.of(Runs.OWN, reading(110), Runs.UCX, reading(100), COPY, reading(92)));
        }
        assertEquals(1.1, target.judge(results).ratio(), 1e-9);
        assertTrue(target.judge(results).met());
        for (int i = 0; i < 2 * Target.LEAST_VALID_ROUNDS; i++) {
            results.add(Runs.VALID, Map.of(Runs.OWN, reading(110), Runs.UCX, reading(100), COPY, reading(120)));
        }
        assertEquals(Target.Outcome.NOT_JUDGED, target.judge(results).outcome());
        assertTrue(ResultText.outcome(target.judge(results)).endsWith("not judged: the control differs"));
    }

    private static SliceReading reading(double value) {
        return new SliceReading(Map.of(CellMetric.HALF_ROUND_TRIP, value), null);
    }
}
