package org.jfabric.driver.kit;

import java.nio.file.Path;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.TestDirectory;

/** Where the two endpoints live of a test that needs a driver with threads of its own. */
public enum WaitSetup {
    /** Two clients of one driver process. */
    LOOPBACK_DAEMON("loopback", "daemon", null),
    /** Clients of two driver processes. */
    SHM_DAEMON("shm", "daemon", null),
    /** A driver in this process, one thread. */
    LOOPBACK_SHARED("loopback", "shared", ThreadingMode.SHARED),
    /** A driver in this process, two threads. */
    LOOPBACK_DEDICATED("loopback", "dedicated", ThreadingMode.DEDICATED);

    private final String link;
    private final String mode;
    private final ThreadingMode threading;

    WaitSetup(String link, String mode, ThreadingMode threading) {
        this.link = link;
        this.mode = mode;
        this.threading = threading;
    }

    @Override
    public String toString() {
        return "link=" + link + " mode=" + mode;
    }

    public boolean inProcess() {
        return threading != null;
    }

    public Place open() {
        if (threading == null) {
            FabricPair pair = new FabricPair(link.equals("shm") ? Setup.SHM_DAEMON : Setup.LOOPBACK_DAEMON);
            return new Place(pair.a, pair.b, pair::close);
        }
        Path base = TestDirectory.create();
        FabricDriver driver = FabricDriver.launch(
            DriverConfig.builder().directory(base.resolve("alpha")).threadingMode(threading).build());
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG);
        FabricNode owner = new FabricNode(driver.fabric(), link, hints, 64, 1, () -> { });
        FabricNode peer = new FabricNode(driver.fabric(), link, hints, 64, 2, () -> { });
        return new Place(owner, peer, () -> {
            owner.close();
            peer.close();
            driver.close();
            TestDirectory.delete(base);
        });
    }

    /** The side that waits, the side that sends, and what ends both. */
    public record Place(FabricNode owner, FabricNode peer, Runnable end) implements AutoCloseable {
        @Override
        public void close() {
            end.run();
        }
    }
}
