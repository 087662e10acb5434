package org.jfabric.perf.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Resources that a process has used in a pass, and what the kernel knows of processes.
 *
 * @param waitedNs    time that the measuring thread waited for a core although it wanted to run.
 * @param allBytes    the same of all threads.
 */
record PassLoad(long waitedNs, long collections, long ownBytes, long allBytes) {
    /** Words of {@link #format}. */
    static final int WORDS = 4;

    private static final long BYTES_PER_KIB = 1024;
    private static final Pattern COMPILER = Pattern.compile("C[12] Compiler");
    private static final int RAN = 0;
    private static final int WAITED = 1;
    private static final com.sun.management.ThreadMXBean THREADS =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Measures until {@link #end}. A measurement allocates, so bytes are counted last here and first there. */
    static final class Span {
        private final long begin = collectionsSoFar();
        private final long waitedNs = ofThread(Path.of("/proc/thread-self"), WAITED);
        private final long allBytes = THREADS.getTotalThreadAllocatedBytes();
        private final long ownBytes = THREADS.getCurrentThreadAllocatedBytes();

        /** The load of the calling thread, which made this object, and its process since then. */
        PassLoad end() {
            long own = THREADS.getCurrentThreadAllocatedBytes() - ownBytes;
            long all = THREADS.getTotalThreadAllocatedBytes() - allBytes;
            return new PassLoad(
                ofThread(Path.of("/proc/thread-self"), WAITED) - waitedNs, collectionsSoFar() - begin, own, all);
        }
    }

    private static long collectionsSoFar() {
        long collections = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            collections += Math.max(0, collector.getCollectionCount());
        }
        return collections;
    }

    PassLoad plus(PassLoad later) {
        return new PassLoad(waitedNs + later.waitedNs, collections + later.collections, ownBytes + later.ownBytes,
            allBytes + later.allBytes);
    }

    /** {@link #WORDS} words. */
    String format() {
        return waitedNs + " " + collections + ' ' + ownBytes + ' ' + allBytes;
    }

    static PassLoad parse(String[] words, int first) {
        return new PassLoad(Long.parseLong(words[first]), Long.parseLong(words[first + 1]),
            Long.parseLong(words[first + 2]), Long.parseLong(words[first + 3]));
    }

    /** Resident memory of a process. Returns the bytes, 0 if it has ended. */
    static long memoryBytes(long pid) {
        return status(Path.of("/proc", Long.toString(pid), "status"), "VmRSS") * BYTES_PER_KIB;
    }

    /**
     * Processor time of a process so far, in nanoseconds of the scheduler: that of {@code stat} has steps of 10 ms.
     * Returns the sum of its threads, 0 if it has ended.
     */
    static long cpuNs(long pid) {
        return cpuNs(pid, thread -> true);
    }

    /** The same of the threads of a JVM that compile, as far as they have not ended yet. */
    static long compilerNs(long pid) {
        return cpuNs(pid, thread -> {
            try {
                return COMPILER.matcher(Files.readString(thread.resolve("comm"))).lookingAt();
            } catch (IOException ex) {
                return false;
            }
        });
    }

    private static long cpuNs(long pid, Predicate<Path> threads) {
        try (Stream<Path> all = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
            return all.filter(threads).mapToLong(thread -> ofThread(thread, RAN)).sum();
        } catch (IOException ex) {
            return 0;
        }
    }

    /** A word of the scheduler about a thread, in nanoseconds. */
    private static long ofThread(Path thread, int word) {
        try {
            return Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ")[word]);
        } catch (IOException ex) {
            // a thread that ends while it is read, or a kernel that does not count
            return 0;
        }
    }

    /** A value of a process's status. Returns the number behind it, 0 if there is none. */
    private static long status(Path file, String name) {
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
