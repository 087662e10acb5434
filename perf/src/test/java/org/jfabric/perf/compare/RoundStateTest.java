package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RoundStateTest {
    private static final double MOST = 70;

    private static HandOvers around(double before, double after) {
        return new HandOvers(before, after);
    }

    @Test
    void shouldBeValidWhileAllHandOversAreShortAndAlike() {
        assertEquals(RoundState.VALID, RoundState.of(MOST, around(56, 70)));
        assertEquals(RoundState.VALID, RoundState.of(MOST, around(54, 60), around(60, 70)));
    }

    @Test
    void shouldBeSlowIfAllAreLongAndChangedIfOneIs() {
        assertEquals(RoundState.SLOW, RoundState.of(MOST, around(250, 260)));
        assertEquals(RoundState.SLOW, RoundState.of(MOST, around(60, 71)));
        assertEquals(RoundState.CHANGED, RoundState.of(MOST, around(60, 250)));
        assertEquals(RoundState.CHANGED, RoundState.of(MOST, around(60, 60), around(250, 250)));
        assertEquals(RoundState.CHANGED, RoundState.of(MOST, around(40, 60)));
    }

    @Test
    void shouldAllowWhatAnotherMachineNeeds() {
        assertEquals(RoundState.VALID, RoundState.of(300, around(250, 260)));
        assertEquals(RoundState.CHANGED, RoundState.of(300, around(100, 260)));
    }

    @Test
    void shouldNotKnowWithoutHandOvers() {
        assertEquals(RoundState.UNKNOWN, RoundState.of(MOST, around(60, 60), null));
        assertEquals(RoundState.UNKNOWN, RoundState.of(MOST, around(Double.NaN, 60)));
    }

    @Test
    void shouldTellTheRoundsOfACellApart() {
        Results results = new Results(4);
        double[] values = {90, 120, 400, 100};
        HandOvers[] around = {around(60, 60), around(60, 200), around(200, 200), around(50, 50)};
        for (int round = 0; round < values.length; round++) {
            results.add(Runs.OWN, round,
                new Reading(Map.of(Metric.HALF_ROUND_TRIP, values[round], Metric.MEMORY, 7.0), List.of(), null,
                    around[round]));
        }
        Results.Line time = results.lines().getFirst();
        assertEquals(95, time.median());
        assertEquals(90, time.min());
        assertEquals(100, time.max());
        assertEquals((90 / 60.0 + 100 / 50.0) / 2, time.inHandOvers(), 1e-9);
        assertEquals(2, time.validRounds());
        assertEquals(Map.of(RoundState.VALID, new Spread(2, 95, 90, 100), RoundState.CHANGED,
            new Spread(1, 120, 120, 120), RoundState.SLOW, new Spread(1, 400, 400, 400)), time.states());
        assertEquals(4, results.lines().getLast().validRounds());
        assertArrayEquals(new double[] {1.5, 120 / 130.0, 2, 2},
            results.values(Runs.OWN, Metric.HALF_ROUND_TRIP_IN_HAND_OVERS), 1e-9);
    }

    @Test
    void shouldShowAllRoundsIfNoneIsValid() {
        Results results = new Results(2);
        for (int round = 0; round < 2; round++) {
            results.add(Runs.OWN, round,
                new Reading(Map.of(Metric.HALF_ROUND_TRIP, 300.0 + round), List.of(), null, around(100, 100)));
        }
        Results.Line line = results.lines().getFirst();
        assertEquals(300.5, line.median());
        assertEquals(0, line.validRounds());
        assertEquals(3.005, line.inHandOvers(), 1e-9);
    }
}
