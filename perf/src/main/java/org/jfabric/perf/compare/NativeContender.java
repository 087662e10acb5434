package org.jfabric.perf.compare;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jfabric.tool.ToolException;

/**
 * A contender whose test program is started for each slice; it warms up and times itself. Only its count of messages is
 * chosen here, from the speed of the slice before; for the first one it is run once without counting.
 */
final class NativeContender implements Contender {
    private static final long FIRST_COUNT_BYTES = 64L << 20;
    private static final long FIRST_COUNT = 50_000;
    private static final long START_NS = 200_000_000L;
    private static final double NS_PER_SECOND = 1e9;
    private static final double MEGABYTE = 1e6;
    private static final double BYTES_PER_MIB = 1 << 20;

    private final NativeTool tool;
    private final RigSettings settings;
    private final NativePair pair;
    private final String version;
    private final Map<Cell, Double> nsPerCount = new HashMap<>();

    /** A test program. */
    interface NativeTool {
        /** Name in JSON. */
        String id();

        /** Name for people. */
        String title();

        String program();

        /** Advice for a machine without the program: a clause. */
        String toGetIt();

        /** Installation to search for the program; null if none is given. */
        Installation installation();

        List<String> versionCommand();

        /** Version and build. Returns an empty text if it is something else. */
        String version(String output);

        Map<String, String> environment();

        /** Returns the passes that the program can measure. */
        Set<Pass> passes();

        /** Command of one side; the server's has no host. */
        List<String> command(Pass pass, int sizeBytes, long count, int port, boolean server);

        /**
         * Nanoseconds of the timed part for each message (of an exchange: for each half round trip).
         *
         * @throws ToolException if there is no result in it.
         */
        double nsPerMessage(int sizeBytes, String output);
    }

    NativeContender(NativeTool tool, RigSettings settings) throws InterruptedException {
        this.tool = tool;
        this.settings = settings;
        Map<String, String> environment = new HashMap<>(tool.environment());
        String found = "not installed";
        if (missing() == null) {
            Installation installation = tool.installation();
            environment.putAll(installation.environment());
            String named = tool.version(Programs.output(
                null, installation.command(tool.versionCommand()), installation.environment()));
            found = (named.isEmpty() ? "unknown" : named) + ", " + installation.origin(tool.program());
        }
        pair = new NativePair(tool.title(), settings, environment);
        version = found;
    }

    @Override
    public String id() {
        return tool.id();
    }

    @Override
    public String title() {
        return tool.title();
    }

    @Override
    public String missing() {
        Installation installation = tool.installation();
        if (installation == null) {
            return tool.title() + " is left out: " + tool.toGetIt() + '.';
        }
        return installation.find(tool.program()) != null ? null
            : tool.title() + " is left out: " + (installation.folder() == null
            ? tool.program() + " is not installed; " + tool.toGetIt()
            : "there is no " + installation.folder().resolve("bin").resolve(tool.program()) + ", where "
            + installation.variable() + " leads") + '.';
    }

    @Override
    public String version() {
        return version;
    }

    @Override
    public boolean can(Pass pass, int sizeBytes) {
        return tool.passes().contains(pass) && sizeBytes > 0;
    }

    @Override
    public boolean startsAnew() {
        return true;
    }

    @Override
    public void open(Pass pass, int sizeBytes) throws InterruptedException {
        Cell cell = new Cell(id(), pass, sizeBytes);
        if (!nsPerCount.containsKey(cell)) {
            run(cell, Math.clamp(FIRST_COUNT_BYTES / sizeBytes, 1, FIRST_COUNT));
        }
    }

    @Override
    public SliceReading slice(Pass pass, int sizeBytes) throws InterruptedException {
        Cell cell = new Cell(id(), pass, sizeBytes);
        NativePair.Outcome outcome = run(cell, (long) (settings.startedNs() / nsPerCount.get(cell)) + 1);
        return reading(pass, sizeBytes, nsPerCount.get(cell) / messages(pass), outcome);
    }

    @Override
    public void closeCell() {
        // Nothing lives longer than a slice.
    }

    /** Runs the program once and keeps how long a count took. */
    private NativePair.Outcome run(Cell cell, long count) throws InterruptedException {
        int port = FreePorts.tcp();
        NativePair.Outcome outcome = pair.run(command(cell, count, port, true), command(cell, count, port, false), port,
            START_NS + (long) (count * nsPerCount.getOrDefault(cell, 0.0)));
        nsPerCount.put(cell, tool.nsPerMessage(cell.sizeBytes(), outcome.output()) * messages(cell.pass()));
        return outcome;
    }

    private List<String> command(Cell cell, long count, int port, boolean server) {
        return tool.installation().command(tool.command(cell.pass(), cell.sizeBytes(), count, port, server));
    }

    private static double messages(Pass pass) {
        return pass == Pass.EXCHANGE || pass == Pass.PUT ? 2 : 1;
    }

    private static SliceReading reading(Pass pass, int sizeBytes, double nsPerMessage, NativePair.Outcome outcome) {
        Map<CellMetric, Double> values = new EnumMap<>(CellMetric.class);
        double cpuNs = outcome.cpuShare() * nsPerMessage;
        if (pass == Pass.GET || pass == Pass.FETCH_ADD) {
            values.put(CellMetric.OPERATION_TIME, nsPerMessage);
        } else if (pass == Pass.EXCHANGE || pass == Pass.PUT) {
            values.put(CellMetric.HALF_ROUND_TRIP, nsPerMessage);
            if (sizeBytes >= CellMetric.LARGE_BYTES) {
                values.put(CellMetric.EXCHANGE_BANDWIDTH, NS_PER_SECOND / nsPerMessage * sizeBytes / MEGABYTE);
            }
            values.put(CellMetric.EXCHANGE_CPU, cpuNs);
            if (outcome.memoryBytes() > 0) {
                values.put(CellMetric.MEMORY, outcome.memoryBytes() / BYTES_PER_MIB);
            }
        } else {
            values.put(CellMetric.MESSAGE_RATE, NS_PER_SECOND / nsPerMessage);
            values.put(CellMetric.STREAM_TIME, nsPerMessage);
            values.put(CellMetric.BANDWIDTH, NS_PER_SECOND / nsPerMessage * sizeBytes / MEGABYTE);
            values.put(CellMetric.STREAM_CPU, cpuNs);
        }
        return new SliceReading(values, null);
    }

    @Override
    public void close() {
        closeCell();
    }
}
