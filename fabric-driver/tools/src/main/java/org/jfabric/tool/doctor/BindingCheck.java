package org.jfabric.tool.doctor;

import java.util.Set;
import java.util.TreeSet;
import org.jfabric.driver.config.ThreadingConfig;
import org.jfabric.driver.config.ThreadingMode;

/** Whether the core of the thread that spins is its own. */
final class BindingCheck implements Check {
    private static final String NAME = "binding";
    private static final String ALLOWED = "Cpus_allowed_list:";

    @Override
    public Finding examine(Host host) {
        int cpu = host.config().get(ThreadingConfig.PROGRESS_CPU);
        ThreadingMode mode = host.config().get(ThreadingConfig.MODE);
        if (mode != ThreadingMode.DEDICATED) {
            return Finding.ok(NAME, "no thread spins in mode " + mode);
        }
        if (cpu < 0) {
            return Finding.note(NAME, "the scheduler may move the thread that spins",
                "Bind it with jfabric.threading.progressCpu to a core that is kept free.");
        }
        Set<Integer> allowed = new TreeSet<>();
        for (String line : host.lines("/proc/self/status")) {
            if (line.startsWith(ALLOWED)) {
                addAll(allowed, line.substring(ALLOWED.length()));
            }
        }
        if (!allowed.isEmpty() && !allowed.contains(cpu)) {
            return Finding.error(NAME, "core " + cpu + " is not among those of this process: " + allowed,
                "Choose another one with jfabric.threading.progressCpu, or widen the cpuset.");
        }
        Set<Integer> isolated = new TreeSet<>();
        addAll(isolated, host.line("/sys/devices/system/cpu/isolated"));
        return isolated.contains(cpu) ? Finding.ok(NAME, "core " + cpu + " is isolated")
            : Finding.warning(NAME, "core " + cpu + " is not isolated from other work", "Isolate it: isolcpus=" + cpu
                + " nohz_full=" + cpu + " rcu_nocbs=" + cpu + " on the kernel's command line, or a cpuset.");
    }

    /** Adds the numbers of a list such as {@code 0-3,8}. */
    private static void addAll(Set<Integer> cpus, String list) {
        for (String range : list.strip().split(",")) {
            if (range.matches("\\d+(-\\d+)?")) {
                String[] ends = range.split("-");
                for (int cpu = Integer.parseInt(ends[0]); cpu <= Integer.parseInt(ends[ends.length - 1]); cpu++) {
                    cpus.add(cpu);
                }
            }
        }
    }
}
