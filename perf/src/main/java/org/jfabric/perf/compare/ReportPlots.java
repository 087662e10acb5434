package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.HdrHistogram.Histogram;
import org.jfabric.tool.JsonWriter;

/**
 * The plots of a run as one JSON object, which the script of the page draws; only what was measured. Owner: one thread.
 */
final class ReportPlots {
    /** A linear axis shows values side by side that are not further apart than this factor. */
    private static final double SAME_AXIS = 8;
    private static final Set<String> BASELINES = Set.of(
        Contenders.HAND_OVER, Contenders.BARE_HAND_OVER, Contenders.COPY, Contenders.BARE_TCP, Contenders.BARE_UDP);
    private static final double NINES_STEP = 0.05;
    private static final int DECIMALS = 4;

    private final Results results;
    private final List<String> systems;
    private final JsonWriter json = new JsonWriter();

    private ReportPlots(Results results) {
        this.results = results;
        Set<String> measured = new LinkedHashSet<>();
        results.lines().forEach(line -> measured.add(line.cell().system()));
        systems = List.copyOf(measured);
    }

    /**
     * A place in a plot with a logarithmic vertical axis.
     *
     * @param y value in the unit of the plot, above 0.
     */
    private record Point(double x, double y) {
    }

    /** A plot with a row for each system. */
    private record Box(String title, CellMetric metric, List<Results.Line> lines) {
    }

    /** Writes the plots. Returns one JSON object: the systems, then the plots in the order in which they are shown. */
    static String write(Results results) {
        return new ReportPlots(results).write();
    }

    private String write() {
        json.beginObject().name("systems").beginArray();
        for (String system : systems) {
            json.beginObject().member("id", system).member("kind", kind(system)).endObject();
        }
        json.endArray().name("plots").beginArray();
        List<Box> latencies = boxes("Half round trip", Pass.EXCHANGE, CellMetric.HALF_ROUND_TRIP);
        List<Box> rates = boxes("Message rate", Pass.STREAM, CellMetric.MESSAGE_RATE);
        latencies.stream().limit(1).forEach(this::write);
        bySize("Half round trip by size", CellMetric.HALF_ROUND_TRIP);
        bySize("Message rate by size", CellMetric.MESSAGE_RATE);
        percentiles();
        rates.stream().limit(1).forEach(this::write);
        bySize("Bandwidth by size", CellMetric.BANDWIDTH);
        latencies.stream().skip(1).forEach(this::write);
        rates.stream().skip(1).forEach(this::write);
        return json.endArray().endObject().toString();
    }

    private static String kind(String system) {
        return system.startsWith("jfabric") ? "own"
            : BASELINES.contains(system) ? "baseline" : "peer";
    }

    /** The rounds of one size: the best systems in a plot, those that are much worse in further ones. */
    private List<Box> boxes(String what, Pass pass, CellMetric metric) {
        List<Results.Line> all = results.lines().stream()
            .filter(line -> line.metric() == metric && line.cell().pass() == pass).toList();
        Set<Integer> sizes = all.stream().map(line -> line.cell().sizeBytes())
            .collect(Collectors.toCollection(TreeSet::new));
        int size = sizes.isEmpty() || sizes.contains(Targets.SIZE) ? Targets.SIZE : sizes.iterator().next();
        List<Results.Line> rest = new ArrayList<>(
            all.stream().filter(line -> line.cell().sizeBytes() == size).toList());
        List<Box> boxes = new ArrayList<>();
        while (!rest.isEmpty()) {
            DoubleSummaryStatistics medians = rest.stream().mapToDouble(line -> line.values().median())
                .summaryStatistics();
            List<Results.Line> group = rest.stream().filter(line -> metric.moreIsBetter()
                ? line.values().median() * SAME_AXIS >= medians.getMax()
                : line.values().median() <= medians.getMin() * SAME_AXIS).toList();
            boxes.add(new Box(what + " of " + bytes(size) + " by round" + (boxes.isEmpty() ? "" : ", slower systems"),
                metric, group));
            rest.removeAll(group);
        }
        return boxes;
    }

    private void write(Box box) {
        begin("boxes", box.title, box.metric.unit());
        json.name("rows").beginArray();
        for (Results.Line line : box.lines) {
            CellMetric metric = line.metric();
            double[] counted = Results.values(
                Results.counted(metric, line.rounds()), round -> round.value(line.cell(), metric));
            json.beginObject().member("system", systems.indexOf(line.cell().system()))
                .name("inHandOvers").value(line.inHandOvers(), DECIMALS).name("box").beginArray();
            for (double part : new double[] {0, 0.25, 0.5, 0.75, 1}) {
                json.value(Statistics.quantile(counted, part), DECIMALS);
            }
            json.endArray().name("rounds").beginArray();
            for (Results.Round round : line.rounds()) {
                json.beginObject().name("value").value(round.value(line.cell(), metric), DECIMALS)
                    .member("valid", round.isValid(metric)).endObject();
            }
            json.endArray().endObject();
        }
        json.endArray().endObject();
    }

    /** Only systems with several sizes; the others are in the plots by round. */
    private void bySize(String title, CellMetric metric) {
        Map<String, TreeMap<Integer, Double>> bySystem = new LinkedHashMap<>();
        for (Results.Line line : results.lines()) {
            if (line.metric() == metric && line.values().median() > 0) {
                bySystem.computeIfAbsent(line.cell().system(), any -> new TreeMap<>())
                    .put(line.cell().sizeBytes(), line.values().median());
            }
        }
        bySystem.values().removeIf(medians -> medians.size() == 1);
        if (bySystem.isEmpty()) {
            return;
        }
        Map<Double, String> ticks = new TreeMap<>();
        bySystem.values().forEach(medians -> medians.keySet().forEach(size ->
            ticks.put(log2(size), bytes(size).replace(" bytes", ""))));
        beginCurves(title, metric.unit(), "bytes of a message", ticks);
        bySystem.forEach((system, medians) -> curve(system, system, medians.entrySet().stream()
            .map(each -> new Point(log2(each.getKey()), each.getValue())).toList()));
        json.endArray().endObject();
    }

    private void percentiles() {
        Map<Cell, List<Point>> curves = new LinkedHashMap<>();
        double last = 1;
        for (Cell cell : results.cells()) {
            Histogram histogram = results.histogram(cell);
            if (histogram != null && histogram.getMaxValue() > 0) {
                List<Point> points = curve(histogram);
                curves.put(cell, points);
                last = Math.max(last, points.getLast().x);
            }
        }
        if (curves.isEmpty()) {
            return;
        }
        Map<Double, String> ticks = new TreeMap<>();
        ticks.put(0.0, "0");
        ticks.put(nines(50), "50");
        for (int nines = 1; nines <= Math.ceil(last); nines++) {
            ticks.put((double) nines, nines == 1 ? "90" : nines == 2 ? "99" : "99." + "9".repeat(nines - 2));
        }
        beginCurves("Round trip at 100,000 messages/s by percentile", "ns", "per cent of the messages", ticks);
        curves.forEach((cell, points) ->
            curve(cell.system(), cell.system() + ", " + bytes(cell.sizeBytes()), points));
        json.endArray().endObject();
    }

    /** From the least value to the greatest one. */
    private static List<Point> curve(Histogram histogram) {
        List<Point> points = new ArrayList<>();
        double last = Math.log10(histogram.getTotalCount());
        for (int step = 0; step * NINES_STEP < last; step++) {
            double nines = step * NINES_STEP;
            long value = step == 0 ? histogram.getMinValue()
                : histogram.getValueAtPercentile(100 * (1 - Math.pow(10, -nines)));
            if (value > 0) {
                points.add(new Point(nines, value));
            }
        }
        points.add(new Point(last, histogram.getMaxValue()));
        return points;
    }

    private void begin(String kind, String title, String unit) {
        json.beginObject().member("kind", kind).member("title", title).member("unit", unit);
    }

    private void beginCurves(String title, String unit, String xLabel, Map<Double, String> ticks) {
        begin("curves", title, unit);
        json.member("xLabel", xLabel).name("ticks").beginArray();
        ticks.forEach((at, text) -> json.beginObject().name("at").value(at, DECIMALS).member("text", text).endObject());
        json.endArray().name("curves").beginArray();
    }

    private void curve(String system, String name, List<Point> points) {
        json.beginObject().member("system", systems.indexOf(system)).member("name", name)
            .name("points").beginArray();
        for (Point point : points) {
            json.beginArray().value(point.x, DECIMALS).value(point.y, DECIMALS).endArray();
        }
        json.endArray().endObject();
    }

    private static double nines(double percentile) {
        return -Math.log10(1 - percentile / 100);
    }

    private static double log2(int size) {
        return Math.log(size) / Math.log(2);
    }

    private static String bytes(int size) {
        return size >= 1 << 20 && size % (1 << 20) == 0 ? (size >> 20) + " MiB"
            : size >= 1024 && size % 1024 == 0 ? (size >> 10) + " KiB"
            : String.format(Locale.ROOT, "%d bytes", size);
    }
}
