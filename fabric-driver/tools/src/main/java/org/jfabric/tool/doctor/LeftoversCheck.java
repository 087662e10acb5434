package org.jfabric.tool.doctor;

import java.util.stream.Collectors;
import org.jfabric.driver.config.DirectoryConfig;

/** Directories of killed drivers, which hold memory. */
final class LeftoversCheck implements Check {
    private static final String NAME = "leftovers";

    @Override
    public Finding examine(Host host) {
        if (host.leftovers().isEmpty()) {
            return Finding.ok(NAME, "no files of dead drivers in " + host.config().get(DirectoryConfig.BASE));
        }
        String names = host.leftovers().stream().map(Object::toString).collect(Collectors.joining(", "));
        return Finding.warning(NAME, "files of dead drivers in " + names, "They hold memory. The next driver there, or"
            + " this command, removes them.", host.leftovers().stream()
                .map(each -> "./fabric clean --dir " + ShellWord.of(each)).toArray(String[]::new));
    }
}
