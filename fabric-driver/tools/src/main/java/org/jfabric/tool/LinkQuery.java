package org.jfabric.tool;

import java.io.PrintWriter;
import java.nio.file.Path;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.Info;
import org.jfabric.info.InfoResult;

/** Asks a driver for its links: the one that runs, or one that is started for the question. */
final class LinkQuery {
    private LinkQuery() {
    }

    /**
     * Asks.
     *
     * @param isDue  whether it is an error if no driver runs there.
     * @param fresh  options of a driver that is started for it; the directory is a temporary one.
     * @param err    a line if the answer is that of a driver started for it.
     */
    static InfoResult ask(Path path, boolean isDue, Info hints, DriverConfig.Builder fresh, PrintWriter err) {
        FabricConfig config = new FabricConfig().directory(path);
        boolean running = CncView.isRunning(path);
        if (isDue && !running) {
            CncView.requireDirectory(path);
            throw CncView.noDriver(path, "no process owns its lock");
        }
        if (running) {
            try (Fabric fabric = Fabric.connect(config)) {
                return fabric.info(hints);
            }
        }
        err.println("No driver runs in " + path + "; this is what one would offer.");
        try (TemporaryDirectory temporary = TemporaryDirectory.create(0);
            FabricDriver driver = FabricDriver.launchEmbedded(fresh
                .directory(temporary.path().resolve(path.getFileName())).threadingMode(ThreadingMode.SHARED).build());
            Fabric fabric = driver.fabric()) {
            return fabric.info(hints);
        }
    }
}
