package org.jfabric.perf.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jfabric.tool.ToolException;

/** A saved run as a page of the documentation, with its chart; and its figures on another page. */
final class ResultsPage {
    private static final Pattern FIGURES =
        Pattern.compile("(?s)(?<=<!-- figures of the last run -->\n).*?(?=<!-- end of figures -->)");
    private static final List<String> SHOWN = List.of("date", "commit", "cpu", "cores", "virtual", "kernel", "jdk",
        "governor", "transparentHugePages", "logFolder", "loadBefore", "rounds");
    private static final double WHOLE_RATIOS = 10;
    private static final double SMALL_RATIO = 0.1;

    private ResultsPage() {
    }

    /**
     * Writes the page and the chart.
     *
     * @param folder made if it is missing; files of the same names are replaced.
     * @param readme page whose figures are replaced, those between the comments; null for none.
     */
    static Path publish(SavedRun run, Path folder, Path readme) {
        try {
            Files.createDirectories(folder);
            Path file = folder.resolve("results.md");
            Files.writeString(file, write(run));
            Files.writeString(folder.resolve("latency-and-rate.svg"), ResultsChart.write(run));
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
        return ReportPage.resource("results.md").replace("{figures}", figures(run))
            .replace("{rounds}", table(run, (group, value) -> String.format(Locale.ROOT, "%s (%s to %s)",
                group.text(value.median()), group.text(value.firstQuartile()), group.text(value.thirdQuartile())))
                + row("valid rounds", run.sideBySide().stream().map(group -> group.validRounds() + " of "
                    + group.rounds())))
            .replace("{judged}", targets(run, "Verdict", ResultsPage::verdict, Target.Outcome.GOAL_MET,
                Target.Outcome.MET, Target.Outcome.MISSED, Target.Outcome.SHOWN))
            .replace("{unjudged}", targets(run, "Why there is no verdict", ResultsPage::reason,
                Target.Outcome.NOT_JUDGED))
            .replace("{unmeasured}", verdicts(run, Target.Outcome.NOT_MEASURED).stream()
                .map(verdict -> "- " + verdict.what() + '\n').collect(Collectors.joining()))
            .replace("{run}", properties(run));
    }

    /** The figures that another page repeats. */
    static String figures(SavedRun run) {
        String valid = run.sideBySide().stream().map(group -> (group.isRate() ? "rate of " : "")
            + SavedRun.size(group.sizeBytes()) + ": " + group.validRounds()
            + (group.isJudged() ? "" : " (too few for a verdict)")).collect(Collectors.joining(", "));
        return table(run, (group, value) -> group.text(value.median())) + String.format(Locale.ROOT,
            "%n%s. Medians; valid rounds of %s.%s%nOf %d targets %d met, %d missed, %d shown, %d not judged, %d not"
            + " measured.%n", run.origin(), valid,
            run.unfit() == null ? "" : ' ' + run.unfit() + ": it is shown, and not judged.", run.targets().size(),
            verdicts(run, Target.Outcome.GOAL_MET, Target.Outcome.MET).size(),
            verdicts(run, Target.Outcome.MISSED).size(), verdicts(run, Target.Outcome.SHOWN).size(),
            verdicts(run, Target.Outcome.NOT_JUDGED).size(), verdicts(run, Target.Outcome.NOT_MEASURED).size());
    }

    private static String table(SavedRun run, BiFunction<SavedRun.Group, SavedRun.Value, String> cell) {
        StringBuilder text = new StringBuilder(row("Half round trip or rate", run.sideBySide().stream().map(
            group -> (group.isRate() ? "messages/s, " : "ns, ") + SavedRun.size(group.sizeBytes()))));
        text.append("|---|").append("---|".repeat(run.sideBySide().size())).append('\n');
        for (String system : run.systems()) {
            text.append(row(run.name(system), run.sideBySide().stream().map(
                group -> group.of(system) == null ? "–" : cell.apply(group, group.of(system)))));
        }
        return text.toString();
    }

    private static String row(String first, Stream<String> others) {
        return Stream.concat(Stream.of(first), others).collect(Collectors.joining(" | ", "| ", " |\n"));
    }

    private static List<SavedRun.Verdict> verdicts(SavedRun run, Target.Outcome... outcomes) {
        return run.targets().stream().filter(verdict -> Arrays.stream(outcomes).anyMatch(verdict::is)).toList();
    }

    private static String targets(SavedRun run, String last, Function<SavedRun.Verdict, String> cell,
        Target.Outcome... outcomes) {
        return "| Target | Ratio (quartiles, valid rounds) | Values | Must | Goal | " + last
            + " |\n|---|---|---|---|---|---|\n" + verdicts(run, outcomes).stream()
            .map(verdict -> target(verdict, cell.apply(verdict))).collect(Collectors.joining());
    }

    private static String target(SavedRun.Verdict verdict, String last) {
        CellMetric metric = Arrays.stream(CellMetric.values())
            .filter(each -> each.key().equals(verdict.metric())).findFirst().orElseThrow();
        return row(verdict.what() + (metric.moreIsBetter() ? ", at least" : ""), Stream.of(
            String.format(Locale.ROOT, "%s (%s to %s, %d)", ratio(verdict.ratio()), ratio(verdict.firstQuartile()),
                ratio(verdict.thirdQuartile()), verdict.validRounds()),
            verdict.otherSystem() == null ? "" : String.format(Locale.ROOT, "%,.0f against %,.0f %s", verdict.own(),
                verdict.other(), metric.unit()),
            verdict.must() == null || verdict.must() == 0 && metric.moreIsBetter() ? "shown"
                : (verdict.least() == null ? "" : bound(verdict.least()) + " to ") + bound(verdict.must()),
            verdict.goal() == null ? "" : bound(verdict.goal()), last));
    }

    private static String verdict(SavedRun.Verdict verdict) {
        return verdict.is(Target.Outcome.GOAL_MET) ? "goal met" : verdict.is(Target.Outcome.MET) ? "met"
            : verdict.is(Target.Outcome.SHOWN) ? "shown"
            : String.format(Locale.ROOT, "missed by %.0f %%", Math.max(1, 100 * verdict.missedBy()));
    }

    private static String reason(SavedRun.Verdict verdict) {
        return verdict.unfit() != null ? SavedRun.withoutPaths(verdict.unfit())
            : verdict.validRounds() >= verdict.neededRounds() ? "the control differs"
            : verdict.neededRounds() + " valid rounds are needed";
    }

    private static String ratio(Double value) {
        return value == null ? "–" : String.format(Locale.ROOT, value == 0 || value >= WHOLE_RATIOS ? "%,.0f"
            : value < SMALL_RATIO ? "%.3f" : "%.2f", value);
    }

    private static String bound(double value) {
        return String.format(Locale.ROOT, value >= WHOLE_RATIOS ? "%,.0f" : "%.2f", value);
    }

    private static String properties(SavedRun run) {
        StringBuilder text = new StringBuilder("| | |\n|---|---|\n");
        SHOWN.forEach(name -> text.append(row(name, Stream.of(name.equals("kernel")
            ? run.environment(name).replaceFirst("-\\S+", "") : run.environment(name)))));
        run.systems().stream().filter(system -> !system.startsWith("jfabric")).forEach(
            system -> text.append(row(system, Stream.of(run.environment(Machine.VERSION + system)))));
        text.append(String.format(Locale.ROOT, "| garbage collections | %d in %,d messages |%n| messages whose contents"
            + " were compared | %,d, all as sent |%n%n", run.garbageCollections().collections(),
            run.garbageCollections().messages(), run.messagesCompared()));
        Stream.concat(run.missing().stream(), run.notes().stream())
            .forEach(each -> text.append("- ").append(SavedRun.withoutPaths(each)).append('\n'));
        return text.toString();
    }
}
