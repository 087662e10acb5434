package org.jfabric.tool;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;

import org.jfabric.ffi.CpuQuota;
import org.jfabric.ffi.NativeAccess;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Exchanges tagged messages between two processes, compares their contents and measures the time. */
@Command(
    name = "pingpong",
    mixinStandardHelpOptions = true,
    versionProvider = ToolVersion.class,
    description = {
        "Exchanges tagged messages between two processes: compares their contents, then measures the time.",
        "Times are half a round trip. The mean is that of a pass without clocks per message; percentiles and maximum"
            + " come from a pass with a clock around each round trip, which costs a little."
    })
final class PingPongCommand implements Callable<Integer> {
    private static final long LARGEST_BYTES = 1L << 30;
    private static final long MOST_ROUNDS = 10_000_000_000L;
    private static final int MOST_TIMES = 1_000_000;
    private static final Set<String> ENCRYPTED = Set.of(PingPongPlan.TLS, PingPongPlan.TLS_RXM);

    @Spec
    private CommandSpec spec;

    @Option(
        names = "--link",
        paramLabel = "LINK",
        defaultValue = PingPongPlan.SHM,
        description = "loopback: both use one driver. shm, best, tcp, tls, tlsrxm, verbs: each has its own driver;"
            + " best: the best link that both have; verbs: reliable datagrams of RDMA devices."
            + " Default: ${DEFAULT-VALUE}.")
    private String link;

    @Option(
        names = "--mode",
        paramLabel = "MODE",
        defaultValue = PingPongPlan.EMBEDDED,
        description = "embedded: drivers run in the two processes. daemon: drivers are processes of their own."
            + " Default: ${DEFAULT-VALUE}.")
    private String mode;

    @Option(
        names = "--size",
        paramLabel = "BYTES",
        split = ",",
        defaultValue = "64",
        converter = ByteSizeConverter.class,
        description = "Payload of a message, 0 to 1GiB. Several are measured one after the other by the same processes."
            + " Default: ${DEFAULT-VALUE}.")
    private List<Long> sizes;

    @Option(
        names = "--count",
        paramLabel = "N",
        description = "Round trips in each pass. Default: as many as take a second or two, at most 1,000,000.")
    private Long count;

    @Option(
        names = "--interface",
        paramLabel = "NAME",
        split = ",",
        description = "Interface or address of the endpoints: one for both sides, or two: PING,PONG. Links tcp, tls,"
            + " tlsrxm and verbs only. Default: what jfabric.tcp.interface or jfabric.verbs.interface says.")
    private List<String> interfaces = List.of();

    @Option(
        names = "--netns",
        paramLabel = "NAME",
        split = ",",
        description = "Network namespaces of the two sides, PING,PONG, as in ip-netns(8). Links tcp, tls, tlsrxm and"
            + " verbs only; needs the right to enter them. Default: this process's.")
    private List<String> namespaces = List.of();

    @Option(
        names = "--keys",
        paramLabel = "DIR",
        description = "Folder with key.pem, certificate.pem and trusted.pem for both sides. Links tls and tlsrxm only."
            + " Default: what the options jfabric.tls.* say.")
    private Path keys;

    @Option(
        names = "--explain",
        paramLabel = "TIMES",
        arity = "0..1",
        fallbackValue = "10",
        description = "List round trips that take longer than so many times the median, with what each of them"
            + " coincided with: safepoints and collections, threads that waited for a core, page faults, slow cycles"
            + " of drivers, waits for credit, errors. Default of TIMES: ${FALLBACK-VALUE}.")
    private Double explain;

    @Option(names = "--json", description = "Print one JSON object for each size, in a line, instead of text.")
    private boolean json;

    @Override
    public Integer call() throws InterruptedException {
        oneOf("--link", link, List.of(
            PingPongPlan.LOOPBACK, PingPongPlan.SHM, PingPongPlan.BEST, PingPongPlan.TCP, PingPongPlan.TLS,
            PingPongPlan.TLS_RXM, PingPongPlan.VERBS));
        oneOf("--mode", mode, List.of(PingPongPlan.EMBEDDED, PingPongPlan.DAEMON));
        for (long sizeBytes : sizes) {
            inRange("--size", sizeBytes, 0, LARGEST_BYTES);
        }
        if (count != null) {
            inRange("--count", count, 1, MOST_ROUNDS);
        }
        if (explain != null && !(explain >= 1 && explain <= MOST_TIMES)) {
            throw new ParameterException(spec.commandLine(), "Invalid value for option '--explain': " + explain
                + " is not from 1 to " + MOST_TIMES);
        }
        sides("--interface", interfaces, interfaces.size() <= 2);
        sides("--netns", namespaces, namespaces.isEmpty() || namespaces.size() == 2);
        if (keys != null && !ENCRYPTED.contains(link)) {
            throw new ParameterException(
                spec.commandLine(), "Option '--keys' is for links tls and tlsrxm, not for " + link);
        }
        NativeAccess.check();
        double cores = CpuQuota.availableCores();
        PingPongPlan plan = PingPongPlan.of(link, mode, sizes, cores);
        PrintWriter err = spec.commandLine().getErr();
        if (!plan.spinning()) {
            err.printf(Locale.ROOT, "%d threads would spin on %.4g core(s): drivers sleep when idle and clients yield"
                + " instead, so times are longer and vary.%n", plan.wantedCores(), cores);
        }
        try (PingPongCoordinator coordinator = new PingPongCoordinator(
            plan, new PingPongPlaces(link, interfaces, namespaces, keys), err)) {
            if (explain != null) {
                coordinator.explain(explain);
            }
            coordinator.run(count == null ? 0 : count, this::print);
        }
        return 0;
    }

    private void print(PingPongResult result) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(result.toJson());
        } else {
            out.print(result.toText());
        }
        out.flush();
    }

    private void oneOf(String option, String value, List<String> allowed) {
        if (!allowed.contains(value)) {
            throw new ParameterException(spec.commandLine(), "Invalid value for option '" + option + "': \"" + value
                + "\" is not one of " + String.join(", ", allowed));
        }
    }

    private void sides(String option, List<String> values, boolean isCountRight) {
        if (!isCountRight || values.stream().anyMatch(String::isBlank)) {
            throw new ParameterException(spec.commandLine(), "Invalid value for option '" + option + "': \""
                + String.join(",", values) + "\" is not " + (option.equals("--netns") ? "" : "NAME or ")
                + "PING,PONG");
        }
        if (!values.isEmpty() && Set.of(PingPongPlan.LOOPBACK, PingPongPlan.SHM).contains(link)) {
            throw new ParameterException(
                spec.commandLine(), "Option '" + option + "' is for links of networks, not for " + link);
        }
    }

    private void inRange(String option, long value, long least, long most) {
        if (value < least || value > most) {
            throw new ParameterException(spec.commandLine(), String.format(Locale.ROOT,
                "Invalid value for option '%s': %d is not from %d to %d", option, value, least, most));
        }
    }
}
