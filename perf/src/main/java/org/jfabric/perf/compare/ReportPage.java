package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.HdrHistogram.Histogram;

/** A run as one page of HTML that needs nothing but itself. */
final class ReportPage {
    private static final String STYLE = """
        body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2em auto; padding: 0 1em; }
        table { border-collapse: collapse; margin: 1em 0; width: 100%; }
        th, td { border-bottom: 1px solid #ddd; padding: 4px 8px; text-align: left; vertical-align: top; }
        th { background: #f4f4f4; }
        td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .met { color: #00664a; font-weight: 600; }
        .missed { color: #a33c00; font-weight: 600; }
        .disturbed { color: #a33c00; }
        svg { max-width: 100%; height: auto; }
        svg .grid { stroke: #e4e4e4; }
        svg .frame { fill: none; stroke: #888; }
        svg .tick, svg .legend { font: 12px system-ui, sans-serif; fill: #333; }
        svg .label { font: 13px system-ui, sans-serif; fill: #333; }
        """;
    private static final double[] PERCENTILES = {0, 50, 90, 99, 99.9, 99.99, 99.999};
    private static final double LAST_NINES = 5;
    private static final double NINES_STEP = 0.05;
    private static final double LEAST_SHARE = 0.01;

    private final Comparison run;
    private final StringBuilder page = new StringBuilder();

    private ReportPage(Comparison run) {
        this.run = run;
    }

    /** Writes the page. */
    static String write(Comparison run) {
        return new ReportPage(run).write();
    }

    private String write() {
        add("<!DOCTYPE html>%n<html lang=\"en\">%n<head>%n<meta charset=\"utf-8\"/>%n");
        add("<title>JFabric side by side</title>%n<style>%n%s</style>%n</head>%n<body>%n", STYLE);
        add("<h1>JFabric side by side</h1>%n<p>%s. %d rounds, each system in each round; a cell lasts at least half a"
            + " second after its warm-up. %s</p>%n", text(run.environment().getOrDefault("date", "")),
            run.results().rounds(), disturbedSummary());
        notes();
        targets();
        profiles();
        add("<h2>Half round trip by size</h2>%n");
        bySize("Half round trip by size", Metric.HALF_ROUND_TRIP, "nanoseconds");
        add("<h2>Message rate by size</h2>%n");
        bySize("Message rate by size", Metric.MESSAGE_RATE, "messages per second");
        add("<h2>Bandwidth by size</h2>%n");
        bySize("Bandwidth by size", Metric.BANDWIDTH, "million bytes per second");
        add("<h2>Round trip at 100,000 messages per second</h2>%n<p>From the time at which a message should have been"
            + " sent to its answer, so that a stall counts in every message that it delays; all rounds"
            + " together.</p>%n");
        percentiles();
        results();
        disturbances();
        environment();
        return page.append("</body>\n</html>\n").toString();
    }

    private String disturbedSummary() {
        int readings = 0;
        int disturbed = 0;
        for (Cell cell : run.results().cells()) {
            for (Reading reading : run.results().readings(cell)) {
                readings += reading == null ? 0 : 1;
            }
            disturbed += run.results().disturbedRounds(cell);
        }
        return disturbed == 0 ? "No reading was disturbed." : String.format(Locale.ROOT,
            "<span class=\"disturbed\">%d of %d readings were disturbed</span>, see below.", disturbed, readings);
    }

    private void notes() {
        List<String> all = new ArrayList<>(run.missing());
        all.addAll(run.notes());
        if (!all.isEmpty()) {
            add("<ul>%n");
            all.forEach(each -> add("<li>%s</li>%n", text(each)));
            add("</ul>%n");
        }
    }

    private void targets() {
        add("<h2>Targets</h2>%n<p>Each ratio is the median of the rounds' own ratios, and the two values beside"
            + " it are those of the round with that ratio (the means of two rounds, if two are in the middle). A target"
            + " is met when the median meets it and most rounds are within 5 %% of it.</p>%n<table>%n"
            + "<tr><th>what</th><th>ratio</th><th>must</th>"
            + "<th>goal</th><th>rounds within 5 %%</th><th>outcome</th></tr>%n");
        for (Target.Verdict verdict : run.verdicts()) {
            Target target = verdict.target();
            String outcome = ResultText.outcome(verdict);
            String reason = (Reason.values(run, verdict) + ' ' + Reason.of(run, verdict)).strip();
            add("<tr><td>%s%s</td><td class=\"number\">%s</td><td class=\"number\">%.2f</td>"
                + "<td class=\"number\">%.2f</td><td class=\"number\">%s</td><td class=\"%s\">%s</td></tr>%n",
                text(target.what()), reason.isEmpty() ? "" : "<br/><small>" + text(reason) + "</small>",
                verdict.measured() ? String.format(Locale.ROOT, "%.3f", verdict.ratio()) : "-",
                target.must(), target.goal(),
                verdict.measured() ? verdict.near() + " of " + verdict.ratios().length : "-",
                verdict.met() ? "met" : verdict.measured() ? "missed" : "none",
                text(outcome.substring(outcome.indexOf(": ") < 0 ? 0 : outcome.indexOf(": ") + 2)));
        }
        add("</table>%n");
    }

    private void profiles() {
        if (run.profiles().isEmpty()) {
            return;
        }
        add("<h2>Where the time goes</h2>%n<p>Of passes of their own, which are not timed: looks at the thread once a"
            + " millisecond, by the call that it is in and the part of the way. To look for a message includes the"
            + " wait for it: of an exchange each side waits while the other one works and while the cache lines come"
            + " over, which alone takes %s.</p>%n<table>%n<tr><th>what</th><th>side</th><th>part</th><th>share</th>"
            + "<th>ns of a message</th></tr>%n", floor());
        for (Comparison.SideProfile side : run.profiles()) {
            for (Profile.Part part : side.profile().parts()) {
                if (part.share() >= LEAST_SHARE) {
                    add("<tr><td>%s</td><td>%s</td><td>%s</td><td class=\"number\">%.0f %%</td>"
                        + "<td class=\"number\">%.0f</td></tr>%n", text(side.cell().toString()), side.doing(),
                        text(part.name()), 100 * part.share(), part.share() * side.nsPerMessage());
                }
            }
        }
        add("</table>%n");
    }

    private String floor() {
        double floor = run.results().median(
            new Cell(Contenders.HAND_OVER, Pass.EXCHANGE, Targets.SIZE), Metric.HALF_ROUND_TRIP);
        return Double.isNaN(floor) ? "what a bare hand-over takes"
            : String.format(Locale.ROOT, "%.0f ns as a bare hand-over", floor);
    }

    private void bySize(String title, Metric metric, String unit) {
        Set<Integer> sizes = new TreeSet<>();
        Set<String> systems = new LinkedHashSet<>();
        for (Results.Line line : run.results().lines()) {
            if (line.metric() == metric) {
                sizes.add(line.cell().sizeBytes());
                systems.add(line.cell().system());
            }
        }
        List<Chart.Tick> ticks = sizes.stream().map(size -> new Chart.Tick(log2(size), bytes(size))).toList();
        if (ticks.isEmpty()) {
            add("<p>Not measured.</p>%n");
            return;
        }
        Chart chart = new Chart(title, "bytes of a message", unit, ticks);
        for (String system : systems) {
            List<Chart.Point> points = new ArrayList<>();
            for (Results.Line line : run.results().lines()) {
                if (line.metric() == metric && line.cell().system().equals(system)) {
                    points.add(new Chart.Point(log2(line.cell().sizeBytes()), line.median()));
                }
            }
            points.sort((a, b) -> Double.compare(a.x(), b.x()));
            chart.line(system, points);
        }
        page.append(chart.svg());
    }

    private void percentiles() {
        List<Chart.Tick> ticks = new ArrayList<>();
        for (double percentile : PERCENTILES) {
            ticks.add(new Chart.Tick(nines(percentile),
                percentile == 0 ? "" : Double.toString(percentile).replaceFirst("[.]0$", "") + " %"));
        }
        Chart chart = new Chart("Round trip at a fixed rate by percentile", "part of the messages", "nanoseconds",
            ticks);
        for (Cell cell : run.results().cells()) {
            Histogram histogram = run.results().histogram(cell);
            if (histogram != null) {
                List<Chart.Point> points = new ArrayList<>();
                for (double nines = 0; nines <= LAST_NINES; nines += NINES_STEP) {
                    double percentile = 100 * (1 - Math.pow(10, -nines));
                    points.add(new Chart.Point(nines, histogram.getValueAtPercentile(percentile)));
                }
                chart.line(cell.system() + ", " + bytes(cell.sizeBytes()), points);
            }
        }
        if (chart.isEmpty()) {
            add("<p>Not measured.</p>%n");
        } else {
            page.append(chart.svg());
        }
    }

    private void results() {
        add("<h2>All values</h2>%n<table>%n<tr><th>system</th><th>metric</th><th>bytes</th><th>median</th><th>min</th>"
            + "<th>max</th><th>unit</th><th>rounds disturbed</th></tr>%n");
        for (Results.Line line : run.results().lines()) {
            int disturbed = run.results().disturbedRounds(line.cell());
            add("<tr><td>%s</td><td>%s</td><td class=\"number\">%,d</td><td class=\"number\">%,.1f</td>"
                + "<td class=\"number\">%,.1f</td><td class=\"number\">%,.1f</td><td>%s</td>"
                + "<td class=\"number%s\">%d</td></tr>%n", text(run.title(line.cell().system())), line.metric().key(),
                line.cell().sizeBytes(), line.median(), line.min(), line.max(), line.metric().unit(),
                disturbed > 0 ? " disturbed" : "", disturbed);
        }
        add("</table>%n<p>%,d messages of JFabric were compared with what was sent, in passes of their own.</p>%n",
            run.verified());
    }

    private void disturbances() {
        add("<h2>Disturbances</h2>%n");
        StringBuilder rows = new StringBuilder();
        for (Cell cell : run.results().cells()) {
            Reading[] readings = run.results().readings(cell);
            for (int round = 0; round < readings.length; round++) {
                if (readings[round] != null && !readings[round].disturbances().isEmpty()) {
                    rows.append(String.format(Locale.ROOT,
                        "<tr><td>%s</td><td class=\"number\">%d</td><td>%s</td></tr>%n",
                        text(cell.toString()), round + 1, text(String.join("; ", readings[round].disturbances()))));
                }
            }
        }
        if (rows.isEmpty()) {
            add("<p>None was noticed.</p>%n");
        } else {
            add("<table>%n<tr><th>cell</th><th>round</th><th>what was noticed</th></tr>%n");
            page.append(rows).append("</table>\n");
        }
    }

    private void environment() {
        add("<h2>Environment</h2>%n<table>%n");
        for (Map.Entry<String, String> each : run.environment().entrySet()) {
            add("<tr><th>%s</th><td>%s</td></tr>%n", text(each.getKey()), text(each.getValue()));
        }
        add("</table>%n");
    }

    private static double nines(double percentile) {
        return -Math.log10(1 - percentile / 100);
    }

    private static double log2(int size) {
        return Math.log(size) / Math.log(2);
    }

    private static String bytes(int size) {
        return size >= 1 << 20 && size % (1 << 20) == 0 ? (size >> 20) + " MiB"
            : size >= 1024 && size % 1024 == 0 ? (size >> 10) + " KiB" : Integer.toString(size);
    }

    private static String text(String text) {
        return Html.escape(text);
    }

    private void add(String format, Object... values) {
        page.append(String.format(Locale.ROOT, format, values));
    }
}
