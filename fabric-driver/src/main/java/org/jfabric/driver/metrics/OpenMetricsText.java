package org.jfabric.driver.metrics;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jfabric.layout.MetricLabel;
import org.jfabric.layout.WaitLabel;

/** Writes metrics in the text format of OpenMetrics 1.0, or in Prometheus's older one, which has the same samples. */
public final class OpenMetricsText {
    /** Value of the header {@code Content-Type}. */
    public static final String CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /** The part of it that a request's {@code Accept} names. */
    static final String MEDIA_TYPE = "application/openmetrics-text";
    static final String OLDER_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private static final Map<String, String> HELP = Map.ofEntries(
        Map.entry("sent_messages", "Messages given to the link, or announced."),
        Map.entry("sent_bytes", "Bytes of these messages."),
        Map.entry("received_messages", "Messages that arrived, or were announced."),
        Map.entry("received_bytes", "Bytes of these messages."),
        Map.entry("unexpected_messages", "Messages that arrived before their receive."),
        Map.entry("remote_accesses", "Reads, writes and atomic operations begun on memory of peers."),
        Map.entry("remote_access_bytes", "Bytes of these operations."),
        Map.entry("errors", "Operations that ended with an error entry."),
        Map.entry("retries", "Sends that found the channel full."),
        Map.entry("credit_waits", "Times that sends began to wait for credit of the peer."),
        Map.entry("used_shares", "Times that sends to a peer were refused because it had its share of them."),
        Map.entry("up", "1 while the channel to the peer is up."),
        Map.entry("waiting_sends", "Sends that wait for the peer."),
        Map.entry("waiting_messages", "Messages that wait here for a receive."),
        Map.entry("outstanding_sends", "Transmit operations that have not ended."),
        Map.entry("posted_receives", "Receives that have not ended."),
        Map.entry("jfabric_group", "A group that an endpoint of this driver writes."),
        Map.entry("written_messages", "Messages written to the group."),
        Map.entry("reader_waits", "Times that a message began to wait for readers of the group."),
        Map.entry("position", "Position of the next message."),
        Map.entry("oldest_position", "Position of the oldest message in the ring."),
        Map.entry("readers", "Readers of the group."),
        Map.entry("lag_messages", "Messages that the slowest reader has yet to read, as it has reported."),
        Map.entry("recording", "The log of a recorded group."),
        Map.entry("recorded_position", "Position behind the last message in the page cache."),
        Map.entry("synced_position", "Position behind the last message on stable storage."),
        Map.entry("recorded_time_seconds", "When messages were recorded last, seconds since 1970."),
        Map.entry("disk_bytes", "Bytes of the log on the disk."),
        Map.entry("disk_full", "1 while the disk has no room for the next message."),
        Map.entry("dropped_messages", "Messages left out of the log for want of room on the disk."),
        Map.entry("lost_messages", "Messages that the writer of a group has not kept for this reader, or host."),
        Map.entry("hosts", "Other hosts that read the group."),
        Map.entry("datagram_bytes", "Bytes of datagrams with messages that were sent to the host, repairs included."),
        Map.entry("asked_ranges", "Ranges of messages that were asked for because they were missing, each time."),
        Map.entry("repairs", "Datagrams that were sent again for the host."),
        Map.entry("repair_bytes", "Bytes of these datagrams."),
        Map.entry("repeated_messages", "Messages that arrived again, and were ignored."),
        Map.entry("round_trip_seconds", "Round trip between writer and reading host, smoothed."),
        Map.entry("moved_time_seconds", "When the reader has read a message last, seconds since 1970."),
        Map.entry("jfabric_client", "A client, with its process."),
        Map.entry("jfabric_option", "An option that was set, and where."),
        Map.entry("jfabric_build", "Version of the driver and of Java."),
        Map.entry("jfabric_other", "A counter with a text for people."),
        Map.entry("jfabric_directory_free_bytes", "Free bytes of the file system of the driver's directory."),
        Map.entry("jfabric_driver_clients", "Clients that are attached."),
        Map.entry("jfabric_driver_endpoints", "Endpoints that are enabled."),
        Map.entry("jfabric_driver_completion_queues", "Completion queues that are open."),
        Map.entry("jfabric_driver_counters", "Counters of clients that are open."),
        Map.entry("jfabric_driver_regions", "Memory regions that are registered."),
        Map.entry("jfabric_driver_region_syncs", "Times that a persistent region was written to stable storage."),
        Map.entry("jfabric_driver_mapped_bytes", "Bytes of shared files that are mapped."),
        Map.entry("jfabric_driver_commands", "Control calls of clients."),
        Map.entry("jfabric_driver_commands_failed", "Control calls that were refused."),
        Map.entry("jfabric_driver_clients_ended", "Clients that the driver ended because of impossible values."),
        Map.entry("jfabric_driver_clients_died", "Clients whose process ended without closing."),
        Map.entry("jfabric_driver_connections_refused", "Clients of another user or version, or with a wrong hello."),
        Map.entry("jfabric_driver_faults", "Accesses to a shared file that was truncated."),
        Map.entry("jfabric_driver_errors", "Entries of the error log, repetitions included."),
        Map.entry("jfabric_driver_requests", "Operations taken from the queues of clients."),
        Map.entry("jfabric_driver_parked", "Times that the thread went to sleep."),
        Map.entry("jfabric_driver_cycle_max_seconds", "Longest time between two reads of the clock while awake."),
        Map.entry("jfabric_driver_cycle_seconds", "Times between two reads of the clock while awake."),
        Map.entry("jfabric_driver_slow_cycles", "Duty cycles longer than jfabric.metrics.slowCycleNs."),
        Map.entry("jfabric_driver_slow_cycle_time_seconds", "When the last of these ended, seconds since 1970."),
        Map.entry("process_cpu_seconds", "Processor time of the process, user and system."),
        Map.entry("process_start_time_seconds", "When the process was started, seconds since 1970."),
        Map.entry("process_resident_memory_bytes", "Memory of the process that is not swapped, shared files included."),
        Map.entry("process_max_fds", "Descriptors that the process may have open."),
        Map.entry("process_open_fds", "Descriptors that the process has open."),
        Map.entry("jvm_memory_max_bytes", "Memory that the JVM may use."),
        Map.entry("jvm_memory_used_bytes", "Memory that the JVM uses."),
        Map.entry("jvm_threads", "Threads of the JVM."),
        Map.entry("jvm_gc_collections", "Collections of garbage."),
        Map.entry("jvm_gc_seconds", "Time of these."),
        Map.entry(WaitLabel.METRIC, "Operations of the endpoint that wait for another one."),
        Map.entry("jfabric_stage_latency_seconds", "Times of sampled messages in the stages of their way."));

    private final StringBuilder text = new StringBuilder(8192);
    private final boolean isOlder;

    private OpenMetricsText(boolean isOlder) {
        this.isOlder = isOlder;
    }

    /** Writes a page. */
    public static String of(List<Metric> metrics) {
        return page(metrics, false) + "# EOF\n";
    }

    /** Writes a page in the older format: families have the names of their samples, and no units. */
    static String older(List<Metric> metrics) {
        return page(metrics, true);
    }

    private static String page(List<Metric> metrics, boolean isOlder) {
        OpenMetricsText page = new OpenMetricsText(isOlder);
        String family = "";
        for (Metric metric : metrics) {
            if (!metric.name().equals(family)) {
                family = metric.name();
                page.describe(metric);
            }
            page.write(metric);
        }
        return page.text.toString();
    }

    /** The samples of a page by their names with labels, without the buckets of histograms; longs or doubles. */
    static Map<String, Number> samples(List<Metric> metrics) {
        OpenMetricsText page = new OpenMetricsText(false);
        metrics.forEach(page::write);
        Map<String, Number> samples = new TreeMap<>();
        // a label may have any character but \n, which is escaped
        for (String line : page.text.toString().split("\n")) {
            if (!line.split("\\{", 2)[0].endsWith("_bucket")) {
                BigDecimal value = new BigDecimal(line.substring(line.lastIndexOf(' ') + 1));
                samples.put(line.substring(0, line.lastIndexOf(' ')),
                    value.scale() > 0 ? (Number) value.doubleValue() : (Number) value.longValue());
            }
        }
        return samples;
    }

    /** What a family is; null if that is not known. */
    static String help(String family) {
        return HELP.get(family.replaceFirst("^jfabric_(endpoint|peer|link|group|reader|host)_", ""));
    }

    private void describe(Metric metric) {
        String name = isOlder ? metric.name() + suffix(metric.kind()) : metric.name();
        text.append("# TYPE ").append(name).append(' ')
            .append(isOlder ? olderType(metric.kind()) : metric.kind().text()).append('\n');
        if (!isOlder && !metric.unit().isEmpty()) {
            text.append("# UNIT ").append(metric.name()).append(' ').append(metric.unit()).append('\n');
        }
        String help = help(metric.name());
        if (help != null) {
            text.append("# HELP ").append(name).append(' ').append(help).append('\n');
        }
    }

    private static String suffix(Metric.Kind kind) {
        return kind == Metric.Kind.COUNTER ? "_total" : kind == Metric.Kind.INFO ? "_info" : "";
    }

    private static String olderType(Metric.Kind kind) {
        return kind == Metric.Kind.INFO ? "gauge" : kind == Metric.Kind.UNKNOWN ? "untyped" : kind.text();
    }

    private void write(Metric metric) {
        switch (metric.kind()) {
            case INFO -> sample(metric, suffix(metric.kind()), null, "1");
            case HISTOGRAM -> {
                long below = 0;
                for (Metric.Bucket bucket : metric.buckets()) {
                    below += bucket.count();
                    sample(metric, "_bucket", bucket.bound(), String.valueOf(below));
                }
                sample(metric, "_count", null, String.valueOf(below));
                sample(metric, "_sum", null, metric.value().toPlainString());
            }
            default -> sample(metric, suffix(metric.kind()), null, metric.value().toPlainString());
        }
    }

    private void sample(Metric metric, String suffix, String bound, String value) {
        text.append(metric.name()).append(suffix);
        char before = '{';
        for (Map.Entry<String, String> label : metric.labels().entrySet()) {
            before = label(before, label.getKey(), label.getValue());
        }
        if (bound != null) {
            before = label(before, "le", bound);
        }
        text.append(before == '{' ? " " : "} ").append(value).append('\n');
    }

    private char label(char before, String name, String value) {
        text.append(before).append(name).append("=\"");
        MetricLabel.escape(value, text);
        text.append('"');
        return ',';
    }
}
