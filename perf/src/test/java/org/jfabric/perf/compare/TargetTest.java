package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jfabric.perf.compare.Target.Outcome;
import org.junit.jupiter.api.Test;

class TargetTest {
    private static final Cell COPY = new Cell(Contenders.COPY, Pass.STREAM, 65_536);
    private static final Cell OWN_STREAM = new Cell(Contenders.INVOKER, Pass.STREAM, 65_536);
    private static final Cell UCX_STREAM = new Cell(UcxTool.POSIX.id(), Pass.STREAM, 65_536);
    private static final Target LATENCY = new Target("x", Runs.OWN, Metric.HALF_ROUND_TRIP, Runs.UCX, 0.9, 0.75);
    private static final int ROUNDS = 7;

    private final Results results = new Results(ROUNDS);

    private static double[] all(double value) {
        double[] values = new double[ROUNDS];
        Arrays.fill(values, value);
        return values;
    }

    private void latencies(double... own) {
        Runs.add(results, Runs.OWN, Metric.HALF_ROUND_TRIP, own);
        Runs.add(results, Runs.UCX, Metric.HALF_ROUND_TRIP, all(100));
    }

    private void latency(int round, double own, double handOverNs) {
        results.add(Runs.OWN, round, new Reading(Map.of(Metric.HALF_ROUND_TRIP, own), List.of(), null,
            new HandOvers(handOverNs, handOverNs)));
        results.add(Runs.UCX, round, new Reading(Map.of(Metric.HALF_ROUND_TRIP, 100.0), List.of(), null,
            new HandOvers(handOverNs, handOverNs)));
    }

    @Test
    void shouldBeMetWhenTheMedianAndMostRoundsAre() {
        latencies(80, 85, 88, 89, 120, 120, 120);
        Target.Verdict verdict = LATENCY.judge(results);
        assertEquals(0.89, verdict.ratio(), 1e-9);
        assertEquals(4, verdict.near());
        assertEquals(Outcome.MET, verdict.outcome());
        assertTrue(verdict.met());
        assertFalse(verdict.goalMet());
        assertEquals(0, verdict.missedBy());
    }

    @Test
    void shouldNotJudgeFewerThanSevenValidRounds() {
        latencies(99, 99, 99, 99, 99, 99, Double.NaN);
        Target.Verdict verdict = LATENCY.judge(results);
        assertEquals(Outcome.NOT_JUDGED, verdict.outcome());
        assertFalse(verdict.met());
        assertEquals(0, verdict.missedBy());
        assertEquals(0.99, verdict.ratio(), 1e-9);
        assertEquals("0.990, must 0.90, goal 0.75: not judged, 6 of 6 rounds are valid, 7 are needed",
            ResultText.outcome(verdict));
    }

    @Test
    void shouldCountOnlyRoundsInWhichTheHostWasAsItShould() {
        for (int round = 0; round < ROUNDS; round++) {
            latency(round, 80, 60);
        }
        for (int round = ROUNDS; round < 3 * ROUNDS; round++) {
            latency(round, 150, 250);
        }
        Target.Verdict verdict = LATENCY.judge(results);
        assertEquals(0.8, verdict.ratio(), 1e-9);
        assertEquals(80, verdict.own());
        assertEquals(Outcome.MET, verdict.outcome());
        assertEquals(7, verdict.validRounds());
        assertEquals(new Spread(14, 1.5, 1.5, 1.5), verdict.states().get(RoundState.SLOW));
        assertEquals("0.800, must 0.90, goal 0.75: met (14 slow: 1.500)", ResultText.outcome(verdict));
    }

    @Test
    void shouldShowTheRatioOfAllRoundsIfNoneIsValid() {
        for (int round = 0; round < ROUNDS; round++) {
            latency(round, 80, 250);
        }
        Target.Verdict verdict = LATENCY.judge(results);
        assertEquals(Outcome.NOT_JUDGED, verdict.outcome());
        assertEquals(0.8, verdict.ratio(), 1e-9);
        assertEquals(0, verdict.validRounds());
        assertEquals(80, verdict.own());
    }

    /** Both cells of a round have to be of one state, though each is by itself. */
    @Test
    void shouldNotCompareTwoStates() {
        for (int round = 0; round < ROUNDS; round++) {
            latency(round, 80, 50);
            results.add(Runs.UCX, round, new Reading(Map.of(Metric.HALF_ROUND_TRIP, 100.0), List.of(), null,
                new HandOvers(69, 69)));
        }
        assertEquals(Map.of(RoundState.CHANGED, new Spread(7, 0.8, 0.8, 0.8)), LATENCY.judge(results).states());
    }

    /** The values next to a ratio are of the round that has it, also where each median is of another round. */
    @Test
    void shouldShowTheValuesOfTheRoundThatTheRatioIsOf() {
        Runs.add(results, Runs.OWN, Metric.HALF_ROUND_TRIP, 100, 300, 90, 500, Double.NaN);
        Runs.add(results, Runs.UCX, Metric.HALF_ROUND_TRIP, 100, 200, 100, Double.NaN, 10);
        Target.Verdict verdict = LATENCY.judge(results);
        assertEquals(1, verdict.ratio(), 1e-9);
        assertEquals(100, verdict.own(), 1e-9);
        assertEquals(100, verdict.other(), 1e-9);
        assertEquals(Runs.UCX, verdict.against().cell());

        Runs.add(results, Runs.OWN, Metric.HALF_ROUND_TRIP, 100, 300, 90, 120);
        Runs.add(results, Runs.UCX, Metric.HALF_ROUND_TRIP, 100, 200, 100, 100);
        Target.Verdict even = LATENCY.judge(results);
        assertEquals(1.1, even.ratio(), 1e-9);
        assertEquals(110, even.own(), 1e-9);
        assertEquals(100, even.other(), 1e-9);
    }

    @Test
    void shouldTellByHowMuchItIsMissed() {
        latencies(99, 99, 99, 99, 99, 99, 80);
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
    void shouldNotBeMetByRoundsOfTwoRunsThatDoNotMatch() {
        Runs.add(results, Runs.OWN, Metric.HALF_ROUND_TRIP, 1, 1, Double.NaN, Double.NaN, Double.NaN);
        Runs.add(results, Runs.UCX, Metric.HALF_ROUND_TRIP, Double.NaN, Double.NaN, 9, 9, 9);
        Target.Verdict verdict = LATENCY.judge(results);
        assertFalse(verdict.measured());
        assertFalse(verdict.met());
        assertEquals("not measured", ResultText.outcome(verdict));
    }

    @Test
    void shouldWantMoreWhereMoreIsBetter() {
        Target rate = new Target("x", OWN_STREAM, Metric.MESSAGE_RATE, UCX_STREAM, 1.0, 1.25);
        Runs.add(results, OWN_STREAM, Metric.MESSAGE_RATE, all(80));
        Runs.add(results, UCX_STREAM, Metric.MESSAGE_RATE, all(100));
        Target.Verdict verdict = rate.judge(results);
        assertFalse(verdict.met());
        assertEquals(0.25, verdict.missedBy(), 1e-9);
    }

    @Test
    void shouldWantARatioBetweenTwoBounds() {
        Target even = new Target("x", Runs.OWN, Metric.HALF_ROUND_TRIP, List.of(new Target.Reference(Runs.UCX, 1)),
            1.03, Double.NaN, null, 0.97);
        latencies(all(100));
        assertEquals("1.000, must 0.97 to 1.03, goal -: met", ResultText.outcome(even.judge(results)));
        latencies(all(87));
        assertEquals(0.97 / 0.87 - 1, even.judge(results).missedBy(), 1e-9);
        assertEquals(Outcome.MISSED, even.judge(results).outcome());
        latencies(all(110));
        assertEquals(Outcome.MISSED, even.judge(results).outcome());
    }

    @Test
    void shouldOnlyShowWhatHasNoMust() {
        Target shown = Target.ofValue("x", Runs.OWN, Metric.FRESH_OVER_STEADY, Target.SHOWN, 3);
        Runs.add(results, Runs.OWN, Metric.FRESH_OVER_STEADY, all(40));
        assertEquals("40.000, must shown, goal 3.00: met", ResultText.outcome(shown.judge(results)));
        Runs.add(results, Runs.OWN, Metric.FRESH_OVER_STEADY, all(2));
        assertTrue(shown.judge(results).goalMet());
    }

    @Test
    void shouldJudgeInHandOversOfTheSameCell() {
        Target handOvers = Target.ofValue("x", Runs.OWN, Metric.HALF_ROUND_TRIP_IN_HAND_OVERS, 1.9, 1.5);
        latencies(all(102));
        Target.Verdict verdict = handOvers.judge(results);
        assertEquals(1.7, verdict.ratio(), 1e-9);
        assertEquals(Outcome.MET, verdict.outcome());
    }

    @Test
    void shouldCompareWithTheSmallerOfTwoReferencesAndTheGoalWithItsOwn() {
        Target.Reference ucx = new Target.Reference(UCX_STREAM, 1);
        Target bandwidth = new Target("x", OWN_STREAM, Metric.BANDWIDTH,
            List.of(ucx, new Target.Reference(COPY, 0.9)), 1, 1, ucx);
        Runs.add(results, OWN_STREAM, Metric.BANDWIDTH, all(95));
        Runs.add(results, UCX_STREAM, Metric.BANDWIDTH, all(120));
        Runs.add(results, COPY, Metric.BANDWIDTH, all(100));
        Target.Verdict verdict = bandwidth.judge(results);
        assertEquals(95 / 90.0, verdict.ratio(), 1e-9);
        assertTrue(verdict.met());
        assertFalse(verdict.goalMet());
        assertEquals(COPY, verdict.against().cell());
    }

    @Test
    void shouldJudgeAValueThatNeedsNoReference() {
        Target cycles = Target.ofValue("x", Runs.OWN, Metric.COLD_CYCLES, 64, 64);
        Runs.add(results, Runs.OWN, Metric.COLD_CYCLES, 3, Double.NaN, 128, 128, 128, 128, 128, 128);
        Target.Verdict verdict = cycles.judge(results);
        assertEquals(7, verdict.ratios().length);
        assertEquals(128, verdict.ratio());
        assertFalse(verdict.met());
        assertEquals(1, verdict.missedBy());
    }

    @Test
    void shouldJudgeWhatMustNotBeAtAll() {
        Target none = Target.ofValue("x", Targets.COLLECTED, Metric.COLLECTIONS, 0, 0);
        assertEquals("not measured", ResultText.outcome(none.judge(results)));
        Runs.add(results, Targets.COLLECTED, Metric.COLLECTIONS, 0);
        assertTrue(none.judge(results).goalMet());
        Runs.add(results, Targets.COLLECTED, Metric.COLLECTIONS, 2);
        assertFalse(none.judge(results).met());
        assertEquals("2.000, must 0.00, goal 0.00: missed", ResultText.outcome(none.judge(results)));
    }

    @Test
    void shouldNameOnlyCellsThatTheDefaultRunHas() {
        List<Cell> cells = Targets.cells();
        for (Target target : Targets.all()) {
            assertEquals(!target.own().equals(Targets.COLLECTED), cells.contains(target.own()), target.what());
            target.references().forEach(each -> assertTrue(cells.contains(each.cell()), target.what()));
        }
        assertTrue(cells.containsAll(Targets.PROFILED));
        cells.forEach(cell -> assertTrue(Contenders.IDS.contains(cell.system()), cell.toString()));
    }

    private static Targets.Ucx ucx(String onPath, String ofHome) {
        return Targets.Ucx.of(Map.of("version.ucx", onPath, "version.ucx-home", ofHome));
    }

    @Test
    void shouldTellTheTwoBuildsOfUcxByTheirVersions() {
        assertEquals(new Targets.Ucx("ucx", "ucx-home"), ucx("1.13.1, revision 0, /usr/bin", "1.22.0, /opt"));
        assertEquals(new Targets.Ucx("ucx-home", "ucx"), ucx("1.22.0", "1.18.0"));
        assertEquals(new Targets.Ucx("absent", "ucx"), ucx("2.0.0", "not installed"));
        assertEquals(new Targets.Ucx("absent", "ucx-home"), ucx("1.23.0", "1.22.0"));
        assertEquals(new Targets.Ucx("ucx", "absent"), ucx("1.13.1", "not installed"));
        assertEquals(new Targets.Ucx("ucx", "absent"), ucx("1.13.1", "1.14.0"));
        assertEquals(new Targets.Ucx("absent", "absent"), ucx("not installed", "unknown, /opt"));
        assertEquals(Targets.Ucx.USUAL, Targets.Ucx.of(Map.of()));
    }

    @Test
    void shouldNotMeasureATargetWhoseBuildIsNotThere() {
        for (Target target : Targets.all(ucx("1.13.1", "not installed"))) {
            if (target.what().endsWith("1.22 or newer")) {
                assertEquals("not measured", ResultText.outcome(target.judge(results)));
            }
        }
    }
}
