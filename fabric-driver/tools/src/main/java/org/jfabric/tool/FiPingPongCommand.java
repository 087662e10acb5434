package org.jfabric.tool;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jfabric.ffi.NativeAccess;
import org.jfabric.info.EndpointType;
import org.jfabric.info.SocketName;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Server or client of libfabric's fi_pingpong; the other side may be the C program. */
@Command(
    name = "fi-pingpong",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = {
        "Plays one side of libfabric's fi_pingpong; the other side is the C program or this one.",
        "Without SERVER it waits for a client. Both sides need the same -p, -e, -m, -S, -I and -c.",
        "Providers: udp or, for the same wire by link packet, packet (-e dgram); tcp (-e msg or rdm);"
            + " tcp;ofi_rxm (-e rdm); verbs (-e msg, rdm or dgram);"
            + " verbs;ofi_rxm (-e rdm).",
        "They mean what libfabric 1.18 and later mean by them. A C program of 1.17 calls tcp with -e rdm net, which"
            + " may be written here as well, and tcp;ofi_rxm tcp."
    })
final class FiPingPongCommand implements Callable<Integer> {
    private static final int LARGEST_PORT = 0xffff;

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", arity = "0..1", paramLabel = "SERVER", description = "Host of the server.")
    private String server;

    @Option(names = "-p", paramLabel = "PROVIDER", defaultValue = "udp",
        description = "Provider as libfabric calls it. Default: ${DEFAULT-VALUE}.")
    private String provider;

    @Option(names = "-e", paramLabel = "TYPE", defaultValue = "dgram",
        description = "Endpoint type: msg, rdm or dgram. Default: ${DEFAULT-VALUE}.")
    private String type;

    @Option(names = "-m", paramLabel = "MODE", defaultValue = "msg",
        description = "msg: untagged messages. tagged: tag 1234. Default: ${DEFAULT-VALUE}.")
    private String mode;

    @Option(names = "-I", paramLabel = "N", defaultValue = "10",
        description = "Messages in each direction for each size. Default: ${DEFAULT-VALUE}.")
    private int iterations;

    @Option(names = "-S", paramLabel = "BYTES",
        description = "One size, several with commas between them (the C program takes one), or all. One that is given"
            + " twice is measured twice: the second time everything is warm."
            + " Default: 64, 256, 1024, 4096, 65536, 1048576.")
    private String size;

    @Option(names = "-c", description = "Write contents and compare them.")
    private boolean check;

    @Option(names = "-B", paramLabel = "PORT",
        description = "Own control port. Default: " + FiPingPongControl.PORT + " of a server, any of a client.")
    private Integer ownPort;

    @Option(names = "-P", paramLabel = "PORT", defaultValue = "" + FiPingPongControl.PORT,
        description = "Control port of the server. Default: ${DEFAULT-VALUE}.")
    private int serverPort;

    @Option(names = "-d", paramLabel = "DOMAIN",
        description = "Domain of the C program; accepted and ignored: the link decides.")
    private String domain;

    @Option(names = "-6",
        description = "Accept the control connection by IPv6; the addresses of the messages follow it.")
    private boolean ipv6;

    @Option(names = "-v", description = "Print the addresses, the link, and why other links are not used.")
    private boolean verbose;

    @Option(names = "--bind", paramLabel = "HOST",
        description = "Address of this host for the messages. Default: of a server the one that the client has"
            + " connected to, of a client the one that leads to the server.")
    private String bind;

    @Option(names = "--timeout", paramLabel = "SECONDS", defaultValue = "30",
        description = "How long a message may take; a server that does not answer is waited for 5 s at most."
            + " Default: ${DEFAULT-VALUE}.")
    private int timeoutSeconds;

    @Override
    public Integer call() {
        NativeAccess.check();
        FiPingPongPlan plan = plan();
        if (ownPort != null) {
            inRange("-B", ownPort, 1, LARGEST_PORT);
        }
        inRange("-P", serverPort, 1, LARGEST_PORT);
        boolean isClient = server != null;
        try (FiPingPongControl control = isClient
                ? FiPingPongControl.connect(server, serverPort, ownPort == null ? 0 : ownPort,
                    TimeUnit.SECONDS.toNanos(timeoutSeconds))
                : FiPingPongControl.accept(ownPort == null ? FiPingPongControl.PORT : ownPort, ipv6, this::waits);
            TemporaryDirectory directory = TemporaryDirectory.create(Collections.max(plan.sizes()))) {
            run(plan, isClient, control, directory);
        }
        return 0;
    }

    private void run(FiPingPongPlan plan, boolean isClient, FiPingPongControl control, TemporaryDirectory directory) {
        String remote = isClient ? control.receiveName() : null;
        try (FiPingPongEndpoint endpoint = FiPingPongEndpoint.open(plan, directory.path().resolve("driver"),
            source(isClient, control), remote, TimeUnit.SECONDS.toNanos(timeoutSeconds))) {
            control.meanwhile(endpoint::cycle);
            if (plan.type() == EndpointType.MSG) {
                connect(isClient, control, endpoint, remote);
            } else {
                control.sendName(endpoint.name());
                remote = isClient ? remote : control.receiveName();
                endpoint.peer(remote);
            }
            printIfVerbose("path " + endpoint.path().explain().stripTrailing());
            new FiPingPongRun(plan, isClient, control, endpoint, spec.commandLine().getOut()).run();
        }
    }

    /** Only the server has an address to send. */
    private void connect(boolean isClient, FiPingPongControl control, FiPingPongEndpoint endpoint, String remote) {
        if (isClient) {
            endpoint.connect(remote);
        } else {
            control.sendName(endpoint.name());
            endpoint.accept();
        }
    }

    /** Says where the server can be reached, so that it is clear what the client has to be given. */
    private void waits(int port) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("waiting for a client at port " + port + (port == FiPingPongControl.PORT ? "" : " (-P " + port
            + " of the client)") + ", provider " + provider + ", type " + type + ", mode " + mode);
        err.flush();
    }

    private void printIfVerbose(String line) {
        if (verbose) {
            spec.commandLine().getErr().println(line);
        }
    }

    /** Returns the address to bind to; null if the link chooses one by the destination. */
    private String source(boolean isClient, FiPingPongControl control) {
        if (bind != null) {
            return SocketName.ofHost(bind, "0");
        }
        return isClient ? null : SocketName.of(new InetSocketAddress(control.localAddress(), 0)).toString();
    }

    private FiPingPongPlan plan() {
        oneOf("-e", type, List.of("msg", "rdm", "dgram"));
        oneOf("-m", mode, List.of("msg", "tagged"));
        EndpointType endpointType = EndpointType.valueOf(type.toUpperCase(Locale.ROOT));
        if (FiPingPongPlan.link(provider, endpointType) == null) {
            throw new ParameterException(spec.commandLine(), "Invalid values for options '-p' and '-e': \"" + provider
                + "\" with " + type + " is not one of " + FiPingPongPlan.combinations());
        }
        if (mode.equals("tagged") && !FiPingPongPlan.hasTags(provider, endpointType)) {
            throw new ParameterException(spec.commandLine(), "Invalid value for option '-m': messages of " + provider
                + " with " + type + " have no tags; use -m msg, or "
                + (FiPingPongPlan.link(provider, EndpointType.RDM) == null ? "-p tcp " : "") + "-e rdm");
        }
        inRange("-I", iterations, 1, Integer.MAX_VALUE);
        inRange("--timeout", timeoutSeconds, 1, Integer.MAX_VALUE);
        return new FiPingPongPlan(
            provider, endpointType, mode.equals("tagged"), iterations, sizes(),
            check);
    }

    private List<Long> sizes() {
        if (size == null) {
            return FiPingPongPlan.usualSizes();
        }
        if (size.equals("all")) {
            return FiPingPongPlan.allSizes();
        }
        List<Long> sizes = new ArrayList<>();
        for (String one : size.split(",", -1)) {
            try {
                sizes.add(Long.parseLong(one));
            } catch (NumberFormatException ex) {
                throw new ParameterException(spec.commandLine(),
                    "Invalid value for option '-S': \"" + one + "\" is neither a number nor all", ex);
            }
            inRange("-S", sizes.getLast(), 0, FiPingPongPlan.allSizes().getLast());
        }
        return sizes;
    }

    private void oneOf(String option, String value, List<String> allowed) {
        if (!allowed.contains(value)) {
            throw new ParameterException(spec.commandLine(), "Invalid value for option '" + option + "': \"" + value
                + "\" is not one of " + String.join(", ", allowed));
        }
    }

    private void inRange(String option, long value, long least, long most) {
        if (value < least || value > most) {
            throw new ParameterException(spec.commandLine(), String.format(Locale.ROOT,
                "Invalid value for option '%s': %d is not from %d to %d", option, value, least, most));
        }
    }
}
