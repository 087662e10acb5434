package org.jfabric.tool.watch;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jfabric.tool.GroupView;

/** Samples as a sampler takes them. */
final class Samples {
    private static final GroupView.Recording LOG = new GroupView.Recording(
        "/logs/quotes", 69_990, 60_000, 10, 2_000, 384L << 20, 7, "messages are left out");

    private static final GroupView.Host HOST = new GroupView.Host(
        "10.0.0.8:4711", "gamma", 69_500, 500, 9_000_000, 4, 3, 4_200, 250_000, 1_500_000);

    private Samples() {
    }

    static Sample.Endpoint endpoint(String id, String address, QueueState state, double sent, Sample.Peer... peers) {
        return new Sample.Endpoint(id, "1", address, state, new Meters(
            Map.of("sent_messages", 1_000_000L, "outstanding_sends", 3L, "posted_receives", 16L, "waiting_messages", 0L,
                "errors", 2L),
            Map.of("sent_messages", sent, "received_messages", 2 * sent)), List.of(peers));
    }

    static Sample.Peer peer(String address, QueueState state, long waitingSends) {
        return new Sample.Peer(address, "shm", state, new Meters(
            Map.of("waiting_sends", waitingSends, "up", 1L), Map.of("sent_messages", 5.0)));
    }

    /** A driver with three endpoints, and a killed one. */
    static Sample of(double rate) {
        return new Sample(3_600_000, 1, List.of(
            new Sample.Driver(Path.of("/base/alpha"), Sample.State.RUNNING, null, 42, 0,
                Map.of("errors", 1L, "cycle_max_seconds", 4_100_000L, "slow_cycles", 2L),
                new Sample.Cycles(1_000, 320, 1_280, 20_480),
                List.of(new Sample.Client("1", "quotes", "77")),
                List.of(
                    endpoint("5", "jfabric://alpha/slow", QueueState.STUCK, 1,
                        peer("jfabric://beta/b", QueueState.STUCK, 12)),
                    endpoint("6", "jfabric://alpha/fast", QueueState.FLOWING, rate,
                        peer("jfabric://alpha/slow", QueueState.FLOWING, 0)),
                    endpoint("7", "jfabric://alpha/middle", QueueState.IDLE, 5)),
                List.of(), List.of()),
            new Sample.Driver(Path.of("/base/beta"), Sample.State.DEAD, null, 43, 0, Map.of(), null, List.of(),
                List.of(), List.of(), List.of()),
            new Sample.Driver(Path.of("/base/gamma"), Sample.State.UNREADABLE, "/base/gamma belongs to user 7.", 0, 0,
                Map.of(), null, List.of(), List.of(), List.of(), List.of())),
            List.of(new Sample.Wait("jfabric://alpha/slow", "jfabric://beta/b", "sends without credit: 12", 65)),
            List.of(new GroupView("jfabric://alpha/quotes", "jfabric://alpha/fast", "5c", "1",
                Map.of("position", 70_000L, "oldest_position", 68_000L, "readers", 12L, "reader_waits", 3L,
                    "lag_messages", 2_000L), "jfabric://beta/r9",
                    LOG, List.of(HOST), IntStream.rangeClosed(1, 9).mapToObj(i ->
                        new GroupView.Reader("jfabric://beta/r" + (10 - i), 68_000 + i, 2_000 - i, 0, 61_000))
                .toList()),
                new GroupView("jfabric://gamma/news", null, null, null, Map.of(), null, null, List.of(),
                    List.of(new GroupView.Reader("jfabric://alpha/slow", 17, -1, 4, 0)))));
    }
}
