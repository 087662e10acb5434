package org.jfabric.tool.watch;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jfabric.driver.metrics.Metric;
import org.jfabric.layout.WaitLabel;
import org.jfabric.tool.GroupView;

/**
 * Takes samples of drivers: their metrics, with the change per second since the sample before, and who waits for whom.
 *
 * <p>Reads only what {@code stat} reads, and changes nothing. A driver that is killed remains; one that ends orderly
 * takes its files along and does not. Owner: one thread.
 */
final class Sampler {
    /** Name of the metric of the options that were set. */
    static final String OPTION = "jfabric_option";

    private static final String DRIVER = "jfabric_driver_";
    private static final String CYCLES = "jfabric_driver_cycle_seconds";
    private static final double NS_PER_S = 1e9;
    private static final Comparator<String> BY_NUMBER =
        Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder());
    /** What is shown for the reasons of the counters that exist while somebody waits. */
    private static final Map<String, String> REASONS = Map.of(
        WaitLabel.CREDIT.reason(), "sends without credit: %d",
        WaitLabel.RECEIVES.reason(), "messages without a receive, credit is used up: %d",
        WaitLabel.COMPLETIONS.reason(), "remote accesses, completions are unread: %d",
        WaitLabel.READER.reason(), "the reader is a ring behind, %d messages");

    private final Supplier<List<Path>> directories;
    private final Map<String, Metric> before = new HashMap<>();
    private final Map<String, Long> startsBefore = new HashMap<>();
    /** Since when something has waited, by the pair of endpoints; nanoseconds. */
    private final Map<String, Long> waiting = new HashMap<>();
    private List<GroupView> groupsBefore = List.of();
    private long beforeNs;

    /**
     * Creates a sampler.
     *
     * @param directories to read, asked before each sample.
     */
    Sampler(Supplier<List<Path>> directories) {
        this.directories = directories;
    }

    /** Takes a sample now. */
    Sample sample() {
        return sample(directories.get().stream().map(Reading::of).toList(), System.nanoTime(),
            System.currentTimeMillis());
    }

    Sample sample(List<Reading> readings, long nowNs, long nowMs) {
        double seconds = beforeNs == 0 ? 0 : (nowNs - beforeNs) / NS_PER_S;
        Round round = new Round(seconds, nowNs);
        List<Sample.Driver> drivers = readings.stream().map(round::driver).toList();
        List<GroupView> groups = GroupView.of(
            readings.stream().filter(Reading::running).flatMap(each -> each.metrics().stream()), nowMs)
            .stream().map(group -> group.since(groupsBefore, seconds)).toList();
        groupsBefore = groups;
        before.clear();
        before.putAll(round.metrics);
        startsBefore.clear();
        startsBefore.putAll(round.starts);
        waiting.keySet().retainAll(round.waits.keySet());
        beforeNs = nowNs;
        List<Sample.Wait> waits = new ArrayList<>(round.waits.values());
        waits.sort(Comparator.comparingDouble(Sample.Wait::seconds).reversed()
            .thenComparing(Sample.Wait::who).thenComparing(Sample.Wait::forWhom));
        return new Sample(nowMs, seconds, drivers, waits, groups);
    }

    /** One sample while it is made. */
    private final class Round {
        private final double seconds;
        private final long nowNs;
        private final Map<String, Metric> metrics = new HashMap<>();
        private final Map<String, Long> starts = new HashMap<>();
        private final Map<String, Sample.Wait> waits = new LinkedHashMap<>();
        /** Whether the driver that is being read ran at the sample before and runs now. */
        private boolean hasRates;
        private String driver;

        Round(double seconds, long nowNs) {
            this.seconds = seconds;
            this.nowNs = nowNs;
        }

        Sample.Driver driver(Reading reading) {
            Sample.State state = reading.problem() != null ? Sample.State.UNREADABLE
                : !reading.running() ? Sample.State.DEAD : reading.parked() ? Sample.State.PARKED
                : Sample.State.RUNNING;
            driver = reading.directory().toString();
            starts.put(driver, reading.startTimeMs());
            hasRates = seconds > 0 && state.isAlive()
                && Long.valueOf(reading.startTimeMs()).equals(startsBefore.get(driver));
            Map<String, Long> totals = new TreeMap<>();
            List<Sample.Client> clients = new ArrayList<>();
            List<Sample.Setting> options = new ArrayList<>();
            Map<Map<String, String>, List<Metric>> links = new LinkedHashMap<>();
            Map<Map<String, String>, List<Metric>> endpoints = new LinkedHashMap<>();
            Map<Map<String, String>, List<Metric>> peers = new LinkedHashMap<>();
            Sample.Cycles cycles = null;
            for (Metric metric : reading.metrics()) {
                metrics.put(key(metric), metric);
                String name = metric.name();
                Map<String, String> labels = metric.labels();
                if (name.equals(CYCLES)) {
                    cycles = hasRates ? cycles(metric) : null;
                } else if (name.startsWith(DRIVER)) {
                    totals.put(name.substring(DRIVER.length()), number(metric));
                } else if (name.equals("jfabric_client")) {
                    clients.add(new Sample.Client(labels.get("client"), labels.get("name"), labels.get("pid")));
                } else if (name.equals(OPTION)) {
                    options.add(new Sample.Setting(labels.get("name"), labels.get("value"), labels.get("origin")));
                } else if (name.startsWith("jfabric_link_")) {
                    links.computeIfAbsent(labels, key -> new ArrayList<>()).add(metric);
                } else if (name.startsWith("jfabric_endpoint_")) {
                    endpoints.computeIfAbsent(labels, key -> new ArrayList<>()).add(metric);
                } else if (name.startsWith("jfabric_peer_")) {
                    peers.computeIfAbsent(labels, key -> new ArrayList<>()).add(metric);
                } else if (state.isAlive() && name.equals(WaitLabel.METRIC)) {
                    waits(labels.get(WaitLabel.WHO), labels.get(WaitLabel.WHOM), number(metric),
                        REASONS.getOrDefault(labels.get(WaitLabel.REASON), "operations: %d"));
                }
            }
            clients.sort(Comparator.comparing(Sample.Client::id, BY_NUMBER));
            options.sort(Comparator.comparing(Sample.Setting::name));
            return new Sample.Driver(reading.directory(), state, reading.problem(), reading.pid(),
                reading.startTimeMs(), totals, cycles, clients, endpoints(endpoints, peers, state.isAlive()),
                links(links), options);
        }

        private List<Sample.Link> links(Map<Map<String, String>, List<Metric>> links) {
            return links.entrySet().stream()
                .map(each -> new Sample.Link(each.getKey().get("link"), meters(each.getValue())))
                .sorted(Comparator.comparing(Sample.Link::name)).toList();
        }

        private List<Sample.Endpoint> endpoints(
            Map<Map<String, String>, List<Metric>> endpoints, Map<Map<String, String>, List<Metric>> peers,
            boolean isAlive) {
            Map<String, List<Sample.Peer>> byEndpoint = new HashMap<>();
            peers.forEach((labels, all) -> byEndpoint
                .computeIfAbsent(labels.get("client") + ' ' + labels.get("id"), key -> new ArrayList<>())
                .add(peer(labels, meters(all), isAlive)));
            List<Sample.Endpoint> result = new ArrayList<>();
            endpoints.forEach((labels, all) -> {
                List<Sample.Peer> own =
                    byEndpoint.getOrDefault(labels.get("client") + ' ' + labels.get("id"), new ArrayList<>());
                own.sort(Comparator.comparing(Sample.Peer::address));
                Meters meters = meters(all);
                // announced messages wait at this endpoint until the peer takes them
                boolean waits = meters.value("outstanding_sends") > 0 && all.stream().anyMatch(metric ->
                    metric.name().endsWith("_outstanding_sends") && number(before.get(key(metric))) > 0);
                QueueState state = !isAlive ? QueueState.DOWN : meters.moves() ? QueueState.FLOWING
                    : waits && hasRates ? QueueState.STUCK : QueueState.IDLE;
                for (Sample.Peer peer : own) {
                    state = state.worse(peer.state());
                }
                result.add(new Sample.Endpoint(
                    labels.get("id"), labels.get("client"), labels.get("endpoint"), state, meters, own));
            });
            result.sort(Comparator.comparing(Sample.Endpoint::client, BY_NUMBER)
                .thenComparing(Sample.Endpoint::id, BY_NUMBER));
            return result;
        }

        private Sample.Peer peer(Map<String, String> labels, Meters meters, boolean isAlive) {
            String own = labels.get("endpoint");
            String address = labels.get("peer");
            QueueState state = QueueState.DOWN;
            if (isAlive && meters.value("up") != 0) {
                boolean waits = waits(own, address, meters.value("waiting_sends"), "sends not begun: %d")
                    | waits(address, own, meters.value("waiting_messages"), "messages without a receive: %d");
                state = waits ? meters.moves() ? QueueState.WAITING : QueueState.STUCK
                    : meters.moves() ? QueueState.FLOWING : QueueState.IDLE;
            }
            return new Sample.Peer(address, labels.get("link"), state, meters);
        }

        /** Notes a wait; returns whether the sample before has shown it as well, or this is the first one. */
        private boolean waits(String who, String whom, long count, String why) {
            if (count == 0) {
                return false;
            }
            String pair = who + ' ' + whom;
            Long since = waiting.putIfAbsent(pair, nowNs);
            boolean wasSeen = since != null && since != nowNs || seconds == 0;
            // of several reasons the first one is the most exact: the counters of waits come before the peers
            waits.putIfAbsent(pair, new Sample.Wait(who, whom, String.format(why, count),
                since == null ? 0 : (nowNs - since) / NS_PER_S));
            return wasSeen;
        }

        private Meters meters(List<Metric> all) {
            Map<String, Long> values = new TreeMap<>();
            Map<String, Double> rates = new TreeMap<>();
            for (Metric metric : all) {
                // jfabric_peer_sent_bytes
                String name = metric.name().substring(metric.name().indexOf('_', "jfabric_".length()) + 1);
                values.put(name, number(metric));
                if (hasRates && metric.kind() == Metric.Kind.COUNTER) {
                    rates.put(name, Math.max(0, number(metric) - number(before.get(key(metric)))) / seconds);
                }
            }
            return new Meters(values, rates);
        }

        private Sample.Cycles cycles(Metric metric) {
            Metric earlier = before.get(key(metric));
            Map<String, Long> counts = new HashMap<>();
            if (earlier != null && earlier.count() <= metric.count()) {
                earlier.buckets().forEach(bucket -> counts.put(bucket.bound(), bucket.count()));
            }
            List<Metric.Bucket> since = metric.buckets().stream().map(bucket -> new Metric.Bucket(
                bucket.bound(), Math.max(0, bucket.count() - counts.getOrDefault(bucket.bound(), 0L)))).toList();
            Metric change = new Metric(metric.name(), metric.kind(), metric.labels(), metric.value(), since);
            return new Sample.Cycles(
                change.count(), ns(change.quantile(0.5)), ns(change.quantile(0.99)), ns(change.quantile(1)));
        }

        private String key(Metric metric) {
            return driver + ' ' + metric.name() + metric.labels();
        }
    }

    private static long ns(Double bound) {
        return bound == null ? -1 : bound.isInfinite() ? Long.MAX_VALUE : Math.round(bound * NS_PER_S);
    }

    /** The value, a time in nanoseconds; 0 without a metric. */
    private static long number(Metric metric) {
        if (metric == null) {
            return 0;
        }
        return metric.unit().equals("seconds") ? metric.value().movePointRight(9).longValue()
            : metric.value().longValue();
    }
}
