package org.jfabric.driver.torture;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jfabric.driver.scale.ScaleRun;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code ./fabric torture}. */
@Command(
    name = "fabric torture",
    mixinStandardHelpOptions = true,
    description = "Kills, stops and harms processes of this library that send each other messages, and checks what the"
        + " others notice of it. It makes its drivers and applications itself, in a directory of its own, and touches"
        + " no others. The exit status is 0 if there was no fault.")
final class TortureMain implements Callable<Integer> {
    private static final int SKIPPED = 77;
    private static final int STUBS_PER_PEER = 10;
    /** Room for two drivers, two bystanders and two workers, and for one more of these. */
    private static final String DISK = "192m";

    @Option(
        names = "--minutes", paramLabel = "M", defaultValue = "1",
        description = "How long, default ${DEFAULT-VALUE}; may be a fraction.")
    private double minutes;

    @Option(
        names = "--seed", paramLabel = "S",
        description = "Of all choices; default: the time. It repeats the choices, not the timing.")
    private Long seed;

    @Option(
        names = "--slice", paramLabel = "SECONDS", defaultValue = "8",
        description = "How long each link and mode has its turn, default ${DEFAULT-VALUE}.")
    private long sliceSeconds;

    @Option(
        names = "--only", paramLabel = "LINK/MODE",
        description = "Only these, such as shm/daemon, tcp/invoker or '*/daemon'; default: all.")
    private List<String> only = new ArrayList<>();

    @Option(
        names = "--harms", paramLabel = "KIND", split = ",",
        description = "Only these: kill, stop, order, driver, vandal, descriptors, flood, disk; default: all.")
    private List<String> harms = new ArrayList<>();

    @Option(
        names = "--stop-seconds", paramLabel = "A-B",
        description = "How long a process is stopped; default: most of the time less than half a second.")
    private String stopSeconds;

    @Option(
        names = "--pause-ms", paramLabel = "MS", defaultValue = "300",
        description = "Longest time between two harms, default ${DEFAULT-VALUE}.")
    private int pauseMs;

    @Option(
        names = "--mutations", paramLabel = "N",
        description = "Instead of all this: changed messages, until each parser of tcp, rxm, shm and control has read"
            + " N.")
    private long mutations;

    @Option(
        names = "--parsers", paramLabel = "NAME", split = ",",
        description = "Only messages to these: ${COMPLETION-CANDIDATES}; default: all.")
    private Set<Mutations.Parser> parsers = EnumSet.allOf(Mutations.Parser.class);

    @Option(
        names = "--restarts", paramLabel = "N",
        description = "Instead of all this: how long a killed driver takes until it serves again, N times.")
    private int restarts;

    @Option(
        names = "--peers", paramLabel = "N",
        description = "Instead of all this: one endpoint over tcp with N endpoints of another driver and ten times as"
            + " many stubs, which connect, flood it and break off all at once. Each peer takes a descriptor of both"
            + " processes (ulimit -n).")
    private int peers;

    @Option(
        names = "--full-disk",
        description = "With the drivers' directories in a small file system, which is filled now and then. That needs"
            + " the right to mount one in a namespace (unshare -rm).")
    private boolean isDiskFilled;

    /** The small file system; this process is in the namespace where it is mounted. */
    @Option(names = "--disk", hidden = true)
    private Path disk;

    @Spec
    private CommandSpec spec;

    private TortureMain() {
    }

    public static void main(String[] args) {
        System.exit(new CommandLine(new TortureMain()).execute(args));
    }

    @Override
    public Integer call() throws IOException {
        if (restarts > 0) {
            Restarts.measure(restarts, System.out);
            return 0;
        }
        if (peers > 0) {
            try (ScaleRun run = new ScaleRun(peers, STUBS_PER_PEER * peers, System.out)) {
                run.run();
            }
            return 0;
        }
        if (isDiskFilled && disk == null) {
            return callInNamespace();
        }
        long chosen = seed == null ? System.currentTimeMillis() : seed;
        List<Cell> cells = only.isEmpty() ? Cell.all() : only.stream().flatMap(each -> Cell.matching(each).stream())
            .toList();
        System.out.println("torture: seed " + chosen + ", " + cells);
        try (TortureRun run = new TortureRun(cells, chosen, System.out, disk)) {
            Runtime.getRuntime().addShutdownHook(new Thread(run::close, "end of the run"));
            run.plan(plan());
            int faults = mutations > 0 ? run.mutate(mutations, parsers)
                : run.run(Math.round(minutes * 60), sliceSeconds);
            System.out.println(run.tally());
            System.out.println(faults == 0 ? "torture: no fault" : "torture: " + faults + " faults");
            return faults == 0 ? 0 : 1;
        }
    }

    private Harm.Plan plan() {
        Set<Harm> kinds = harms.isEmpty() ? EnumSet.allOf(Harm.class)
            : harms.stream().map(Harm::parse).collect(Collectors.toCollection(() -> EnumSet.noneOf(Harm.class)));
        Harm.Plan plan = new Harm.Plan(kinds, pauseMs, 0, 0);
        return stopSeconds == null ? plan : plan.stops(stopSeconds);
    }

    /** The same once more, in a namespace with a file system of its own, which goes with it. */
    private int callInNamespace() throws IOException {
        if (TestProcess.run("unshare", "-rm", "true").status() != 0) {
            System.out.println("torture: skipped: the right to make namespaces is missing (unshare -rm)");
            return SKIPPED;
        }
        Path point = TestDirectory.create();
        List<String> command = new ArrayList<>(List.of("unshare", "-rm", "sh", "-c",
            "mount -t tmpfs -o size=" + DISK + ",mode=0700 torture \"$0\" && exec \"$@\"", point.toString()));
        List<String> arguments = new ArrayList<>(spec.commandLine().getParseResult().originalArgs());
        arguments.addAll(List.of("--disk", point.toString()));
        command.addAll(TestJvm.command(List.of("-Xmx600m"), TortureMain.class, arguments.toArray(String[]::new)));
        Process process = new ProcessBuilder(command).inheritIO().start();
        try {
            return process.waitFor();
        } catch (InterruptedException e) {
            process.destroy();
            return 1;
        } finally {
            TestDirectory.delete(point);
        }
    }
}
