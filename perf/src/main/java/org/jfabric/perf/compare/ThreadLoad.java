package org.jfabric.perf.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * What this process has used so far; the difference of two is what a pass took.
 *
 * @param cpuNs       processor time of all its threads.
 * @param switches    times that the calling thread lost its core without waiting for anything.
 * @param collections garbage collections.
 */
record ThreadLoad(long cpuNs, long switches, long collections) {
    private static final long BYTES_PER_KIB = 1024;

    static ThreadLoad now() {
        long collections = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            collections += Math.max(0, collector.getCollectionCount());
        }
        com.sun.management.OperatingSystemMXBean system =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return new ThreadLoad(system.getProcessCpuTime(),
            status(Path.of("/proc/thread-self/status"), "nonvoluntary_ctxt_switches"), collections);
    }

    /**
     * Resident memory of a process.
     *
     * @param pid of the process.
     * @return bytes, 0 if it has ended.
     */
    static long memoryBytes(long pid) {
        return status(Path.of("/proc", Long.toString(pid), "status"), "VmRSS") * BYTES_PER_KIB;
    }

    /**
     * A value of a process's or thread's status.
     *
     * @param file of the status.
     * @param name of the value.
     * @return the number behind it, 0 if there is none.
     */
    static long status(Path file, String name) {
        try {
            for (String line : Files.readAllLines(file)) {
                if (line.startsWith(name + ':')) {
                    return Long.parseLong(line.substring(name.length() + 1).replace("kB", "").strip());
                }
            }
            return 0;
        } catch (NoSuchFileException ex) {
            return 0;
        } catch (IOException ex) {
            // A process that ends while it is read.
            if (!Files.exists(file)) {
                return 0;
            }
            throw new UncheckedIOException(ex);
        }
    }
}
