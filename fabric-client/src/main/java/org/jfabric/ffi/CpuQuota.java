package org.jfabric.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Processor time that this process may use.
 *
 * <p>Spinning threads beyond it slow each other down, so they are counted against this and not against the machine's
 * processors.
 */
public final class CpuQuota {
    private static final String CPUS_ALLOWED = "Cpus_allowed_list:";

    private CpuQuota() {
    }

    /**
     * Cores available to the process: the smaller of the processors it was started on (affinity and cpuset) and the
     * time quotas of its control groups (version 1 or 2) up to the root.
     *
     * <p>Binding threads by {@link Affinity} does not change the answer. Any thread; reads files of /proc and /sys.
     *
     * @return cores, more than 0; 1.5 means one and a half core's time.
     */
    public static double availableCores() {
        return availableCores(Path.of("/"));
    }

    /**
     * The same, with another directory in place of the root.
     *
     * @param root directory that holds proc and the mount points.
     */
    public static double availableCores(Path root) {
        return Math.min(allowedCpus(root), quotaCores(root));
    }

    private static double allowedCpus(Path root) {
        // The file of the process describes its first thread, which only waits in the java launcher: it is never bound.
        for (String line : lines(root.resolve("proc/self/status"))) {
            if (line.startsWith(CPUS_ALLOWED)) {
                int count = countCpus(line.substring(CPUS_ALLOWED.length()).strip());
                if (count > 0) {
                    return count;
                }
            }
        }
        return Runtime.getRuntime().availableProcessors();
    }

    private static double quotaCores(Path root) {
        double cores = Double.POSITIVE_INFINITY;
        List<String> groups = lines(root.resolve("proc/self/cgroup"));
        for (String mountLine : lines(root.resolve("proc/self/mountinfo"))) {
            Mount mount = Mount.parse(mountLine);
            if (mount == null) {
                continue;
            }
            for (String group : groups) {
                String[] fields = group.split(":", 3);
                if (fields.length == 3 && mount.holds(fields[1])) {
                    cores = Math.min(cores, quotaUpwards(root, mount, fields[2]));
                }
            }
        }
        return cores;
    }

    private static double quotaUpwards(Path root, Mount mount, String group) {
        Path top = root.resolve(mount.point.substring(1)).normalize();
        String inside = group;
        if (!mount.root.equals("/")) {
            // A container sees its own group mounted, under the path that the host gave it.
            inside = group.startsWith(mount.root) ? group.substring(mount.root.length()) : "";
        }
        Path directory = top.resolve(inside.startsWith("/") ? inside.substring(1) : inside).normalize();
        if (!directory.startsWith(top)) {
            directory = top;
        }
        double cores = Double.POSITIVE_INFINITY;
        while (directory.startsWith(top)) {
            cores = Math.min(cores, mount.unified ? quotaVersion2(directory) : quotaVersion1(directory));
            directory = directory.getParent();
        }
        return cores;
    }

    private static double quotaVersion2(Path directory) {
        List<String> lines = lines(directory.resolve("cpu.max"));
        if (lines.isEmpty()) {
            return Double.POSITIVE_INFINITY;
        }
        String[] fields = lines.getFirst().split(" ");
        return fields.length < 2 ? Double.POSITIVE_INFINITY : cores(fields[0], fields[1]);
    }

    private static double quotaVersion1(Path directory) {
        List<String> quota = lines(directory.resolve("cpu.cfs_quota_us"));
        List<String> period = lines(directory.resolve("cpu.cfs_period_us"));
        return quota.isEmpty() || period.isEmpty() ? Double.POSITIVE_INFINITY :
            cores(quota.getFirst(), period.getFirst());
    }

    private static double cores(String quota, String period) {
        if (quota.equals("max")) {
            return Double.POSITIVE_INFINITY;
        }
        try {
            long quotaUs = Long.parseLong(quota.strip());
            long periodUs = Long.parseLong(period.strip());
            return quotaUs <= 0 || periodUs <= 0 ? Double.POSITIVE_INFINITY : (double) quotaUs / periodUs;
        } catch (NumberFormatException notNumbers) {
            return Double.POSITIVE_INFINITY;
        }
    }

    private static int countCpus(String list) {
        int count = 0;
        try {
            for (String range : list.split(",")) {
                int dash = range.indexOf('-');
                count += dash < 0 ? (Integer.parseInt(range) >= 0 ? 1 : 0) :
                    Integer.parseInt(range.substring(dash + 1)) - Integer.parseInt(range.substring(0, dash)) + 1;
            }
        } catch (NumberFormatException notNumbers) {
            return 0;
        }
        return count;
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException absent) {
            // No such limit here: controllers and versions differ from host to host.
            return List.of();
        }
    }

    /** A mounted hierarchy of control groups that can limit processor time. */
    private record Mount(String root, String point, boolean unified) {
        private static final int ROOT_FIELD = 3;
        private static final int POINT_FIELD = 4;

        static Mount parse(String line) {
            int separator = line.indexOf(" - ");
            if (separator < 0) {
                return null;
            }
            String[] fields = line.substring(0, separator).split(" ");
            String[] type = line.substring(separator + 3).split(" ");
            if (fields.length <= POINT_FIELD || type.length < 3) {
                return null;
            }
            boolean unified = type[0].equals("cgroup2");
            boolean cpu = type[0].equals("cgroup") && hasItem(type[2], "cpu");
            return unified || cpu ? new Mount(unescape(fields[ROOT_FIELD]), unescape(fields[POINT_FIELD]), unified) :
                null;
        }

        boolean holds(String controllers) {
            return unified ? controllers.isEmpty() : hasItem(controllers, "cpu");
        }

        private static boolean hasItem(String list, String item) {
            return List.of(list.split(",")).contains(item);
        }

        private static String unescape(String field) {
            return field.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
        }
    }
}
