package org.jfabric.tool;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jfabric.driver.log.EventKind;
import org.jfabric.layout.EventRecordDescriptor;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Watches a driver and says what its slow cycles and waits for credit coincided with. */
@Command(
    name = "why",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = "Watches a driver for a while, then lists its slow duty cycles and waits for credit with what each of"
        + " them coincided with: a thread that waited for a core, page faults, clients that were stopped, peers that"
        + " were gone, messages before their receives, errors; with --vm-log also safepoints and collections. One that"
        + " coincides with nothing of that is 'not known'. A driver counts a cycle as slow from its option"
        + " jfabric.metrics.slowCycleNs on. For round trips see 'fabric pingpong --explain'.")
final class WhyCommand implements Callable<Integer> {
    private static final int LONGEST = 1000;
    private static final int MOST_SECONDS = 86_400;

    @Spec
    private CommandSpec spec;

    @Mixin
    private DirectoryOption directory;

    @Option(names = "--seconds", paramLabel = "N", defaultValue = "10",
        description = "How long to watch, 0 to 86400. Default: ${DEFAULT-VALUE}. A driver that was killed is not"
            + " watched.")
    private double seconds;

    @Option(names = "--above", paramLabel = "NS", defaultValue = "0",
        description = "Leave out what took less than so many nanoseconds. Default: ${DEFAULT-VALUE}, all that the"
            + " driver has recorded.")
    private long aboveNs;

    @Option(names = "--past",
        description = "Also list what the driver recorded before. Threads and clients were not watched then.")
    private boolean past;

    @Option(names = "--vm-log", paramLabel = "FILE",
        description = "Log of the driver's virtual machine, if it was started with"
            + " -Xlog:safepoint=info,gc=info:file=FILE:timenanos, such as by JFABRIC_JAVA_OPTS.")
    private Path vmLog;

    @Option(names = "--json", description = "Print one JSON object instead of text.")
    private boolean json;

    WhyCommand() {
    }

    @Override
    public Integer call() throws InterruptedException {
        if (!(seconds >= 0 && seconds <= MOST_SECONDS) || aboveNs < 0) {
            throw new ParameterException(spec.commandLine(), "Invalid value for option '"
                + (aboveNs < 0 ? "--above': " + aboveNs + " is less than 0"
                : "--seconds': " + seconds + " is not from 0 to " + MOST_SECONDS));
        }
        Path path = directory.path();
        List<Cause> causes = new ArrayList<>();
        long beginNs = System.nanoTime();
        boolean running;
        RecordView record;
        try (CncView view = CncView.open(path)) {
            running = view.isRunning();
            record = read(path);
            if (running && seconds > 0) {
                record = new DriverWatch(view, record)
                    .run(Math.round(seconds * TimeUnit.SECONDS.toNanos(1)), causes);
            }
        }
        boolean all = past || !running;
        List<Outliers.Outlier> outliers = new ArrayList<>();
        for (RecordView.Event event : record.events()) {
            add(event, path.getFileName().toString(), outliers, causes);
        }
        if (vmLog != null) {
            causes.addAll(SafepointLog.read("driver", vmLog));
        }
        outliers.removeIf(each -> each.lengthNs() < aboveNs || !all && each.endNs() - beginNs < 0);
        long count = outliers.size();
        outliers.sort(Comparator.comparingLong(Outliers.Outlier::lengthNs).reversed());
        print(path, Outliers.explain("slow cycle(s) and wait(s) for credit", aboveNs, count,
            outliers.subList(0, Math.min(LONGEST, outliers.size())), causes));
        return 0;
    }

    private static RecordView read(Path path) {
        RecordView record = RecordView.read(path, EventRecordDescriptor.FILE_NAME);
        if (record == null) {
            throw new ToolException("The driver in " + path + " keeps no record: its option jfabric.log.recordEvents is"
                + " 0.");
        }
        return record;
    }

    /** An event is an outlier, or may explain one; a slow cycle may explain a wait for credit. */
    private static void add(
        RecordView.Event event, String driver, List<Outliers.Outlier> outliers, List<Cause> causes) {
        if (event.kind() == null) {
            return;
        }
        long endNs = event.monotonicNs();
        switch (event.kind()) {
            case SLOW_CYCLE -> outliers.add(
                new Outliers.Outlier("slow cycle of " + event.agent(), endNs - event.first(), endNs));
            case CREDIT_WAIT_ENDED -> outliers.add(
                new Outliers.Outlier("wait for credit of " + event.text(), endNs - event.first(), endNs));
            default -> {
                Cause cause = cause(event, driver);
                if (cause != null) {
                    causes.add(cause);
                }
            }
        }
    }

    /** Makes a cause of an event. Returns null if it explains nothing. */
    static Cause cause(RecordView.Event event, String driver) {
        EventKind kind = event.kind();
        long endNs = event.monotonicNs();
        return kind == null ? null : switch (kind) {
            case SLOW_CYCLE -> new Cause(
                driver + ' ' + event.agent(), Cause.Kind.SLOW_CYCLE, endNs - event.first(), endNs, event.first(), "");
            case CREDIT_WAIT_ENDED -> new Cause(
                driver, Cause.Kind.NO_CREDIT, endNs - event.first(), endNs, event.first(), event.text());
            case PEER_DOWN -> new Cause(driver, Cause.Kind.PEER_DOWN, endNs - 1, endNs, 1, event.text());
            case ERROR -> new Cause(driver + ' ' + event.agent(), Cause.Kind.ERROR, endNs - 1, endNs, 1, event.text());
            default -> null;
        };
    }

    private void print(Path path, Outliers outliers) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            JsonWriter writer = new JsonWriter().beginObject().member("directory", path.toString()).name("outliers");
            outliers.writeTo(writer);
            out.println(writer.endObject());
        } else {
            out.print(outliers.toText());
        }
        out.flush();
    }
}
