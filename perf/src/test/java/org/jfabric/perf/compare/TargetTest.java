package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class TargetTest {
    private static final Cell COPY = new Cell(Contenders.COPY, Pass.STREAM, 65_536);
    private static final Cell OWN_STREAM = new Cell(Contenders.INVOKER, Pass.STREAM, 65_536);
    private static final Cell UCX_STREAM = new Cell(UcxTool.POSIX.id(), Pass.STREAM, 65_536);
    private static final Target LATENCY = new Target("x", Runs.OWN, Metric.HALF_ROUND_TRIP, Runs.UCX, 0.9, 0.75);

    private final Results results = new Results(5);

    private void latencies(double... own) {
        Runs.add(results, Runs.OWN, Metric.HALF_ROUND_TRIP, own);
        Runs.add(results, Runs.UCX, Metric.HALF_ROUND_TRIP, 100, 100, 100, 100, 100);
    }

    @Test
    void shouldBeMetWhenTheMedianAndMostRoundsAre() {
        latencies(80, 85, 89, 120, 120);
        Target.Verdict verdict = LATENCY.judge(results);
        assertEquals(0.89, verdict.ratio(), 1e-9);
        assertEquals(3, verdict.near());
        assertTrue(verdict.met());
        assertFalse(verdict.goalMet());
        assertEquals(0, verdict.missedBy());
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
        latencies(99, 99, 99, 99, 80);
        Target.Verdict verdict = LATENCY.judge(results);
        assertFalse(verdict.met());
        assertEquals(0.1, verdict.missedBy(), 1e-9);
        assertTrue(ResultText.outcome(verdict).endsWith("missed by 10 %"), ResultText.outcome(verdict));
    }

    @Test
    void shouldMeetTheGoalBesides() {
        latencies(70, 70, 70, 70, 70);
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
        Runs.add(results, OWN_STREAM, Metric.MESSAGE_RATE, 80, 80, 80, 80, 80);
        Runs.add(results, UCX_STREAM, Metric.MESSAGE_RATE, 100, 100, 100, 100, 100);
        Target.Verdict verdict = rate.judge(results);
        assertFalse(verdict.met());
        assertEquals(0.25, verdict.missedBy(), 1e-9);
    }

    @Test
    void shouldCompareWithTheSmallerOfTwoReferencesAndTheGoalWithItsOwn() {
        Target.Reference ucx = new Target.Reference(UCX_STREAM, 1);
        Target bandwidth = new Target("x", OWN_STREAM, Metric.BANDWIDTH,
            List.of(ucx, new Target.Reference(COPY, 0.9)), 1, 1, ucx);
        Runs.add(results, OWN_STREAM, Metric.BANDWIDTH, 95, 95, 95, 95, 95);
        Runs.add(results, UCX_STREAM, Metric.BANDWIDTH, 120, 120, 120, 120, 120);
        Runs.add(results, COPY, Metric.BANDWIDTH, 100, 100, 100, 100, 100);
        Target.Verdict verdict = bandwidth.judge(results);
        assertEquals(95 / 90.0, verdict.ratio(), 1e-9);
        assertTrue(verdict.met());
        assertFalse(verdict.goalMet());
    }

    @Test
    void shouldJudgeAValueThatNeedsNoReference() {
        Target cycles = Target.ofValue("x", Runs.OWN, Metric.COLD_CYCLES, 64, 64);
        Runs.add(results, Runs.OWN, Metric.COLD_CYCLES, 3, Double.NaN, 128, 128, 128);
        Target.Verdict verdict = cycles.judge(results);
        assertEquals(4, verdict.ratios().length);
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
}
