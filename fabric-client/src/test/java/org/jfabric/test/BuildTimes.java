package org.jfabric.test;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Prints at the end of a build how long its phases took, which budgets they have, and the ten most expensive test
 * classes. A budget that is exceeded is a warning and never a failure: the machine may be busy.
 *
 * <p>Budgets are for two quiet cores.
 */
public final class BuildTimes {

    private static final Duration UNIT_BUDGET = Duration.ofSeconds(60);
    private static final Duration BUILD_BUDGET = Duration.ofMinutes(8);
    private static final Duration BUILD_GOAL = Duration.ofMinutes(6);
    private static final int MOST_EXPENSIVE = 10;

    private final Duration whole;
    private final List<Line> unit = new ArrayList<>();
    private final List<Line> slow = new ArrayList<>();
    private Duration unitTime = Duration.ZERO;
    private Duration slowTime = Duration.ZERO;

    private record Line(String name, String phase, long begin, long end) {
        Duration time() {
            return Duration.ofMillis(end - begin);
        }
    }

    BuildTimes(Duration whole) {
        this.whole = whole;
    }

    /**
     * Reads what {@link TestTimes} has left in the modules, and prints.
     *
     * @param args {@code unit} behind the unit tests or {@code whole} at the end, when the build began, as ISO 8601 in
     *             UTC, then the modules' folders.
     * @throws IOException if a file cannot be read.
     */
    public static void main(String[] args) throws IOException {
        BuildTimes times = new BuildTimes(Duration.between(Instant.parse(args[1]), Instant.now()));
        for (int i = 2; i < args.length; i++) {
            times.readModule(Path.of(args[i], TestTimes.DIR));
        }
        System.out.print(args[0].equals("unit") ? times.renderUnit() : times.render());
    }

    /** Modules are built one after the other; the test JVMs of one run at the same time. */
    void readModule(Path dir) throws IOException {
        unitTime = unitTime.plus(read(dir, "unit", unit));
        slowTime = slowTime.plus(read(dir, "slow", slow));
    }

    /** Answers the time from the first class to the last. */
    private static Duration read(Path dir, String phase, List<Line> into) throws IOException {
        if (!Files.isDirectory(dir)) {
            return Duration.ZERO;
        }
        List<Line> read = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(dir, phase + "-*" + TestTimes.FILE_SUFFIX)) {
            for (Path file : files) {
                for (String line : Files.readAllLines(file)) {
                    String[] columns = line.split("\t");
                    String name = columns[0].substring(columns[0].lastIndexOf('.') + 1);
                    read.add(new Line(name, phase, Long.parseLong(columns[1]), Long.parseLong(columns[2])));
                }
            }
        }
        into.addAll(read);
        long begin = read.stream().mapToLong(Line::begin).min().orElse(0);
        long end = read.stream().mapToLong(Line::end).max().orElse(0);
        return Duration.ofMillis(end - begin);
    }

    String renderUnit() {
        StringBuilder text = new StringBuilder();
        appendUnit(text);
        appendMostExpensive(text, unit);
        warn(text, "the unit tests", unitTime, UNIT_BUDGET);
        return text.toString();
    }

    String render() {
        StringBuilder text = new StringBuilder("Build times, beside their budgets for two quiet cores\n");
        Duration rest = whole.minus(unitTime).minus(slowTime);
        text.append("  compile, style, package   %s%n".formatted(clock(rest)));
        appendUnit(text);
        text.append("  slow tests                %s, %d classes%n".formatted(clock(slowTime), slow.size()));
        text.append("  whole build               %s of %s, goal %s%n"
            .formatted(clock(whole), clock(BUILD_BUDGET), clock(BUILD_GOAL)));
        List<Line> all = new ArrayList<>(unit);
        all.addAll(slow);
        appendMostExpensive(text, all);
        warn(text, "the unit tests", unitTime, UNIT_BUDGET);
        warn(text, "the build", whole, BUILD_BUDGET);
        return text.toString();
    }

    private void appendUnit(StringBuilder text) {
        text.append("  unit tests                %s of %s, %d classes%n"
            .formatted(clock(unitTime), clock(UNIT_BUDGET), unit.size()));
    }

    private static void appendMostExpensive(StringBuilder text, List<Line> lines) {
        text.append("  most expensive classes, in seconds\n");
        lines.stream().sorted(Comparator.comparing(Line::time).reversed()).limit(MOST_EXPENSIVE)
            .forEach(line -> text.append("    %6.1f  %s (%s)%n"
                .formatted(line.time().toMillis() / 1e3, line.name, line.phase)));
    }

    private static void warn(StringBuilder text, String what, Duration time, Duration budget) {
        if (time.compareTo(budget) > 0) {
            text.append("WARNING: %s took %s, more than the budget of %s: was the machine busy?%n"
                .formatted(what, clock(time), clock(budget)));
        }
    }

    private static String clock(Duration time) {
        return "%d:%02d".formatted(time.toMinutes(), time.toSecondsPart());
    }
}
