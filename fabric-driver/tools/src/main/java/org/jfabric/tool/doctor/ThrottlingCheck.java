package org.jfabric.tool.doctor;

/** Whether the kernel has stopped the threads because a quota of time was used up. */
final class ThrottlingCheck implements Check {
    private static final String NAME = "quota";
    private static final String COUNT = "nr_throttled ";

    @Override
    public Finding examine(Host host) {
        for (String group : host.lines(host.process() + "/cgroup")) {
            String[] fields = group.split(":", 3);
            if (fields.length < 3 || !fields[1].isEmpty() && !fields[1].matches("(.*,)?cpu(,.*)?")) {
                continue;
            }
            String folder = fields[1].isEmpty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + fields[1];
            String path = fields[2].equals("/") ? "" : fields[2];
            for (String stat : new String[] {folder + path + "/cpu.stat", folder + "/cpu.stat"}) {
                for (String line : host.lines(stat)) {
                    if (line.startsWith(COUNT)) {
                        String count = line.substring(COUNT.length()).strip();
                        return count.equals("0") ? Finding.ok(NAME, "never used up, says " + stat)
                            : Finding.warning(NAME, "used up " + count + " times, says " + stat, "All threads stood"
                                + " still until the next period each time. Give the container whole cores (cpuset)"
                                + " instead of a quota.");
                    }
                }
            }
        }
        return Finding.ok(NAME, "no quota of processor time");
    }
}
