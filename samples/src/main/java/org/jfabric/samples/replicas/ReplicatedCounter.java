package org.jfabric.samples.replicas;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;

/**
 * A counter that survives the end of its primary: a backup has a copy, and no addition is acknowledged before the copy
 * has it. That is easy to get wrong and hard to test; the test of this sample runs it in a simulation that kills the
 * primary.
 */
public final class ReplicatedCounter {
    static final String PRIMARY = "primary";
    static final String BACKUP = "backup";
    static final String CLIENT = "client";
    /** Tags of messages. */
    static final long ADD = 1;
    static final long ANSWER = 2;
    static final long COPY = 3;
    static final long COPIED = 4;
    /** Time after which a message without an answer is sent again. */
    static final long AGAIN_NS = 1_000_000;

    private static final int ADDITIONS = 1_000;
    private static final long DEADLINE_NS = 10_000_000_000L;

    private ReplicatedCounter() {
    }

    /**
     * Runs all parties in one process.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        DriverConfig config = DriverConfig.builder()
            .set("jfabric.dir.name", "replicas-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.INVOKER).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            Map<String, String> book = new ConcurrentHashMap<>();
            Backup backup = new Backup(fabric, book);
            Primary primary = new Primary(fabric, book, System::nanoTime, true);
            CounterClient client = new CounterClient(fabric, book, System::nanoTime);
            long startNs = System.nanoTime();
            while (client.acknowledged() < ADDITIONS && System.nanoTime() - startNs < DEADLINE_NS) {
                client.run();
                primary.run();
                backup.run();
            }
            System.out.println("acknowledged " + client.acknowledged() + ", missing at the primary "
                + Math.max(0, client.acknowledged() - primary.count()) + ", at the backup "
                + Math.max(0, client.acknowledged() - backup.count()));
        }
    }
}
