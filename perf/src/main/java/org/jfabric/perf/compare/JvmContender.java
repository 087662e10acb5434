package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jfabric.tool.ToolException;

/**
 * A contender whose sides are JVMs. They are started for the first cell and stay for all rounds, so that compiled code
 * is kept; endpoints and memory are made anew for each cell, so that no round inherits the memory placement of another.
 */
final class JvmContender implements Contender {
    private static final long PASS_TIMEOUT_MS = 120_000;
    private static final double SAFETY = 1.15;
    /** A pass that was too short continues for at least one part in this many of its planned time. */
    private static final long LEAST_PART = 10;
    private static final String PROGRESS_THREAD = "jfabric-progress";
    private static final long FIRST_BLOCK_BYTES = 16L << 20;
    private static final long FIRST_BLOCK = 2_000;
    /** Many ordinary messages are in front of each of them. */
    private static final long FIRST_COLD_BLOCK = 20;
    /** Messages after which processes are in their steady state. */
    private static final long STEADY_AFTER = 100_000;
    /** On a busy machine the warm-up ends after this time, with fewer messages. */
    private static final long STEADY_AFTER_NS = 5_000_000_000L;
    private static final long VERIFY_BYTES = 32L << 20;
    private static final long VERIFY_MOST = 10_000;
    private static final double BYTES_PER_MIB = 1 << 20;
    private static final double NS_PER_SECOND = 1e9;
    private static final double MEGABYTE = 1e6;
    private static final double MS_PER_SECOND = 1e3;

    private final Definition definition;
    private final RigSettings settings;
    private final List<SideClient> sides = new ArrayList<>();
    private final Map<String, Double> nsPerMessage = new HashMap<>();
    private final Set<String> warmed = new HashSet<>();
    private int cells;

    /**
     * Definition of a contender.
     *
     * @param id       in JSON.
     * @param title    for people.
     * @param version  for the environment.
     * @param kinds    sides in the order in which they are opened.
     * @param passes   that it has.
     * @param most     bytes of a message that it takes.
     * @param returns  messages of one exchange: 2, or 1 to oneself.
     * @param verified true if it has passes that compare contents.
     * @param launch   of its processes.
     * @param missing  why it cannot be run here, in one sentence; else null.
     */
    record Definition(String id, String title, String version, Map<SideRole, SideKind> kinds, Set<Pass> passes,
        int most, int returns, boolean verified, Launch launch, String missing) {
        Definition {
            kinds = new EnumMap<>(kinds);
        }

        Definition(String id, String title, String version, Map<SideRole, SideKind> kinds, Set<Pass> passes,
            int most, int returns, boolean verified) {
            this(id, title, version, kinds, passes, most, returns, verified, Launch.USUAL, null);
        }

        /** The same as another system, in processes that are started otherwise. */
        Definition as(String otherId, String otherTitle, Launch otherLaunch) {
            return new Definition(otherId, otherTitle, version, kinds, passes, most, returns, verified, otherLaunch,
                null);
        }

        /** The same of another version, which may be missing and compares no contents. */
        Definition as(String otherVersion, String whyMissing) {
            return new Definition(id, title, otherVersion, kinds, passes, most, returns, false, launch, whyMissing);
        }
    }

    JvmContender(Definition definition, RigSettings settings) {
        this.definition = definition;
        this.settings = settings;
    }

    @Override
    public String id() {
        return definition.id;
    }

    @Override
    public String title() {
        return definition.title;
    }

    @Override
    public String version() {
        return definition.version;
    }

    @Override
    public String missing() {
        return definition.missing;
    }

    @Override
    public boolean can(Pass pass, int sizeBytes) {
        return definition.passes.contains(pass) && sizeBytes <= definition.most;
    }

    /**
     * {@inheritDoc}
     *
     * <p>The number of messages is fixed before the pass begins, so that the pass reads no clock. If it was too small,
     * the pass continues and all messages count: a pass that is repeated only when it was fast would report slow
     * values.
     */
    @Override
    public Reading measure(Pass pass, int sizeBytes) throws InterruptedException {
        if (pass == Pass.FRESH) {
            return fresh(sizeBytes);
        }
        open(pass, sizeBytes);
        long count = warmUp(pass, sizeBytes);
        Disturbance disturbance = new Disturbance();
        long driverCpuNs = driverCpuNs();
        Map<SideRole, SideReport> reports = run(pass, count, false);
        long elapsedNs = elapsedNs(reports);
        while (elapsedNs < settings.timedNs()) {
            long missingNs = Math.max(settings.timedNs() - elapsedNs, settings.timedNs() / LEAST_PART);
            long more = blockOf((long) (missingNs * SAFETY), (double) elapsedNs / count);
            run(pass, more, false).forEach((role, report) -> reports.merge(role, report, SideReport::plus));
            count += more;
            elapsedNs = elapsedNs(reports);
        }
        driverCpuNs = driverCpuNs() - driverCpuNs;
        nsPerMessage.put(key(pass, sizeBytes), (double) elapsedNs / count);
        Reading reading = reading(pass, sizeBytes, count, reports, driverCpuNs, disturbance);
        closeSides();
        return reading;
    }

    /** In processes that are new: the messages in question, then many others, then as many of them again. */
    private Reading fresh(int sizeBytes) throws InterruptedException {
        close();
        open(Pass.FRESH, sizeBytes);
        Disturbance disturbance = new Disturbance();
        double first = median(run(Pass.FRESH, SideSettings.FRESH_MESSAGES, false));
        long spentNs = 0;
        for (long sent = 0; sent < STEADY_AFTER && spentNs < STEADY_AFTER_NS; sent += FIRST_BLOCK) {
            spentNs += elapsedNs(run(Pass.PACED, FIRST_BLOCK, false));
        }
        double steady = median(run(Pass.FRESH, SideSettings.FRESH_MESSAGES, false));
        closeSides();
        close();
        return new Reading(Map.of(Metric.FRESH_P50, first, Metric.STEADY_P50, steady,
            Metric.FRESH_OVER_STEADY, first / steady), disturbance.found(), null);
    }

    private static double median(Map<SideRole, SideReport> reports) {
        return reports.get(SideRole.PING).histogram().getValueAtPercentile(50);
    }

    private static long elapsedNs(Map<SideRole, SideReport> reports) {
        return Math.max(1, reports.get(SideRole.PING).result());
    }

    @Override
    public long verify(Pass pass, int sizeBytes) throws InterruptedException {
        if (!definition.verified) {
            return 0;
        }
        Pass comparing = pass == Pass.STREAM ? Pass.VERIFY_STREAM : Pass.VERIFY;
        long count = Math.clamp(VERIFY_BYTES / Math.max(1, sizeBytes), 1, VERIFY_MOST);
        open(comparing, sizeBytes);
        Map<SideRole, SideReport> reports = run(comparing, count, false);
        closeSides();
        // In an exchange both sides compare what they receive; in a stream the receiver does.
        SideReport comparer = reports.getOrDefault(SideRole.PONG, reports.get(SideRole.PING));
        if (comparer.result() != count) {
            throw new ToolException("Of " + count + " messages " + comparer.result()
                + " were compared; this is a defect of JFabric, please report it.");
        }
        return comparing == Pass.VERIFY ? count * definition.returns : count;
    }

    /**
     * Streams messages to count what they leave to the collectors.
     *
     * @param messages  of 64 bytes.
     * @param timeoutNs after which no further block is begun.
     * @return the messages sent, and what all processes allocated and collected in the blocks.
     */
    Collected collections(long messages, long timeoutNs) throws InterruptedException {
        open(Pass.STREAM, Targets.SIZE);
        long block = warmUp(Pass.STREAM, Targets.SIZE);
        for (SideClient side : sides) {
            // garbage of objects that were opened and closed before this pass does not count
            side.call("collect", "collected");
        }
        long begin = System.nanoTime();
        long sent = 0;
        ThreadLoad load = new ThreadLoad(0, 0, 0, 0, 0);
        while (sent < messages && System.nanoTime() - begin < timeoutNs) {
            long count = Math.min(block, messages - sent);
            for (SideReport report : run(Pass.STREAM, count, false).values()) {
                load = load.plus(report.load());
            }
            sent += count;
        }
        closeSides();
        return new Collected(sent, load);
    }

    /**
     * Result of a pass that counts garbage collections.
     *
     * @param messages sent.
     * @param load     of all processes.
     */
    record Collected(long messages, ThreadLoad load) {
    }

    /**
     * Runs a pass that is not timed and samples where the time goes.
     *
     * @param pass      of exchanges or a stream.
     * @param sizeBytes of each message.
     * @param forNs     approximate duration in nanoseconds.
     * @return one profile for each side.
     */
    List<Comparison.SideProfile> profile(Pass pass, int sizeBytes, long forNs) throws InterruptedException {
        open(pass, sizeBytes);
        long count = (long) ((double) warmUp(pass, sizeBytes) * forNs / settings.timedNs());
        SideClient daemon = daemon();
        if (daemon != null) {
            daemon.call("watch " + PROGRESS_THREAD, "watched");
        }
        Map<SideRole, Profile> seen = new EnumMap<>(SideRole.class);
        Map<SideRole, SideReport> reports = run(pass, count, true);
        reports.forEach((role, report) -> seen.put(role, report.profile()));
        if (daemon != null) {
            seen.put(SideRole.DRIVER, Profile.parse(daemon.call("profile", "seen")));
        }
        closeSides();
        double messages = pass == Pass.EXCHANGE || pass == Pass.PUT ? (double) count * definition.returns : count;
        double nsPerMessage = elapsedNs(reports) / messages;
        return seen.entrySet().stream().map(each -> new Comparison.SideProfile(
            new Cell(id(), pass, sizeBytes), each.getKey(), nsPerMessage, each.getValue())).toList();
    }

    private SideClient daemon() {
        for (SideClient side : sides) {
            if (side.role() == SideRole.DRIVER) {
                return side;
            }
        }
        return null;
    }

    private void open(Pass pass, int sizeBytes) throws InterruptedException {
        if (sides.isEmpty()) {
            for (Map.Entry<SideRole, SideKind> each : definition.kinds.entrySet()) {
                sides.add(new SideClient(id(), each.getKey(), each.getValue(), settings, definition.launch));
            }
            for (SideClient side : sides) {
                side.awaitReady();
            }
            if (definition.launch.cabled()) {
                Cable.lay(sides.getFirst().pid(), sides.getLast().pid());
            }
        }
        cells++;
        String command = "open " + pass + ' ' + sizeBytes + ' ' + FreePorts.udpPair() + ' '
            + settings.directory().resolve(id() + '-' + cells);
        for (SideClient side : sides) {
            side.call(command, "opened");
        }
        for (SideClient side : sides) {
            if (!side.role().drives()) {
                side.call("connect", "connected");
            }
        }
    }

    private void closeSides() throws InterruptedException {
        for (int i = sides.size() - 1; i >= 0; i--) {
            sides.get(i).call("close", "closed");
        }
        Folders.delete(settings.directory().resolve(id() + '-' + cells));
    }

    /**
     * Runs the pass until the compiler has had time for it. The fastest of its blocks says how many messages a timed
     * pass takes: then most last long enough, and those that do not are no matter, see {@link #measure}.
     *
     * @return the messages of a timed pass.
     */
    private long warmUp(Pass pass, int sizeBytes) throws InterruptedException {
        long warmNs = warmed.add(key(pass, sizeBytes)) ? settings.firstWarmNs() : settings.warmNs();
        Double known = nsPerMessage.get(key(pass, sizeBytes));
        long block = known != null ? blockOf(warmNs, known)
            : Math.clamp(FIRST_BLOCK_BYTES / Math.max(1, sizeBytes), 1,
                pass == Pass.COLD ? FIRST_COLD_BLOCK : FIRST_BLOCK);
        long spentNs = 0;
        double least = Double.MAX_VALUE;
        do {
            long elapsedNs = elapsedNs(run(pass, block, false));
            spentNs += elapsedNs;
            least = Math.min(least, (double) elapsedNs / block);
            block = blockOf(Math.max(warmNs / 4, warmNs - spentNs), (double) elapsedNs / block);
        } while (spentNs < warmNs);
        return blockOf((long) (settings.timedNs() * SAFETY), least);
    }

    private static long blockOf(long wantedNs, double perMessageNs) {
        return Math.max(1, (long) (wantedNs / perMessageNs));
    }

    private Map<SideRole, SideReport> run(Pass pass, long count, boolean profiled) throws InterruptedException {
        String command = "run " + pass + ' ' + count + (profiled ? " profiled" : "");
        SideClient ping = null;
        SideClient pong = null;
        for (SideClient side : sides) {
            ping = side.role() == SideRole.PING ? side : ping;
            pong = side.role() == SideRole.PONG ? side : pong;
        }
        Map<SideRole, SideReport> reports = new EnumMap<>(SideRole.class);
        if (pong != null) {
            pong.call(command, "armed");
        }
        ping.send(command);
        // The answering side is the first to notice that a message is wrong.
        if (pong != null) {
            reports.put(SideRole.PONG, SideReport.parse(pong.await("done", PASS_TIMEOUT_MS)));
        }
        reports.put(SideRole.PING, SideReport.parse(ping.await("done", PASS_TIMEOUT_MS)));
        return reports;
    }

    private Reading reading(Pass pass, int sizeBytes, long count, Map<SideRole, SideReport> reports, long driverCpuNs,
        Disturbance disturbance) {
        Map<Metric, Double> values = new EnumMap<>(Metric.class);
        SideReport ping = reports.get(SideRole.PING);
        double elapsedNs = ping.result();
        double cpuNs = driverCpuNs;
        for (SideClient side : sides) {
            SideReport report = reports.get(side.role());
            if (report != null) {
                cpuNs += report.load().cpuNs();
                disturbance.check(side.title(), report.load().switches(), ownSwitchesPerSecond(pass),
                    report.load().cpuNs(), ping.result());
            }
        }
        switch (pass) {
            case EXCHANGE, PUT -> {
                double messages = (double) count * definition.returns;
                values.put(Metric.HALF_ROUND_TRIP, elapsedNs / messages);
                if (sizeBytes >= Metric.LARGE_BYTES) {
                    values.put(Metric.EXCHANGE_BANDWIDTH, messages * NS_PER_SECOND / elapsedNs * sizeBytes / MEGABYTE);
                }
                values.put(Metric.EXCHANGE_CPU, cpuNs / messages);
                values.put(Metric.MEMORY, memoryBytes() / BYTES_PER_MIB);
            }
            case GET, FETCH_ADD -> values.put(Metric.OPERATION_TIME, elapsedNs / count);
            case STREAM, PUT_STREAM -> {
                values.put(Metric.MESSAGE_RATE, count * NS_PER_SECOND / elapsedNs);
                values.put(Metric.STREAM_TIME, elapsedNs / count);
                values.put(Metric.BANDWIDTH, count * NS_PER_SECOND / elapsedNs * sizeBytes / MEGABYTE);
                values.put(Metric.STREAM_CPU, cpuNs / count);
            }
            case PACED -> {
                disturbance.checkRate(elapsedNs, (double) count * SideSettings.INTERVAL_NS);
                values.put(Metric.PACED_P50, (double) ping.histogram().getValueAtPercentile(50));
                values.put(Metric.PACED_P99, (double) ping.histogram().getValueAtPercentile(99));
                values.put(Metric.PACED_P999, (double) ping.histogram().getValueAtPercentile(99.9));
            }
            case COLD -> {
                double p99 = ping.histogram().getValueAtPercentile(99);
                values.put(Metric.COLD_P50, (double) ping.histogram().getValueAtPercentile(50));
                values.put(Metric.COLD_P99, p99);
                values.put(Metric.COLD_CYCLES, p99 * ping.driverCycles() / elapsedNs);
            }
            default -> throw new IllegalArgumentException(pass + " is not timed");
        }
        return new Reading(values, disturbance.found(), ping.histogram());
    }

    private double ownSwitchesPerSecond(Pass pass) {
        return definition.kinds.containsValue(SideKind.AERON_DRIVER)
            ? MS_PER_SECOND / AeronDriver.sleepMs(pass) : 0;
    }

    /** A driver that runs beside the sides takes part in no pass, but costs something. */
    private long driverCpuNs() {
        long sum = 0;
        for (SideClient side : sides) {
            sum += side.role().drives() ? side.cpuNs() : 0;
        }
        return sum;
    }

    private double memoryBytes() {
        double sum = 0;
        for (SideClient side : sides) {
            sum += side.memoryBytes();
        }
        return sum;
    }

    private static String key(Pass pass, int sizeBytes) {
        return pass + " " + sizeBytes;
    }

    @Override
    public void close() {
        warmed.clear();
        for (int i = sides.size() - 1; i >= 0; i--) {
            sides.get(i).close();
        }
        sides.clear();
    }
}
