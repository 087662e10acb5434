package org.jfabric.perf.compare;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** Runs that were never measured, for what is made of them. */
final class Runs {
    static final Cell OWN = new Cell(Contenders.INVOKER, Pass.EXCHANGE, 64);
    static final Cell UCX = new Cell(UcxTool.POSIX.id(), Pass.EXCHANGE, 64);

    /** Hand-overs that are alike. */
    static final HandOvers VALID = around(60, 60);

    private Runs() {
    }

    /** Hand-overs of so many nanoseconds; the bare ones take half of it. */
    static HandOvers around(double before, double after) {
        return HandOvers.of(
            new HandOvers.HandOver(before, before / 2), new HandOvers.HandOver(after, after / 2));
    }

    private static SliceReading reading(CellMetric metric, double value) {
        return new SliceReading(Map.of(metric, value), null);
    }

    /** Rounds with one cell. */
    static void add(Results results, Cell cell, CellMetric metric, double... values) {
        for (double value : values) {
            results.add(VALID, Map.of(cell, reading(metric, value)));
        }
    }

    /** Rounds with two cells. */
    static void pairs(Results results, CellMetric metric, Cell own, double[] values, Cell other, double[] others) {
        for (int i = 0; i < values.length; i++) {
            Map<Cell, SliceReading> readings = new LinkedHashMap<>();
            readings.put(own, reading(metric, values[i]));
            readings.put(other, reading(metric, others[i]));
            results.add(VALID, readings);
        }
    }

    /** A small run of everything that a report can show, with text that has to be escaped. */
    static Comparison comparison() {
        Results results = new Results();
        for (int size : new int[] {64, 1024}) {
            pairs(results, CellMetric.HALF_ROUND_TRIP,
                new Cell(Contenders.INVOKER, Pass.EXCHANGE, size), new double[] {100, 90, 110},
                new Cell(UcxTool.POSIX.id(), Pass.EXCHANGE, size), new double[] {200, 190, 180});
            add(results, new Cell(Contenders.INVOKER, Pass.STREAM, size), CellMetric.MESSAGE_RATE, 5e6, 6e6, 4e6);
        }
        add(results, new Cell(Contenders.COPY, Pass.STREAM, 65_536), CellMetric.BANDWIDTH, 12_000, 13_000, 14_000);
        Histogram histogram = new Histogram(3);
        for (int i = 1; i <= 10_000; i++) {
            histogram.recordValue(i);
        }
        Cell paced = new Cell(Contenders.INVOKER, Pass.PACED, 64);
        for (int round = 0; round < 3; round++) {
            results.add(VALID, Map.of(paced, new SliceReading(Map.of(CellMetric.PACED_P99, 400.0), histogram)));
        }
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put("date", "2026-11-22T01:00:00Z");
        environment.put("cpu", "A \"fast\" <CPU> & more");
        return new Comparison(environment, Map.of(Contenders.INVOKER, "JFabric <INVOKER>"), results,
            List.of("UCX posix is left out: ucx_perftest is not installed."), List.of("a note"), 1234, 100, 0,
            List.of(new Comparison.SideProfile(OWN, SideRole.PING, 100, new Profile(Map.of("send: client", 3,
                "poll: matching", 1)))));
    }
}
