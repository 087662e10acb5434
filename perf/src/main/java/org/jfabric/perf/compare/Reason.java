package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Says of a target that is missed what is known of why: the values, the floor that nothing gets below, the profile. */
final class Reason {
    private static final Cell FLOOR = new Cell(Contenders.HAND_OVER, Pass.EXCHANGE, Targets.SIZE);
    private static final int PARTS = 4;

    private Reason() {
    }

    /**
     * The reason.
     *
     * @param run     of the target.
     * @param verdict of it.
     * @return sentences, an empty text if the target is met or not measured.
     */
    static String of(Comparison run, Target.Verdict verdict) {
        if (!verdict.measured() || verdict.met()) {
            return "";
        }
        List<String> sentences = new ArrayList<>();
        Target target = verdict.target();
        double own = run.results().median(target.own(), target.metric());
        if (target.isRatio()) {
            Target.Reference reference = target.references().getFirst();
            double other = run.results().median(reference.cell(), target.metric());
            sentences.add(String.format(Locale.ROOT, "%,.0f against %,.0f %s of %s.", own, other,
                target.metric().unit(), run.title(reference.cell().system())));
            floor(run, target, other * reference.factor(), sentences);
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

    private static void floor(Comparison run, Target target, double reference, List<String> sentences) {
        double floor = run.results().median(FLOOR, Metric.HALF_ROUND_TRIP);
        if (target.metric() != Metric.HALF_ROUND_TRIP || Double.isNaN(floor)) {
            return;
        }
        double allowed = reference * target.must();
        sentences.add(String.format(Locale.ROOT, "A bare hand-over of one cache line takes %.0f ns here%s.", floor,
            allowed < floor ? String.format(Locale.ROOT, ", the target allows %.0f: no fabric can meet it in this run",
                allowed) : ""));
    }
}
