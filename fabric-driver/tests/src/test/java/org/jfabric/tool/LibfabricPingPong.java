package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestProcess;

/** The C program fi_pingpong, run against this project's own. */
public final class LibfabricPingPong {
    private static final long TIMEOUT_S = Deadline.s(60);
    private static final int FIRST_PORT = 12_000;
    private static final int PORTS = 16_000;
    /** Somewhere, for another run on the same machine. */
    private static final AtomicInteger NEXT_PORT = new AtomicInteger((int) (ProcessHandle.current().pid() * 7 % PORTS));
    private static final Path PROGRAM = Path.of("/usr/bin/fi_pingpong");

    private LibfabricPingPong() {
    }

    /** Output of both sides. */
    record Outcome(ToolRun java, int status, String c) {
    }

    /** Skips the test, with the reason, where the C program is not installed. */
    static void assumeInstalled() {
        assumeTrue(Files.isExecutable(PROGRAM),
            PROGRAM + " is not there: install the package libfabric-bin (apt-get install libfabric-bin)");
    }

    /**
     * Runs both.
     *
     * @param javaIsServer true if the Java program waits for the C program.
     * @param options      of both, with the provider as 1.18 and later call it.
     */
    static Outcome run(boolean javaIsServer, String... options) throws Exception {
        return runAt("127.0.0.1", javaIsServer, options);
    }

    /**
     * Runs both with IPv6.
     *
     * @param javaIsServer true if the Java program waits for the C program.
     * @param options      of both.
     */
    static Outcome runIn6(boolean javaIsServer, String... options) throws Exception {
        List<String> all = new ArrayList<>(List.of(options));
        all.add("-6");
        return runAt("::1", javaIsServer, all.toArray(String[]::new));
    }

    private static Outcome runAt(String host, boolean javaIsServer, String... options) throws Exception {
        assumeInstalled();
        int port = freePort();
        List<String> server = new ArrayList<>(List.of(options));
        server.addAll(List.of("-B", Integer.toString(port)));
        List<String> client = new ArrayList<>(List.of(options));
        client.addAll(List.of("-P", Integer.toString(port), host));
        if (javaIsServer) {
            CompletableFuture<ToolRun> java = CompletableFuture.supplyAsync(() -> tool(server));
            awaitListener(port, java);
            Process c = start(client);
            String said = await(c);
            return new Outcome(java.get(TIMEOUT_S, TimeUnit.SECONDS), c.exitValue(), said);
        }
        Process c = start(server);
        try {
            ToolRun java = tool(client);
            String said = await(c);
            return new Outcome(java, c.exitValue(), said);
        } finally {
            c.destroyForcibly();
        }
    }

    /** Both must have ended well and exchanged the same sizes. */
    static void assertExchanged(Outcome outcome, List<String> sizes) {
        String all = "java " + outcome.java() + ", C " + outcome.c();
        assertEquals(0, outcome.java().status(), all);
        assertEquals(0, outcome.status(), all);
        assertEquals(sizes, sizes(outcome.java().out()), all);
        assertEquals(sizes, sizes(outcome.c()), all);
    }

    private static List<String> sizes(String table) {
        return table.lines().filter(line -> line.matches("\\d.*")).map(line -> line.split("\\s+")[0]).toList();
    }

    private static ToolRun tool(List<String> options) {
        List<String> args = new ArrayList<>(List.of("fi-pingpong"));
        args.addAll(options);
        return ToolRun.of(args.toArray(String[]::new));
    }

    private static Process start(List<String> options) throws IOException {
        return start(named(options), Map.of());
    }

    /** Starts the program with these options. */
    static Process start(List<String> options, Map<String, String> environment) throws IOException {
        List<String> command = new ArrayList<>(List.of(PROGRAM.toString()));
        command.addAll(options);
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().putAll(environment);
        return builder.start();
    }

    /** Options with the provider as the installed version calls it. */
    private static List<String> named(List<String> options) {
        List<String> named = new ArrayList<>(options);
        int provider = named.indexOf("-p") + 1;
        if (named.get(provider).equals("packet")) {
            named.set(provider, "udp");
        } else if (named.get(provider).equals("tcp;ofi_rxm") && IsOld.VALUE) {
            named.set(provider, "tcp");
        } else if (named.get(provider).equals("tcp") && named.contains("rdm") && IsOld.VALUE) {
            named.set(provider, "net");
        }
        return named;
    }

    private static String await(Process c) throws Exception {
        CompletableFuture<String> said = CompletableFuture.supplyAsync(() -> {
            try {
                return new String(c.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException ex) {
                throw new AssertionError(ex);
            }
        });
        try {
            if (!c.waitFor(TIMEOUT_S, TimeUnit.SECONDS)) {
                throw new AssertionError("the C program did not end");
            }
            return said.get(TIMEOUT_S, TimeUnit.SECONDS);
        } finally {
            c.destroyForcibly();
        }
    }

    /** The C program tries to connect only once, so it must not come too early. */
    static void awaitListener(int port, CompletableFuture<?> server) throws IOException {
        String hex = String.format(":%04X ", port);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_S);
        while (sockets().stream().noneMatch(line -> line.contains(hex)
            && line.contains(" 0A "))) {
            if (server.isDone() || System.nanoTime() - deadline > 0) {
                throw new AssertionError("no process listens at port " + port + ": " + server.getNow(null));
            }
            Thread.yield();
        }
    }

    private static List<String> sockets() throws IOException {
        List<String> lines = new ArrayList<>(Files.readAllLines(Path.of("/proc/net/tcp")));
        lines.addAll(Files.readAllLines(Path.of("/proc/net/tcp6")));
        return lines;
    }

    /**
     * A port at which no process listens. It is none of those that the kernel gives to others meanwhile, and each of
     * the test's virtual machines has a range of its own.
     */
    static int freePort() {
        for (int tries = 0; tries < PORTS; tries++) {
            int port = FIRST_PORT + NEXT_PORT.getAndIncrement() % PORTS;
            try (ServerSocket socket = new ServerSocket(port)) {
                return socket.getLocalPort();
            } catch (IOException taken) {
                continue;
            }
        }
        throw new AssertionError("no port from " + FIRST_PORT + " on is free");
    }

    /** Asked for once, by the first test that needs it. */
    private static final class IsOld {
        /** Whether it is 1.17 or older. */
        static final boolean VALUE = TestProcess.run("/usr/bin/fi_info", "--version").output().lines()
            .anyMatch(line -> line.matches("libfabric: 1\\.(\\d|1[0-7])\\..*"));
    }
}
