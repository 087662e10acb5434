package org.jfabric.perf.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Resources that a process has used in a pass.
 *
 * @param cpuNs        processor time of all its threads.
 * @param switches     times that the measuring thread lost its core without waiting for anything.
 * @param collections  garbage collections.
 * @param ownBytes     of the heap that the measuring thread has allocated.
 * @param allBytes     the same of all threads.
 */
record ThreadLoad(long cpuNs, long switches, long collections, long ownBytes, long allBytes) {
    /** Words of {@link #format}. */
    static final int WORDS = 5;

    private static final long BYTES_PER_KIB = 1024;
    private static final com.sun.management.ThreadMXBean THREADS =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Measures until {@link #end}. A measurement allocates, so bytes are counted last here and first there. */
    static final class Span {
        private final ThreadLoad begin = sofar(0, 0);
        private final long allBytes = THREADS.getTotalThreadAllocatedBytes();
        private final long ownBytes = THREADS.getCurrentThreadAllocatedBytes();

        /** The load of the calling thread, which made this object, and its process since then. */
        ThreadLoad end() {
            long own = THREADS.getCurrentThreadAllocatedBytes() - ownBytes;
            long all = THREADS.getTotalThreadAllocatedBytes() - allBytes;
            ThreadLoad end = sofar(own, all);
            return new ThreadLoad(end.cpuNs - begin.cpuNs, end.switches - begin.switches,
                end.collections - begin.collections, own, all);
        }
    }

    private static ThreadLoad sofar(long ownBytes, long allBytes) {
        long collections = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            collections += Math.max(0, collector.getCollectionCount());
        }
        com.sun.management.OperatingSystemMXBean system =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return new ThreadLoad(system.getProcessCpuTime(),
            status(Path.of("/proc/thread-self/status"), "nonvoluntary_ctxt_switches"), collections, ownBytes,
            allBytes);
    }

    ThreadLoad plus(ThreadLoad later) {
        return new ThreadLoad(cpuNs + later.cpuNs, switches + later.switches, collections + later.collections,
            ownBytes + later.ownBytes, allBytes + later.allBytes);
    }

    /** {@link #WORDS} words. */
    String format() {
        return cpuNs + " " + switches + ' ' + collections + ' ' + ownBytes + ' ' + allBytes;
    }

    static ThreadLoad parse(String[] words, int first) {
        return new ThreadLoad(Long.parseLong(words[first]), Long.parseLong(words[first + 1]),
            Long.parseLong(words[first + 2]), Long.parseLong(words[first + 3]), Long.parseLong(words[first + 4]));
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
