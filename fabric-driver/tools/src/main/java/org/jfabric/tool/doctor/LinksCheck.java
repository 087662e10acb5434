package org.jfabric.tool.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.info.Verdict;

/** Whether each enabled link can be used. */
final class LinksCheck implements Check {
    private static final String NAME = "links";

    @Override
    public Finding examine(Host host) {
        if (host.linksProblem() != null) {
            return Finding.error(NAME, host.linksProblem(), "No driver can be asked for its links.");
        }
        List<String> usable = new ArrayList<>();
        List<Verdict> refused = new ArrayList<>();
        for (Verdict verdict : host.verdicts()) {
            if (verdict.chosen()) {
                usable.add(verdict.linkName());
            } else if (host.config().get(LinkConfig.ENABLED).contains(verdict.linkName())) {
                refused.add(verdict);
            }
        }
        String seen = "usable " + (usable.isEmpty() ? "none" : String.join(", ", usable));
        if (refused.isEmpty()) {
            return usable.isEmpty() ? Finding.error(NAME, seen, "Enable links with jfabric.link.enabled.")
                : Finding.ok(NAME, seen);
        }
        return Finding.warning(NAME, seen + "; enabled but not usable "
            + refused.stream().map(Verdict::toString).collect(Collectors.joining("; ")),
            "Correct what the verdict names, or take the link out of jfabric.link.enabled.", "./fabric info --why");
    }
}
