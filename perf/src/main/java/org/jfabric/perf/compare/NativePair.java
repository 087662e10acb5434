package org.jfabric.perf.compare;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jfabric.tool.ToolException;

/**
 * A test program of C that is started twice, as a server and as a client that reports. Each process is bound to its
 * core. Two snapshots are taken of each while it runs; a snapshot takes a few microseconds.
 */
final class NativePair {
    private static final String BINDER = "taskset";
    /** A server whose client never comes waits for ever, so each program ends with the thread that started it. */
    private static final List<String> TIE = List.of("setpriv", "--pdeathsig", "KILL");
    private static final long LISTEN_TIMEOUT_NS = 10_000_000_000L;
    private static final long END_TIMEOUT_S = 120;
    /** A look at the kernel's table of sockets takes some milliseconds, in which the program that starts waits. */
    private static final long POLL_MS = 10;
    private static final double FIRST_SNAPSHOT = 0.3;
    private static final double SECOND_SNAPSHOT = 0.8;

    private final String title;
    private final RigSettings settings;
    private final Map<String, String> environment;

    /**
     * Result of a run.
     *
     * @param cpuShare    cores that both used together, not a number if they ended before the snapshots were taken.
     * @param memoryBytes resident memory of both, 0 if they ended before.
     */
    record Outcome(String output, double cpuShare, double memoryBytes) {
    }

    /** Resources that a process has used so far. */
    private record Snapshot(long atNs, long cpuNs, long memoryBytes) {
        static Snapshot of(Process process) {
            return new Snapshot(System.nanoTime(),
                PassLoad.cpuNs(process.pid()),
                PassLoad.memoryBytes(process.pid()));
        }
    }

    NativePair(String title, RigSettings settings, Map<String, String> environment) {
        this.title = title;
        this.settings = settings;
        this.environment = environment;
    }

    /**
     * Runs both to their end.
     *
     * @param expectedNs approximate run time of the client in nanoseconds.
     */
    Outcome run(List<String> server, List<String> client, int port, long expectedNs) throws InterruptedException {
        Process listening = start(server, settings.pongCpu());
        try {
            awaitListener(listening, port);
            Process measuring = start(client, settings.pingCpu());
            try {
                return watch(listening, measuring, expectedNs);
            } finally {
                measuring.destroyForcibly().waitFor();
            }
        } finally {
            listening.destroyForcibly().waitFor();
        }
    }

    private Outcome watch(Process server, Process client, long expectedNs) throws InterruptedException {
        CompletableFuture<String> output = read(client);
        CompletableFuture<String> serverOutput = read(server);
        boolean ended = client.waitFor((long) (expectedNs * FIRST_SNAPSHOT), TimeUnit.NANOSECONDS);
        Snapshot client0 = Snapshot.of(client);
        Snapshot server0 = Snapshot.of(server);
        ended = ended || client.waitFor((long) (expectedNs * (SECOND_SNAPSHOT - FIRST_SNAPSHOT)), TimeUnit.NANOSECONDS);
        Snapshot client1 = Snapshot.of(client);
        Snapshot server1 = Snapshot.of(server);
        // A process may be gone although it was not seen to end.
        boolean seen = !ended && client1.memoryBytes > 0 && server1.memoryBytes > 0;
        if (!client.waitFor(END_TIMEOUT_S, TimeUnit.SECONDS)) {
            throw new ToolException(title + " did not end within " + END_TIMEOUT_S + " s.");
        }
        String text = join(output);
        if (client.exitValue() != 0) {
            throw new ToolException(title + " ended with status " + client.exitValue() + ": "
                + (text + ' ' + (server.isAlive() ? "" : join(serverOutput))).strip().replaceAll("\\s*\\R\\s*", " "));
        }
        if (!seen) {
            return new Outcome(text, Double.NaN, 0);
        }
        return new Outcome(text, cpuShare(client0, client1) + cpuShare(server0, server1),
            client1.memoryBytes + server1.memoryBytes);
    }

    private static double cpuShare(Snapshot from, Snapshot to) {
        return Math.min(1, (double) (to.cpuNs - from.cpuNs) / (to.atNs - from.atNs));
    }

    /** The command with what ties it to this process and to a core, as far as these programs are installed. */
    static List<String> bound(List<String> command, int cpu) {
        List<String> bound = new ArrayList<>();
        if (Programs.find(TIE.getFirst()) != null) {
            bound.addAll(TIE);
        }
        if (Programs.find(BINDER) != null) {
            bound.addAll(List.of(BINDER, "-c", Integer.toString(cpu)));
        }
        bound.addAll(command);
        return bound;
    }

    private Process start(List<String> command, int cpu) {
        ProcessBuilder builder = new ProcessBuilder(bound(command, cpu)).redirectErrorStream(true);
        builder.environment().putAll(environment);
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            return process;
        } catch (IOException ex) {
            throw new ToolException(title + " cannot be started: " + ex.getMessage() + '.', ex);
        }
    }

    private static CompletableFuture<String> read(Process process) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException ex) {
                return ex.toString();
            }
        });
    }

    private String join(CompletableFuture<String> output) throws InterruptedException {
        try {
            return output.get();
        } catch (ExecutionException ex) {
            throw new ToolException("The output of " + title + " cannot be read: " + ex.getCause() + '.', ex);
        }
    }

    private void awaitListener(Process server, int port) throws InterruptedException {
        long deadline = System.nanoTime() + LISTEN_TIMEOUT_NS;
        while (!isListening(port)) {
            if (!server.isAlive()) {
                throw new ToolException(title + "'s server ended with status " + server.exitValue() + ": "
                    + join(read(server)).strip().replaceAll("\\s*\\R\\s*", " "));
            }
            if (System.nanoTime() - deadline > 0) {
                throw new ToolException(title + "'s server did not listen within 10 s.");
            }
            Thread.sleep(POLL_MS);
        }
    }

    private static boolean isListening(int port) {
        String wanted = String.format(Locale.ROOT, ":%04X ", port);
        for (String table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            try {
                for (String line : Files.readAllLines(Path.of(table))) {
                    // local address, remote address, state: 0A listens
                    String[] words = line.strip().split("\\s+");
                    if (words.length > 3 && (words[1] + ' ').endsWith(wanted) && words[3].equals("0A")) {
                        return true;
                    }
                }
            } catch (IOException ex) {
                continue;
            }
        }
        return false;
    }
}
