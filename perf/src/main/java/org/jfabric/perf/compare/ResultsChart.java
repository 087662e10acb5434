package org.jfabric.perf.compare;

import java.util.List;
import java.util.Locale;

/**
 * A saved run as a picture: a row for each system, a column for each kind of message. It has its own colours for a dark
 * background, and needs nothing but itself.
 */
final class ResultsChart {
    private static final int NAMES = 222;
    private static final int COLUMN = 146;
    private static final int BAR = 84;
    /** The quartiles of one system must not make the bars of the others short. */
    private static final double LONGEST_SPREAD = 1.3;
    private static final int ROW = 26;
    private static final int TOP = 62;
    private static final int FOOT = 58;

    private final SavedRun run;
    private final StringBuilder svg = new StringBuilder();

    private ResultsChart(SavedRun run) {
        this.run = run;
    }

    static String write(SavedRun run) {
        return new ResultsChart(run).write();
    }

    private String write() {
        List<String> systems = run.systems();
        int width = NAMES + COLUMN * run.sideBySide().size() + 12;
        int height = TOP + ROW * systems.size() + FOOT + (run.unfit() == null ? 0 : 18);
        add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">%n"
            + "<title>Half round trips and message rates of JFabric and others</title>%n<desc>%s</desc>%n", width,
            height, width, height, escape(run.origin()));
        svg.append("<style>\n").append(ReportPage.resource("chart.css")).append("</style>\n");
        add("<rect class=\"paper\" width=\"%d\" height=\"%d\" rx=\"6\"/>%n", width, height);
        for (int row = 0; row < systems.size(); row++) {
            int y = TOP + ROW * row;
            add("<line class=\"line\" x1=\"12\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>%n", y, width - 12, y);
            text(12, y + 18, own(systems.get(row)), run.name(systems.get(row)));
        }
        for (int column = 0; column < run.sideBySide().size(); column++) {
            column(NAMES + COLUMN * column, run.sideBySide().get(column), systems);
        }
        int foot = TOP + ROW * systems.size();
        text(12, foot + 24, "dim", "Two processes on one host; medians and quartiles. ↓ less is better, ↑ more."
            + (run.sideBySide().stream().allMatch(SavedRun.Group::isJudged) ? ""
                : " Dashed: fewer than " + Target.LEAST_VALID_ROUNDS + " valid rounds."));
        text(12, foot + 42, "dim", run.origin());
        if (run.unfit() != null) {
            text(12, foot + 60, "dim", run.unfit());
        }
        return svg.append("</svg>\n").toString();
    }

    private void column(int x, SavedRun.Group group, List<String> systems) {
        text(x, 24, "head", SavedRun.size(group.sizeBytes()) + (group.isRate() ? " ↑" : " ↓"));
        text(x, 44, "dim", group.isRate() ? "messages a second" : "half round trip, ns");
        double most = Math.min(group.systems().stream().mapToDouble(SavedRun.Value::thirdQuartile).max().orElse(1),
            LONGEST_SPREAD * group.systems().stream().mapToDouble(SavedRun.Value::median).max().orElse(1));
        for (int row = 0; row < systems.size(); row++) {
            SavedRun.Value value = group.of(systems.get(row));
            int y = TOP + ROW * row;
            if (value == null) {
                text(x, y + 18, "dim", "not measured");
                continue;
            }
            double scale = BAR / most;
            add("<rect class=\"bar %s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"14\"/>%n", own(value.system())
                + (group.isJudged() ? "" : " few"), x, y + 6, Math.max(1, value.median() * scale));
            double third = Math.min(most, value.thirdQuartile());
            add("<line class=\"spread\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>%n",
                x + value.firstQuartile() * scale, y + 13, x + third * scale, y + 13);
            text((int) (x + Math.max(value.median(), third) * scale) + 6, y + 18, own(value.system()),
                group.text(value.median()));
        }
    }

    private static String own(String system) {
        return system.startsWith("jfabric") ? "own" : "";
    }

    private void text(int x, int y, String style, String text) {
        add("<text x=\"%d\" y=\"%d\" class=\"%s\">%s</text>%n", x, y, style, escape(text));
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private void add(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values));
    }
}
