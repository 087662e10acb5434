package org.jfabric.driver.torture;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** What a run has done: counts, and times with their median and maximum. Owner: the controller's thread. */
final class Tally {
    private final Map<String, Long> counts = new TreeMap<>();
    private final Map<String, List<Long>> times = new TreeMap<>();

    void add(String what, long count) {
        counts.merge(what, count, Long::sum);
    }

    void time(String what, long ns) {
        times.computeIfAbsent(what, each -> new ArrayList<>()).add(ns);
    }

    long count(String what) {
        return counts.getOrDefault(what, 0L);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        counts.forEach((what, count) -> text.append(String.format("  %-44s %,d%n", what, count)));
        times.forEach((what, all) -> {
            long[] sorted = all.stream().mapToLong(Long::longValue).sorted().toArray();
            text.append(String.format("  %-44s %s of %d: median %s ms, maximum %s ms%n", what, "", sorted.length,
                ms(sorted[sorted.length / 2]), ms(Arrays.stream(sorted).max().orElse(0))));
        });
        return text.toString();
    }

    private static String ms(long ns) {
        return String.format("%.1f", ns / (double) TimeUnit.MILLISECONDS.toNanos(1));
    }
}
