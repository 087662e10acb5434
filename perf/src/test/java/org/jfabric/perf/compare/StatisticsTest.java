package org.jfabric.perf.compare;

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
        assertEquals(Double.NaN, Statistics.median(Double.NaN));
        assertEquals(Double.NaN, Statistics.median());
        assertEquals(new Quartiles(1, 5, 5, 5), Quartiles.of(Double.NaN, 5));
    }

    @Test
    void shouldFindQuantilesBetweenValues() {
        double[] values = {30, Double.NaN, 10, 20, 40};
        assertEquals(10, Statistics.quantile(values, 0));
        assertEquals(17.5, Statistics.quantile(values, 0.25));
        assertEquals(25, Statistics.quantile(values, 0.5));
        assertEquals(40, Statistics.quantile(values, 1));
        assertEquals(7, Statistics.quantile(new double[] {7}, 0.75));
    }
}
