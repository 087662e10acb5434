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
 * @param hosts      other hosts that read it from the writer's, the one that is behind most first.
 * @param readers    those whose drivers were read, the one that is behind most first.
 */
public record GroupView(
    String address, String writer, String log, String term, Map<String, Long> values, String heldBackBy,
    Recording recording, List<Host> hosts, List<Reader> readers) {

    private static final String GROUP = "jfabric_group";
    private static final String RECORDING = "jfabric_group_recording";
    private static final String READER = "jfabric_reader_";
    private static final String HOST = "jfabric_host_";

    /**
     * A reader.
     *
     * @param lag     messages between it and the writer, -1 if the writer's position is not known.
     * @param stillMs how long it has not moved while it is behind, else 0.
     */
    public record Reader(String address, long position, long lag, long lost, long stillMs) {
    }

    /**
     * A host that reads a group of another one.
     *
     * @param driver that reads there.
     * @param lag    messages between it and the writer.
     * @param bytes  of the datagrams with messages that were sent to it.
     * @param asked  ranges of messages that it has asked for.
     * @param rate   bytes of datagrams in a second, -1 if it is not known.
     */
    public record Host(String address, String driver, long position, long lag, long bytes, long asked, long repairs,
        long repairBytes, long roundTripNs, double rate) {
        private Host(String address, String driver, long groupPosition, Map<String, Long> of) {
            this(address, driver, of.getOrDefault("position", 0L),
                Math.max(0, groupPosition - of.getOrDefault("position", 0L)), of.getOrDefault("datagram_bytes", 0L),
                of.getOrDefault("asked_ranges", 0L), of.getOrDefault("repairs", 0L),
                of.getOrDefault("repair_bytes", 0L), of.getOrDefault("round_trip_ns", 0L), -1);
        }

        private Host since(List<Host> before, double seconds) {
            return before.stream().filter(each -> each.address.equals(address) && each.bytes <= bytes).findFirst()
                .map(each -> new Host(address, driver, position, lag, bytes, asked, repairs, repairBytes, roundTripNs,
                    (bytes - each.bytes) / seconds)).orElse(this);
        }

        /** What a line about it has to say besides the numbers of a reader. */
        public String text() {
            return String.format(Locale.ROOT, "round trip %s, has asked %d times, %d repairs with %d bytes",
                roundTrip(roundTripNs), asked, repairs, repairBytes);
        }

        private void write(JsonWriter json) {
            json.beginObject()
                .member("address", address)
                .member("driver", driver)
                .member("position", position)
                .member("lag", lag)
                .member("bytes", bytes)
                .member("asked", asked)
                .member("repairs", repairs)
                .member("repairBytes", repairBytes)
                .member("roundTripNs", roundTripNs)
                .name("rate");
            if (rate < 0) {
                json.value((String) null);
            } else {
                json.value(rate);
            }
            json.member("text", text()).endObject();
        }
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
        private final Map<String, Map<String, Long>> hosts = new TreeMap<>();
        private final Map<String, String> drivers = new TreeMap<>();
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
            List<Host> reading = new ArrayList<>();
            hosts.forEach((host, of) -> reading.add(
                new Host(host, drivers.get(host), values.getOrDefault("position", 0L), of)));
            reading.sort(Comparator.comparingLong(Host::lag).reversed().thenComparing(Host::address));
            return new GroupView(address, labels.get("writer"), labels.get("log"), labels.get("term"), values,
                heldBackBy, log == null ? null : recording(nowMs), reading, all);
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
            // of a time in parts of a second the parts
            long value = metric.value().unscaledValue().longValue();
            if (name.startsWith(GROUP)) {
                Builder group = builder(groups, labels.get("group"));
                if (name.equals(GROUP)) {
                    group.labels = labels;
                } else if (name.equals(RECORDING)) {
                    group.log = labels;
                } else {
                    group.values.put(key(name, GROUP + '_'), value);
                }
            } else if (name.startsWith(READER)) {
                builder(groups, labels.get("group")).readers.computeIfAbsent(labels.get("reader"),
                    key -> new TreeMap<>()).put(key(name, READER), value);
            } else if (name.startsWith(HOST)) {
                Builder group = builder(groups, labels.get("group"));
                group.drivers.put(labels.get("host"), labels.get("driver"));
                group.hosts.computeIfAbsent(labels.get("host"), each -> new TreeMap<>()).put(key(name, HOST), value);
            } else if (name.equals(WaitLabel.METRIC)
                && WaitLabel.READER.reason().equals(labels.get(WaitLabel.REASON))) {
                builder(groups, labels.get(WaitLabel.WHO)).heldBackBy = labels.get(WaitLabel.WHOM);
            }
        });
        return groups.entrySet().stream().map(each -> each.getValue().build(each.getKey(), nowMs)).toList();
    }

    private static String key(String name, String prefix) {
        String key = name.substring(prefix.length());
        return key.equals("round_trip_seconds") ? "round_trip_ns" : key;
    }

    private static Builder builder(Map<String, Builder> groups, String address) {
        return groups.computeIfAbsent(address, key -> new Builder());
    }

    /** The same with the rates since an earlier view of all groups. */
    public GroupView since(List<GroupView> before, double seconds) {
        return hosts.isEmpty() || seconds <= 0 ? this : before.stream().filter(each -> each.address.equals(address))
            .findFirst().map(each -> new GroupView(address, writer, log, term, values, heldBackBy, recording,
                hosts.stream().map(host -> host.since(each.hosts, seconds)).toList(), readers)).orElse(this);
    }

    /** What a line about it has to say if it is read from another host, or null. */
    public String stream() {
        return !values.containsKey("round_trip_ns") ? null
            : String.format(Locale.ROOT,
                "received %d messages, lost %d, %d arrived again, has asked %d times, round trip %s",
                value("written_messages"), value("lost_messages"), value("repeated_messages"), value("asked_ranges"),
                roundTrip(value("round_trip_ns")));
    }

    private static String roundTrip(long ns) {
        return String.format(Locale.ROOT, "%.3f ms", ns / 1e6);
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
        return Math.max(readers.isEmpty() ? value("lag_messages") : readers.getFirst().lag,
            hosts.isEmpty() ? -1 : hosts.getFirst().lag);
    }

    /** Whether an address that has to do with it contains a text in lower case. */
    public boolean contains(String text) {
        return Stream.of(Stream.of(address, String.valueOf(writer)), readers.stream().map(Reader::address),
            hosts.stream().map(Host::address), hosts.stream().map(Host::driver)).flatMap(each -> each)
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
        json.member("stream", stream()).name("hosts").beginArray();
        hosts.forEach(host -> host.write(json));
        json.endArray().name("readers").beginArray();
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
