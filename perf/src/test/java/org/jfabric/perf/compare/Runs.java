package org.jfabric.perf.compare;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** Runs that were never measured, for what is made of them. */
final class Runs {
    static final Cell OWN = new Cell(Contenders.INVOKER, Pass.EXCHANGE, 64);
    static final Cell UCX = new Cell(UcxTool.POSIX.id(), Pass.EXCHANGE, 64);

    /** Hand-overs of the usual state. */
    static final HandOvers VALID = new HandOvers(60, 60);

    private Runs() {
    }

    /** Values of one metric, by round. */
    static void add(Results results, Cell cell, Metric metric, double... values) {
        for (int round = 0; round < values.length; round++) {
            if (!Double.isNaN(values[round])) {
                results.add(cell, round, new Reading(Map.of(metric, values[round]), List.of(), null, VALID));
            }
        }
    }

    /** A small run of everything that a report can show, with text that has to be escaped. */
    static Comparison comparison() {
        Results results = new Results(3);
        for (int size : new int[] {64, 1024}) {
            add(results, new Cell(Contenders.INVOKER, Pass.EXCHANGE, size), Metric.HALF_ROUND_TRIP, 100, 90, 110);
            add(results, new Cell(UcxTool.POSIX.id(), Pass.EXCHANGE, size), Metric.HALF_ROUND_TRIP, 200, 190, 180);
            add(results, new Cell(Contenders.INVOKER, Pass.STREAM, size), Metric.MESSAGE_RATE, 5e6, 6e6, 4e6);
        }
        add(results, new Cell(Contenders.COPY, Pass.STREAM, 65_536), Metric.BANDWIDTH, 12_000, 13_000, 14_000);
        Histogram histogram = new Histogram(3);
        for (int i = 1; i <= 10_000; i++) {
            histogram.recordValue(i);
        }
        Cell paced = new Cell(Contenders.INVOKER, Pass.PACED, 64);
        for (int round = 0; round < 3; round++) {
            results.add(paced, round, new Reading(Map.of(Metric.PACED_P99, 400.0),
                round == 1 ? List.of("ping lost its core 50 times a second") : List.of(), histogram, VALID));
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
