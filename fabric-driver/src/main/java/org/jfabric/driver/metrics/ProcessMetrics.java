package org.jfabric.driver.metrics;

import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Metrics of the process in which the driver runs, of its JVM and of the file system of its directory. Names of the
 * first two are those that Prometheus's libraries use, where these have one. A file that cannot be read is left out.
 */
final class ProcessMetrics {
    private static final Path PROC = Path.of("/proc/self");
    private static final int BYTES_PER_KB = 1024;

    private final List<Metric> metrics = new ArrayList<>();

    private ProcessMetrics() {
    }

    /** Reads all of them; metrics of the same name together. */
    static List<Metric> of(Path directory) {
        ProcessMetrics all = new ProcessMetrics();
        String version = ProcessMetrics.class.getPackage().getImplementationVersion();
        Map<String, String> build = new TreeMap<>();
        build.put("version", version == null ? "unknown" : version);
        build.put("java", Runtime.version().toString());
        all.add("jfabric_build", Metric.Kind.INFO, build, 1, 0);
        all.addDirectory(directory);
        all.addProcess();
        all.addJvm();
        return all.metrics;
    }

    private void add(String name, Metric.Kind kind, Map<String, String> labels, long value, int decimals) {
        metrics.add(new Metric(name, kind, labels, BigDecimal.valueOf(value, decimals), List.of()));
    }

    private void gauge(String name, long value) {
        add(name, Metric.Kind.GAUGE, Map.of(), value, 0);
    }

    private void addDirectory(Path directory) {
        try {
            gauge("jfabric_directory_free_bytes", Files.getFileStore(directory).getUsableSpace());
        } catch (IOException e) {
            // the directory is gone with the driver
            return;
        }
    }

    private void addProcess() {
        ProcessHandle.Info info = ProcessHandle.current().info();
        info.totalCpuDuration().ifPresent(
            used -> add("process_cpu_seconds", Metric.Kind.COUNTER, Map.of(), used.toMillis(), 3));
        info.startInstant().ifPresent(
            start -> add("process_start_time_seconds", Metric.Kind.GAUGE, Map.of(), start.toEpochMilli(), 3));
        try {
            for (String line : Files.readAllLines(PROC.resolve("status"))) {
                if (line.startsWith("VmRSS:")) {
                    gauge("process_resident_memory_bytes", number(line) * BYTES_PER_KB);
                }
            }
            for (String line : Files.readAllLines(PROC.resolve("limits"))) {
                if (line.matches("Max open files +\\d.*")) {
                    gauge("process_max_fds", number(line));
                }
            }
            try (Stream<Path> open = Files.list(PROC.resolve("fd"))) {
                gauge("process_open_fds", open.count());
            }
        } catch (IOException e) {
            // no /proc, or out of descriptors
            return;
        }
    }

    /** The first number of a line. */
    private static long number(String line) {
        return Long.parseLong(line.replaceFirst("\\D*(\\d+).*", "$1"));
    }

    private void addJvm() {
        var memory = ManagementFactory.getMemoryMXBean();
        MemoryUsage heap = memory.getHeapMemoryUsage();
        if (heap.getMax() > 0) {
            add("jvm_memory_max_bytes", Metric.Kind.GAUGE, Map.of("area", "heap"), heap.getMax(), 0);
        }
        add("jvm_memory_used_bytes", Metric.Kind.GAUGE, Map.of("area", "heap"), heap.getUsed(), 0);
        add("jvm_memory_used_bytes", Metric.Kind.GAUGE, Map.of("area", "nonheap"),
            memory.getNonHeapMemoryUsage().getUsed(), 0);
        gauge("jvm_threads", ManagementFactory.getThreadMXBean().getThreadCount());
        List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();
        collectors.forEach(each -> add("jvm_gc_collections", Metric.Kind.COUNTER, Map.of("gc", each.getName()),
            Math.max(0, each.getCollectionCount()), 0));
        collectors.forEach(each -> add("jvm_gc_seconds", Metric.Kind.COUNTER, Map.of("gc", each.getName()),
            Math.max(0, each.getCollectionTime()), 3));
    }
}
