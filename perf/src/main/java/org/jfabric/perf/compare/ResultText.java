package org.jfabric.perf.compare;

import java.util.Locale;

/** A run as text for a terminal. */
final class ResultText {
    private ResultText() {
    }

    static String write(Comparison run) {
        StringBuilder text = new StringBuilder();
        text.append(String.format(Locale.ROOT, "%-32s %-32s %9s %14s %14s %14s  %-10s %10s  %s%n", "system", "metric",
            "bytes", "median", "1st quartile", "3rd quartile", "unit", "hand-overs", "valid rounds"));
        for (Results.Line line : run.results().lines()) {
            text.append(String.format(Locale.ROOT, "%-32s %-32s %,9d %,14.1f %,14.1f %,14.1f  %-10s %10s  %d of %d%n",
                line.cell().system(), line.metric().key(), line.cell().sizeBytes(), line.values().median(),
                line.values().first(), line.values().third(), line.metric().unit(),
                Double.isNaN(line.inHandOvers()) ? "" : String.format(Locale.ROOT, "%,.2f", line.inHandOvers()),
                line.valid(), line.rounds().size()));
        }
        text.append(String.format("%n"));
        for (Target.Verdict verdict : run.verdicts()) {
            text.append(String.format(Locale.ROOT, "%-90s %s%n", verdict.target().what(), outcome(verdict)));
            String reason = (MissReason.values(run, verdict) + ' ' + MissReason.of(run, verdict)).strip();
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

    /** Describes the outcome of a target in a few words. */
    static String outcome(Target.Verdict verdict) {
        Target target = verdict.target();
        Target.Outcome outcome = verdict.outcome();
        if (outcome == Target.Outcome.NOT_MEASURED) {
            return outcome.text();
        }
        return String.format(Locale.ROOT, "%.3f (%s), must %s, goal %s: %s", verdict.ratio(), rounds(verdict),
            target.mustText(), target.goalText(), brief(verdict)) + (outcome != Target.Outcome.NOT_JUDGED ? ""
            : target.unfit() != null ? ": " + target.unfit()
            : verdict.valid() >= target.neededRounds() ? ": the control differs"
            : String.format(Locale.ROOT, ": %d valid rounds are needed", target.neededRounds()));
    }

    static String rounds(Target.Verdict verdict) {
        return String.format(Locale.ROOT, "%.3f to %.3f, %d of %d rounds valid", verdict.ratios().first(),
            verdict.ratios().third(), verdict.valid(), verdict.rounds());
    }

    /** The same without the values and the rounds. */
    static String brief(Target.Verdict verdict) {
        return verdict.outcome().text() + (verdict.missedBy() == 0 || verdict.target().must() == 0 ? ""
            : String.format(Locale.ROOT, " by %.0f %%", Math.max(1, 100 * verdict.missedBy())));
    }
}
