package org.jfabric.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Before the first test of a process: a slow machine is measured, and the product made as patient as the tests are. A
 * driver or client that gives up after its default of a few seconds would fail a test that only has to wait. After the
 * last test: what tests have shared is ended, and what they have left behind is removed.
 */
public final class TestSession implements LauncherSessionListener {
    /** Options that no test relies on to expire at their default, with this default in milliseconds. */
    private static final Map<String, Integer> PATIENCE_MS = Map.of(
        "jfabric.client.connectTimeoutNs", 5_000,
        "jfabric.client.commandTimeoutNs", 10_000,
        "jfabric.client.closeTimeoutNs", 1_000,
        "jfabric.shm.connectTimeoutNs", 5_000,
        "jfabric.tcp.connectTimeoutNs", 5_000,
        "jfabric.liveness.helloTimeoutNs", 5_000);
    private static final Queue<Runnable> ENDS = new ConcurrentLinkedQueue<>();
    /** Sessions that are open: a test may open one within that of the build. */
    private static final AtomicInteger OPEN = new AtomicInteger();

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        OPEN.incrementAndGet();
        TestLeftovers.guard();
        patience(Deadline.slowness()).forEach((name, value) -> {
            if (System.getProperty(name) == null) {
                System.setProperty(name, value);
            }
        });
    }

    @Override
    public void launcherSessionClosed(LauncherSession session) {
        if (OPEN.decrementAndGet() != 0) {
            return;
        }
        try {
            ENDS.forEach(Runnable::run);
        } finally {
            TestLeftovers.end();
        }
        if (System.getProperty(TestTimes.PHASE_PROP_NAME) != null) {
            writeReport();
        }
    }

    private static void writeReport() {
        try {
            ConformanceReport.writeSoFar(Path.of("").toAbsolutePath().getParent());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the conformance report", e);
        }
    }

    /**
     * Has something done when the last test has ended, and again at the end of each further session. A shutdown hook
     * alone may not run: Surefire may halt the process.
     */
    public static void atEnd(Runnable end) {
        ENDS.add(end);
    }

    /** Arguments for a JVM that a test starts: what this one has found, and was told. */
    public static List<String> properties() {
        List<String> result = new ArrayList<>(List.of(Deadline.property()));
        PATIENCE_MS.keySet().stream().sorted().filter(name -> System.getProperty(name) != null)
            .forEach(name -> result.add("-D" + name + '=' + System.getProperty(name)));
        return result;
    }

    static Map<String, String> patience(double slowness) {
        Map<String, String> result = new TreeMap<>();
        if (slowness > 1) {
            PATIENCE_MS.forEach((name, ms) -> result.put(name, Math.round(ms * slowness) + "ms"));
        }
        return result;
    }
}
