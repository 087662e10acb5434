package org.jfabric.driver.engine;

import java.util.Arrays;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.layout.MetricLabel;

/**
 * The published counters and gauges of one endpoint, peer or link.
 *
 * <p>Owner: progress agent.
 */
final class TrafficRow {
    /** Names of the counters, the same for endpoints, peers and links; {@link Traffic#take} has their order. */
    static final List<String> COUNTERS = List.of("sent_messages", "sent_bytes", "received_messages", "received_bytes",
        "unexpected_messages", "remote_accesses", "remote_access_bytes", "errors", "retries", "credit_waits",
        "used_shares");

    private final EngineCounters counters;
    private final long[] addresses = new long[COUNTERS.size()];
    private final long[] gauges;

    /**
     * Opens the counters.
     *
     * @param prefix   of the names, such as {@code jfabric_peer_}.
     */
    TrafficRow(EngineCounters counters, String prefix, List<String> gauges, String... labels) {
        this.counters = counters;
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] = counters.open(MetricLabel.COUNTER, MetricLabel.text(prefix + COUNTERS.get(i), labels));
        }
        this.gauges = new long[gauges.size()];
        for (int i = 0; i < this.gauges.length; i++) {
            this.gauges[i] = counters.open(MetricLabel.GAUGE, MetricLabel.text(prefix + gauges.get(i), labels));
        }
    }

    /** Adds what {@link Traffic#take} has taken. */
    void add(long[] changes) {
        for (int i = 0; i < addresses.length; i++) {
            if (changes[i] != 0) {
                UnsafeApi.putLongRelease(null, addresses[i], UnsafeApi.getLong(addresses[i]) + changes[i]);
            }
        }
    }

    void gauge(int index, long value) {
        if (UnsafeApi.getLong(gauges[index]) != value) {
            UnsafeApi.putLongRelease(null, gauges[index], value);
        }
    }

    void close() {
        Arrays.stream(addresses).forEach(counters::close);
        Arrays.stream(gauges).forEach(counters::close);
    }
}
