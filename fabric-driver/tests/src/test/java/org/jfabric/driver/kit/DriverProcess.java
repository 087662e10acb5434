package org.jfabric.driver.kit;

import org.jfabric.driver.FabricDriver;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A driver in a process of its own, with Agrona's bounds checks off, as users run it. */
public final class DriverProcess implements AutoCloseable {
    private final TestProcess process;
    private final Path directory;
    private boolean isReady;

    private DriverProcess(TestProcess process, Path directory) {
        this.process = process;
        this.directory = directory;
    }

    /**
     * Starts a driver and waits for the line that says it is ready.
     *
     * @param properties options of the driver as NAME=VALUE, or with a hyphen in front options of the JVM.
     */
    public static DriverProcess start(Path directory, String... properties) {
        return launch(directory, properties).awaitReady();
    }

    /**
     * Starts a driver that must refuse to run, and waits for its end.
     *
     * @return what it said.
     */
    public static String refused(Path directory, String... properties) {
        return refused(List.of(), directory, properties);
    }

    /** The same behind a command that becomes the JVM. */
    public static String refused(List<String> front, Path directory, String... properties) {
        try (TestProcess process = launch(front, FabricDriver.class, directory, properties).process) {
            if (process.ended().status() == 0) {
                throw new AssertionError("the driver did not refuse: " + process);
            }
            return process.output();
        }
    }

    /** Starts the driver in the runnable jar of another build, and waits for the line that says it is ready. */
    public static DriverProcess startOf(Path jar, Path directory, String... properties) {
        List<String> command = new ArrayList<>(List.of(
            TestJvm.java().toString(), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
            "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED", "--enable-native-access=ALL-UNNAMED",
            "-Djfabric.dir.base=" + directory.getParent(), "-Djfabric.dir.name=" + directory.getFileName()));
        List.of(properties).forEach(each -> command.add("-D" + each));
        command.addAll(List.of("-cp", jar.toString(), FabricDriver.class.getName()));
        return new DriverProcess(TestProcess.start(command), directory).awaitReady();
    }

    /** The same, but returns at once, so that several start at the same time: {@link #awaitReady} comes first. */
    public static DriverProcess launch(Path directory, String... properties) {
        return launch(FabricDriver.class, directory, properties);
    }

    /** The same of another program, which runs the driver. */
    public static DriverProcess launch(Class<?> main, Path directory, String... properties) {
        return launch(List.of(), main, directory, properties);
    }

    /**
     * The same behind a command that becomes the JVM.
     *
     * @param front for instance {@code env} and a variable.
     */
    public static DriverProcess launch(List<String> front, Class<?> main, Path directory, String... properties) {
        List<String> all = new ArrayList<>(List.of(
            "-Xmx256m",
            "agrona.disable.bounds.checks=true",
            "jfabric.dir.base=" + directory.getParent(),
            "jfabric.dir.name=" + directory.getFileName()));
        all.addAll(List.of(properties));
        List<String> command = new ArrayList<>(front);
        command.addAll(TestJvm.command(all, main));
        return new DriverProcess(TestProcess.start(command), directory);
    }

    /** Waits for the line that says it is ready, if that has not been seen. */
    public DriverProcess awaitReady() {
        if (!isReady) {
            process.awaitLine("jfabric driver ready");
            isReady = true;
        }
        return this;
    }

    /** What it printed so far. */
    public String output() {
        return process.output();
    }

    /** Writes a line to its input, and returns what follows that word in its answer. */
    public String ask(String question, String word) {
        process.say(question);
        return process.hear(word);
    }

    public Path directory() {
        return directory;
    }

    public Process process() {
        return process.process();
    }

    /** Ends it without a chance to clean up. */
    public void kill() {
        process.kill();
    }

    /** Ends it orderly. */
    @Override
    public void close() {
        process.process().destroy();
        process.ended();
    }
}
