package org.jfabric.driver.hostile;

import org.jfabric.driver.ControlClient;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * A driver in a process of its own for all tests of a class, with bystanders. After each test the driver must be up
 * and the bystanders must go on; what a failed test leaves behind is printed.
 */
final class WatchedDriver implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
    private final String[] properties;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private Path base;
    private DriverProcess driver;
    private DriverView view;
    private Bystanders bystanders;

    WatchedDriver(String... properties) {
        this.properties = properties;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        base = TestDirectory.create();
        driver = DriverProcess.start(base.resolve("alpha"), properties);
        view = new DriverView(directory());
        bystanders = new Bystanders("loopback", directory(), directory());
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        bystanders.assertGoOn(2);
    }

    @Override
    public void afterEach(ExtensionContext context) throws Exception {
        try {
            while (!opened.isEmpty()) {
                opened.pop().close();
            }
            assertUp();
        } catch (Exception | AssertionError e) {
            System.out.println(state());
            throw e;
        }
        if (context.getExecutionException().isPresent()) {
            System.out.println(state());
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        try {
            if (bystanders != null) {
                bystanders.close();
            }
            if (view != null) {
                view.close();
            }
            if (driver != null) {
                driver.close();
            }
        } finally {
            TestDirectory.delete(base);
        }
    }

    Path base() {
        return base;
    }

    Path directory() {
        return driver.directory();
    }

    DriverProcess driver() {
        return driver;
    }

    DriverView view() {
        return view;
    }

    Bystanders bystanders() {
        return bystanders;
    }

    /** Closed after the test, last one first. */
    <T extends AutoCloseable> T opened(T resource) {
        opened.push(resource);
        return resource;
    }

    ControlClient client() {
        return opened(new ControlClient(directory(), () -> { }));
    }

    /** What was connected before is dealt with when a client has come and gone. */
    void settle() {
        try (ControlClient client = new ControlClient(directory(), () -> { })) {
            client.open("settled", "");
        }
        assertReclaimed();
    }

    /** Descriptors that the driver has open, but for those of jars: the JVM opens one when it needs classes of it. */
    long descriptors() {
        try (var entries = Files.list(Path.of("/proc/" + driver.process().pid() + "/fd"))) {
            return entries.filter(each -> !isJar(each)).count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean isJar(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().endsWith(".jar");
        } catch (IOException e) {
            // closed meanwhile
            return false;
        }
    }

    /** The driver is up, and the bystanders go on. */
    void assertUp() {
        if (!driver.process().isAlive()) {
            throw new AssertionError("the driver has ended");
        }
        bystanders.assertGoOn(8);
        assertExplained(view);
    }

    /** What is in the error log was meant to be there. */
    static void assertExplained(DriverView view) {
        view.assertExplained();
    }

    /** A line of the log has all of these parts: the distinct error log has a few records of each kind alone. */
    void assertLogged(String... parts) {
        Deadline.awaitParked(() -> "no error with " + Arrays.toString(parts) + " in " + state(),
            () -> driver.output().lines().anyMatch(line -> Arrays.stream(parts).allMatch(line::contains)));
    }

    static void assertLogged(DriverView view, String... parts) {
        Deadline.awaitParked(() -> "no error with " + Arrays.toString(parts) + " in " + view.errors(),
            () -> view.errors().stream().anyMatch(
                error -> Arrays.stream(parts).allMatch(error::contains)));
    }

    /** Everything of every other client is given back. */
    void assertReclaimed() {
        Deadline.awaitParked(() -> "not reclaimed: " + view.counters() + ' ' + files(), () ->
            view.counter("clients") == 2 && view.counter("endpoints") == 2 && view.counter("completion queues") == 2
                && view.counter("memory regions") == 2 && view.counter("counters") == 0 && files().size() == 2 * 5);
    }

    /** Names of the clients' files. */
    List<String> files() {
        try (var names = Files.list(directory())) {
            return names.map(name -> name.getFileName().toString())
                .filter(name -> name.matches("\\d+\\.(ctl|tq|rq|cq|mr|cntr|wait)")).sorted().toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    String state() {
        String said = driver.output();
        return "driver " + (driver.process().isAlive() ? "is up" : "has ended") + ", said:"
            + said.substring(Math.max(0, said.indexOf("jfabric driver ready")))
            + "\ncounters " + view.counters()
            + "\nerrors " + view.errors().stream().map(error -> error.replaceAll("(?s)((\n\tat[^\n]*){3}).*", "$1"))
                .toList() + "\nfiles " + files()
            + "\nbystanders compared " + bystanders.verified() + " messages";
    }
}
