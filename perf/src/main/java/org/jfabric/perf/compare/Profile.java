package org.jfabric.perf.compare;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Distribution of a thread's time. */
record Profile(Map<String, Integer> samples) {
    /**
     * A part of the way.
     *
     * @param share of the time, 0 to 1.
     */
    record Part(String name, double share) {
    }

    /** Returns the number of samples. */
    int total() {
        return samples.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** All parts, the greatest first. */
    List<Part> parts() {
        double total = Math.max(1, total());
        return samples.entrySet().stream()
            .map(each -> new Part(each.getKey(), each.getValue() / total))
            .sorted((a, b) -> Double.compare(b.share, a.share))
            .toList();
    }

    /** One word; empty profiles have one too. */
    String format() {
        return samples.entrySet().stream().map(each -> each.getKey().replace(' ', '_') + '=' + each.getValue())
            .collect(Collectors.joining(";", "[", "]"));
    }

    /**
     * Reads it.
     *
     * @param word as from {@link #format}.
     * @throws IllegalArgumentException if it is something else.
     */
    static Profile parse(String word) {
        if (!word.startsWith("[") || !word.endsWith("]")) {
            throw new IllegalArgumentException("not a profile: " + word);
        }
        Map<String, Integer> samples = new LinkedHashMap<>();
        for (String each : word.substring(1, word.length() - 1).split(";")) {
            int sign = each.indexOf('=');
            if (sign > 0) {
                samples.put(each.substring(0, sign).replace('_', ' '), Integer.valueOf(each.substring(sign + 1)));
            }
        }
        return new Profile(samples);
    }
}
