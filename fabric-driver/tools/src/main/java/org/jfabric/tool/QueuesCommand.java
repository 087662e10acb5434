package org.jfabric.tool;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jfabric.client.QueueSnapshot;
import org.jfabric.client.QueueWatch;
import org.jfabric.driver.metrics.Metric;
import org.jfabric.driver.metrics.MetricsSnapshot;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Shows the operations and messages that wait in a driver's queues, and the peers that they wait for. */
@Command(
    name = "queues",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = "Shows for each endpoint of a driver which receives and which messages wait, by tag and by peer, for"
        + " how long, and which peer delays whose sends. The driver takes the snapshot while it works, a little in each"
        + " cycle; a driver in mode INVOKER does so only while its application runs its cycles.")
final class QueuesCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private DirectoryOption directory;

    @Option(
        names = "--watch",
        arity = "0..1",
        fallbackValue = "1",
        paramLabel = "SECONDS",
        description = "Take a snapshot every second, or as often as given, until the driver ends.")
    private Double watch;

    @Option(names = "--times", paramLabel = "N", description = "With --watch: end after this many snapshots.")
    private Integer times;

    @Option(
        names = "--timeout",
        paramLabel = "SECONDS",
        defaultValue = "5",
        description = "How long to wait for each answer of the driver. Default: ${DEFAULT-VALUE}.")
    private double timeout;

    @Option(names = "--json", description = "Print one JSON object (with --watch: one per line) instead of text.")
    private boolean json;

    QueuesCommand() {
    }

    @Override
    public Integer call() throws InterruptedException {
        require(watch == null || watch >= 0.1 && watch <= 86_400, "--watch", watch + " is not from 0.1 to 86400");
        require(times == null || times >= 1, "--times", times + " is less than 1");
        require(timeout >= 0.1 && timeout <= 3_600, "--timeout", timeout + " is not from 0.1 to 3600");
        try (CncView view = CncView.open(directory.path())) {
            if (!view.isRunning()) {
                throw CncView.noDriver(view.directory(), "no process owns its lock");
            }
            try (QueueWatch queues = QueueWatch.connect(
                view.directory(), (long) (timeout * TimeUnit.SECONDS.toNanos(1)))) {
                show(view, queues);
            } catch (FabricException ex) {
                if (ex.errno() != FabricErrno.ETIMEDOUT) {
                    throw ex;
                }
                throw new ToolException(ex.getMessage() + " (A driver in mode INVOKER answers only while its"
                    + " application runs its cycles.)", ex);
            }
        }
        return 0;
    }

    private void require(boolean met, String option, String seen) {
        if (!met) {
            throw new ParameterException(
                spec.commandLine(), "Invalid value for option '" + option + "': " + seen);
        }
    }

    private void show(CncView view, QueueWatch queues) throws InterruptedException {
        print(view, queues);
        for (int shown = 1; watch != null && (times == null || shown < times); shown++) {
            Thread.sleep(Duration.ofMillis((long) (watch * 1_000)));
            if (!view.isRunning()) {
                throw new ToolException("The driver in " + view.directory() + " has ended.");
            }
            print(view, queues);
        }
    }

    /** The groups that the driver writes or reads, with their readers in the drivers whose directories lie beside. */
    private static List<GroupView> groups(CncView view) {
        Path own = view.directory().toAbsolutePath();
        List<Metric> metrics = new ArrayList<>(metrics(view));
        for (Path beside : CleanCommand.folders(own.getParent())) {
            if (!beside.equals(own)) {
                try (CncView other = CncView.open(beside)) {
                    metrics.addAll(other.isRunning() ? metrics(other) : List.of());
                } catch (ToolException | FabricException none) {
                    // no driver, one that ends, or one of another user
                    continue;
                }
            }
        }
        String prefix = "jfabric://" + own.getFileName() + '/';
        return GroupView.of(metrics.stream(), System.currentTimeMillis()).stream()
            .filter(group -> group.address().startsWith(prefix) || String.valueOf(group.writer()).startsWith(prefix)
                || group.readers().stream().anyMatch(reader -> reader.address().startsWith(prefix))).toList();
    }

    private static List<Metric> metrics(CncView view) {
        try {
            return MetricsSnapshot.of(view.counters());
        } catch (InternalError cut) {
            throw view.cut();
        }
    }

    private void print(CncView view, QueueWatch queues) {
        List<QueueSnapshot> endpoints = new ArrayList<>();
        QueueSnapshot endpoint = queues.next(0);
        while (endpoint != null) {
            // one that was closed just now has nothing that could wait
            if (!endpoint.ended()) {
                endpoints.add(endpoint);
            }
            endpoint = queues.next(endpoint.endpointId());
        }
        List<GroupView> groups = groups(view);
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(QueuesReport.toJson(view, endpoints, groups, System.nanoTime()));
        } else {
            if (watch != null) {
                ToolTerminal.clear(out);
            }
            out.print(QueuesReport.toText(view, endpoints, groups, System.nanoTime()));
        }
        out.flush();
    }
}
