package org.jfabric.driver.qualify;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What is sent in: facts of both hosts, a table of steps, a table of times, one of rates. */
final class Report {
    private static final int LONGEST_NOTE = 400;

    private record Step(String name, Outcome outcome, double seconds, String note) {
    }

    /** How a step ended. */
    enum Outcome {
        PASSED, FAILED, SKIPPED
    }

    private final Privacy privacy;
    private final String title;
    private final Map<String, List<String>> facts = new LinkedHashMap<>();
    private final List<Step> steps = new ArrayList<>();
    /** Ours, and that of C. */
    private final Map<String, Double[]> timesUs = new LinkedHashMap<>();
    private final Map<String, Double> rates = new LinkedHashMap<>();

    Report(Privacy privacy, String title) {
        this.privacy = privacy;
        this.title = title;
    }

    void facts(String host, List<String> lines) {
        facts.put(host, lines);
    }

    void step(String name, Outcome outcome, double seconds, String note) {
        String shown = privacy.hide(note).replace('|', '/').replaceAll("\\s+", " ").strip();
        steps.add(new Step(name, outcome, seconds, shown.substring(0, Math.min(LONGEST_NOTE, shown.length()))));
        System.out.printf(Locale.ROOT, "%-7s %s (%.1f s)%s%n", outcome.name().toLowerCase(Locale.ROOT), name, seconds,
            shown.isEmpty() ? "" : ": " + shown);
    }

    /** The time of one of two columns: 0 is ours, 1 is C's. */
    void time(String what, int column, double us) {
        timesUs.computeIfAbsent(what, each -> new Double[2])[column] = us;
    }

    void rate(String what, double perSecond) {
        rates.put(what, perSecond);
    }

    long count(Outcome outcome) {
        return steps.stream().filter(step -> step.outcome == outcome).count();
    }

    String text() {
        StringBuilder out = new StringBuilder("# JFabric between two hosts: " + title + "\n\n");
        out.append(count(Outcome.PASSED)).append(" steps passed, ").append(count(Outcome.FAILED)).append(" failed, ")
            .append(count(Outcome.SKIPPED)).append(" skipped. Made by `./fabric qualify`, without names and"
                + " addresses.\n");
        facts.forEach((host, lines) -> {
            out.append("\n## ").append(host).append("\n\n");
            lines.forEach(line -> out.append("* ").append(privacy.hide(line)).append('\n'));
        });
        out.append("\n## Steps\n\n| Step | | Seconds | |\n|---|---|---|---|\n");
        steps.forEach(step -> out.append(String.format(Locale.ROOT, "| %s | %s | %.1f | %s |%n", step.name,
            step.outcome == Outcome.FAILED ? "**failed**" : step.outcome.name().toLowerCase(Locale.ROOT), step.seconds,
            step.note)));
        if (!timesUs.isEmpty()) {
            out.append("\n## Times\n\nMicroseconds: half a round trip of messages, or an access until its completion,"
                + " which of a write may come before it is in place.\n\n"
                + "| | Ours | C | Ratio |\n|---|---|---|---|\n");
            timesUs.forEach((what, us) -> out.append("| ").append(what).append(" | ").append(shown(us[0]))
                .append(" | ").append(shown(us[1])).append(" | ")
                .append(us[0] == null || us[1] == null ? "" : shown(us[0] / us[1])).append(" |\n"));
        }
        if (!rates.isEmpty()) {
            out.append("\n## Rates\n\nMessages a second, one way, their contents compared.\n\n| | |\n|---|---|\n");
            rates.forEach((what, rate) -> out.append(String.format(Locale.ROOT, "| %s | %,.0f |%n", what, rate)));
        }
        return out.toString();
    }

    private static String shown(Double value) {
        return value == null ? "" : String.format(Locale.ROOT, "%.2f", value);
    }
}
