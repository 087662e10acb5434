package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class StatisticsTest {
    @Test
    void shouldTakeTheMiddleValueWhateverTheOrder() {
        assertEquals(3, Statistics.median(9, 3, 1));
        assertEquals(7, Statistics.median(7));
    }

    @Test
    void shouldTakeTheMeanOfTheTwoInTheMiddle() {
        assertEquals(2.5, Statistics.median(4, 1, 2, 3));
    }

    @Test
    void shouldLeaveOutRoundsWithoutAValue() {
        assertEquals(2, Statistics.median(Double.NaN, 1, 3, Double.NaN, 2));
        assertEquals(1, Statistics.min(Double.NaN, 1, 3));
        assertEquals(3, Statistics.max(3, Double.NaN, 1));
        assertEquals(Double.NaN, Statistics.median(Double.NaN));
        assertEquals(Double.NaN, Statistics.median());
    }

    @Test
    void shouldPairTheValuesOfOneRound() {
        double[] own = {10, 20, Double.NaN, 8};
        double[] other = {20, 10, 1, Double.NaN};
        assertArrayEquals(new double[] {0.5, 2, Double.NaN, Double.NaN}, Statistics.pairedRatios(own, other));
    }

    /** The median of the ratios is another thing than the ratio of the medians: here all rounds are even. */
    @Test
    void shouldNotBeMovedByAMachineThatGetsSlower() {
        double[] own = {1, 2, 4, 8, 16};
        double[] other = {1, 2, 4, 8, 16};
        assertEquals(1, Statistics.median(Statistics.pairedRatios(own, other)));
    }
}
