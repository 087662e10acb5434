package org.jfabric.tool;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.driver.conformance.FabricNode;

/** An application in a process of its own that posts something which waits, and then waits itself. */
final class QueuesChild implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;

    private QueuesChild(Process process) {
        this.process = process;
        this.output = process.inputReader(StandardCharsets.UTF_8);
    }

    static QueuesChild start(String role, Path directory) throws IOException {
        return new QueuesChild(new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData",
            "--add-opens", "java.base/jdk.internal.misc=ALL-UNNAMED",
            "--enable-native-access=ALL-UNNAMED",
            "-cp", System.getProperty("java.class.path"),
            QueuesChild.class.getName(), role, directory.toString()).redirectErrorStream(true).start());
    }

    /** What it says in its next line. */
    String hear() throws IOException {
        String line = output.readLine();
        if (line == null || !line.startsWith("says ")) {
            throw new AssertionError(line + '\n' + String.join("\n", output.lines().toList()));
        }
        return line.substring("says ".length());
    }

    void say(String line) throws IOException {
        process.outputWriter().write(line + '\n');
        process.outputWriter().flush();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }

    /**
     * The process: says its address, hears that of the other, posts, says so, and stays until it is ended.
     *
     * @param args role and directory.
     * @throws IOException if nobody speaks to it.
     */
    public static void main(String[] args) throws IOException {
        Fabric fabric = Fabric.connect(new FabricConfig().directory(Path.of(args[1])));
        FabricNode node = new FabricNode(
            fabric, "loopback", new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV), 64,
            0, () -> { });
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("says " + node.endpoint.name());
        long other = node.av.insert(input.readLine());
        if (args[0].equals("receiver")) {
            node.endpoint.trecv(node.memory.address(0), 4096, -1L, 5, 0, 1);
            node.endpoint.trecv(node.memory.address(4096), 4096, -1L, 5, 0, 2);
            node.endpoint.trecv(node.memory.address(8192), 64, other, 0x600, 0xFF, 3);
        } else {
            for (int i = 0; i < 3; i++) {
                node.endpoint.tsend(node.memory.address(0), 100, other, 7, 10 + i);
            }
            node.endpoint.tsend(node.memory.address(0), 1 << 20, other, 8, 20);
            for (int i = 0; i < 3; i++) {
                node.await(10 + i);
            }
        }
        System.out.println("says posted");
        while (input.readLine() != null) {
            Thread.yield();
        }
    }
}
