package org.jfabric.tool.doctor;

import java.util.ArrayList;
import java.util.List;

/** The virtual machine: its version, and the options of the driver that runs. */
final class JavaCheck implements Check {
    private static final String NAME = "java";
    private static final int NEEDED = 25;
    private static final List<String> WANTED = List.of("-XX:-UsePerfData", "-Dagrona.disable.bounds.checks=true");

    @Override
    public Finding examine(Host host) {
        if (host.javaFeature() < NEEDED) {
            return Finding.error(NAME, "version " + host.javaFeature(), "Needed is a JDK " + NEEDED + " or newer.");
        }
        String seen = "version " + host.javaFeature();
        if (host.driverPid() == 0) {
            return Finding.ok(NAME, seen + ", no driver runs whose options could be read");
        }
        List<String> options = List.of(String.join("\n", host.lines(host.process() + "/cmdline")).split("\0"));
        if (options.size() < 2) {
            return Finding.note(NAME, seen + ", the options of process " + host.driverPid() + " cannot be read",
                "Run this as the user of the driver, in its container.");
        }
        List<String> missing = new ArrayList<>(WANTED);
        missing.removeAll(options);
        if (!missing.isEmpty()) {
            return Finding.warning(NAME, seen + ", the driver runs without " + String.join(" ", missing), "Start it by"
                + " ./fabric driver or the unit in deploy/systemd, which have them: without the first one writes to a"
                + " file stall all threads, without the second one each access is checked twice.");
        }
        return Finding.ok(NAME, seen + ", the driver has the options of ./fabric");
    }
}
