package org.jfabric.perf.compare;

import java.util.List;
import java.util.Map;

/**
 * The results of a whole run.
 *
 * @param environment of it.
 * @param titles      of the contenders, by id.
 * @param results     of all rounds.
 * @param missing     contenders that are not installed, one sentence each.
 * @param notes       further remarks for the reader.
 * @param verified    messages whose contents were compared.
 * @param streamed    messages of the pass that counts garbage collections, 0 if there was none.
 * @param collections garbage collections in it.
 * @param profiles    time of each step of a message's way, from passes that are not timed.
 */
record Comparison(Map<String, String> environment, Map<String, String> titles, Results results, List<String> missing,
    List<String> notes, long verified, long streamed, long collections, List<SideProfile> profiles) {

    /**
     * Profile of one side: how its time is spent.
     *
     * @param cell         the cell that was profiled.
     * @param role         role of the side.
     * @param nsPerMessage of the profiled pass.
     * @param profile      of the thread that sends and receives.
     */
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
