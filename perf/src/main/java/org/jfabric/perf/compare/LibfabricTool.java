package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jfabric.tool.ToolException;

/** {@code fi_pingpong} with tagged messages over one provider; it has no test of rate and no warm-up of its own. */
final class LibfabricTool implements NativeContender.NativeTool {
    static final LibfabricTool SHM = new LibfabricTool("libfabric-shm", "libfabric shm", "shm");
    /** The provider's own reliable datagrams. */
    static final LibfabricTool TCP = new LibfabricTool("libfabric-tcp", "libfabric tcp", "tcp");
    /** Those of ofi_rxm, over connections of the provider tcp. */
    static final LibfabricTool RXM = new LibfabricTool("libfabric-rxm", "libfabric rxm over tcp", "tcp;ofi_rxm");

    private static final Pattern VERSION = Pattern.compile("(?m)^libfabric: (\\S+)");
    private static final String BANDWIDTH = "MB/sec";
    private static final double NS_PER_MICROSECOND = 1e3;

    private final String id;
    private final String title;
    private final String provider;
    private String installed;

    private LibfabricTool(String id, String title, String provider) {
        this.id = id;
        this.title = title;
        this.provider = provider;
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
        return "fi_pingpong";
    }

    @Override
    public String toGetIt() {
        return "the Debian package libfabric-bin brings it";
    }

    /** One for all: no target compares two of them. */
    @Override
    public Installation installation() {
        return Installation.preferring("LIBFABRIC_HOME", System.getenv());
    }

    @Override
    public List<String> versionCommand() {
        return List.of("fi_info", "--version");
    }

    @Override
    public String version(String output) {
        Matcher version = VERSION.matcher(output);
        return version.find() ? version.group(1) : "";
    }

    @Override
    public Map<String, String> environment() {
        return Map.of();
    }

    @Override
    public Set<Pass> passes() {
        return Set.of(Pass.EXCHANGE);
    }

    @Override
    public List<String> command(Pass pass, int sizeBytes, long count, int port, boolean server) {
        List<String> command = new ArrayList<>(List.of(program(),
            "-p", providerOf(installedVersion()), "-e", "rdm", "-m", "tagged",
            "-I", Long.toString(count),
            "-S", Integer.toString(sizeBytes),
            server ? "-B" : "-P", Integer.toString(port)));
        if (!server) {
            command.add("127.0.0.1");
        }
        return command;
    }

    /** The provider as an installed libfabric calls it. */
    String providerOf(String version) {
        // 1.17 means rxm by tcp with rdm
        return provider.equals("tcp") && version.contains("libfabric: 1.17.") ? "net" : provider;
    }

    private synchronized String installedVersion() {
        if (installed == null) {
            try {
                installed = Programs.output(
                    null, installation().command(versionCommand()), installation().environment());
            } catch (InterruptedException ex) {
                Thread.currentThread().interrupt();
                throw new ToolException("The version of libfabric was not awaited: the run is ending.", ex);
            }
        }
        return installed;
    }

    /** Bandwidth is size over half a round trip, and has more digits than the time in microseconds. */
    @Override
    public double nsPerMessage(int sizeBytes, String output) {
        int column = -1;
        for (String line : output.lines().toList()) {
            List<String> words = Arrays.asList(line.strip().split("\\s+"));
            if (words.contains(BANDWIDTH)) {
                column = words.indexOf(BANDWIDTH);
            } else if (column >= 0 && words.size() > column) {
                double megabytes = Double.parseDouble(words.get(column));
                if (megabytes > 0) {
                    return sizeBytes * NS_PER_MICROSECOND / megabytes;
                }
            }
        }
        throw new ToolException("The output of fi_pingpong has no result: " + output.strip());
    }
}
