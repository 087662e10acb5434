package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Explains a missed target as far as possible: by the floor of the hand-overs, and by the profile. */
final class MissReason {
    private static final Cell FLOOR = new Cell(Contenders.BARE_HAND_OVER, Pass.EXCHANGE, Targets.SIZE);
    private static final int PARTS = 4;

    private MissReason() {
    }

    /** The reason. Returns the sentences, an empty text if the target is not missed. */
    static String of(Comparison run, Target.Verdict verdict) {
        if (verdict.outcome() != Target.Outcome.MISSED) {
            return "";
        }
        List<String> sentences = new ArrayList<>();
        Target target = verdict.target();
        if (target.isRatio()) {
            floor(run, target, verdict.other(), sentences);
        }
        for (Comparison.SideProfile each : run.profiles()) {
            if (each.cell().pass() == target.own().pass() && each.cell().system().equals(target.own().system())) {
                sentences.add(String.format(Locale.ROOT, "%s, who %s: %s.", each.cell(), each.doing(),
                    each.profile().parts().stream().limit(PARTS)
                        .map(part -> String.format(Locale.ROOT, "%s %.0f %%", part.name(), 100 * part.share()))
                        .collect(Collectors.joining(", "))));
            }
        }
        return String.join(" ", sentences);
    }

    /**
     * The medians of the two values that the ratio is of; of a target in hand-overs its time. Returns a sentence, an
     * empty text without such values or if it is not measured.
     */
    static String values(Comparison run, Target.Verdict verdict) {
        CellMetric time = verdict.target().metric().inHandOversOf();
        if (verdict.measured() && time != null) {
            return String.format(Locale.ROOT, "%,.0f %s.",
                run.results().median(verdict.target().own(), time), time.unit());
        }
        if (!verdict.measured() || !verdict.target().isRatio()) {
            return "";
        }
        return String.format(Locale.ROOT, "%,.0f against %,.0f %s of %s.", verdict.own(), verdict.other(),
            verdict.target().metric().unit(), verdict.target().references().stream()
                .map(each -> (each.factor() == 1 ? "" : String.format(Locale.ROOT, "%.2f x ", each.factor()))
                    + run.title(each.cell().system())).collect(Collectors.joining(" or ")));
    }

    private static void floor(Comparison run, Target target, double reference, List<String> sentences) {
        double floor = run.results().median(FLOOR, CellMetric.HALF_ROUND_TRIP);
        if (target.metric() != CellMetric.HALF_ROUND_TRIP || Double.isNaN(floor)) {
            return;
        }
        double allowed = reference * target.must();
        sentences.add(String.format(Locale.ROOT, "A bare hand-over of one cache line takes %.0f ns here%s.", floor,
            allowed < floor ? String.format(Locale.ROOT, ", the target allows %.0f: no fabric can meet it in this run",
                allowed) : ""));
    }
}
