package org.jfabric.perf.compare;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.HashSet;
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
        "Without --full it measures what the table of targets names, until --minutes are over. Nothing else should run"
            + " meanwhile.",
        "What is compared is measured in short slices, in turn. A round has a slice of each, around which the hand-over"
            + " of a cache line took the same time: the host was in the same state. A slice in which the host changed"
            + " its state, or a side waited for its core, does not count."
    })
public final class CompareCommand implements ToolCommand {
    private static final int LARGEST_BYTES = 1 << 22;
    private static final int MINUTES = 16;
    private static final int MOST_MINUTES = 10_000;
    private static final long NS_PER_MINUTE = 60_000_000_000L;
    private static final int MOST_ROUNDS = 1_000;
    private static final long MOST_MESSAGES = 100_000_000_000L;
    private static final int LONGEST_SLICE_MS = 10_000;
    private static final long NS_PER_MS = 1_000_000;

    @Spec
    private CommandSpec spec;

    @Option(
        names = "--sizes",
        paramLabel = "BYTES",
        split = ",",
        defaultValue = "8,64,1024,1400,4096,65536,1048576,4194304",
        description = "Sizes of messages, 1 to 4194304. Default: ${DEFAULT-VALUE}.")
    private List<Integer> sizes;

    @Option(
        names = "--systems",
        paramLabel = "NAMES",
        split = ",",
        description = "Measure only these. A name that is not known is refused with the list of all names;"
            + " docs/performance/compare.md describes them.")
    private List<String> systems = Contenders.IDS;

    @Option(
        names = "--rounds",
        paramLabel = "N",
        defaultValue = "24",
        description = "Valid rounds that the cells of each target should have, in three sittings; each sitting has up"
            + " to twice as many turns as it should have rounds, of the chart six times. With fewer than 15 valid"
            + " rounds a target is not judged. Default: ${DEFAULT-VALUE}.")
    private int rounds;

    @Option(
        names = "--minutes",
        paramLabel = "N",
        description = "No further cells are measured after so many. Default: 16, with --full no limit.")
    private Integer minutes;

    @Option(
        names = "--baseline-jar",
        paramLabel = "FILE",
        description = "Measure an older build of JFabric as well: its"
            + " jfabric-driver-runnable.jar (once jfabric-driver.jar), the benchmarks.jar of its own rig, or the folder"
            + " of a checkout that was built.")
    private Path baseline;

    @Option(
        names = "--log-folder",
        paramLabel = "DIR",
        defaultValue = "${sys:java.io.tmpdir}",
        description = "Folder for the logs of recorded streams and of the other systems, for up to 1 GiB; they are"
            + " deleted. Default: ${DEFAULT-VALUE}.")
    private Path logFolder;

    @Option(
        names = "--slice-ms",
        paramLabel = "MS",
        defaultValue = "25",
        description = "Length of a slice, its warm-up and profile in proportion: shorter ones show that everything"
            + " runs, but their figures mean little. Default: ${DEFAULT-VALUE}.")
    private int sliceMs;

    @Option(
        names = "--side-by-side",
        description = "Measure only what the chart of the results shows: the same messages in six systems, in 5 to 15"
            + " minutes; without profiles and garbage collections.")
    private boolean sideBySide;

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

    @Option(
        names = "--publish",
        paramLabel = "DIR",
        description = "Write the page of results and its chart into this folder, as the documentation has them in"
            + " docs/performance.")
    private Path publish;

    @Option(
        names = "--figures-in",
        paramLabel = "FILE",
        description = "With --publish: replace the figures of the last run in this page, README.md.")
    private Path figuresIn;

    @Option(
        names = "--from",
        paramLabel = "FILE",
        description = "With --publish: measure nothing, take the run that was written with --json.")
    private Path from;

    @Option(names = "--json", description = "Print one JSON object instead of text.")
    private boolean json;

    /** Made by the command line. */
    public CompareCommand() {
    }

    @Override
    public Integer call() throws InterruptedException {
        check();
        if (from != null) {
            publish(SavedRun.read(from));
            return 0;
        }
        NativeAccess.check();
        BitSet cpus = Affinity.cpus();
        int pingCpu = cpus.nextSetBit(0);
        int next = cpus.nextSetBit(pingCpu + 1);
        boolean spinning = next >= 0 && CpuQuota.availableCores() >= 2;
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        try (RunDirectory directory = new RunDirectory(LARGEST_BYTES, logFolder)) {
            RigSettings settings =
                new RigSettings(directory.path(), sliceMs * NS_PER_MS, pingCpu, next >= 0 ? next : pingCpu, spinning,
                    baseline == null ? null : Baseline.of(baseline));
            Comparison run;
            Set<String> measured = new HashSet<>(systems);
            if (sideBySide) {
                measured.retainAll(SideBySide.NAMES.keySet());
            }
            try (Rig rig = new Rig(settings, measured, new ToolVersion().getVersion()[0], err)) {
                run = sideBySide ? rig.runSideBySide(new TreeSet<>(sizes), rounds, limitNs())
                    : rig.run(new TreeSet<>(sizes), full, rounds, limitNs(), messages);
            }
            if (report != null) {
                err.println("The report is " + new ReportFolder(report).write(run) + '.');
            }
            if (publish != null) {
                publish(SavedRun.parse(ResultJson.write(run, false)));
            }
            out.print(json ? ResultJson.write(run, false) + System.lineSeparator() : ResultText.write(run));
            out.flush();
        }
        return 0;
    }

    private void publish(SavedRun run) {
        spec.commandLine().getErr().println("The results are " + ResultsPage.publish(run, publish, figuresIn) + '.');
    }

    private long limitNs() {
        return minutes != null ? minutes * NS_PER_MINUTE : full ? Long.MAX_VALUE : MINUTES * NS_PER_MINUTE;
    }

    private void check() {
        if (sideBySide && full) {
            throw new ParameterException(spec.commandLine(), "--side-by-side and --full exclude each other");
        }
        if (publish == null && (from != null || figuresIn != null)) {
            throw new ParameterException(spec.commandLine(), "--from and --figures-in need --publish");
        }
        for (int size : sizes) {
            inRange("--sizes", size, 1, LARGEST_BYTES);
        }
        inRange("--rounds", rounds, 1, MOST_ROUNDS);
        if (minutes != null) {
            inRange("--minutes", minutes, 1, MOST_MINUTES);
        }
        inRange("--slice-ms", sliceMs, 1, LONGEST_SLICE_MS);
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
