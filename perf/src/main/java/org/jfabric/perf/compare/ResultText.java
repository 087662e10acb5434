package org.jfabric.perf.compare;

import java.util.Locale;

/** A run as text for a terminal. */
final class ResultText {
    private ResultText() {
    }

    static String write(Comparison run) {
        StringBuilder text = new StringBuilder();
        text.append(String.format(Locale.ROOT, "%-32s %-28s %9s %14s %14s %14s  %s%n",
            "system", "metric", "bytes", "median", "min", "max", "unit"));
        for (Results.Line line : run.results().lines()) {
            int disturbed = run.results().disturbedRounds(line.cell());
            text.append(String.format(Locale.ROOT, "%-32s %-28s %,9d %,14.1f %,14.1f %,14.1f  %s%s%n",
                line.cell().system(), line.metric().key(), line.cell().sizeBytes(), line.median(), line.min(),
                line.max(), line.metric().unit(),
                disturbed == 0 ? "" : "  (" + disturbed + " of " + run.results().rounds() + " rounds disturbed)"));
        }
        text.append(String.format("%n"));
        for (Target.Verdict verdict : run.verdicts()) {
            text.append(String.format(Locale.ROOT, "%-90s %s%n", verdict.target().what(), outcome(verdict)));
            String reason = (Reason.values(run, verdict) + ' ' + Reason.of(run, verdict)).strip();
            if (!reason.isEmpty()) {
                text.append("    ").append(reason).append(System.lineSeparator());
            }
        }
        if (run.streamed() > 0) {
            text.append(String.format(Locale.ROOT, "%,d garbage collections in %,d messages%n",
                run.collections(), run.streamed()));
        }
        text.append(String.format(Locale.ROOT, "%,d messages compared, all as sent%n", run.verified()));
        run.missing().forEach(each -> text.append(each).append(System.lineSeparator()));
        run.notes().forEach(each -> text.append(each).append(System.lineSeparator()));
        return text.toString();
    }

    /**
     * What became of a target, in a few words.
     */
    static String outcome(Target.Verdict verdict) {
        if (!verdict.measured()) {
            return "not measured";
        }
        String ratio = String.format(Locale.ROOT, "%.3f, must %.2f, goal %.2f: ", verdict.ratio(),
            verdict.target().must(), verdict.target().goal());
        if (verdict.goalMet()) {
            return ratio + "goal met";
        }
        if (verdict.met()) {
            return ratio + "met";
        }
        if (verdict.missedBy() > 0 && verdict.target().must() == 0) {
            return ratio + "missed";
        }
        return ratio + (verdict.missedBy() > 0
            ? String.format(Locale.ROOT, "missed by %.0f %%", Math.max(1, 100 * verdict.missedBy()))
            : String.format(Locale.ROOT, "not held: only %d of %d rounds are within 5 %%", verdict.near(),
                verdict.ratios().length));
    }
}
