package org.jfabric.info;

import java.util.List;

/**
 * The answer of discovery: what matches the hints, best first, and a verdict on every candidate link.
 *
 * <p>Use: {@code fabric.info(hints).best()}.
 *
 * @param matches  infos that objects can be opened with, best first; empty if nothing matched. Unmodifiable.
 * @param verdicts one per candidate link, chosen or not. Unmodifiable.
 */
public record InfoResult(List<Info> matches, List<Verdict> verdicts) {
    /**
     * Takes unmodifiable copies of the lists.
     */
    public InfoResult {
        matches = List.copyOf(Codes.required(matches, "matches"));
        verdicts = List.copyOf(Codes.required(verdicts, "verdicts"));
    }

    /**
     * The best match. If the hints name no link, an endpoint opened with it has every link of that kind of address, see
     * {@link Info#linkName()}.
     *
     * @return the first info.
     * @throws FabricException with {@link FabricErrno#ENODATA} and all verdicts if nothing matched.
     */
    public Info best() {
        if (matches.isEmpty()) {
            throw new FabricException(FabricErrno.ENODATA,
                "no link meets the hints:" + System.lineSeparator() + explain().stripTrailing(),
                "Relax the hints that the verdicts name.");
        }
        return matches.get(0);
    }

    /**
     * All verdicts as text for people.
     *
     * @return one line per candidate link.
     */
    public String explain() {
        if (verdicts.isEmpty()) {
            return "  no candidate link" + System.lineSeparator();
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < verdicts.size(); i++) {
            text.append("  ").append(verdicts.get(i)).append(System.lineSeparator());
        }
        return text.toString();
    }
}
