package org.jfabric.perf.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jfabric.tool.ToolException;

/** {@code ucx_perftest}, tests {@code tag_lat} and {@code tag_bw}, transports posix and self. */
final class UcxTool implements NativeContender.NativeTool {
    static final String ID = "ucx";

    private static final String RATE = "overall_mr";
    private static final int WARM_PART = 5;
    private static final double NS_PER_SECOND = 1e9;

    @Override
    public String id() {
        return ID;
    }

    @Override
    public String title() {
        return "UCX posix";
    }

    @Override
    public String program() {
        return "ucx_perftest";
    }

    @Override
    public String debianPackage() {
        return "ucx-utils";
    }

    @Override
    public List<String> versionCommand() {
        return List.of("ucx_info", "-v");
    }

    @Override
    public Map<String, String> environment() {
        return Map.of("UCX_TLS", "posix,self");
    }

    @Override
    public Set<Pass> passes() {
        return Set.of(Pass.EXCHANGE, Pass.STREAM);
    }

    @Override
    public List<String> command(Pass pass, int sizeBytes, long count, int port, boolean server) {
        List<String> command = new ArrayList<>(List.of(program(),
            "-t", pass == Pass.EXCHANGE ? "tag_lat" : "tag_bw",
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
