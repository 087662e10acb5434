package org.jfabric.tool;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Times that were longer than a threshold, and what each of them coincided with. Nothing is concluded from that: an
 * outlier that coincides with nothing that can be seen is not known.
 *
 * @param title       what took that long, such as {@code round trips}.
 * @param thresholdNs of the length; shorter ones are not counted.
 * @param count       outliers, also those that are not in the list.
 * @param found       the longest of them, in the order of time.
 */
record Outliers(String title, long thresholdNs, long count, List<Found> found) {
    /** Longest ones that are shown to people. */
    private static final int SHOWN = 20;

    /**
     * One that took long.
     *
     * @param name    what it is, such as {@code slow cycle}.
     * @param beginNs by {@link System#nanoTime()} of this host.
     * @param endNs   as above.
     */
    record Outlier(String name, long beginNs, long endNs) {
        long lengthNs() {
            return endNs - beginNs;
        }
    }

    /**
     * An outlier with its coincidences.
     *
     * @param causes  by kind; empty if nothing is known.
     */
    record Found(Outlier outlier, List<Cause> causes) {
    }

    /**
     * Finds what coincided.
     *
     * @param outliers    the longest, in any order.
     */
    static Outliers explain(
        String title, long thresholdNs, long count, List<Outlier> outliers, List<Cause> causes) {
        List<Found> found = new ArrayList<>();
        for (Outlier outlier : outliers) {
            found.add(new Found(outlier, causes.stream()
                .filter(cause -> cause.coincides(outlier.beginNs, outlier.endNs))
                .sorted(Comparator.comparing(Cause::kind).thenComparing(Comparator.comparing(Cause::amount).reversed()))
                .toList()));
        }
        found.sort(Comparator.comparingLong(each -> each.outlier.beginNs));
        return new Outliers(title, thresholdNs, count, List.copyOf(found));
    }

    /** Outliers by what they coincided with; one may count several times. */
    private Map<Cause.Kind, Long> byKind() {
        Map<Cause.Kind, Long> counts = new EnumMap<>(Cause.Kind.class);
        for (Found each : found) {
            Set<Cause.Kind> kinds = EnumSet.noneOf(Cause.Kind.class);
            each.causes.forEach(cause -> kinds.add(cause.kind()));
            kinds.forEach(kind -> counts.merge(kind, 1L, Long::sum));
        }
        return counts;
    }

    private long notKnown() {
        return found.stream().filter(each -> each.causes.isEmpty()).count();
    }

    String toText() {
        StringBuilder text = new StringBuilder();
        text.append(String.format(Locale.ROOT, "%,d %s longer than %,d ns", count, title, thresholdNs));
        if (!found.isEmpty()) {
            text.append(found.size() < count ? "; of the " + found.size() + " longest: " : ": ");
            String kinds = byKind().entrySet().stream()
                .map(each -> each.getValue() + " with " + each.getKey().text()).collect(Collectors.joining(", "));
            text.append(kinds).append(kinds.isEmpty() ? "" : ", ").append(notKnown()).append(" not known");
        }
        text.append('\n');
        List<Found> longest = found.stream()
            .sorted(Comparator.comparingLong((Found each) -> each.outlier.lengthNs()).reversed()).limit(SHOWN)
            .sorted(Comparator.comparingLong(each -> each.outlier.beginNs)).toList();
        for (Found each : longest) {
            text.append(String.format(Locale.ROOT, "  %s %s of %,d ns: ",
                time(each.outlier.beginNs), each.outlier.name, each.outlier.lengthNs()));
            text.append(each.causes.isEmpty() ? "not known"
                : each.causes.stream().map(Cause::toText).collect(Collectors.joining("; "))).append('\n');
        }
        return text.toString();
    }

    /** Writes an object. */
    void writeTo(JsonWriter writer) {
        writer.beginObject()
            .member("thresholdNs", thresholdNs)
            .member("count", count)
            .name("longest").beginArray();
        for (Found each : found) {
            writer.beginObject()
                .member("name", each.outlier.name)
                .member("time", time(each.outlier.beginNs).toString())
                .member("monotonicNs", each.outlier.beginNs)
                .member("ns", each.outlier.lengthNs())
                .name("causes").beginArray();
            each.causes.forEach(cause -> cause.writeTo(writer));
            writer.endArray().endObject();
        }
        writer.endArray().endObject();
    }

    /** The time since 1970 of a time of the monotonic clock, as the two clocks are now. */
    private static Instant time(long monotonicNs) {
        return Instant.now().plusNanos(monotonicNs - System.nanoTime());
    }
}
