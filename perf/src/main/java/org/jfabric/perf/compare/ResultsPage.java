package org.jfabric.perf.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jfabric.tool.ToolException;

/** A saved run as a page of the documentation, with its chart; and its figures on another page. */
final class ResultsPage {
    private static final String CHART = "latency-and-rate.svg";
    private static final Pattern FIGURES =
        Pattern.compile("(?s)(?<=<!-- figures of the last run -->\n).*?(?=<!-- end of figures -->)");
    private static final List<String> SHOWN = List.of("date", "commit", "cpu", "cores", "virtual", "kernel", "jdk",
        "governor", "transparentHugePages", "logFolder", "loadBefore", "rounds");
    private static final double WHOLE_RATIOS = 10;
    private static final double SMALL_RATIO = 0.1;

    private final SavedRun run;
    private final StringBuilder page = new StringBuilder();

    private ResultsPage(SavedRun run) {
        this.run = run;
    }

    /**
     * Writes the page and the chart.
     *
     * @param folder  made if it is missing; files of the same names are replaced.
     * @param readme  page whose figures are replaced, those between the comments; null for none.
     */
    static Path publish(SavedRun run, Path folder, Path readme) {
        try {
            Files.createDirectories(folder);
            Path file = folder.resolve("results.md");
            Files.writeString(file, write(run));
            Files.writeString(folder.resolve(CHART), ResultsChart.write(run));
            if (readme != null) {
                Matcher figures = FIGURES.matcher(Files.readString(readme));
                if (!figures.find()) {
                    throw new ToolException(readme + " has no comment \"figures of the last run\" with its end.");
                }
                Files.writeString(readme, figures.replaceFirst(Matcher.quoteReplacement(figures(run))));
            }
            return file.toAbsolutePath();
        } catch (IOException ex) {
            throw new ToolException("The results cannot be written into " + folder + ": " + ex + '.', ex);
        }
    }

    static String write(SavedRun run) {
        return new ResultsPage(run).write();
    }

    private String write() {
        page.append("""
            # Results

            For readers who choose a transport, or check what is said of this one. `./fabric compare --publish` has
            made this page and the chart from one run of this version; [compare.md](compare.md) is how it measures, and
            what the targets are.

            ![Half round trips and message rates of JFabric and others](latency-and-rate.svg)

            <!-- figures of the last run -->
            """).append(figures(run)).append("""
            <!-- end of figures -->

            A tagged message is matched with a receive and has two completions, as with UCX and libfabric; a publication
            has readers that take what comes, as with Aeron. iceoryx lends memory of which the receiver reads the first
            word. The rates of libfabric, whose `fi_pingpong` has no test of it, and of iceoryx are not measured.

            ## How to read

            - A ratio is JFabric's value over the other one, the median of the ratios within the valid rounds; beside it
              are the quartiles and the number of valid rounds. Half of the rounds were better and half were worse.
            - `met` and `missed` are about the median. If the must lies between the quartiles another run may have the
              other verdict.
            - Times in ns are those of this machine. Of two machines only ratios can be compared, and of two versions
              only what was measured in one run (`--baseline-jar`).

            ## In the same rounds

            """);
        add("Medians and quartiles of half round trips in ns and of rates in messages a second.%n%n");
        table((group, value) -> String.format(Locale.ROOT, "%s (%s to %s)",
            SavedRun.number(value.median(), group.isRate()), SavedRun.number(value.firstQuartile(), group.isRate()),
            SavedRun.number(value.thirdQuartile(), group.isRate())), run, page);
        add("| valid rounds |");
        run.sideBySide().forEach(group -> add(" %d of %d |", group.validRounds(), group.rounds()));
        add("%n%n");
        targets();
        run();
        return page.toString();
    }

    /** The figures that another page repeats. */
    static String figures(SavedRun run) {
        StringBuilder text = new StringBuilder();
        table((group, value) -> SavedRun.number(value.median(), group.isRate()), run, text);
        int fewest = run.sideBySide().stream().mapToInt(SavedRun.Group::validRounds).min().orElse(0);
        String unfit = run.unfit();
        return text + String.format(Locale.ROOT, "%n%s. Medians of at least %d valid rounds%s.%s%nOf %d targets %d were"
            + " met, %d were missed, %d not judged and %d not measured.%n", run.origin(), fewest,
            fewest >= Target.LEAST_VALID_ROUNDS ? "" : ", which are too few for a verdict",
            unfit == null ? "" : ' ' + unfit + ": it is shown, and not judged.", run.targets().size(),
            verdicts(run, Target.Outcome.GOAL_MET, Target.Outcome.MET).size(),
            verdicts(run, Target.Outcome.MISSED).size(), verdicts(run, Target.Outcome.NOT_JUDGED).size(),
            verdicts(run, Target.Outcome.NOT_MEASURED).size());
    }

    private static void table(BiFunction<SavedRun.Group, SavedRun.Value, String> cell, SavedRun run,
        StringBuilder text) {
        text.append("| Half round trip or rate |");
        run.sideBySide().forEach(group -> text.append(group.isRate() ? " messages/s, " : " ns, ")
            .append(SavedRun.size(group.sizeBytes())).append(" |"));
        text.append("\n|---|").append("---|".repeat(run.sideBySide().size())).append('\n');
        for (String system : run.systems()) {
            text.append("| ").append(run.name(system)).append(" |");
            for (SavedRun.Group group : run.sideBySide()) {
                SavedRun.Value value = group.of(system);
                text.append(' ').append(value == null ? "–" : cell.apply(group, value)).append(" |");
            }
            text.append('\n');
        }
    }

    private static List<SavedRun.Verdict> verdicts(SavedRun run, Target.Outcome... outcomes) {
        return run.targets().stream().filter(verdict -> Arrays.stream(outcomes).anyMatch(verdict::is)).toList();
    }

    private void targets() {
        String columns = " | Ratio (quartiles, valid rounds) | Values | Must | Goal | ";
        add("## Targets met or missed%n%n| Target%sVerdict |%n|---|---|---|---|---|---|%n", columns);
        for (SavedRun.Verdict verdict : verdicts(run, Target.Outcome.GOAL_MET, Target.Outcome.MET,
            Target.Outcome.MISSED)) {
            row(verdict, verdict.is(Target.Outcome.GOAL_MET) ? "goal met" : verdict.is(Target.Outcome.MET) ? "met"
                : String.format(Locale.ROOT, "missed by %.0f %%", Math.max(1, 100 * verdict.missedBy())));
        }
        List<SavedRun.Verdict> open = verdicts(run, Target.Outcome.NOT_JUDGED);
        if (!open.isEmpty()) {
            add("%n## Targets not judged%n%nThese figures are no more than a first look.%n%n"
                + "| Target%sWhy there is no verdict |%n|---|---|---|---|---|---|%n", columns);
            for (SavedRun.Verdict verdict : open) {
                row(verdict, verdict.unfit() != null ? verdict.unfit()
                    : verdict.validRounds() >= verdict.neededRounds() ? "the control differs"
                    : verdict.neededRounds() + " valid rounds are needed");
            }
        }
        List<SavedRun.Verdict> others = verdicts(run, Target.Outcome.NOT_MEASURED);
        if (!others.isEmpty()) {
            add("%n## Targets not measured%n%n");
            others.forEach(verdict -> add("- %s%n", verdict.what()));
        }
    }

    private void row(SavedRun.Verdict verdict, String last) {
        CellMetric metric = Arrays.stream(CellMetric.values())
            .filter(each -> each.key().equals(verdict.metric())).findFirst().orElseThrow();
        boolean ofValue = verdict.otherSystem() == null;
        add("| %s%s | %s (%s to %s, %d) | %s | %s | %s | %s |%n", verdict.what(),
            metric.moreIsBetter() ? ", at least" : "", ratio(verdict.ratio()), ratio(verdict.firstQuartile()),
            ratio(verdict.thirdQuartile()), verdict.validRounds(), ofValue ? ""
                : String.format(Locale.ROOT, "%,.0f against %,.0f %s", verdict.own(), verdict.other(), metric.unit()),
            verdict.must() == null || verdict.must() == 0 && metric.moreIsBetter() ? "shown"
                : (verdict.least() == null ? "" : bound(verdict.least()) + " to ") + bound(verdict.must()),
            verdict.goal() == null ? "" : bound(verdict.goal()), SavedRun.withoutPaths(last));
    }

    private static String ratio(Double value) {
        return value == null ? "–" : String.format(Locale.ROOT, value == 0 || value >= WHOLE_RATIOS ? "%,.0f"
            : value < SMALL_RATIO ? "%.3f" : "%.2f", value);
    }

    private static String bound(double value) {
        return String.format(Locale.ROOT, value >= WHOLE_RATIOS ? "%,.0f" : "%.2f", value);
    }

    private void run() {
        add("%n## The run%n%n| | |%n|---|---|%n");
        for (String name : SHOWN) {
            add("| %s | %s |%n", name, run.environment(name));
        }
        for (String system : run.systems()) {
            if (!system.startsWith("jfabric")) {
                add("| %s | %s |%n", system, run.environment(Machine.VERSION + system));
            }
        }
        if (run.garbageCollections().messages() > 0) {
            add("| garbage collections | %d in %,d messages |%n", run.garbageCollections().collections(),
                run.garbageCollections().messages());
        }
        add("| messages whose contents were compared | %,d, all as sent |%n", run.messagesCompared());
        if (!run.missing().isEmpty() || !run.notes().isEmpty()) {
            add("%n");
            run.missing().forEach(each -> add("- %s%n", SavedRun.withoutPaths(each)));
            run.notes().forEach(each -> add("- %s%n", SavedRun.withoutPaths(each)));
        }
    }

    private void add(String format, Object... values) {
        page.append(String.format(Locale.ROOT, format, values));
    }
}
