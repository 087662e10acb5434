package org.jfabric.tool.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jfabric.driver.metrics.Metric;
import org.jfabric.layout.MetricLabel;
import org.jfabric.layout.WaitLabel;
import org.jfabric.tool.GroupView;
import org.junit.jupiter.api.Test;

/** Rates, states and waits that follow from two readings of the metrics. */
class SamplerTest {
    private static final long SECOND = 1_000_000_000L;
    private static final String A = "jfabric://alpha/a";
    private static final String B = "jfabric://beta/b";

    private final Sampler sampler = new Sampler(List::of);
    private final List<Metric> metrics = new ArrayList<>();

    private void counter(String name, Map<String, String> labels, long value) {
        metrics.add(new Metric(name, Metric.Kind.COUNTER, labels, BigDecimal.valueOf(value), List.of()));
    }

    private void gauge(String name, Map<String, String> labels, long value) {
        metrics.add(new Metric(name, Metric.Kind.GAUGE, labels, BigDecimal.valueOf(value), List.of()));
    }

    private void endpoint(long sent) {
        counter("jfabric_endpoint_sent_messages", Map.of("client", "1", "id", "7", "endpoint", A), sent);
    }

    private void peer(long sent, long waitingSends, long waitingMessages, long up) {
        Map<String, String> labels = Map.of("client", "1", "id", "7", "endpoint", A, "peer", B, "link", "shm");
        counter("jfabric_peer_sent_messages", labels, sent);
        gauge("jfabric_peer_waiting_sends", labels, waitingSends);
        gauge("jfabric_peer_waiting_messages", labels, waitingMessages);
        gauge("jfabric_peer_up", labels, up);
    }

    private void cycles(long fast, long slow) {
        metrics.add(new Metric("jfabric_driver_cycle_seconds", Metric.Kind.HISTOGRAM, Map.of(), BigDecimal.ONE, List.of(
            new Metric.Bucket("0.000000128", fast), new Metric.Bucket("0.001", slow), new Metric.Bucket("+Inf", 0))));
    }

    private Sample take(long second, boolean running, long startMs) {
        Reading reading = new Reading(
            Path.of("/base/alpha"), null, running, false, 42, startMs, List.copyOf(metrics));
        metrics.clear();
        return sampler.sample(List.of(reading), second * SECOND, second * 1_000);
    }

    private static Sample.Endpoint endpoint(Sample sample) {
        return sample.drivers().getFirst().endpoints().getFirst();
    }

    @Test
    void shouldHaveRatesFromTheSecondSampleOnAndCountNewObjectsFromZero() {
        endpoint(100);
        Sample first = take(10, true, 1);
        assertEquals(Double.NaN, endpoint(first).meters().rate("sent_messages"));
        assertEquals(100, endpoint(first).meters().value("sent_messages"));

        endpoint(300);
        peer(50, 0, 0, 1);
        Sample second = take(12, true, 1);

        assertEquals(2.0, second.seconds());
        assertEquals(100.0, endpoint(second).meters().rate("sent_messages"));
        assertEquals(25.0, endpoint(second).peers().getFirst().meters().rate("sent_messages"));
        assertEquals(QueueState.FLOWING, endpoint(second).state());
    }

    @Test
    void shouldHaveNoRatesOverTheStartOfAnotherDriverOrOfOneThatIsDead() {
        endpoint(100);
        take(10, true, 1);
        endpoint(300);
        assertEquals(Double.NaN, endpoint(take(11, true, 2)).meters().rate("sent_messages"));
        endpoint(400);
        assertEquals(100.0, endpoint(take(12, true, 2)).meters().rate("sent_messages"));
        endpoint(400);
        Sample dead = take(13, false, 2);
        assertEquals(Sample.State.DEAD, dead.drivers().getFirst().state());
        assertEquals(Double.NaN, dead.drivers().getFirst().rate("sent_messages"));
        assertEquals(QueueState.DOWN, endpoint(dead).state());
        assertEquals(List.of(), dead.waits());
    }

    @Test
    void shouldCallAQueueWaitingOnlyIfTwoSamplesShowItAndStuckIfNothingMoves() {
        endpoint(0);
        peer(0, 0, 0, 1);
        assertEquals(QueueState.IDLE, endpoint(take(10, true, 1)).state());
        for (long sent : new long[] {5, 9, 9}) {
            endpoint(sent);
            peer(sent, 3, 0, 1);
            Sample sample = take(11 + sent, true, 1);
            assertEquals(1, sample.waits().size());
        }
        // the clock of the samples: 10, 16, 20, 20
        endpoint(9);
        peer(9, 3, 0, 1);
        Sample stuck = take(30, true, 1);
        assertEquals(QueueState.STUCK, endpoint(stuck).state());
        assertEquals(new Sample.Wait(A, B, "sends not begun: 3", 14.0), stuck.waits().getFirst());
        endpoint(12);
        peer(12, 3, 0, 1);
        assertEquals(QueueState.WAITING, endpoint(take(31, true, 1)).state());
        endpoint(15);
        peer(15, 0, 0, 1);
        Sample flowing = take(32, true, 1);
        assertEquals(QueueState.FLOWING, endpoint(flowing).state());
        assertEquals(List.of(), flowing.waits());
        endpoint(15);
        peer(15, 0, 0, 0);
        assertEquals(QueueState.DOWN, endpoint(take(33, true, 1)).state());
    }

    @Test
    void shouldCallAnEndpointStuckWhoseSendsDoNotEnd() {
        Map<String, String> labels = Map.of("client", "1", "id", "7", "endpoint", A);
        QueueState[] states = {QueueState.IDLE, QueueState.FLOWING, QueueState.STUCK, QueueState.IDLE};
        long[] outstanding = {1, 2, 2, 0};
        long[] sent = {5, 9, 9, 9};
        for (int i = 0; i < states.length; i++) {
            endpoint(sent[i]);
            gauge("jfabric_endpoint_outstanding_sends", labels, outstanding[i]);
            assertEquals(states[i], endpoint(take(10 + i, true, 1)).state(), "sample " + i);
        }
    }

    @Test
    void shouldSayWhoWaitsForWhomAndPreferTheExactReason() {
        for (long second = 10; second < 13; second++) {
            endpoint(0);
            peer(0, 4, 2, 1);
            for (String label : List.of(WaitLabel.CREDIT.text(A, B), WaitLabel.COMPLETIONS.text("jfabric://x/y", A),
                "jfabric_other{label=\"an unknown counter\"}")) {
                MetricLabel parsed = MetricLabel.parse(label);
                gauge(parsed.name(), parsed.labels(), 4);
            }
            Sample sample = take(second, true, 1);
            double seconds = second - 10;
            assertEquals(List.of(
                new Sample.Wait(A, B, "sends without credit: 4", seconds),
                new Sample.Wait(B, A, "messages without a receive: 2", seconds),
                new Sample.Wait("jfabric://x/y", A, "remote accesses, completions are unread: 4", seconds)),
                sample.waits());
        }
    }

    @Test
    void shouldJoinGroupsWithTheReadersOfAllDriversThatRun() {
        String group = "jfabric://alpha/quotes";
        metrics.add(new Metric("jfabric_group", Metric.Kind.INFO, Map.of("group", group, "writer", A, "log", "5c",
            "term", "2"), BigDecimal.ONE, List.of()));
        gauge("jfabric_group_position", Map.of("group", group), 100);
        gauge("jfabric_group_readers", Map.of("group", group), 3);
        metrics.add(new Metric("jfabric_group_recording", Metric.Kind.INFO, Map.of("group", group, "folder", "/logs/q",
            "when_full", "wait"), BigDecimal.ONE, List.of()));
        gauge("jfabric_group_recorded_position", Map.of("group", group), 90);
        gauge("jfabric_group_recorded_time_seconds", Map.of("group", group), 7);
        gauge("jfabric_group_disk_full", Map.of("group", group), 1);
        gauge("jfabric_group_disk_bytes", Map.of("group", group), 3 << 20);
        MetricLabel wait = MetricLabel.parse(WaitLabel.READER.text(group, B));
        gauge(wait.name(), wait.labels(), 60);
        List<Metric> writing = List.copyOf(metrics);
        metrics.clear();
        for (String reader : List.of("jfabric://beta/last", B)) {
            Map<String, String> labels = Map.of("group", group, "reader", reader);
            gauge("jfabric_reader_position", labels, reader.equals(B) ? 40 : 101);
            counter("jfabric_reader_lost_messages", labels, 7);
            gauge("jfabric_reader_moved_time_seconds", labels, 8);
        }
        gauge("jfabric_reader_position", Map.of("group", "jfabric://gone/g", "reader", B), 5);
        List<Reading> readings = List.of(new Reading(Path.of("/base/alpha"), null, true, false, 42, 1, writing),
            new Reading(Path.of("/base/beta"), null, true, false, 43, 1, List.copyOf(metrics)),
            new Reading(Path.of("/base/dead"), null, false, false, 44, 1, List.of(new Metric("jfabric_reader_position",
                Metric.Kind.GAUGE, Map.of("group", group, "reader", "jfabric://dead/d"), BigDecimal.ONE, List.of()))));

        Sample sample = sampler.sample(readings, 10 * SECOND, 10_000);

        Map<String, Long> values = Map.of("position", 100L, "readers", 3L, "recorded_position", 90L, "disk_full", 1L,
            "recorded_time_seconds", 7L, "disk_bytes", 3L << 20);
        GroupView.Recording log =
            new GroupView.Recording("/logs/q", 90, 0, 10, 3_000, 3 << 20, 0, "the writer waits");
        assertEquals(List.of(
            new GroupView(group, A, "5c", "2", values, B, log, List.of(), List.of(
                new GroupView.Reader(B, 40, 60, 7, 2_000),
                new GroupView.Reader("jfabric://beta/last", 101, 0, 7, 0))),
            new GroupView("jfabric://gone/g", null, null, null, Map.of(), null, null, List.of(),
                List.of(new GroupView.Reader(B, 5, -1, 0, 0)))), sample.groups());
        assertEquals(1, sample.groups().getFirst().unseenReaders());
        assertEquals(List.of(new Sample.Wait(group, B, "the reader is a ring behind, 60 messages", 0)), sample.waits());
    }

    @Test
    void shouldShowTheDutyCyclesSinceTheSampleBefore() {
        cycles(1_000, 5);
        assertNull(take(10, true, 1).drivers().getFirst().cycles());
        cycles(1_099, 6);
        assertEquals(new Sample.Cycles(100, 128, 128, 1_000_000), take(11, true, 1).drivers().getFirst().cycles());
        cycles(1_099, 6);
        assertEquals(new Sample.Cycles(0, -1, -1, -1), take(12, true, 1).drivers().getFirst().cycles());
        // begun anew
        cycles(10, 0);
        assertEquals(new Sample.Cycles(10, 128, 128, 128), take(13, true, 1).drivers().getFirst().cycles());
    }

    @Test
    void shouldShowDriverClientsLinksAndOptions() {
        gauge("jfabric_driver_cycle_max_seconds", Map.of(), 0);
        counter("jfabric_driver_errors", Map.of(), 3);
        counter("jfabric_link_sent_messages", Map.of("link", "shm"), 8);
        counter("jfabric_link_sent_messages", Map.of("link", "loopback"), 2);
        for (String id : List.of("10", "9")) {
            metrics.add(new Metric("jfabric_client", Metric.Kind.INFO,
                Map.of("client", id, "name", "n" + id, "pid", "5"), BigDecimal.ONE, List.of()));
        }
        metrics.add(new Metric("jfabric_option", Metric.Kind.INFO, Map.of("name", "jfabric.queue.txSize", "value", "64",
            "origin", "code or command line"), BigDecimal.ONE, List.of()));

        Sample.Driver driver = take(10, true, 1).drivers().getFirst();

        assertEquals("alpha", driver.name());
        assertEquals(3, driver.total("errors"));
        assertEquals(List.of("9", "10"), driver.clients().stream().map(Sample.Client::id).toList());
        assertEquals(List.of("loopback", "shm"), driver.links().stream().map(Sample.Link::name).toList());
        assertEquals(List.of(new Sample.Setting("jfabric.queue.txSize", "64", "code or command line")),
            driver.options());
        assertTrue(driver.state().isAlive());
    }

    @Test
    void shouldSayWhyADirectoryCannotBeRead() {
        Sample.Driver driver = new Sampler(() -> List.of(Path.of("/nonexistent/driver"))).sample().drivers().getFirst();
        assertEquals(Sample.State.UNREADABLE, driver.state());
        assertTrue(driver.problem().startsWith("No driver runs in /nonexistent/driver"), driver.problem());
    }
}
