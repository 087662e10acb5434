package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Locale;

/** A plot of lines with a logarithmic vertical axis, as SVG to stand in a page of HTML. Owner: one thread. */
final class Chart {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 420;
    private static final int LEFT = 120;
    private static final int TOP = 20;
    private static final int PLOT_WIDTH = 500;
    private static final int PLOT_HEIGHT = 340;
    private static final int LEGEND = LEFT + PLOT_WIDTH + 20;
    private static final int LEGEND_STEP = 22;
    private static final int SWATCH = 18;
    /** Of values that are further apart, not every mark has room. */
    private static final double WIDE = 2_000;
    /** Told apart also by those who see red and green alike. */
    private static final List<String> COLOURS = List.of("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
        "#56b4e9", "#000000", "#7f7f7f", "#8c564b", "#9467bd");

    private final String title;
    private final String xLabel;
    private final String yLabel;
    private final List<Tick> ticks;
    private final List<Line> lines = new ArrayList<>();

    /**
     * A mark on the horizontal axis.
     *
     * @param at   position.
     * @param text below it.
     */
    record Tick(double at, String text) {
    }

    /**
     * A place in the plot.
     *
     * @param x position.
     * @param y value, above 0.
     */
    record Point(double x, double y) {
    }

    private record Line(String title, List<Point> points) {
    }

    /**
     * An empty plot.
     *
     * @param title  for those who cannot see it.
     * @param xLabel below the horizontal axis.
     * @param yLabel beside the vertical axis.
     * @param ticks  of the horizontal axis, at least two, in order; the first and the last are its ends.
     */
    Chart(String title, String xLabel, String yLabel, List<Tick> ticks) {
        this.title = title;
        this.xLabel = xLabel;
        this.yLabel = yLabel;
        this.ticks = List.copyOf(ticks);
    }

    /** Adds a line; one without points is left out. */
    void line(String name, List<Point> points) {
        List<Point> drawn = points.stream().filter(point -> point.y > 0 && Double.isFinite(point.y)).toList();
        if (!drawn.isEmpty()) {
            lines.add(new Line(name, drawn));
        }
    }

    boolean isEmpty() {
        return lines.isEmpty();
    }

    String svg() {
        List<Double> marks = marks(lines.stream().flatMap(line -> line.points.stream())
            .mapToDouble(Point::y).summaryStatistics());
        double low = Math.log10(marks.getFirst());
        double high = Math.log10(marks.getLast());
        StringBuilder svg = new StringBuilder();
        add(svg, "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%s\">%n",
            WIDTH, HEIGHT, WIDTH, HEIGHT, Html.escape(title));
        axes(svg, marks);
        for (int i = 0; i < lines.size(); i++) {
            draw(svg, lines.get(i), COLOURS.get(i % COLOURS.size()), TOP + i * LEGEND_STEP, low, high);
        }
        return svg.append("</svg>\n").toString();
    }

    /** Values of the vertical axis around all points: 1, 2 and 5 of each power of ten, of many powers only 1. */
    static List<Double> marks(DoubleSummaryStatistics values) {
        boolean wide = values.getMax() / values.getMin() > WIDE;
        int power = (int) Math.floor(Math.log10(values.getMin()));
        List<Double> marks = new ArrayList<>();
        for (; marks.size() < 2 || marks.getLast() < values.getMax(); power++) {
            for (int digit : wide ? new int[] {1} : new int[] {1, 2, 5}) {
                double mark = digit * Math.pow(10, power);
                if (marks.size() < 2 || marks.getLast() < values.getMax()) {
                    if (!marks.isEmpty() && mark <= values.getMin()) {
                        marks.clear();
                    }
                    marks.add(mark);
                }
            }
        }
        return marks;
    }

    private void axes(StringBuilder svg, List<Double> marks) {
        for (Tick tick : ticks) {
            double x = x(tick.at);
            add(svg, "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>%n", x, TOP, x,
                TOP + PLOT_HEIGHT);
            add(svg, "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>%n", x,
                TOP + PLOT_HEIGHT + 18, Html.escape(tick.text));
        }
        for (double mark : marks) {
            double y = y(mark, Math.log10(marks.getFirst()), Math.log10(marks.getLast()));
            add(svg, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>%n", LEFT, y,
                LEFT + PLOT_WIDTH, y);
            add(svg, "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%,.0f</text>%n", LEFT - 8, y + 4,
                mark);
        }
        add(svg, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>%n", LEFT, TOP, PLOT_WIDTH,
            PLOT_HEIGHT);
        add(svg, "<text class=\"label\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>%n", LEFT + PLOT_WIDTH / 2,
            HEIGHT - 12, Html.escape(xLabel));
        int middle = TOP + PLOT_HEIGHT / 2;
        add(svg, "<text class=\"label\" x=\"14\" y=\"%d\" text-anchor=\"middle\" transform=\"rotate(-90 14 %d)\">"
            + "%s</text>%n", middle, middle, Html.escape(yLabel));
    }

    private void draw(StringBuilder svg, Line line, String colour, int legendY, double low, double high) {
        StringBuilder places = new StringBuilder();
        for (Point point : line.points) {
            add(places, "%.1f,%.1f ", x(point.x), y(point.y, low, high));
        }
        add(svg, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"%s\"/>%n", colour,
            places.toString().strip());
        if (line.points.size() <= ticks.size()) {
            for (Point point : line.points) {
                add(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>%s: %,.1f</title></circle>%n",
                    x(point.x), y(point.y, low, high), colour, Html.escape(line.title), point.y);
            }
        }
        add(svg, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"3\"/>%n", LEGEND,
            legendY + 8, LEGEND + SWATCH, legendY + 8, colour);
        add(svg, "<text class=\"legend\" x=\"%d\" y=\"%d\">%s</text>%n", LEGEND + SWATCH + 6, legendY + 12,
            Html.escape(line.title));
    }

    private double x(double value) {
        double first = ticks.getFirst().at;
        double last = ticks.getLast().at;
        return LEFT + PLOT_WIDTH * (last == first ? 0.5 : Math.clamp((value - first) / (last - first), 0.0, 1.0));
    }

    private static double y(double value, double low, double high) {
        return TOP + PLOT_HEIGHT * (1 - (Math.log10(value) - low) / (high - low));
    }

    private static void add(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values));
    }
}
