package org.jfabric.tool;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A process of this program's own commands: same java, same flags, and the same class path unless another one is given.
 * It takes lines on its standard input. The marked lines of its standard output become {@link Line}s in a queue, all
 * other output goes to the standard error. Owner: any thread.
 */
public final class ChildJvm implements AutoCloseable {
    private static final String ADD_OPENS = "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED";
    private static final String NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED";
    private static final long QUIT_MS = 3_000;
    private static final long TERMINATE_MS = 1_000;

    /**
     * Something a child said.
     *
     * @param text  without the mark; null when it has ended.
     */
    public record Line(ChildJvm child, String text) {
    }

    private final String title;
    private final Process process;
    private final BufferedWriter input;
    private final Thread reader;

    /**
     * Starts a process.
     *
     * @param arguments of {@link FabricTool}.
     * @param lines     receives them, and at last one without text.
     */
    public ChildJvm(String title, List<String> arguments, String mark, BlockingQueue<Line> lines) {
        this(title, new ProcessBuilder(command(arguments)), mark, lines);
    }

    /**
     * Starts a process of other classes, or through another program.
     *
     * @param prefix    words in front of the command line: a program that ends by executing it, such as
     *                  {@code ip netns exec NAME}; empty for none.
     * @param classPath of the process; null for this one's own.
     * @param arguments of {@link FabricTool}.
     * @param lines     receives them, and at last one without text.
     */
    public ChildJvm(
        String title,
        List<String> prefix,
        List<String> flags,
        String classPath,
        List<String> arguments,
        String mark,
        BlockingQueue<Line> lines) {
        this(title, new ProcessBuilder(Stream.concat(
            prefix.stream(), command(flags, classPath, arguments).stream()).toList()), mark, lines);
    }

    private ChildJvm(String title, ProcessBuilder builder, String mark, BlockingQueue<Line> lines) {
        this.title = title;
        try {
            process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        } catch (IOException ex) {
            throw new ToolException("The process " + title + " cannot be started: " + ex.getMessage() + '.', ex);
        }
        input = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        reader = new Thread(() -> read(mark, lines), title);
        reader.setDaemon(true);
        reader.start();
    }

    /** Name of the process in messages. */
    public String title() {
        return title;
    }

    /**
     * Writes a line to the process's input. If the process has ended the line is dropped; the queue of lines reports
     * the end.
     *
     * @param line without its end.
     */
    public synchronized void send(String line) {
        try {
            input.write(line);
            input.newLine();
            input.flush();
        } catch (IOException ex) {
            // Broken pipe: its end is reported by the reader, with the exit status.
            return;
        }
    }

    /** Describes how the process ended, for example {@code exit status 1}. */
    public String end() {
        if (process.isAlive()) {
            return "still running";
        }
        int status = process.exitValue();
        return status > 128 ? "signal " + (status - 128) : "exit status " + status;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Number of the process, also after its end. */
    public long pid() {
        return process.pid();
    }

    /** Ends it at once. */
    public void kill() {
        process.destroyForcibly();
    }

    /** Ends the process: by a command, then by SIGTERM, then by SIGKILL. Returns when it is gone. */
    @Override
    public void close() {
        send("quit");
        try {
            if (!process.waitFor(QUIT_MS, TimeUnit.MILLISECONDS)) {
                process.destroy();
                if (!process.waitFor(TERMINATE_MS, TimeUnit.MILLISECONDS)) {
                    process.destroyForcibly().waitFor();
                }
            }
            reader.join(TERMINATE_MS);
        } catch (InterruptedException ex) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    /**
     * The command line of a child.
     *
     * @param arguments of {@link FabricTool}.
     * @return java, flags, then the jar or class path and main class, arguments.
     */
    static List<String> command(List<String> arguments) {
        return command(List.of(), null, arguments);
    }

    private static List<String> command(List<String> flags, String otherClassPath, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            // Only one process can have a debugger's port and a flight recorder's file.
            if (!flag.startsWith("-agentlib:jdwp") && !flag.startsWith("-Xrunjdwp")
                && !flag.startsWith("-XX:StartFlightRecording")) {
                command.add(flag);
            }
        }
        String classPath = otherClassPath == null ? System.getProperty("java.class.path") : otherClassPath;
        // Started like this process: an archive of classes among its flags fits only the same way of starting.
        if (otherClassPath == null && isRunnableJar(classPath)) {
            command.add("-jar");
            command.add(classPath);
        } else {
            // For a runnable jar, java takes these from the manifest; for a class path it does not.
            command.add(ADD_OPENS);
            command.add(NATIVE_ACCESS);
            command.add("-cp");
            command.add(classPath);
            command.add(FabricTool.class.getName());
        }
        command.addAll(arguments);
        return command;
    }

    /** Returns true if this process runs a jar: java then names the jar in place of the main class. */
    private static boolean isRunnableJar(String classPath) {
        String started = System.getProperty("sun.java.command", "");
        return !classPath.isEmpty() && (started + ' ').startsWith(classPath + ' ');
    }

    private void read(String mark, BlockingQueue<Line> lines) {
        try (BufferedReader output = new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            String line;
            while ((line = output.readLine()) != null) {
                if (line.startsWith(mark)) {
                    lines.add(new Line(this, line.substring(mark.length())));
                } else {
                    System.err.println(title + ": " + line);
                }
            }
        } catch (IOException ex) {
            System.err.println(title + ": its output cannot be read: " + ex.getMessage());
        } finally {
            try {
                process.waitFor(QUIT_MS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
            lines.add(new Line(this, null));
        }
    }
}
