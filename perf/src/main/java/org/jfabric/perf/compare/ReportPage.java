package org.jfabric.perf.compare;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A run as one page of HTML: the verdicts and the plots first, then the tables.
 *
 * <p>The page needs nothing but itself, so it has the plotting library, its license, the script and the data in it. It
 * is well-formed XML as well. Owner: one thread.
 */
final class ReportPage {
    private static final double LEAST_SHARE = 0.01;
    /** Ratios from here on, and values, are shown without decimals. */
    private static final double WHOLE_RATIOS = 10;
    private static final double WHOLE_VALUES = 1_000;

    private final Comparison run;
    private final List<Target.Verdict> measured;
    private final StringBuilder page = new StringBuilder();

    private ReportPage(Comparison run) {
        this.run = run;
        measured = run.verdicts().stream().filter(Target.Verdict::measured).toList();
    }

    static String write(Comparison run) {
        return new ReportPage(run).write();
    }

    private String write() {
        head();
        add("<div class=\"first\">%n<div>%n");
        verdicts();
        add("</div>%n<div>%n<h2>Plots</h2>%n<noscript><p>The plots need JavaScript; the tables have the values."
            + "</p></noscript>%n<div class=\"plots\" id=\"plots\"></div>%n<p class=\"dim\">By round: the whiskers reach"
            + " from the least to the greatest valid round (if none is valid, of all), the box has the middle half, the"
            + " line in it and the number are the median; a full dot is a valid round, a ring another one. Solid lines"
            + " are JFabric, dashed ones other libraries, dotted ones baselines. A round trip at a fixed rate counts"
            + " from the time at which the message should have been sent.</p>%n</div>%n</div>%n");
        details();
        profiles();
        results();
        environment();
        scripts();
        return page.append("</body>\n</html>\n").toString();
    }

    private void head() {
        add("<!DOCTYPE html>%n<html lang=\"en\">%n<head>%n<meta charset=\"utf-8\"/>%n<meta name=\"viewport\""
            + " content=\"width=device-width, initial-scale=1\"/>%n<meta http-equiv=\"Content-Security-Policy\""
            + " content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\"/>%n"
            + "<title>JFabric side by side</title>%n");
        page.append("<style>\n").append(resource("uplot/uPlot.min.css")).append('\n').append(resource("report.css"))
            .append("</style>\n</head>\n<body>\n");
        String where = List.of("date", "commit", "cpu").stream().filter(run.environment()::containsKey)
            .map(run.environment()::get).collect(Collectors.joining(" · "));
        add("<h1>JFabric side by side</h1>%n<p class=\"dim\">%s%s%d rounds. %s</p>%n", escape(where),
            where.isEmpty() ? "" : " · ", run.results().rounds(), readingsSummary());
    }

    private void scripts() {
        // In XML a script is text like any other, so it is marked as raw; to a browser the marks are comments.
        page.append("<script type=\"application/json\" id=\"plot-data\">")
            .append(inScript(ReportPlots.write(run.results()))).append("</script>\n<script>\n//<![CDATA[\n/*\n")
            .append(resource("uplot/LICENSE")).append("\n*/\n").append(resource("uplot/uPlot.iife.min.js"))
            .append("\n//]]>\n</script>\n<script>\n//<![CDATA[\n").append(resource("report.js"))
            .append("//]]>\n</script>\n");
    }

    static String resource(String name) {
        try (InputStream in = ReportPage.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("the jar lacks " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private String readingsSummary() {
        return String.format(Locale.ROOT, "%d of them are valid: the hand-overs of a cache line before and after are"
            + " alike, and no side waited for its core.",
            run.results().validRounds());
    }

    private void verdicts() {
        add("<h2>Targets</h2>%n");
        if (measured.isEmpty()) {
            add("<p>No target was measured.</p>%n");
            return;
        }
        long goals = measured.stream().filter(Target.Verdict::goalMet).count();
        long met = measured.stream().filter(Target.Verdict::met).count();
        long missed = count(Target.Outcome.MISSED);
        long shown = count(Target.Outcome.SHOWN);
        add("<p>%d met, %d of them with the goal; %d missed; %d shown; %d not judged; %d not measured.</p>%n"
            + "<table class=\"verdicts\">%n<tr><th>what</th><th class=\"number\">must</th>"
            + "<th class=\"number\">goal</th><th class=\"number\">measured</th><th>verdict</th></tr>%n",
            met, goals, missed, shown, measured.size() - met - missed - shown, run.verdicts().size() - measured.size());
        for (Target.Verdict verdict : measured) {
            Target target = verdict.target();
            String sign = target.metric().moreIsBetter() ? "≥ " : "≤ ";
            add("<tr><td>%s</td><td class=\"number\">%s%s</td><td class=\"number\">%s%s</td>"
                + "<td class=\"number\">%s</td><td class=\"%s\">%s</td></tr>%n", escape(target.what()),
                target.must() == Target.SHOWN || target.least() > 0 ? "" : sign, target.mustText(),
                Double.isNaN(target.goal()) ? "" : sign, target.goalText(), number(verdict.ratio()),
                verdict.goalMet() ? "goal" : verdict.met() ? "met"
                    : verdict.outcome() == Target.Outcome.MISSED ? "missed" : "open",
                escape(ResultText.brief(verdict).replace(" %", "\u00a0%")));
        }
        add("</table>%n");
    }

    private long count(Target.Outcome outcome) {
        return measured.stream().filter(verdict -> verdict.outcome() == outcome).count();
    }

    private static String number(double ratio) {
        return String.format(Locale.ROOT, ratio == 0 || ratio >= WHOLE_RATIOS ? "%.0f" : "%.3f", ratio);
    }

    private void details() {
        List<String> notes = new ArrayList<>(run.missing());
        notes.addAll(run.notes());
        if (!notes.isEmpty()) {
            add("<h2>Notes</h2>%n<ul>%n");
            notes.forEach(each -> add("<li>%s</li>%n", escape(each)));
            add("</ul>%n");
        }
        if (measured.isEmpty()) {
            return;
        }
        add("<h2>Targets in detail</h2>%n<p>Each ratio is the median of the ratios within the valid rounds, with their"
            + " first and third quartile; the two values are medians too. A target is met if the median meets it.</p>%n"
            + "<table class=\"stacked wide\">%n"
            + "<tr><th>what</th><th>values</th><th>rounds</th><th>why it is missed or not judged</th></tr>%n");
        for (Target.Verdict verdict : measured) {
            add("<tr><td class=\"text\">%s</td><td class=\"text\">%s</td><td class=\"text\">%s</td>"
                + "<td class=\"text\">%s</td></tr>%n", escape(verdict.target().what()),
                escape(MissReason.values(run, verdict)), ResultText.rounds(verdict),
                escape(verdict.target().unfit() == null ? MissReason.of(run, verdict)
                    : verdict.target().unfit() + "."));
        }
        add("</table>%n");
    }

    private void beginTable(String header) {
        add("<div class=\"wide\">%n<table>%n<tr>" + header + "</tr>%n");
    }

    private void endTable() {
        add("</table>%n</div>%n");
    }

    private void profiles() {
        if (run.profiles().isEmpty()) {
            return;
        }
        add("<h2>Where the time goes</h2>%n<p>From passes of their own, which are not timed. The thread is sampled once"
            + " a millisecond; a sample counts for the API call and the part of the way that the thread is in. Polling"
            + " includes waiting: in an exchange each side waits while the other one works and while the cache lines"
            + " are handed over, which alone takes %s.</p>%n", floor());
        beginTable("<th>what</th><th>side</th><th>part</th><th class=\"number\">share</th>"
            + "<th class=\"number\">ns of a message</th>");
        for (Comparison.SideProfile side : run.profiles()) {
            for (Profile.Part part : side.profile().parts()) {
                if (part.share() >= LEAST_SHARE) {
                    add("<tr><td>%s</td><td>%s</td><td>%s</td><td class=\"number\">%.0f %%</td>"
                        + "<td class=\"number\">%.0f</td></tr>%n", escape(side.cell().toString()), side.doing(),
                        escape(part.name()), 100 * part.share(), part.share() * side.nsPerMessage());
                }
            }
        }
        endTable();
    }

    private String floor() {
        double floor = run.results().median(
            new Cell(Contenders.BARE_HAND_OVER, Pass.EXCHANGE, Targets.SIZE), CellMetric.HALF_ROUND_TRIP);
        return Double.isNaN(floor) ? "what a bare hand-over takes"
            : String.format(Locale.ROOT, "%.0f ns as a bare hand-over", floor);
    }

    private void results() {
        add("<h2>All values</h2>%n<p>%,d messages of JFabric were compared with what was sent, in passes of their"
            + " own. Median and quartiles are of the valid rounds, or if none is valid of all.</p>%n",
            run.verified());
        add("<table class=\"values wide\">%n<tr><th>system</th><th>metric</th><th class=\"number\">bytes</th>"
            + "<th class=\"number\">median</th><th class=\"number\">1st quartile</th>"
            + "<th class=\"number\">3rd quartile</th><th class=\"number\">in hand-overs</th>"
            + "<th>valid rounds</th></tr>%n");
        for (Results.Line line : run.results().lines()) {
            Quartiles values = line.values();
            String number = values.median() >= WHOLE_VALUES ? "%,.0f" : "%,.1f";
            add("<tr><td>%s</td><td>%s, %s</td><td class=\"number\">%,d</td><td class=\"number\">" + number
                + "</td><td class=\"number\">" + number + "</td><td class=\"number\">" + number + "</td>"
                + "<td class=\"number\">%s</td><td>%d of %d</td></tr>%n", escape(line.cell().system()),
                line.metric().key(), line.metric().unit(), line.cell().sizeBytes(), values.median(), values.first(),
                values.third(), Double.isNaN(line.inHandOvers()) ? ""
                    : String.format(Locale.ROOT, "%,.2f", line.inHandOvers()), line.valid(), line.rounds().size());
        }
        add("</table>%n");
    }

    private void environment() {
        properties("Systems", run.titles());
        properties("Environment", run.environment());
    }

    private void properties(String title, Map<String, String> values) {
        if (values.isEmpty()) {
            return;
        }
        add("<h2>%s</h2>%n<div class=\"wide\">%n<table>%n", title);
        values.forEach((name, value) ->
            add("<tr><th>%s</th><td class=\"text\">%s</td></tr>%n", escape(name), escape(value)));
        endTable();
    }

    /** JSON in which nothing can end the script or begin markup. */
    private static String inScript(String json) {
        return json.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026");
    }

    /** Text that stands for itself, also within an attribute. */
    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }

    private void add(String format, Object... values) {
        page.append(String.format(Locale.ROOT, format, values));
    }
}
