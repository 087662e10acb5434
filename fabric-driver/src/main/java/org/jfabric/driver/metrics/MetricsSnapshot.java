package org.jfabric.driver.metrics;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.agrona.concurrent.status.CountersReader;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.layout.MetricLabel;

/** Reads the counters of a {@code cnc} file as metrics. */
public final class MetricsSnapshot {
    /** Name of the counters whose labels are texts for people. */
    private static final String OTHER = "jfabric_other";

    private static final SystemCounter[] SYSTEM = SystemCounter.values();
    private static final Set<SystemCounter> GAUGES = EnumSet.of(
        SystemCounter.CLIENTS, SystemCounter.ENDPOINTS, SystemCounter.COMPLETION_QUEUES, SystemCounter.COUNTERS,
        SystemCounter.REGIONS, SystemCounter.MAPPED_BYTES, SystemCounter.CYCLE_MAX_NS,
        SystemCounter.SLOW_CYCLE_TIME_MS);

    /** Families by name, each with its metrics by labels. */
    private final Map<String, Map<Map<String, String>, Metric>> families = new TreeMap<>();

    private MetricsSnapshot() {
    }

    /** Reads all counters. Returns the metrics of the same name together, in the order of the names. */
    public static List<Metric> of(CountersReader counters) {
        MetricsSnapshot snapshot = new MetricsSnapshot();
        counters.forEach((value, id, label) -> snapshot.add(counters.getCounterTypeId(id), id, label, value));
        List<Metric> all = new ArrayList<>();
        snapshot.families.values().forEach(family -> all.addAll(family.values()));
        return all;
    }

    private void add(int type, int id, String label, long value) {
        if (type == MetricLabel.OTHER && id < SYSTEM.length && SYSTEM[id].label().equals(label)) {
            addSystem(SYSTEM[id], value);
            return;
        }
        MetricLabel parsed = type == MetricLabel.OTHER ? null : MetricLabel.parse(label);
        if (parsed == null) {
            add(new Metric(OTHER, Metric.Kind.UNKNOWN, Map.of("label", label), BigDecimal.valueOf(value), List.of()));
            return;
        }
        switch (type) {
            case MetricLabel.BUCKET -> {
                Map<String, String> labels = new LinkedHashMap<>(parsed.labels());
                String bound = String.valueOf(labels.remove("le"));
                add(new Metric(parsed.name(), Metric.Kind.HISTOGRAM, labels, BigDecimal.ZERO,
                    List.of(new Metric.Bucket(bound, value))));
            }
            case MetricLabel.SUM -> add(new Metric(
                parsed.name(), Metric.Kind.HISTOGRAM, parsed.labels(), BigDecimal.valueOf(value, 9), List.of()));
            default -> add(parsed.name(), kind(type), parsed.labels(), value);
        }
    }

    private static Metric.Kind kind(int type) {
        return switch (type) {
            case MetricLabel.COUNTER -> Metric.Kind.COUNTER;
            case MetricLabel.GAUGE -> Metric.Kind.GAUGE;
            case MetricLabel.INFO -> Metric.Kind.INFO;
            default -> Metric.Kind.UNKNOWN;
        };
    }

    private void addSystem(SystemCounter counter, long value) {
        add("jfabric_driver_" + counter.name().toLowerCase(Locale.ROOT),
            GAUGES.contains(counter) ? Metric.Kind.GAUGE : Metric.Kind.COUNTER, Map.of(), value);
    }

    /** Adds a value; the end of its name says in which parts of a second a time was published. */
    private void add(String name, Metric.Kind kind, Map<String, String> labels, long value) {
        int decimals = name.endsWith("_ns") ? 9 : name.endsWith("_ms") ? 3 : 0;
        add(new Metric(decimals == 0 ? name : name.substring(0, name.length() - 3) + "_seconds",
            kind, labels, BigDecimal.valueOf(value, decimals), List.of()));
    }

    /** Adds a bucket; each progress thread has one with the same bound. */
    private static void add(Metric.Bucket bucket, List<Metric.Bucket> buckets) {
        for (int i = 0; i < buckets.size(); i++) {
            Metric.Bucket known = buckets.get(i);
            if (known.bound().equals(bucket.bound())) {
                buckets.set(i, new Metric.Bucket(known.bound(), known.count() + bucket.count()));
                return;
            }
        }
        buckets.add(bucket);
    }

    /** Adds a metric; one with the same name and labels is added to the first: a bucket, or a note for people. */
    private void add(Metric metric) {
        families.computeIfAbsent(metric.name(), name -> new LinkedHashMap<>())
            .merge(metric.labels(), metric, MetricsSnapshot::sum);
    }

    private static Metric sum(Metric first, Metric second) {
        List<Metric.Bucket> buckets = new ArrayList<>(first.buckets());
        second.buckets().forEach(bucket -> add(bucket, buckets));
        return new Metric(
            first.name(), first.kind(), first.labels(), first.value().add(second.value()), List.copyOf(buckets));
    }
}
