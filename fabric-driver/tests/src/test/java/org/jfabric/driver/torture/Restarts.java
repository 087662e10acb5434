package org.jfabric.driver.torture;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestProcess;

/** How long a driver takes that was killed, and is started again as users start it, until it serves. */
final class Restarts {
    private static final Path LAUNCHER = Path.of("../fabric").toAbsolutePath().normalize();
    private static final double NS_PER_MS = 1e6;

    private Restarts() {
    }

    /** Prints the times of so many restarts, each with the files of a client to remove. */
    static void measure(int count, PrintStream out) throws IOException {
        Path directory = TestDirectory.create().resolve("restart");
        Files.createDirectories(directory.getParent());
        long[] took = new long[count];
        TestProcess driver = start(directory);
        try {
            out.println("restarts: load " + load());
            for (int i = 0; i < count; i++) {
                Fabric fabric = Fabric.connect(new FabricConfig().directory(directory));
                new FabricNode(fabric, "loopback", new Info().caps(Flags.TAGGED), 64, 0, () -> { });
                driver.kill();
                fabric.close();
                long begin = System.nanoTime();
                driver = start(directory);
                took[i] = System.nanoTime() - begin;
                Set<String> left = Fleet.clientFiles(directory);
                if (!left.isEmpty()) {
                    throw new AssertionError("the killed driver's files are still there: " + left);
                }
            }
            Arrays.sort(took);
            out.printf("restarts: %d, median %.0f ms, longest %.0f ms, load %s%n", count, took[count / 2] / NS_PER_MS,
                took[count - 1] / NS_PER_MS, load());
        } finally {
            driver.kill();
            TestDirectory.delete(directory.getParent());
        }
    }

    private static TestProcess start(Path directory) {
        TestProcess driver = TestProcess.start(
            List.of(LAUNCHER.toString(), "driver", "--dir", directory.toString()));
        driver.awaitLine("jfabric driver ready");
        return driver;
    }

    private static String load() throws IOException {
        return Files.readString(Path.of("/proc/loadavg")).split(" ")[0];
    }
}
