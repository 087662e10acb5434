package org.jfabric.driver.qualify;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code ./fabric qualify}. */
@Command(
    name = "fabric qualify",
    mixinStandardHelpOptions = true,
    description = "Tries between two hosts all that the links of RDMA devices or of Ethernet have, beside libfabric's"
        + " fi_pingpong, and writes a report without names and addresses. First on the other host, with --serve, then"
        + " here. The exit status is 0 if no step failed.")
final class QualifyMain implements Callable<Integer> {
    private static final int CONNECT_MS = 10_000;
    private static final int GREETING_S = 10;

    @Option(names = "--peer", paramLabel = "HOST", required = true,
        description = "Address of the other host, IPv4, on the network that is tried.")
    private String peer;

    @Option(names = "--serve", description = "Serve the other host, which makes the steps.")
    private boolean isServing;

    @Option(names = "--device", paramLabel = "DEV",
        description = "RDMA device, as ibv_devices names it: verbs, verbsrxm and verbsud are tried.")
    private String device;

    @Option(names = "--interface", paramLabel = "IF",
        description = "Network interface: tcp, rxm, udp, packet and streams are tried. Default: the one that leads to"
            + " the other host.")
    private String networkInterface;

    @Option(names = "--only", paramLabel = "PATTERN", defaultValue = "",
        description = "Only steps in whose names the regular expression is found.")
    private String only;

    @Option(names = "--report", paramLabel = "FILE",
        description = "Default: qualify-DATE.md in the current folder.")
    private Path report;

    @Option(names = "--quick", description = "Few messages and tests: whether it works, not how fast.")
    private boolean isQuick;

    @Option(names = "--port", paramLabel = "PORT", defaultValue = "47591",
        description = "TCP port of the other host for the control connection, default ${DEFAULT-VALUE}.")
    private int port;

    private QualifyMain() {
    }

    public static void main(String[] args) {
        System.exit(new CommandLine(new QualifyMain()).setExecutionExceptionHandler((failure, command, parsed) -> {
            System.err.println("qualify: " + failure.getMessage());
            return 1;
        }).execute(args));
    }

    @Override
    public Integer call() throws IOException {
        InetAddress other = InetAddress.getByName(peer);
        if (!(other instanceof Inet4Address)) {
            throw new IllegalArgumentException("--peer is an address of IPv4");
        }
        Place place = Place.of(device, networkInterface, other);
        Privacy privacy = new Privacy(peer, other.getHostAddress(), place.host());
        try (Programs programs = new Programs(place, other.getHostAddress())) {
            if (isServing) {
                new ServingSide(place, other, privacy, programs).serve(port);
                return 0;
            }
            return call(place, other, privacy, programs);
        }
    }

    private int call(Place place, InetAddress other, Privacy privacy, Programs programs) throws IOException {
        Report result = new Report(privacy, device == null ? "Ethernet" : "RDMA devices");
        Path file = report == null ? Path.of("qualify-" + LocalDate.now() + ".md") : report;
        Socket socket = new Socket();
        socket.bind(new InetSocketAddress(place.address(), 0));
        socket.connect(new InetSocketAddress(other, port), CONNECT_MS);
        try (ControlLine line = new ControlLine(socket)) {
            line.say(ControlLine.GREETING);
            String greeting = line.hear(GREETING_S);
            if (!ControlLine.GREETING.equals(greeting)) {
                throw new IOException("the other host refuses this one, or has another version: " + greeting);
            }
            new QualifyRun(place, line, programs, result, Pattern.compile(only).asPredicate(), isQuick).run();
        }
        Files.writeString(file, Privacy.checked(result.text()));
        System.out.println("qualify: the report is in " + file);
        return result.count(Report.Outcome.FAILED) == 0 ? 0 : 1;
    }
}
