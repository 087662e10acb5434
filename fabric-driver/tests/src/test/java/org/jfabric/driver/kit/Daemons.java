package org.jfabric.driver.kit;

import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestSession;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The driver processes of a test, alpha and beta, each started when it is first asked for.
 *
 * <p>To start a virtual machine takes ten times as long as most tests, so those without options of their own take
 * turns: what a test gives back must be at rest, as if just started, and its error log empty. A test that kills its
 * drivers, or lets them log errors, has its own.
 */
public final class Daemons implements AutoCloseable {
    /** After so many tests they must end in an orderly way, and others take over. */
    private static final int MAX_USES = 200;
    private static final long DEADLINE_NS = Deadline.ns(20);
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(200);
    private static final List<SystemCounter> ZERO_AT_REST = List.of(SystemCounter.CLIENTS, SystemCounter.ENDPOINTS,
        SystemCounter.COMPLETION_QUEUES, SystemCounter.COUNTERS, SystemCounter.REGIONS);
    /** By their options. */
    private static final Map<List<String>, Deque<Daemons>> IDLE = new HashMap<>();
    private static final Set<Daemons> SHARED = new HashSet<>();

    static {
        TestSession.atEnd(Daemons::endShared);
        // for a run that is interrupted
        Runtime.getRuntime().addShutdownHook(new Thread(Daemons::endShared, "end of shared drivers"));
    }

    private final boolean shared;
    private final List<String> options;
    private final Path base = TestDirectory.create();
    private final Map<String, Daemon> running = new TreeMap<>();
    private int uses;

    private record Daemon(DriverProcess process, DriverView view, Set<String> files) {
    }

    private Daemons(boolean shared, List<String> options) {
        this.shared = shared;
        this.options = options;
    }

    /** Drivers that other tests have used before, and will use afterwards. */
    public static Daemons shared() {
        return shared(Network.OPTIONS);
    }

    /** The same with options of their own, as NAME=VALUE. */
    public static Daemons shared(List<String> options) {
        synchronized (SHARED) {
            Deque<Daemons> idle = IDLE.computeIfAbsent(options, each -> new ArrayDeque<>());
            Daemons result = idle.isEmpty() ? new Daemons(true, options) : idle.pop();
            SHARED.add(result);
            result.uses++;
            return result;
        }
    }

    /** Drivers for nobody else. */
    public static Daemons own() {
        return new Daemons(false, Network.OPTIONS);
    }

    /** Directory of that driver, which runs. */
    public Path start(String name) {
        start(List.of(name));
        return directory(name);
    }

    /** All of these run then: those that do not yet start at the same time. */
    public void start(List<String> names) {
        Map<String, DriverProcess> started = new TreeMap<>();
        for (String name : names) {
            if (!running.containsKey(name)) {
                started.put(name, DriverProcess.launch(directory(name), options.toArray(String[]::new)));
            }
        }
        try {
            started.values().forEach(DriverProcess::awaitReady);
        } catch (AssertionError e) {
            started.values().forEach(DriverProcess::kill);
            throw e;
        }
        started.forEach((name, process) -> running.put(
            name, new Daemon(process, new DriverView(process.directory()), files(process.directory()))));
    }

    public Path directory(String name) {
        return base.resolve(name);
    }

    public void kill(String name) {
        if (shared) {
            throw new IllegalStateException("others use this driver, too");
        }
        running.get(name).process.kill();
    }

    @Override
    public void close() {
        if (!shared) {
            end();
            return;
        }
        try {
            running.values().forEach(this::assertAtRest);
            synchronized (SHARED) {
                if (uses < MAX_USES) {
                    IDLE.get(options).push(this);
                    return;
                }
                SHARED.remove(this);
            }
            end();
        } catch (AssertionError e) {
            running.values().forEach(daemon -> daemon.process.kill());
            throw e;
        }
    }

    private void assertAtRest(Daemon daemon) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (!isAtRest(daemon)) {
            if (System.nanoTime() - deadline > 0 || !daemon.process.process().isAlive()) {
                throw new AssertionError("not at rest: " + state(daemon));
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
        if (!daemon.view.errors().isEmpty()) {
            throw new AssertionError("errors were logged: " + state(daemon));
        }
    }

    private static boolean isAtRest(Daemon daemon) {
        Map<String, Long> counters = daemon.view.counters();
        return ZERO_AT_REST.stream().allMatch(each -> counters.get(each.label()) == 0)
            && files(daemon.process.directory()).equals(daemon.files);
    }

    /** Without the rings to other drivers, which stay as long as these live. */
    private static Set<String> files(Path directory) {
        Set<String> result = new HashSet<>();
        try (var names = Files.newDirectoryStream(directory)) {
            names.forEach(each -> result.add(each.getFileName().toString()));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        result.removeIf(name -> name.endsWith(".ring"));
        return result;
    }

    private static String state(Daemon daemon) {
        return daemon.process.directory() + (daemon.process.process().isAlive() ? " is up" : " has ended")
            + ", counters " + daemon.view.counters() + ", files " + files(daemon.process.directory())
            + ", errors " + daemon.view.errors() + ", said " + daemon.process.output();
    }

    private void end() {
        try {
            running.values().forEach(daemon -> daemon.process.close());
        } finally {
            running.values().forEach(daemon -> daemon.view.close());
            TestDirectory.delete(base);
        }
    }

    /** The tests have ended; whatever still runs, also after a failure. */
    private static void endShared() {
        synchronized (SHARED) {
            SHARED.forEach(each -> each.running.values().forEach(daemon -> daemon.process.process().destroy()));
            SHARED.forEach(each -> {
                each.running.values().forEach(daemon -> daemon.process.close());
                each.running.clear();
                TestDirectory.delete(each.base);
            });
            SHARED.clear();
            IDLE.clear();
        }
    }
}
