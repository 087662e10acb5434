package org.jfabric.driver.hostile;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/** A client in a process of its own, so that it can be stopped and killed: {@link ChildMain} runs there. */
final class ChildClient implements AutoCloseable {
    private final Process process;
    private final ConcurrentLinkedQueue<String> lines = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<String> said = new ConcurrentLinkedQueue<>();

    ChildClient(String mode, Path directory, String... arguments) {
        List<String> command = new java.util.ArrayList<>(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED",
            "--enable-native-access=ALL-UNNAMED"));
        command.addAll(ChildClassPath.FLAGS);
        command.addAll(ChildClassPath.options());
        command.addAll(List.of(ChildMain.class.getName(), mode, directory.toString()));
        command.addAll(List.of(arguments));
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        Thread reader = new Thread(this::read, "child-reader");
        reader.setDaemon(true);
        reader.start();
    }

    private void read() {
        try (BufferedReader reader =
            new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                said.add(line);
                lines.add(line);
            }
        } catch (IOException e) {
            said.add(e.toString());
        }
    }

    /** The rest of the next line that begins with that word. */
    String await(String word) {
        return Await.value("\"" + word + "\" from the child, which said " + said, () -> {
            String line = lines.poll();
            return line != null && line.startsWith(word + ' ') ? line.substring(word.length() + 1) : null;
        });
    }

    List<String> said() {
        return List.copyOf(said);
    }

    void say(String line) {
        try {
            process.getOutputStream().write((line + '\n').getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new AssertionError("the child is gone, it said " + said, e);
        }
    }

    void kill() {
        process.destroyForcibly();
        awaitEnd();
    }

    void awaitEnd() {
        try {
            if (!process.waitFor(15, TimeUnit.SECONDS)) {
                throw new AssertionError("the child goes on, it said " + said);
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    Process process() {
        return process;
    }

    /** Sends STOP or CONT. */
    static void signal(Process target, String name) {
        try {
            Process kill = new ProcessBuilder("/bin/kill", "-" + name, Long.toString(target.pid())).start();
            if (kill.waitFor() != 0) {
                throw new AssertionError("kill -" + name + " " + target.pid() + " failed");
            }
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        if (process.isAlive()) {
            signal(process, "CONT");
            kill();
        }
    }
}
