package org.jfabric.driver.kit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;

/** An endpoint of link best in a process of its own: says its name, hears that of the peer, sends back a message. */
public final class BestPeerMain {
    /** Bytes of the message. */
    public static final int LENGTH = 64;

    private BestPeerMain() {
    }

    /** Directory of the driver. */
    public static void main(String[] args) throws IOException {
        DriverConfig config = DriverConfig.builder().directory(Path.of(args[0])).threadingMode(ThreadingMode.INVOKER)
            .set("jfabric.tcp.interface", "lo").build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config);
            FabricNode node = new FabricNode(driver.fabric(), BestNodes.LINK,
                FabricPair.usualHints(), 64, 0, driver::cycle)) {
            System.out.println("name " + node.endpoint.name());
            long peer = node.av.insert(
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine());
            node.endpoint.trecv(node.memory.address(), LENGTH, peer, 7, 0, 1);
            node.await(1);
            node.endpoint.tsend(node.memory.address(), LENGTH, peer, 8, 2);
            node.await(2);
            System.out.println("path " + node.endpoint.path(peer).linkName());
            // until the peer has the message
            node.endpoint.trecv(node.memory.address(), LENGTH, peer, 9, 0, 3);
            node.await(3);
        }
    }
}
