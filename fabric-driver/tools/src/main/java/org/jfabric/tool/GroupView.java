package org.jfabric.tool;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jfabric.driver.metrics.Metric;
import org.jfabric.layout.WaitLabel;

/**
 * A group, by the metrics of its writer's driver and of its readers' drivers.
 *
 * @param writer     null if the writer's driver was not read, or has no counters for the group; then there are no
 *                   values either.
 * @param values     by the last part of the metric's name.
 * @param heldBackBy the reader that the writer waits for, or {@code recorder}, or null.
 * @param recording  null unless it is recorded.
 * @param readers    those whose drivers were read, the one that is behind most first.
 */
public record GroupView(
    String address, String writer, String log, String term, Map<String, Long> values, String heldBackBy,
    Recording recording, List<Reader> readers) {

    private static final String GROUP = "jfabric_group";
    private static final String RECORDING = "jfabric_group_recording";
    private static final String READER = "jfabric_reader_";

    /**
     * A reader.
     *
     * @param lag     messages between it and the writer, -1 if the writer's position is not known.
     * @param stillMs how long it has not moved while it is behind, else 0.
     */
    public record Reader(String address, long position, long lag, long lost, long stillMs) {
    }

    /**
     * How far a group is recorded.
     *
     * @param written position behind the last message in the page cache.
     * @param synced  the same of stable storage.
     * @param lag     messages between it and the writer.
     * @param stillMs how long it has not moved while it is behind, else 0.
     * @param dropped messages left out for want of room.
     * @param problem what happens now for want of room, or null.
     */
    public record Recording(String folder, long written, long synced, long lag, long stillMs, long diskBytes,
        long dropped, String problem) {
        private static final String[] PREFIXES = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};

        /** What a line about it has to say besides the numbers of a reader. */
        public String text() {
            return "synced to " + synced + ", " + bytes(diskBytes) + " on the disk"
                + (problem == null ? "" : "; the disk is full: " + problem);
        }

        /** Segments have powers of two as lengths, from 1 MiB on. */
        private static String bytes(long count) {
            int prefix = Math.min((63 - Long.numberOfLeadingZeros(Math.max(1, count))) / 10, PREFIXES.length - 1);
            double scaled = (double) count / (1L << 10 * prefix);
            return String.format(Locale.ROOT, scaled == Math.rint(scaled) ? "%.0f %sB" : "%.1f %sB", scaled,
                PREFIXES[prefix]);
        }

        private void write(JsonWriter json) {
            json.beginObject()
                .member("folder", folder)
                .member("written", written)
                .member("synced", synced)
                .member("lag", lag)
                .member("stillMs", stillMs)
                .member("diskBytes", diskBytes)
                .member("dropped", dropped)
                .member("problem", problem)
                .member("text", text())
                .endObject();
        }
    }

    /** The same while its metrics are read. */
    private static final class Builder {
        private Map<String, String> labels = Map.of();
        /** Null unless it is recorded. */
        private Map<String, String> log;
        private final Map<String, Long> values = new TreeMap<>();
        private final Map<String, Map<String, Long>> readers = new TreeMap<>();
        private String heldBackBy;

        GroupView build(String address, long nowMs) {
            List<Reader> all = new ArrayList<>();
            readers.forEach((reader, of) -> {
                long position = of.getOrDefault("position", 0L);
                // it may have been read later than the writer
                long lag = values.isEmpty() ? -1 : Math.max(0, values.getOrDefault("position", 0L) - position);
                all.add(new Reader(reader, position, lag, of.getOrDefault("lost_messages", 0L),
                    lag <= 0 ? 0 : stillMs(nowMs, of.getOrDefault("moved_time_seconds", 0L))));
            });
            all.sort(Comparator.comparingLong(Reader::lag).reversed().thenComparing(Reader::address));
            return new GroupView(address, labels.get("writer"), labels.get("log"), labels.get("term"), values,
                heldBackBy, log == null ? null : recording(nowMs), all);
        }

        private Recording recording(long nowMs) {
            long written = values.getOrDefault("recorded_position", 0L);
            long lag = Math.max(0, values.getOrDefault("position", 0L) - written);
            return new Recording(log.get("folder"), written, values.getOrDefault("synced_position", 0L), lag,
                lag == 0 ? 0 : stillMs(nowMs, values.getOrDefault("recorded_time_seconds", 0L)),
                values.getOrDefault("disk_bytes", 0L), values.getOrDefault("dropped_messages", 0L),
                values.getOrDefault("disk_full", 0L) == 0 ? null
                    : "gap".equals(log.get("when_full")) ? "messages are left out" : "the writer waits");
        }

        private static long stillMs(long nowMs, long movedSeconds) {
            return Math.max(0, nowMs - 1_000 * movedSeconds);
        }
    }

    /** The groups that metrics of all drivers are about, in the order of their addresses. */
    public static List<GroupView> of(Stream<Metric> metrics, long nowMs) {
        Map<String, Builder> groups = new TreeMap<>();
        metrics.forEach(metric -> {
            String name = metric.name();
            Map<String, String> labels = metric.labels();
            long value = metric.value().longValue();
            if (name.startsWith(GROUP)) {
                Builder group = builder(groups, labels.get("group"));
                if (name.equals(GROUP)) {
                    group.labels = labels;
                } else if (name.equals(RECORDING)) {
                    group.log = labels;
                } else {
                    group.values.put(name.substring(GROUP.length() + 1), value);
                }
            } else if (name.startsWith(READER)) {
                builder(groups, labels.get("group")).readers.computeIfAbsent(labels.get("reader"),
                    key -> new TreeMap<>()).put(name.substring(READER.length()), value);
            } else if (name.equals(WaitLabel.METRIC)
                && WaitLabel.READER.reason().equals(labels.get(WaitLabel.REASON))) {
                builder(groups, labels.get(WaitLabel.WHO)).heldBackBy = labels.get(WaitLabel.WHOM);
            }
        });
        return groups.entrySet().stream().map(each -> each.getValue().build(each.getKey(), nowMs)).toList();
    }

    private static Builder builder(Map<String, Builder> groups, String address) {
        return groups.computeIfAbsent(address, key -> new Builder());
    }

    /** The value, 0 if there is none of that name. */
    public long value(String name) {
        return values.getOrDefault(name, 0L);
    }

    /** Readers that the writer has and that were not found. */
    public long unseenReaders() {
        return Math.max(0, value("readers") - readers.size());
    }

    /** Messages between the writer and its slowest reader. */
    public long lag() {
        return readers.isEmpty() ? value("lag_messages") : readers.getFirst().lag;
    }

    /** Whether an address that has to do with it contains a text in lower case. */
    public boolean contains(String text) {
        return Stream.concat(Stream.of(address, String.valueOf(writer)), readers.stream().map(Reader::address))
            .anyMatch(each -> each.toLowerCase(Locale.ROOT).contains(text));
    }

    /** Adds an object with all of it. */
    public void write(JsonWriter json) {
        json.beginObject()
            .member("address", address)
            .member("writer", writer)
            .member("log", log)
            .member("term", term)
            .member("heldBackBy", heldBackBy)
            .name("values").beginObject();
        values.forEach(json::member);
        json.endObject().name("recording");
        if (recording == null) {
            json.value((String) null);
        } else {
            recording.write(json);
        }
        json.name("readers").beginArray();
        for (Reader reader : readers) {
            json.beginObject()
                .member("address", reader.address)
                .member("position", reader.position)
                .name("lag");
            if (reader.lag < 0) {
                json.value((String) null);
            } else {
                json.value(reader.lag);
            }
            json.member("lost", reader.lost)
                .member("stillMs", reader.stillMs)
                .endObject();
        }
        json.endArray().endObject();
    }
}
