package org.jfabric.perf.compare;

import java.util.List;
import java.util.Map;

/**
 * The results of a whole run.
 *
 * @param missing     contenders that are not installed, one sentence each.
 * @param streamed    messages of the pass that counts garbage collections, 0 if there was none.
 * @param profiles    time of each step of a message's way, from passes that are not timed.
 */
record Comparison(Map<String, String> environment, Map<String, String> titles, Results results, List<String> missing,
    List<String> notes, long verified, long streamed, long collections, List<SideProfile> profiles) {

    /** Profile of one side: how its time is spent. */
    record SideProfile(Cell cell, SideRole role, double nsPerMessage, Profile profile) {
        /** Describes the side's activity in the pass. */
        String doing() {
            if (role == SideRole.DRIVER) {
                return "drives";
            }
            return switch (cell.pass()) {
                case EXCHANGE -> role == SideRole.PING ? "begins" : "answers";
                default -> role == SideRole.PING ? "sends" : "receives";
            };
        }
    }

    /** The targets with what became of them. */
    List<Target.Verdict> verdicts() {
        return Targets.all(environment).stream().map(target -> target.judge(results)).toList();
    }

    String title(String system) {
        return titles.getOrDefault(system, system);
    }
}
