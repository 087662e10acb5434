package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jfabric.tool.ToolException;

/**
 * {@code ucx_perftest} over one transport: tests {@code tag_lat} and {@code tag_bw}, and over shared memory those of
 * remote memory access.
 */
final class UcxTool implements NativeContender.NativeTool {
    static final UcxTool POSIX = new UcxTool("ucx", "UCX posix", Map.of("UCX_TLS", "posix,self"));
    /** Bound to the loopback interface, or it takes any that leads to this host. */
    static final UcxTool TCP = new UcxTool("ucx-tcp", "UCX tcp",
        Map.of("UCX_TLS", "tcp,self", "UCX_NET_DEVICES", "lo"));

    /** Names the folder of a build. */
    private static final String VARIABLE = "UCX_HOME";
    private static final String RATE = "overall_mr";
    private static final Pattern VERSION = Pattern.compile("ersion:? (\\d+[^\\s]*)");
    private static final Pattern REVISION = Pattern.compile("revision (\\w+)");
    private static final Pattern NUMBERS = Pattern.compile("^(\\d+)\\.(\\d+)");
    private static final int MAJOR_FACTOR = 1_000;
    private static final int LEAST_VERSION = 1_022;
    /** What contrib/configure-release of UCX leaves out. */
    private static final List<String> RELEASE = List.of("logging", "debug", "assertions", "params-check");
    private static final String WITH = ", built with ";
    private static final int WARM_PART = 5;
    private static final double NS_PER_SECOND = 1e9;

    private final String id;
    private final String title;
    private final Installation installation = Installation.preferring(VARIABLE, System.getenv());
    private final Map<String, String> environment;

    private UcxTool(String id, String title, Map<String, String> environment) {
        this.id = id;
        this.title = title;
        this.environment = environment;
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public String title() {
        return title;
    }

    @Override
    public String program() {
        return "ucx_perftest";
    }

    @Override
    public String toGetIt() {
        return "set UCX_HOME to a release build of UCX 1.22 or newer, see docs/performance/compare.md";
    }

    @Override
    public Installation installation() {
        return installation;
    }

    @Override
    public List<String> versionCommand() {
        return List.of("ucx_info", "-v");
    }

    /** Version, revision and what the build has besides the release configuration; the text changes with versions. */
    @Override
    public String version(String output) {
        Matcher version = VERSION.matcher(output);
        Matcher revision = REVISION.matcher(output);
        if (!version.find()) {
            return "";
        }
        List<String> more = RELEASE.stream().filter(each -> !output.contains("--disable-" + each)).collect(
            Collectors.toCollection(ArrayList::new));
        Stream.of("profiling", "gcov").filter(each -> output.contains("--enable-" + each)).forEach(more::add);
        return version.group(1) + (revision.find() ? ", revision " + revision.group(1) : "")
            + (more.isEmpty() ? "" : WITH + String.join(", ", more));
    }

    /** Checks that a build is a peer to be compared with. Returns why it is none: a clause; else null. */
    static String unfit(String version) {
        if (version == null) {
            return null;
        }
        Matcher numbers = NUMBERS.matcher(version);
        if (!numbers.find() || MAJOR_FACTOR * Integer.parseInt(numbers.group(1)) + Integer.parseInt(numbers.group(2))
            < LEAST_VERSION) {
            return "UCX " + version + " is older than 1.22";
        }
        return version.contains(WITH) ? "UCX " + version + " is no release build" : null;
    }

    @Override
    public Map<String, String> environment() {
        return environment;
    }

    @Override
    public Set<Pass> passes() {
        return this == TCP ? Set.of(Pass.EXCHANGE, Pass.STREAM)
            : Set.of(Pass.EXCHANGE, Pass.STREAM, Pass.PUT, Pass.PUT_STREAM, Pass.GET, Pass.FETCH_ADD);
    }

    private static String test(Pass pass) {
        return switch (pass) {
            case EXCHANGE -> "tag_lat";
            case STREAM -> "tag_bw";
            case PUT -> "ucp_put_lat";
            case PUT_STREAM -> "ucp_put_bw";
            case GET -> "ucp_get";
            case FETCH_ADD -> "ucp_fadd";
            default -> throw new IllegalArgumentException(pass.name());
        };
    }

    @Override
    public List<String> command(Pass pass, int sizeBytes, long count, int port, boolean server) {
        List<String> command = new ArrayList<>(List.of(program(),
            "-t", test(pass),
            "-s", Integer.toString(sizeBytes),
            "-n", Long.toString(count),
            "-w", Long.toString(Math.max(1, count / WARM_PART)),
            "-p", Integer.toString(port),
            "-f", "-v"));
        if (!server) {
            command.add("127.0.0.1");
        }
        return command;
    }

    /** The overall rate is total time over messages as well, and has more digits than the latency. */
    @Override
    public double nsPerMessage(int sizeBytes, String output) {
        List<String> names = List.of();
        for (String line : output.lines().toList()) {
            List<String> words = Arrays.asList(line.strip().split(","));
            if (words.contains(RATE)) {
                names = words;
            } else if (!names.isEmpty() && words.size() == names.size()) {
                double rate = Double.parseDouble(words.get(names.indexOf(RATE)));
                if (rate > 0) {
                    return NS_PER_SECOND / rate;
                }
            }
        }
        throw new ToolException("The output of ucx_perftest has no result: " + output.strip());
    }
}
