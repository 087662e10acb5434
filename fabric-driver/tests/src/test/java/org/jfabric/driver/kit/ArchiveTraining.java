package org.jfabric.driver.kit;

import java.nio.file.Path;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.FabricDriver;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * A driver and a client that sends to itself: the classes that most processes of tests load. It is run once, to make
 * an archive of them.
 */
final class ArchiveTraining {
    private ArchiveTraining() {
    }

    public static void main(String[] arguments) {
        Thread driver = new Thread(() -> FabricDriver.main(new String[0]));
        driver.setDaemon(true);
        driver.start();
        Path directory = Path.of(System.getProperty("jfabric.dir.base"), "default");
        Fabric fabric = Fabric.connect(new FabricConfig().directory(directory));
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV);
        try (FabricNode node = new FabricNode(fabric, "loopback", hints, 512, 0, () -> { })) {
            long self = node.av.insert(node.endpoint.name());
            node.endpoint.trecv(node.memory.address(64), 8, -1L, 1, 0, 1);
            node.endpoint.tsend(node.memory.address(0), 8, self, 1, 2);
            System.out.println(node.await() + " " + node.await());
        }
        System.exit(0);
    }
}
