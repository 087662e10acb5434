package org.jfabric.perf.compare;

import java.util.Locale;
import java.util.Map;

/** A run as text for a terminal. */
final class ResultText {
    private ResultText() {
    }

    static String write(Comparison run) {
        StringBuilder text = new StringBuilder();
        text.append(String.format(Locale.ROOT, "%-32s %-32s %9s %14s %14s %14s  %-10s %10s  %s%n",
            "system", "metric", "bytes", "median", "min", "max", "unit", "hand-overs", "rounds"));
        for (Results.Line line : run.results().lines()) {
            write(text, line, run.results());
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

    /** The valid rounds, or if none is all; those of other states in lines of their own below. */
    private static void write(StringBuilder text, Results.Line line, Results results) {
        int disturbed = results.disturbedRounds(line.cell());
        int valid = line.validRounds();
        text.append(String.format(Locale.ROOT, "%-32s %-32s %,9d %,14.1f %,14.1f %,14.1f  %-10s %10s  %s%s%n",
            line.cell().system(), line.metric().key(), line.cell().sizeBytes(), line.median(), line.min(), line.max(),
            line.metric().unit(),
            Double.isNaN(line.inHandOvers()) ? "" : String.format(Locale.ROOT, "%,.2f", line.inHandOvers()),
            line.states().size() == 1 ? rounds(line.states()) : valid > 0 ? valid + " valid" : "none valid",
            disturbed == 0 ? "" : "  (" + disturbed + " of " + results.rounds() + " rounds disturbed)"));
        line.states().forEach((state, spread) -> {
            if (state != RoundState.VALID && line.states().size() > 1) {
                text.append(String.format(Locale.ROOT, "%-32s %-32s %9s %,14.1f %,14.1f %,14.1f  %-10s %10s  %s%n",
                    "", "", "", spread.median(), spread.min(), spread.max(), "", "",
                    spread.rounds() + " " + state.text()));
            }
        });
    }

    /** Returns the number of rounds and their state, if all have the same. */
    private static String rounds(Map<RoundState, Spread> states) {
        RoundState state = states.keySet().iterator().next();
        return states.get(state).rounds() + " " + state.text();
    }

    /** Describes the outcome of a target in a few words. */
    static String outcome(Target.Verdict verdict) {
        Target target = verdict.target();
        Target.Outcome outcome = verdict.outcome();
        if (outcome == Target.Outcome.NOT_MEASURED) {
            return outcome.text();
        }
        String ratio = String.format(Locale.ROOT, "%.3f, must %s, goal %s: %s", verdict.ratio(), target.mustText(),
            target.goalText(), brief(verdict));
        return switch (outcome) {
            case NOT_JUDGED -> ratio + String.format(Locale.ROOT, ", %d of %d rounds are valid, %d are needed%s",
                verdict.validRounds(), rounds(verdict), target.neededRounds(), others(verdict));
            case MISSED -> ratio + (verdict.missedBy() > 0 ? "" : String.format(Locale.ROOT,
                ", only %d of %d rounds are within 5 %%", verdict.near(), verdict.validRounds())) + others(verdict);
            default -> ratio + others(verdict);
        };
    }

    /** The same without the values and the rounds. */
    static String brief(Target.Verdict verdict) {
        return verdict.outcome().text() + (verdict.missedBy() == 0 || verdict.target().must() == 0 ? ""
            : String.format(Locale.ROOT, " by %.0f %%", Math.max(1, 100 * verdict.missedBy())));
    }

    private static int rounds(Target.Verdict verdict) {
        return verdict.states().values().stream().mapToInt(Spread::rounds).sum();
    }

    /** The rounds that do not count. */
    private static String others(Target.Verdict verdict) {
        StringBuilder others = new StringBuilder();
        verdict.states().forEach((state, spread) -> {
            if (state != RoundState.VALID) {
                others.append(String.format(Locale.ROOT, "%s%d %s: %.3f", others.isEmpty() ? " (" : ", ",
                    spread.rounds(), state.text(), spread.median()));
            }
        });
        return others.isEmpty() ? "" : others.append(')').toString();
    }
}
