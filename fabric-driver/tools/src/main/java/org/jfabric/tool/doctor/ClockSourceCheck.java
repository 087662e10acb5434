package org.jfabric.tool.doctor;

import java.util.Set;

/** The kernel's clock: some need a system call, or a microsecond and more, for each reading. */
final class ClockSourceCheck implements Check {
    private static final String NAME = "clock source";
    private static final String FOLDER = "/sys/devices/system/clocksource/clocksource0/";
    private static final Set<String> FAST = Set.of(
        "tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter");

    @Override
    public Finding examine(Host host) {
        String current = host.line(FOLDER + "current_clocksource");
        if (current.isEmpty() || FAST.contains(current)) {
            return Finding.ok(NAME, current.isEmpty() ? "unknown" : current);
        }
        String better = Set.of(host.line(FOLDER + "available_clocksource").split(" ")).stream()
            .filter(FAST::contains).sorted().reduce((left, right) -> right).orElse(null);
        return better == null
            ? Finding.warning(NAME, current, "Each reading of the clock is slow. Find out why the kernel has refused"
                + " tsc (dmesg).")
            : Finding.warning(NAME, current + ", " + better + " is available", "Each reading of the clock is slow.",
                "echo " + better + " > " + FOLDER + "current_clocksource");
    }
}
