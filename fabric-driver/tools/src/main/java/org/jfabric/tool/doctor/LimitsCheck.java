package org.jfabric.tool.doctor;

import java.util.List;
import org.jfabric.driver.config.LinkConfig;

/** Limits of the process: memory that cannot be swapped, and open files. */
final class LimitsCheck implements Check {
    private static final String NAME = "limits";
    private static final long FEW_FILES = 4096;
    private static final String UNLIMITED = "unlimited";

    @Override
    public Finding examine(Host host) {
        String memlock = soft(host, "Max locked memory");
        String files = soft(host, "Max open files");
        if (memlock.isEmpty() || files.isEmpty()) {
            return Finding.note(NAME, host.process() + "/limits cannot be read", "Run this as the user of the driver.");
        }
        String seen = "locked memory " + memlock + (memlock.equals(UNLIMITED) ? "" : " bytes")
            + ", open files " + files;
        boolean hasDevice = host.config().get(LinkConfig.ENABLED).stream().anyMatch(link -> link.startsWith("verbs"));
        if (hasDevice && !memlock.equals(UNLIMITED)) {
            return Finding.warning(NAME, seen, "A link of RDMA devices is enabled, and registered memory counts as"
                + " locked. In the unit of systemd: LimitMEMLOCK=infinity.", "ulimit -l unlimited");
        }
        if (!files.equals(UNLIMITED) && Long.parseLong(files) < FEW_FILES) {
            return Finding.warning(NAME, seen, "Each client, connection and waiting queue takes a descriptor. In the"
                + " unit of systemd: LimitNOFILE=65536.", "ulimit -n 65536");
        }
        return Finding.ok(NAME, seen);
    }

    private static String soft(Host host, String name) {
        List<String> lines = host.lines(host.process() + "/limits");
        return lines.stream().filter(line -> line.startsWith(name))
            .map(line -> line.substring(name.length()).strip().split("\\s+")[0])
            .filter(value -> value.equals(UNLIMITED) || value.matches("\\d+")).findFirst().orElse("");
    }
}
