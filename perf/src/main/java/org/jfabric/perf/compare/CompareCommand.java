package org.jfabric.perf.compare;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.jfabric.ffi.Affinity;
import org.jfabric.ffi.CpuQuota;
import org.jfabric.ffi.NativeAccess;
import org.jfabric.tool.ToolCommand;
import org.jfabric.tool.ToolVersion;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures JFabric beside other libraries and baselines. */
@Command(
    name = "compare",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = {
        "Measures JFabric beside every other library that is installed, in turn, on the same two cores.",
        "Without --full it measures what the table of targets names, in at most twenty minutes. Nothing else should run"
            + " meanwhile; what was disturbed is marked.",
        "A round counts for a target only if a cache line came over fast, and as fast before as after it."
    })
public final class CompareCommand implements ToolCommand {
    private static final int LARGEST_BYTES = 1 << 22;
    private static final int MINUTES = 20;
    private static final int MOST_MINUTES = 10_000;
    private static final int SLOWEST_HAND_OVER_NS = 1_000_000;
    private static final long NS_PER_MINUTE = 60_000_000_000L;
    private static final int MOST_ROUNDS = 1_000;
    private static final long MOST_MESSAGES = 100_000_000_000L;
    private static final int LONGEST_PASS_MS = 60_000;
    private static final long NS_PER_MS = 1_000_000;

    @Spec
    private CommandSpec spec;

    @Option(
        names = "--sizes",
        paramLabel = "BYTES",
        split = ",",
        defaultValue = "8,64,1024,4096,65536,1048576,4194304",
        description = "Sizes of messages, 1 to 4194304. Default: ${DEFAULT-VALUE}.")
    private List<Integer> sizes;

    @Option(
        names = "--systems",
        paramLabel = "NAMES",
        split = ",",
        description = "Measure only these, of: jfabric-invoker, jfabric-invoker-all-links, jfabric-baseline,"
            + " jfabric-invoker-100000-receives, jfabric-zero-copy, jfabric-remote,"
            + " jfabric-128-receives, jfabric-baseline-128-receives, jfabric-one-thread, jfabric-baseline-one-thread,"
            + " jfabric-daemon-dedicated, jfabric-daemon-shared, jfabric-daemon-1000-endpoints, aeron-ipc, ucx,"
            + " ucx-home, libfabric-shm, jfabric-tcp, bare-tcp, libfabric-tcp, ucx-tcp, jfabric-rxm, libfabric-rxm,"
            + " jfabric-tcp-connection, jfabric-tcp-1000-connections,"
            + " jfabric-udp, jfabric-packet, bare-udp, jfabric-packet-cable, bare-udp-cable, aeron-udp,"
            + " jfabric-shared-shm, jfabric-shared-tcp, jfabric-fresh, hand-over, copy.")
    private List<String> systems = Contenders.IDS;

    @Option(
        names = "--rounds",
        paramLabel = "N",
        defaultValue = "11",
        description = "Valid rounds that each target should have. There are so many rounds of everything, then, of what"
            + " has too few valid ones, more, up to three times as many. With fewer than 7 valid rounds a target is"
            + " not judged. Default: ${DEFAULT-VALUE}.")
    private int rounds;

    @Option(
        names = "--minutes",
        paramLabel = "N",
        description = "No further round is begun that would not end within so many. Default: 20, with --full no limit.")
    private Integer minutes;

    @Option(
        names = "--max-hand-over-ns",
        paramLabel = "NS",
        defaultValue = "70",
        description = "A round is valid only if the hand-over of a cache line took at most this many nanoseconds before"
            + " and after each of the compared cells, and the values are within a factor of 1.3 of each other. The"
            + " hand-over rows of the report show what is usual on this machine. Default: ${DEFAULT-VALUE}.")
    private int maxHandOverNs;

    @Option(
        names = "--baseline-jar",
        paramLabel = "FILE",
        description = "Measure an older build of JFabric as well: its"
            + " jfabric-driver-runnable.jar (once jfabric-driver.jar), the benchmarks.jar of its own rig, or the folder"
            + " of a checkout that was built.")
    private Path baseline;

    @Option(
        names = "--pass-ms",
        paramLabel = "MS",
        defaultValue = "500",
        description = "A timed pass lasts so long at least, its warm-up and profile in proportion: shorter ones show"
            + " that everything runs, but their figures mean little. Default: ${DEFAULT-VALUE}.")
    private int passMs;

    @Option(names = "--full", description = "Every system with every size, which takes long.")
    private boolean full;

    @Option(
        names = "--messages",
        paramLabel = "N",
        defaultValue = "100000000",
        description = "Messages of the pass that counts garbage collections, 0 for no such pass."
            + " Default: ${DEFAULT-VALUE}.")
    private long messages;

    @Option(
        names = "--report",
        paramLabel = "DIR",
        description = "Write a page with tables and plots into this folder, with the raw values beside it.")
    private Path report;

    @Option(names = "--json", description = "Print one JSON object instead of text.")
    private boolean json;

    /** Made by the command line. */
    public CompareCommand() {
    }

    @Override
    public Integer call() throws InterruptedException {
        check();
        NativeAccess.check();
        BitSet cpus = Affinity.cpus();
        int pingCpu = cpus.nextSetBit(0);
        int next = cpus.nextSetBit(pingCpu + 1);
        boolean spinning = next >= 0 && CpuQuota.availableCores() >= 2;
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        try (RunDirectory directory = new RunDirectory(LARGEST_BYTES)) {
            RigSettings settings =
                new RigSettings(directory.path(), passMs * NS_PER_MS, pingCpu, next >= 0 ? next : pingCpu, spinning,
                    baseline == null ? null : Baseline.of(baseline));
            Comparison run;
            try (Rig rig = new Rig(settings, Set.copyOf(systems), new ToolVersion().getVersion()[0], err)) {
                run = rig.run(new TreeSet<>(sizes), full, new Rig.Rounds(rounds, limitNs(), maxHandOverNs), messages);
            }
            if (report != null) {
                err.println("The report is " + new ReportFolder(report).write(run) + '.');
            }
            out.print(json ? ResultJson.write(run, false) + System.lineSeparator() : ResultText.write(run));
            out.flush();
        }
        return 0;
    }

    private long limitNs() {
        return minutes != null ? minutes * NS_PER_MINUTE : full ? Long.MAX_VALUE : MINUTES * NS_PER_MINUTE;
    }

    private void check() {
        for (int size : sizes) {
            inRange("--sizes", size, 1, LARGEST_BYTES);
        }
        inRange("--rounds", rounds, 1, MOST_ROUNDS);
        if (minutes != null) {
            inRange("--minutes", minutes, 1, MOST_MINUTES);
        }
        inRange("--max-hand-over-ns", maxHandOverNs, 1, SLOWEST_HAND_OVER_NS);
        inRange("--pass-ms", passMs, 1, LONGEST_PASS_MS);
        inRange("--messages", messages, 0, MOST_MESSAGES);
        for (String system : systems) {
            if (!Contenders.IDS.contains(system)) {
                throw new ParameterException(spec.commandLine(), "Invalid value for option '--systems': \"" + system
                    + "\" is not one of " + String.join(", ", Contenders.IDS));
            }
        }
    }

    private void inRange(String option, long value, long least, long most) {
        if (value < least || value > most) {
            throw new ParameterException(spec.commandLine(), String.format(Locale.ROOT,
                "Invalid value for option '%s': %d is not from %d to %d", option, value, least, most));
        }
    }
}
