package org.jfabric.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A process that a test started: all that it says is read at once and kept, errors too, so that it never waits for the
 * test, and a failure can show it. Whatever is awaited of it has a {@link Deadline}. It is ended by its handle.
 */
public final class TestProcess implements AutoCloseable {
    private static final long END_S = 30;

    private final Process process;
    private final List<String> lines = new ArrayList<>();
    private final Thread reader;
    /** Of the next line that nobody has awaited. */
    private int next;
    private boolean hasSaidAll;

    private TestProcess(Process process) {
        this.process = process;
        reader = new Thread(this::read, "output of process " + process.pid());
        reader.setDaemon(true);
        reader.start();
    }

    public static TestProcess start(List<String> command) {
        return start(new ProcessBuilder(command));
    }

    /** With an environment or a directory of its own. */
    public static TestProcess start(ProcessBuilder builder) {
        try {
            return new TestProcess(TestLeftovers.mark(builder).redirectErrorStream(true).start());
        } catch (IOException e) {
            throw new AssertionError("cannot start " + builder.command(), e);
        }
    }

    /** Runs a program that ends by itself and asks for nothing. */
    public static TestProcess run(String... command) {
        return start(List.of(command)).ended();
    }

    private void read() {
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                say(line, false);
            }
        } catch (IOException e) {
            say(e.toString(), false);
        } finally {
            say(null, true);
        }
    }

    private synchronized void say(String line, boolean isLast) {
        if (line != null) {
            lines.add(line);
        }
        hasSaidAll |= isLast;
        notifyAll();
    }

    /** The next line that begins so; those in front of it are passed over. */
    public synchronized String awaitLine(String begin) {
        Deadline deadline = Deadline.in(END_S);
        while (true) {
            while (next < lines.size()) {
                String line = lines.get(next++);
                if (line.startsWith(begin)) {
                    return line;
                }
            }
            String what = "a line \"" + begin + "...\" of process " + process.pid();
            if (hasSaidAll) {
                throw new AssertionError("ended without " + what + ": " + this);
            }
            deadline.check(what, this::toString);
            try {
                wait(deadline.leftMs());
            } catch (InterruptedException e) {
                throw new AssertionError("interrupted while waiting for " + what + ": " + this, e);
            }
        }
    }

    /** What follows that word in the next line that begins with it. */
    public String hear(String word) {
        return awaitLine(word + ' ').substring(word.length() + 1);
    }

    /** Writes a line to its input. */
    public void say(String line) {
        try {
            process.getOutputStream().write((line + '\n').getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new AssertionError("does not listen any more: " + this, e);
        }
    }

    /** Waits for its end, and until all that it said was read. */
    public TestProcess ended() {
        return ended(END_S);
    }

    /** The same within so many seconds of a quiet machine. */
    public TestProcess ended(long seconds) {
        try {
            if (!process.waitFor(Deadline.ns(seconds), TimeUnit.NANOSECONDS)) {
                String state = toString();
                process.destroyForcibly();
                throw new AssertionError("did not end within " + Deadline.s(seconds) + " s: " + state);
            }
            // what it has started may hold its output open, which is not waited for long
            reader.join(Deadline.ms(1));
        } catch (InterruptedException e) {
            process.destroyForcibly();
            throw new AssertionError("interrupted while waiting for the end of " + this, e);
        }
        return this;
    }

    /** Status of a process that has {@link #ended}. */
    public int status() {
        return process.exitValue();
    }

    /** What it said; fails unless its status is 0. */
    public String succeeded() {
        ended();
        if (status() != 0) {
            throw new AssertionError("failed: " + this);
        }
        return output();
    }

    /** Ends it with no chance to clean up. */
    public void kill() {
        process.destroyForcibly();
        ended();
    }

    /** Sends a signal of that name; behind STOP the process runs no more. */
    public static void signal(Process target, String name) {
        run("/bin/kill", '-' + name, Long.toString(target.pid())).succeeded();
        if (name.equals("STOP")) {
            // on a busy machine its threads run on for a while
            Deadline.awaitParked("process " + target.pid() + " stops", () -> !runs(target.pid()));
        }
    }

    private static boolean runs(long pid) {
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
            for (Path thread : threads.toList()) {
                String stat = Files.readString(thread.resolve("stat"));
                if ("RSD".indexOf(stat.charAt(stat.lastIndexOf(')') + 2)) >= 0) {
                    return true;
                }
            }
            return false;
        } catch (IOException ended) {
            // of a thread alone, or of all
            return Files.exists(Path.of("/proc", Long.toString(pid)));
        }
    }

    public Process process() {
        return process;
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** All lines so far. */
    public synchronized List<String> lines() {
        return List.copyOf(lines);
    }

    /** All lines so far, each with its end. */
    public String output() {
        StringBuilder text = new StringBuilder();
        lines().forEach(line -> text.append(line).append('\n'));
        return text.toString();
    }

    @Override
    public String toString() {
        return "process " + process.pid() + (isAlive() ? " is up" : " has ended with " + process.exitValue())
            + ", said:\n" + output();
    }

    /** Kills it if it is still there, also if it is stopped. */
    @Override
    public void close() {
        if (isAlive()) {
            kill();
        }
    }
}
