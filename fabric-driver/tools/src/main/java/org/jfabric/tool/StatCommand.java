package org.jfabric.tool;

import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

import org.agrona.concurrent.status.CountersReader;
import org.jfabric.client.DriverAdmin;
import org.jfabric.driver.metrics.Metric;
import org.jfabric.driver.metrics.MetricsSnapshot;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.layout.MetricLabel;
import org.jfabric.layout.WaitLabel;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Shows a driver's counters. */
@Command(
    name = "stat",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = "Shows the counters of a driver, running or killed, without disturbing it.")
final class StatCommand implements Callable<Integer> {
    private static final long RESET_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);
    private static final double[] SHARES = {0.5, 0.99, 0.9999, 1};

    @Spec
    private CommandSpec spec;

    @Mixin
    private DirectoryOption directory;

    @Option(
        names = "--watch",
        arity = "0..1",
        fallbackValue = "1",
        paramLabel = "SECONDS",
        description = "Show them again every second, or as often as said, until the driver ends; with the change per"
            + " second.")
    private Double watch;

    @Option(names = "--times", paramLabel = "N", description = "With --watch: end after showing them so many times.")
    private Integer times;

    @Option(names = "--json", description = "Print one JSON object (with --watch: one per line) instead of text.")
    private boolean json;

    @Option(
        names = "--reset",
        description = "First begin the histograms of duty cycles and stages anew, with the longest cycle and the number"
            + " of slow ones. The driver must run, and one in mode INVOKER must run its cycles.")
    private boolean reset;

    private final Map<Integer, Long> previous = new HashMap<>();

    StatCommand() {
    }

    @Override
    public Integer call() throws InterruptedException {
        if (watch != null && !(watch >= 0.1 && watch <= 86_400)) {
            throw new ParameterException(
                spec.commandLine(), "Invalid value for option '--watch': " + watch + " is not from 0.1 to 86400");
        }
        if (times != null && times < 1) {
            throw new ParameterException(
                spec.commandLine(), "Invalid value for option '--times': " + times + " is less than 1");
        }
        try (CncView view = CncView.open(directory.path())) {
            if (reset) {
                if (!view.isRunning()) {
                    throw CncView.noDriver(view.directory(), "no process owns its lock");
                }
                DriverAdmin.resetCycleTimes(view.directory(), RESET_TIMEOUT_NS);
            }
            show(view);
        }
        return 0;
    }

    private void show(CncView view) throws InterruptedException {
        try {
            print(view, view.isRunning());
            for (int shown = 1; watch != null && (times == null || shown < times); shown++) {
                Thread.sleep(Duration.ofMillis((long) (watch * 1_000)));
                if (!view.isRunning()) {
                    throw new ToolException("The driver in " + view.directory() + " has ended.");
                }
                print(view, true);
            }
        } catch (InternalError cut) {
            throw view.cut();
        }
    }

    private void print(CncView view, boolean running) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(toJson(view, running));
        } else {
            if (watch != null) {
                ToolTerminal.clear(out);
            }
            out.print(toText(view, running));
        }
        out.flush();
    }

    private String toText(CncView view, boolean running) {
        StringBuilder text = new StringBuilder();
        text.append("driver ").append(view.directory()).append(", process ").append(view.pid())
            .append(running ? ", running for " + seconds(System.currentTimeMillis() - view.startTimeMs())
                : ", NOT RUNNING: these are the values it left")
            .append(running && view.isParked() ? ", parked" : "").append('\n');
        CountersReader counters = view.counters();
        counters.forEach((id, label) -> {
            int type = counters.getCounterTypeId(id);
            if (type == MetricLabel.BUCKET || type == MetricLabel.SUM) {
                return;
            }
            long value = counters.getCounterValue(id);
            Long before = previous.put(id, value);
            boolean isTime = label.equals(SystemCounter.SLOW_CYCLE_TIME_MS.label());
            if (isTime) {
                text.append(String.format(Locale.ROOT, "%5d %20s ", id, value == 0 ? "never"
                    : Instant.ofEpochMilli(value).truncatedTo(ChronoUnit.SECONDS)));
            } else {
                text.append(String.format(Locale.ROOT, "%5d %,20d ", id, value));
            }
            if (watch != null && isTime) {
                text.append(" ".repeat(16));
            } else if (watch != null) {
                text.append(before == null ? " ".repeat(16)
                    : String.format(Locale.ROOT, "%,14.0f/s", (value - before) / watch));
            }
            text.append("  ").append(isTime ? label.replaceFirst(" ms$", "") : WaitLabel.readable(label)).append('\n');
        });
        MetricsSnapshot.of(counters).stream().filter(metric -> metric.kind() == Metric.Kind.HISTOGRAM).forEach(
            metric -> text.append(quantiles(metric)).append('\n'));
        return text.toString();
    }

    /** One line for a histogram of times. */
    private static String quantiles(Metric metric) {
        StringBuilder line = new StringBuilder(" ".repeat(6)).append(metric.name());
        if (!metric.labels().isEmpty()) {
            line.append(metric.labels());
        }
        line.append(": ").append(metric.count());
        for (double share : SHARES) {
            Double bound = metric.quantile(share);
            line.append(bound == null ? "" : String.format(Locale.ROOT, ", %s%% <= %.3f us",
                String.valueOf(share * 100).replaceFirst("\\.0$", ""), bound * 1e6));
        }
        return line.toString();
    }

    private static String toJson(CncView view, boolean running) {
        JsonWriter writer = new JsonWriter().beginObject()
            .member("directory", view.directory().toString())
            .member("pid", view.pid())
            .member("running", running)
            .member("parked", view.isParked())
            .member("layoutVersion", view.layoutVersion())
            .member("startTimeMs", view.startTimeMs())
            .member("timeMs", System.currentTimeMillis())
            .member("cycles", view.cycles())
            .name("counters").beginArray();
        CountersReader counters = view.counters();
        counters.forEach((value, id, label) -> writer.beginObject()
            .member("id", id)
            .member("type", counters.getCounterTypeId(id))
            .member("label", label)
            .member("value", value)
            .endObject());
        writer.endArray().name("metrics").beginArray();
        MetricsSnapshot.of(counters).forEach(metric -> write(metric, writer));
        return writer.endArray().endObject().toString();
    }

    private static void write(Metric metric, JsonWriter writer) {
        writer.beginObject()
            .member("name", metric.name())
            .member("type", metric.kind().text())
            .member("unit", metric.unit())
            .name("labels").beginObject();
        metric.labels().forEach(writer::member);
        writer.endObject();
        boolean isHistogram = metric.kind() == Metric.Kind.HISTOGRAM;
        writer.name(isHistogram ? "sum" : "value");
        if (metric.value().scale() == 0) {
            writer.value(metric.value().longValueExact());
        } else {
            writer.value(metric.value().doubleValue(), metric.value().scale());
        }
        if (isHistogram) {
            writer.member("count", metric.count()).name("buckets").beginArray();
            for (Metric.Bucket bucket : metric.buckets()) {
                writer.beginObject().name("le").value(
                    bucket.bound().equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(bucket.bound()), 9)
                    .member("count", bucket.count()).endObject();
            }
            writer.endArray();
        }
        writer.endObject();
    }

    private static String seconds(long milliseconds) {
        return String.format(Locale.ROOT, "%,d s", Math.max(0, milliseconds / 1_000));
    }
}
