package org.jfabric.driver.conformance;

import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.hostile.ChildClassPath;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A driver in a process of its own, with Agrona's bounds checks off, as users run it. */
public final class DriverProcess implements AutoCloseable {
    private final Process process;
    private final Path directory;
    private final StringBuffer output = new StringBuffer();

    private DriverProcess(Process process, Path directory) {
        this.process = process;
        this.directory = directory;
    }

    /** Starts a driver and waits for the line that says it is ready. */
    public static DriverProcess start(Path directory, String... properties) {
        DriverProcess result = launch(directory, properties);
        try {
            result.awaitReady();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return result;
    }

    /**
     * Starts a driver that must refuse to run, and waits for its end.
     *
     * @return what it said.
     */
    public static String refused(Path directory, String... properties) {
        DriverProcess result = launch(directory, properties);
        try {
            result.process.getOutputStream().close();
            String said = new String(result.process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!result.process.waitFor(20, TimeUnit.SECONDS) || result.process.exitValue() == 0) {
                result.kill();
                throw new AssertionError("the driver did not refuse: " + said);
            }
            return said;
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static DriverProcess launch(Path directory, String... properties) {
        List<String> command = new ArrayList<>(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED",
            "--enable-native-access=ALL-UNNAMED",
            "-Dagrona.disable.bounds.checks=true",
            "-Djfabric.dir.base=" + directory.getParent(),
            "-Djfabric.dir.name=" + directory.getFileName()));
        command.addAll(ChildClassPath.FLAGS);
        // options of the virtual machine begin with a hyphen, everything else is a property
        Arrays.stream(properties).map(each -> each.startsWith("-") ? each : "-D" + each).forEach(command::add);
        command.addAll(ChildClassPath.options());
        command.add(FabricDriver.class.getName());
        try {
            return new DriverProcess(new ProcessBuilder(command).redirectErrorStream(true).start(), directory);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** What it printed so far. */
    public String output() {
        return output.toString();
    }

    public Path directory() {
        return directory;
    }

    public Process process() {
        return process;
    }

    /** Ends it without a chance to clean up. */
    public void kill() {
        process.destroyForcibly();
        await();
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("the driver did not end: " + output);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void await() {
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void awaitReady() throws IOException {
        BufferedReader reader =
            new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            output.append(line).append('\n');
            if (line.contains("ready")) {
                Thread drain = new Thread(() -> reader.lines().forEach(more -> output.append(more).append('\n')));
                drain.setDaemon(true);
                drain.start();
                return;
            }
        }
        await();
        throw new AssertionError("the driver did not start: " + output);
    }
}
