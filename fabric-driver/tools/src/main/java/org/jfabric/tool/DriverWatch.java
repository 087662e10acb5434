package org.jfabric.tool;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.jfabric.driver.metrics.Metric;
import org.jfabric.driver.metrics.MetricsSnapshot;
import org.jfabric.layout.EventRecordDescriptor;

/**
 * Samples a driver that runs: its progress threads and the state of its own and its clients' processes 200 times a
 * second, its counters ten times. It only reads files, so the driver is not delayed. Owner: one thread.
 */
final class DriverWatch {
    private static final long PERIOD_MS = 5;
    private static final int PERIODS_OF_COUNTERS = 20;
    private static final String AGENT = "progress-";

    private final CncView view;
    private final String driver;
    /** As it was read last: a driver that ends takes the file along. */
    private RecordView record;
    private final Map<Integer, ThreadLoad> threads = new HashMap<>();
    /** Processes by name: the driver's and its clients'. */
    private Map<String, Long> processes = Map.of();
    private long sampledNs = System.nanoTime();
    private long countedNs = sampledNs;
    private long unexpected = -1;

    DriverWatch(CncView view, RecordView record) {
        this.view = view;
        this.driver = view.directory().getFileName().toString();
        this.record = record;
        findThreads();
    }

    /** Watches. Returns the record of the driver at the end of the watch, or of the driver. */
    RecordView run(long ns, List<Cause> causes) throws InterruptedException {
        long beginNs = System.nanoTime();
        try {
            for (int i = 0; System.nanoTime() - beginNs < ns && view.isRunning(); i++) {
                if (i % PERIODS_OF_COUNTERS == 0) {
                    count(causes);
                    readRecord();
                    findThreads();
                }
                sample(causes);
                TimeUnit.MILLISECONDS.sleep(PERIOD_MS);
            }
            count(causes);
            sample(causes);
            readRecord();
            return record;
        } catch (InternalError cut) {
            throw view.cut();
        } finally {
            threads.values().forEach(ThreadLoad::close);
        }
    }

    private void readRecord() {
        try {
            RecordView read = RecordView.read(view.directory(), EventRecordDescriptor.FILE_NAME);
            if (read != null && read.pid() == record.pid() && read.startTimeMs() == record.startTimeMs()) {
                record = read;
            }
            // else the driver has ended
        } catch (ToolException ended) {
            // and its directory with it
            return;
        }
    }

    /** A thread is known from the first event that it has reported. */
    private void findThreads() {
        for (RecordView.Event event : record.events()) {
            if (event.agent().startsWith(AGENT) && event.thread() > 0) {
                threads.computeIfAbsent(
                    event.thread(), thread -> ThreadLoad.of(driver + ' ' + event.agent(), record.pid(), thread));
            }
        }
    }

    private void sample(List<Cause> causes) {
        long nowNs = System.nanoTime();
        List<Integer> ended = new ArrayList<>();
        threads.forEach((thread, load) -> {
            if (!load.sample(causes)) {
                load.close();
                ended.add(thread);
            }
        });
        ended.forEach(threads::remove);
        processes.forEach((name, pid) -> {
            if (isStopped(pid)) {
                causes.add(new Cause(name, Cause.Kind.STOPPED, sampledNs, nowNs, 1, "process " + pid));
            }
        });
        sampledNs = nowNs;
    }

    private void count(List<Cause> causes) {
        long nowNs = System.nanoTime();
        long sum = 0;
        Map<String, Long> found = new TreeMap<>();
        found.put(driver, view.pid());
        for (Metric metric : MetricsSnapshot.of(view.counters())) {
            if (metric.name().equals("jfabric_link_unexpected_messages")) {
                sum += metric.value().longValue();
            } else if (metric.name().equals("jfabric_client")) {
                found.put("client " + metric.labels().get("client") + ' ' + metric.labels().get("name"),
                    Long.valueOf(metric.labels().getOrDefault("pid", "0")));
            }
        }
        if (unexpected >= 0 && sum > unexpected) {
            // the driver publishes counts ten times a second
            long earliestNs = countedNs - TimeUnit.MILLISECONDS.toNanos(PERIOD_MS * PERIODS_OF_COUNTERS);
            causes.add(new Cause(driver, Cause.Kind.NO_RECEIVE, earliestNs, nowNs, sum - unexpected,
                "counted ten times a second"));
        }
        unexpected = sum;
        countedNs = nowNs;
        processes = found;
    }

    private static boolean isStopped(long pid) {
        if (pid <= 0) {
            return false;
        }
        try {
            String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
            char state = stat.charAt(stat.lastIndexOf(')') + 2);
            return state == 'T' || state == 't';
        } catch (IOException | IndexOutOfBoundsException ex) {
            // it has ended, or is another user's
            return false;
        }
    }
}
