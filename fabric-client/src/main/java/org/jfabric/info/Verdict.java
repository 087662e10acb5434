package org.jfabric.info;

import java.util.List;

/**
 * The decision of discovery about one candidate link, and the reasons; every candidate gets one.
 *
 * <p>Use: {@code fabric.info(hints).verdicts().forEach(System.out::println)}.
 *
 * @param linkName name of the link, for instance {@code shm}.
 * @param chosen   whether the link meets the hints and is among the matches.
 * @param score    order among the chosen ones, higher is better; 0 for a rejected one.
 * @param reasons  what was examined; at least the failed condition for a rejected one. Unmodifiable.
 */
public record Verdict(String linkName, boolean chosen, int score, List<Reason> reasons) {
    /**
     * Takes an unmodifiable copy of the reasons.
     */
    public Verdict {
        Codes.required(linkName, "linkName");
        reasons = List.copyOf(Codes.required(reasons, "reasons"));
    }

    /**
     * The verdict in one line.
     *
     * @return link, decision and reasons.
     */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(linkName);
        text.append(chosen ? ": chosen, score " + score : ": rejected");
        for (int i = 0; i < reasons.size(); i++) {
            text.append("; ").append(reasons.get(i));
        }
        return text.toString();
    }
}
