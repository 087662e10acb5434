package org.jfabric.test;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Ends the test JVM when a test or a class of tests runs for longer than any may, and when nothing begins or ends for
 * as long. A class counts too, because each of its cases may end at a deadline of its own. It says which tests run,
 * what all threads do and which processes the tests have started. Without it a build that hangs is ended from outside,
 * and its output does not show the cause.
 */
public final class HangingTests implements TestExecutionListener {
    /** The longest class takes a fourth of this on a quiet machine. */
    private static final long LIMIT_S = 300;
    /** Of the limit, between two checks. */
    private static final int PAUSES = 50;
    private static final int STATUS = 3;

    /** Of each running test and class, {@link System#nanoTime()}. */
    private final Map<String, Long> begins = new ConcurrentHashMap<>();
    private final long limitNs;
    private volatile long lastEventNs = System.nanoTime();
    private ScheduledExecutorService timer;

    /** For the service loader. */
    public HangingTests() {
        this(Deadline.ns(LIMIT_S));
    }

    HangingTests(long limitNs) {
        this.limitNs = limitNs;
    }

    @Override
    public synchronized void testPlanExecutionStarted(TestPlan plan) {
        lastEventNs = System.nanoTime();
        if (timer == null) {
            timer = Executors.newSingleThreadScheduledExecutor(work -> {
                Thread thread = new Thread(work, "hanging tests");
                thread.setDaemon(true);
                return thread;
            });
            timer.scheduleWithFixedDelay(
                this::endIfHanging, limitNs / PAUSES, limitNs / PAUSES, TimeUnit.NANOSECONDS);
        }
    }

    /** What a test JVM does between two plans, or at its end, is not of a test. */
    @Override
    public synchronized void testPlanExecutionFinished(TestPlan plan) {
        begins.clear();
        if (timer != null) {
            timer.shutdownNow();
            timer = null;
        }
    }

    @Override
    public void executionStarted(TestIdentifier identifier) {
        lastEventNs = System.nanoTime();
        if (identifier.isTest() || identifier.getSource().orElse(null) instanceof ClassSource) {
            begins.put(identifier.getUniqueId(), lastEventNs);
        }
    }

    @Override
    public void executionFinished(TestIdentifier identifier, TestExecutionResult result) {
        lastEventNs = System.nanoTime();
        begins.remove(identifier.getUniqueId());
    }

    private void endIfHanging() {
        String hanging = hanging(System.nanoTime());
        if (hanging == null) {
            return;
        }
        // past Surefire, which collects System.err and would lose it with the process
        PrintStream errors = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        errors.println(hanging + TestTimeouts.threads());
        ProcessHandle.current().descendants().forEach(process -> {
            errors.println("ended with it: process " + process.pid() + ' ' + process.info().commandLine().orElse(""));
            process.destroyForcibly();
        });
        Runtime.getRuntime().halt(STATUS);
    }

    /** What hangs at that time, in words; null for nothing. */
    String hanging(long nowNs) {
        StringBuilder text = new StringBuilder();
        begins.forEach((test, beginNs) -> {
            if (nowNs - beginNs > limitNs) {
                text.append("\n").append(test);
            }
        });
        if (text.isEmpty() && nowNs - lastEventNs <= limitNs) {
            return null;
        }
        return "A test does not end: " + TimeUnit.NANOSECONDS.toSeconds(limitNs) + " s are over for"
            + (text.isEmpty() ? " what is done around " + new TreeMap<>(begins).keySet() : text)
            + "\nThis test JVM is ended. Threads:";
    }
}
