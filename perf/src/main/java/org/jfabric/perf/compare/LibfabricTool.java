package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jfabric.tool.ToolException;

/** {@code fi_pingpong} with tagged messages over the provider shm; it has no test of rate and no warm-up of its own. */
final class LibfabricTool implements NativeContender.NativeTool {
    static final String ID = "libfabric-shm";

    private static final String BANDWIDTH = "MB/sec";
    private static final double NS_PER_MICROSECOND = 1e3;

    @Override
    public String id() {
        return ID;
    }

    @Override
    public String title() {
        return "libfabric shm";
    }

    @Override
    public String program() {
        return "fi_pingpong";
    }

    @Override
    public String debianPackage() {
        return "libfabric-bin";
    }

    @Override
    public List<String> versionCommand() {
        return List.of("fi_info", "--version");
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
            "-p", "shm", "-e", "rdm", "-m", "tagged",
            "-I", Long.toString(count),
            "-S", Integer.toString(sizeBytes),
            server ? "-B" : "-P", Integer.toString(port)));
        if (!server) {
            command.add("127.0.0.1");
        }
        return command;
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
