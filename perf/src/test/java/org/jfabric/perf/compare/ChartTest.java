package org.jfabric.perf.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class ChartTest {
    private static List<Double> marks(double... values) {
        return Chart.marks(DoubleStream.of(values).summaryStatistics());
    }

    @Test
    void shouldMarkTheAxisAroundAllValues() {
        assertEquals(List.of(100.0, 200.0, 500.0), marks(150, 420));
        assertEquals(List.of(100.0, 200.0), marks(100, 200));
        assertEquals(List.of(5.0, 10.0), marks(7, 7));
        assertEquals(List.of(100.0, 1_000.0, 10_000.0, 100_000.0, 1_000_000.0), marks(300, 900_000));
    }

    @Test
    void shouldLeaveOutWhatALogarithmCannotShow() {
        Chart chart = new Chart("t", "x", "y", List.of(new Chart.Tick(0, "a"), new Chart.Tick(1, "b")));
        chart.line("nothing", List.of(new Chart.Point(0, 0), new Chart.Point(1, Double.NaN)));
        assertTrue(chart.isEmpty());
        chart.line("something", List.of(new Chart.Point(0, 10), new Chart.Point(1, 0)));
        assertFalse(chart.svg().contains("NaN") || chart.svg().contains("Infinity"), chart.svg());
    }

    @Test
    void shouldDrawASingleSize() {
        Chart chart = new Chart("t", "x", "y", List.of(new Chart.Tick(6, "64")));
        chart.line("one", List.of(new Chart.Point(6, 100)));
        assertFalse(chart.svg().contains("NaN"), chart.svg());
    }
}
