package org.jfabric.perf.compare;

import java.util.List;
import java.util.Map;

/**
 * A whole run.
 *
 * @param environment of it.
 * @param titles      of the contenders, by id.
 * @param results     of all rounds.
 * @param missing     contenders that are not installed, one sentence each.
 * @param notes       what else the reader has to know.
 * @param verified    messages whose contents were compared.
 * @param streamed    messages of the pass that counts garbage collections, 0 if there was none.
 * @param collections garbage collections in it.
 */
record Comparison(Map<String, String> environment, Map<String, String> titles, Results results, List<String> missing,
    List<String> notes, long verified, long streamed, long collections) {

    /** The targets with what became of them. */
    List<Target.Verdict> verdicts() {
        return Targets.all().stream().map(target -> target.judge(results)).toList();
    }

    String title(String system) {
        return titles.getOrDefault(system, system);
    }
}
