package org.jfabric.tool.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Whether systemd-logind deletes the driver's files when its user logs out. */
final class LogoutCheck implements Check {
    private static final String NAME = "logout";
    private static final String FILE = "/etc/systemd/logind.conf";
    private static final String SETTING = "RemoveIPC=";
    private static final long FIRST_ORDINARY_USER = 1000;

    @Override
    public Finding examine(Host host) {
        if (host.uid() < FIRST_ORDINARY_USER) {
            return Finding.ok(NAME, "user " + host.uid() + " is a system user, whose files stay at a logout");
        }
        if (!host.line("/proc/1/comm").equals("systemd")) {
            return Finding.ok(NAME, "no systemd-logind deletes files at a logout");
        }
        List<String> lines = new ArrayList<>(host.lines(FILE));
        host.files(FILE + ".d").forEach(name -> lines.addAll(host.lines(FILE + ".d/" + name)));
        String value = lines.stream().map(line -> line.replace(" ", "")).filter(line -> line.startsWith(SETTING))
            .map(line -> line.substring(SETTING.length())).reduce("yes", (earlier, later) -> later);
        return Set.of("no", "false", "0", "off").contains(value)
            ? Finding.ok(NAME, SETTING + value + " in " + FILE)
            : Finding.warning(NAME, "RemoveIPC=" + value + ": systemd-logind deletes the files of user " + host.uid()
                + " in /dev/shm when its last session ends", "Run the driver as a system user (id below 1000), or"
                + " switch that off.",
                "mkdir -p /etc/systemd/logind.conf.d",
                "printf '[Login]\\nRemoveIPC=no\\n' > /etc/systemd/logind.conf.d/jfabric.conf",
                "systemctl restart systemd-logind");
    }
}
