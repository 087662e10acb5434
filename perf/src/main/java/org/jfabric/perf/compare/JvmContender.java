package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.jfabric.tool.ToolException;

/**
 * A contender whose sides are JVMs. They are started for the first cell and remain until the end of the run, so that
 * compiled code is kept; endpoints and memory are made again each time a cell is opened, so that the results do not
 * depend on one placement in memory. Between two slices all its processes are stopped.
 */
final class JvmContender implements Contender {
    private static final long PASS_TIMEOUT_MS = 120_000;
    /** Slices of a block of the pass that counts garbage collections. */
    private static final int COLLECTED_SLICES = 20;
    /** Aeron's media driver takes so much of a core from its clients, which is part of its cost. */
    private static final double AERON_DRIVER_PART = 0.1;
    private static final String PROGRESS_THREAD = "jfabric-progress";
    private static final long FIRST_BLOCK_BYTES = 16L << 20;
    private static final long FIRST_BLOCK = 2_000;
    /** Many ordinary messages are in front of each of them. */
    private static final long FIRST_COLD_BLOCK = 20;
    /** Messages after which processes are in their steady state. */
    private static final long STEADY_AFTER = 100_000;
    /** On a busy machine the warm-up ends after this time, with fewer messages. */
    private static final long STEADY_AFTER_NS = 5_000_000_000L;
    /** Warm-up at most, in times of the first one. */
    private static final int MOST_WARM = 3;
    private static final long COMPILE_PAUSE_MS = 5;
    private static final long MOST_COMPILE_NS = 1_000_000_000L;
    private static final long VERIFY_BYTES = 32L << 20;
    private static final long VERIFY_MOST = 10_000;
    private static final double BYTES_PER_MIB = 1 << 20;
    private static final double NS_PER_SECOND = 1e9;
    private static final double MEGABYTE = 1e6;

    private final Definition definition;
    private final RigSettings settings;
    private final List<SideClient> sides = new ArrayList<>();
    private final Map<String, Double> nsPerMessage = new HashMap<>();
    private final Set<String> warmed = new HashSet<>();
    private int cells;
    private boolean isOpen;
    private long sliceCount;
    /** Processor time of the compilers so far. */
    private double compilerNs;

    /**
     * Definition of a contender.
     *
     * @param returns  messages of one exchange: 2, or 1 to oneself.
     * @param verified true if it has passes that compare contents.
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

    @Override
    public void open(Pass pass, int sizeBytes) throws InterruptedException {
        if (pass != Pass.FRESH) {
            openSides(pass, sizeBytes);
            sliceCount = warmUp(pass, sizeBytes);
            sides.forEach(SideClient::stop);
        }
    }

    /**
     * {@inheritDoc}
     *
     * <p>The number of messages is fixed before, so that the pass reads no clock: on a slow host it takes longer.
     */
    @Override
    public SliceReading slice(Pass pass, int sizeBytes) throws InterruptedException {
        if (pass == Pass.FRESH) {
            return fresh(sizeBytes);
        }
        sides.forEach(SideClient::resume);
        double cpuNs = sum(SideClient::cpuNs);
        Map<SideRole, SideReport> reports = run(pass, sliceCount, false);
        SliceReading reading = reading(pass, sizeBytes, reports, sum(SideClient::cpuNs) - cpuNs);
        awaitCompilers();
        sides.forEach(SideClient::stop);
        return reading;
    }

    @Override
    public void closeCell() throws InterruptedException {
        if (isOpen) {
            closeSides();
        }
    }

    /** In processes that are new: the messages in question, then many others, then as many of them again. */
    private SliceReading fresh(int sizeBytes) throws InterruptedException {
        close();
        openSides(Pass.FRESH, sizeBytes);
        double first = median(run(Pass.FRESH, SideSettings.FRESH_MESSAGES, false));
        long spentNs = 0;
        for (long sent = 0; sent < STEADY_AFTER && spentNs < STEADY_AFTER_NS; sent += FIRST_BLOCK) {
            spentNs += elapsedNs(run(Pass.PACED, FIRST_BLOCK, false));
        }
        double steady = median(run(Pass.FRESH, SideSettings.FRESH_MESSAGES, false));
        closeSides();
        close();
        return new SliceReading(Map.of(CellMetric.FRESH_P50, first, CellMetric.STEADY_P50, steady,
            CellMetric.FRESH_OVER_STEADY, first / steady), null);
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
        openSides(comparing, sizeBytes);
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
        openSides(Pass.STREAM, Targets.SIZE);
        long block = COLLECTED_SLICES * warmUp(Pass.STREAM, Targets.SIZE);
        for (SideClient side : sides) {
            // garbage of objects that were opened and closed before this pass does not count
            side.call("collect", "collected");
        }
        long begin = System.nanoTime();
        long sent = 0;
        PassLoad load = new PassLoad(0, 0, 0, 0);
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

    /** Result of a pass that counts garbage collections. */
    record Collected(long messages, PassLoad load) {
    }

    /**
     * Runs a pass that is not timed and samples where the time goes.
     *
     * @param pass      of exchanges or a stream.
     * @param forNs     approximate duration in nanoseconds.
     */
    List<Comparison.SideProfile> profile(Pass pass, int sizeBytes, long forNs) throws InterruptedException {
        openSides(pass, sizeBytes);
        long count = (long) ((double) warmUp(pass, sizeBytes) * forNs / settings.sliceNs(pass));
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

    private void openSides(Pass pass, int sizeBytes) throws InterruptedException {
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
        sides.forEach(SideClient::resume);
        cells++;
        isOpen = true;
        String command = "open " + pass + ' ' + sizeBytes + ' ' + FreePorts.udpPair() + ' '
            + settings.directory().resolve(id() + '-' + cells);
        for (SideClient side : sides) {
            side.call(command, "opened");
            side.findChildren();
        }
        for (SideClient side : sides) {
            if (!side.role().drives()) {
                side.call("connect", "connected");
            }
        }
    }

    private void closeSides() throws InterruptedException {
        isOpen = false;
        sides.forEach(SideClient::resume);
        for (int i = sides.size() - 1; i >= 0; i--) {
            sides.get(i).call("close", "closed");
        }
        Folders.delete(settings.directory().resolve(id() + '-' + cells));
        sides.forEach(SideClient::stop);
    }

    /**
     * Runs the pass until the compilers have had time for it, and then, within a limit, until they have nothing to do
     * any more. Returns the messages of a slice, by the speed of the fastest block.
     */
    private long warmUp(Pass pass, int sizeBytes) throws InterruptedException {
        long warmNs = warmed.add(key(pass, sizeBytes)) ? settings.firstWarmNs() : settings.warmNs();
        Double known = nsPerMessage.get(key(pass, sizeBytes));
        long block = known != null ? blockOf(warmNs, known)
            : Math.clamp(FIRST_BLOCK_BYTES / Math.max(1, sizeBytes), 1,
                pass == Pass.COLD ? FIRST_COLD_BLOCK : FIRST_BLOCK);
        long spentNs = 0;
        double least = Double.MAX_VALUE;
        boolean compiled;
        do {
            long elapsedNs = elapsedNs(run(pass, block, false));
            spentNs += elapsedNs;
            least = Math.min(least, (double) elapsedNs / block);
            block = blockOf(Math.max(warmNs / 4, warmNs - spentNs), (double) elapsedNs / block);
            compiled = awaitCompilers();
        } while (spentNs < warmNs || compiled && spentNs < MOST_WARM * settings.firstWarmNs());
        nsPerMessage.put(key(pass, sizeBytes), least);
        return blockOf(settings.sliceNs(pass), least);
    }

    /**
     * Waits until the compilers of the sides have finished, within a limit: a process that is stopped before continues
     * to compile in its next slice, on the cores of its sides. Returns true if they have compiled since the last call.
     */
    private boolean awaitCompilers() throws InterruptedException {
        double beforeNs = compilerNs;
        long begin = System.nanoTime();
        double seenNs = sum(SideClient::compilerNs);
        while (seenNs > compilerNs && System.nanoTime() - begin < MOST_COMPILE_NS) {
            compilerNs = seenNs;
            Thread.sleep(COMPILE_PAUSE_MS);
            seenNs = sum(SideClient::compilerNs);
        }
        compilerNs = seenNs;
        return seenNs > beforeNs;
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

    private SliceReading reading(Pass pass, int sizeBytes, Map<SideRole, SideReport> reports, double cpuNs) {
        long count = sliceCount;
        Map<CellMetric, Double> values = new EnumMap<>(CellMetric.class);
        SideReport ping = reports.get(SideRole.PING);
        double elapsedNs = ping.result();
        switch (pass) {
            case EXCHANGE, PUT -> {
                double messages = (double) count * definition.returns;
                values.put(CellMetric.HALF_ROUND_TRIP, elapsedNs / messages);
                if (sizeBytes >= CellMetric.LARGE_BYTES) {
                    values.put(CellMetric.EXCHANGE_BANDWIDTH,
                        messages * NS_PER_SECOND / elapsedNs * sizeBytes / MEGABYTE);
                }
                values.put(CellMetric.EXCHANGE_CPU, cpuNs / messages);
                values.put(CellMetric.MEMORY, sum(SideClient::memoryBytes) / BYTES_PER_MIB);
            }
            case GET, FETCH_ADD -> values.put(CellMetric.OPERATION_TIME, elapsedNs / count);
            case BURST -> values.put(CellMetric.WRITE_TIME, ping.histogram().getMean() / PortLoops.CHUNK);
            case WRITE -> {
                values.put(CellMetric.WRITE_P50, (double) ping.histogram().getValueAtPercentile(50));
                values.put(CellMetric.WRITE_P99, (double) ping.histogram().getValueAtPercentile(99));
            }
            case STREAM, PUT_STREAM, RECORD, COMMIT, REPLAY -> {
                values.put(CellMetric.MESSAGE_RATE, count * NS_PER_SECOND / elapsedNs);
                values.put(CellMetric.STREAM_TIME, elapsedNs / count);
                values.put(CellMetric.BANDWIDTH, count * NS_PER_SECOND / elapsedNs * sizeBytes / MEGABYTE);
                values.put(CellMetric.STREAM_CPU, cpuNs / count);
            }
            case PACED -> {
                values.put(CellMetric.PACED_P50, (double) ping.histogram().getValueAtPercentile(50));
                values.put(CellMetric.PACED_P99, (double) ping.histogram().getValueAtPercentile(99));
                values.put(CellMetric.PACED_P999, (double) ping.histogram().getValueAtPercentile(99.9));
            }
            case COLD -> {
                double p99 = ping.histogram().getValueAtPercentile(99);
                values.put(CellMetric.COLD_P50, (double) ping.histogram().getValueAtPercentile(50));
                values.put(CellMetric.COLD_P99, p99);
                values.put(CellMetric.COLD_CYCLES, p99 * ping.driverCycles() / elapsedNs);
            }
            default -> throw new IllegalArgumentException(pass + " is not timed");
        }
        return new SliceReading(values, ping.histogram(), waited(reports, cpuNs));
    }

    /** Part of the time that a side waited for its core. */
    private double waited(Map<SideRole, SideReport> reports, double cpuNs) {
        double elapsedNs = elapsedNs(reports);
        double waitedNs = definition.kinds.values().stream().anyMatch(SideKind::hasThreads)
            ? reports.size() * elapsedNs - cpuNs
            : reports.values().stream().mapToDouble(report -> report.load().waitedNs()).max().orElse(0);
        double own = definition.kinds.containsValue(SideKind.AERON_DRIVER) ? AERON_DRIVER_PART : 0;
        return Math.max(0, waitedNs / elapsedNs - own);
    }

    private double sum(ToDoubleFunction<SideClient> value) {
        return sides.stream().mapToDouble(value).sum();
    }

    private static String key(Pass pass, int sizeBytes) {
        return pass + " " + sizeBytes;
    }

    @Override
    public void close() {
        isOpen = false;
        warmed.clear();
        for (int i = sides.size() - 1; i >= 0; i--) {
            sides.get(i).close();
        }
        sides.clear();
    }
}
