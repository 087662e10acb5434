package org.jfabric.driver.qualify;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.jfabric.tool.FabricTool;

/** The programs that this host can start for a step, and their command lines. */
final class Programs implements AutoCloseable {
    private static final int PING_PONG_PORT = 47592;
    private static final int PERFTEST_PORT = 18515;
    /** Sizes that are measured are repeated: the first times are those of the compilers. */
    private static final int REPEATS = 4;

    private final Place place;
    private final String peer;
    private final Path base = TestDirectory.create();
    private int started;

    Programs(Place place, String peer) {
        this.place = place;
        this.peer = peer;
    }

    /** Why the program cannot be started here, or null. */
    String missing(Request.Part part) {
        String program = switch (part) {
            case THEIRS -> "fi_pingpong";
            case IB_SEND_LAT -> "ib_send_lat";
            case IB_WRITE_LAT -> "ib_write_lat";
            default -> null;
        };
        if (program == null || Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)))) {
            return null;
        }
        return program + " is not on the path of this host; install "
            + (part == Request.Part.THEIRS ? "libfabric-bin" : "perftest");
    }

    /** Starts the side that waits, and waits until it can be called. */
    TestProcess serve(Request request) throws IOException {
        TestProcess process = TestProcess.start(builder(request, false, null));
        switch (request.part()) {
            case OURS -> process.awaitLine("waiting for a client");
            case THEIRS -> awaitListener(PING_PONG_PORT, process);
            case PEER, STREAM -> { }
            default -> awaitListener(PERFTEST_PORT, process);
        }
        return process;
    }

    /**
     * Starts the side that calls.
     *
     * @param name what the other side has said that it is called, of PEER and STREAM.
     */
    TestProcess call(Request request, String name) throws IOException {
        return TestProcess.start(builder(request, true, name));
    }

    private ProcessBuilder builder(Request request, boolean calls, String name) throws IOException {
        return switch (request.part()) {
            case OURS -> new ProcessBuilder(ours(request, calls));
            case THEIRS -> theirs(request, calls);
            case PEER -> new ProcessBuilder(java(PeerMain.class,
                !calls ? "serve" : request.isChecked() ? "measure" : "lose", request.exchange().link,
                place.host(), driver(), Integer.toString(request.count()), name == null ? "" : name));
            case STREAM -> new ProcessBuilder(java(StreamMain.class, calls ? "write" : "read",
                calls ? place.host() : peer, driver(), Integer.toString(request.count())));
            default -> perftest(request, calls);
        };
    }

    /** Where this run keeps its files. */
    File folder() {
        return base.toFile();
    }

    private String driver() {
        return base.resolve("driver" + started++).toString();
    }

    /** As this process was started: the same java, options and classes. */
    static List<String> java(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(TestJvm.java().toString()));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(option -> !option.startsWith("-agentlib")).forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    private List<String> ours(Request request, boolean calls) {
        List<String> command = java(FabricTool.class, "fi-pingpong", "-p", request.exchange().provider,
            "-e", request.exchange().type, "-I", Integer.toString(request.count()), "--timeout", "60");
        // ports of InfiniBand have no GID with their address
        if (request.exchange() != Exchange.VERBS_DGRAM || place.gid() > 0) {
            command.addAll(List.of("--bind", place.host()));
        }
        if (request.isChecked()) {
            command.add("-c");
        }
        if (request.sizeBytes() > 0) {
            command.addAll(List.of("-S", (request.sizeBytes() + ",").repeat(REPEATS - 1) + request.sizeBytes()));
        }
        if (calls) {
            command.add(peer);
        }
        return command;
    }

    private ProcessBuilder theirs(Request request, boolean calls) {
        Exchange exchange = request.exchange();
        List<String> command = new ArrayList<>(List.of("fi_pingpong", "-p",
            isOf117() ? exchange.providerOf117() : exchange.providerOfC(), "-e", exchange.type,
            "-I", Integer.toString(request.count())));
        if (request.isChecked()) {
            command.add("-c");
        }
        if (request.sizeBytes() > 0) {
            command.addAll(List.of("-S", Integer.toString(request.sizeBytes())));
        }
        if (exchange == Exchange.VERBS_DGRAM) {
            command.addAll(List.of("-d", place.device() + "-dgram"));
        }
        if (calls) {
            command.add(peer);
        }
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(Map.of("FI_TCP_IFACE", place.networkInterface(),
            "FI_NET_IFACE", place.networkInterface(), "FI_UDP_IFACE", place.networkInterface(),
            "FI_VERBS_IFACE", place.networkInterface(), "FI_VERBS_GID_IDX", Integer.toString(place.gid()),
            // few entries of completion queues: some devices have no more
            "FI_UNIVERSE_SIZE", "8"));
        return builder;
    }

    private ProcessBuilder perftest(Request request, boolean calls) {
        List<String> command = new ArrayList<>(List.of(
            request.part() == Request.Part.IB_SEND_LAT ? "ib_send_lat" : "ib_write_lat", "-F", "-d", place.device(),
            "-x", Integer.toString(place.gid()), "-s", Integer.toString(request.sizeBytes()),
            "-n", Integer.toString(request.count())));
        if (calls) {
            command.add(peer);
        }
        return new ProcessBuilder(command);
    }

    /** 1.17 has other names for some providers. */
    private static boolean isOf117() {
        return libfabricVersion().startsWith("1.17.");
    }

    /** Version of the C library, or what is missing. */
    static String libfabricVersion() {
        try {
            return TestProcess.run("fi_info", "--version").output().lines()
                .filter(line -> line.startsWith("libfabric: ")).map(line -> line.substring("libfabric: ".length()))
                .findFirst().orElse("unknown");
        } catch (AssertionError none) {
            return "not installed";
        }
    }

    /** Programs of C try to connect only once. */
    private static void awaitListener(int port, TestProcess process) {
        String socket = String.format(":%04X [0-9A-F]*:0000 0A ", port);
        Pattern pattern = Pattern.compile(socket);
        Deadline.awaitParked(() -> "port " + port + " of " + process, () -> !process.isAlive()
            || Stream.of("tcp", "tcp6").anyMatch(each -> pattern.matcher(text(each)).find()));
    }

    private static String text(String table) {
        try {
            return Files.readString(Path.of("/proc/net", table));
        } catch (IOException none) {
            return "";
        }
    }

    @Override
    public void close() {
        TestDirectory.delete(base);
    }
}
