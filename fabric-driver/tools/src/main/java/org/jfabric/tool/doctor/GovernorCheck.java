package org.jfabric.tool.doctor;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The governor of the processors' frequency. */
final class GovernorCheck implements Check {
    private static final String NAME = "governor";
    private static final int MAX_CPUS = 4096;

    @Override
    public Finding examine(Host host) {
        Map<String, Integer> governors = new TreeMap<>();
        for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
            String folder = "/sys/devices/system/cpu/cpu" + cpu;
            String governor = host.line(folder + "/cpufreq/scaling_governor");
            if (!governor.isEmpty()) {
                governors.merge(governor, 1, Integer::sum);
            } else if (host.line(folder + "/topology/core_id").isEmpty()) {
                break;
            }
        }
        if (governors.isEmpty()) {
            return Finding.ok(NAME, "this machine does not control the frequency, as in most virtual machines");
        }
        return governors.keySet().equals(Set.of("performance")) ? Finding.ok(NAME, "performance")
            : Finding.warning(NAME, "processors with each governor: " + governors,
                "A core that slept or ran slowly delays the first messages.", "cpupower frequency-set -g performance");
    }
}
