package org.jfabric.driver.metrics;

import java.util.List;
import java.util.Map;
import org.jfabric.layout.MetricLabel;
import org.jfabric.layout.WaitLabel;

/** Writes metrics in the text format of OpenMetrics 1.0. */
public final class OpenMetricsText {
    /** Value of the header {@code Content-Type}. */
    public static final String CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

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
        Map.entry(WaitLabel.METRIC, "Operations of the endpoint that wait for another one."),
        Map.entry("jfabric_stage_latency_seconds", "Times of sampled messages in the stages of their way."));

    private final StringBuilder text = new StringBuilder(8192);

    private OpenMetricsText() {
    }

    /** Writes a page. */
    public static String of(List<Metric> metrics) {
        OpenMetricsText page = new OpenMetricsText();
        String family = "";
        for (Metric metric : metrics) {
            if (!metric.name().equals(family)) {
                family = metric.name();
                page.describe(metric);
            }
            page.write(metric);
        }
        return page.text.append("# EOF\n").toString();
    }

    private void describe(Metric metric) {
        text.append("# TYPE ").append(metric.name()).append(' ').append(metric.kind().text()).append('\n');
        if (!metric.unit().isEmpty()) {
            text.append("# UNIT ").append(metric.name()).append(' ').append(metric.unit()).append('\n');
        }
        String help = HELP.get(metric.name().replaceFirst("^jfabric_(endpoint|peer|link|group|reader|host)_", ""));
        if (help != null) {
            text.append("# HELP ").append(metric.name()).append(' ').append(help).append('\n');
        }
    }

    private void write(Metric metric) {
        switch (metric.kind()) {
            case COUNTER -> sample(metric, "_total", null, metric.value().toPlainString());
            case INFO -> sample(metric, "_info", null, "1");
            case HISTOGRAM -> {
                long below = 0;
                for (Metric.Bucket bucket : metric.buckets()) {
                    below += bucket.count();
                    sample(metric, "_bucket", bucket.bound(), String.valueOf(below));
                }
                sample(metric, "_count", null, String.valueOf(below));
                sample(metric, "_sum", null, metric.value().toPlainString());
            }
            default -> sample(metric, "", null, metric.value().toPlainString());
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
