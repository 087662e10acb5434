package org.jfabric.tool;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;

/** An application in a process of its own that posts something which waits, and then waits itself. */
final class QueuesChild {
    private QueuesChild() {
    }

    static TestProcess start(String role, Path directory) {
        return TestJvm.start(QueuesChild.class, role, directory.toString());
    }

    /**
     * The process: prints its address, reads that of the other, posts, reports it, and stays until it is ended.
     *
     * @param args role and directory.
     * @throws IOException if its input ends.
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
