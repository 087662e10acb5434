package org.jfabric.driver.conformance.flags;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A driver asleep does not notice by itself that entries were read for whose slots messages wait. */
@Tag("conformance")
@Timeout(60)
class MultiReceiveWakeTest {
    private static final int MESSAGES = 200;
    private static final int SLEEPS = 8;
    private static final int SLEEP_S = 10;

    @Test
    void shouldWakeADriverAsleepWhenThereIsRoomAgain() {
        Path base = TestDirectory.create();
        // a driver that sleeps out its time in each round takes as long as that, whatever the machine
        long begin = System.nanoTime();
        try (FabricDriver driver = FabricDriver.launch(DriverConfig.builder()
                .directory(base.resolve("sleepy")).threadingMode(ThreadingMode.SHARED)
                .set("jfabric.threading.parkTimeoutNs", SLEEP_S + "s").build());
            DriverView view = new DriverView(driver.directory());
            FabricNode node = new FabricNode(
                Fabric.connect(new FabricConfig().directory(driver.directory())), "loopback",
                new Info().caps(Flags.MSG | Flags.MULTI_RECV), 256, 0, () -> { });
            FabricNode lazy = new FabricNode(
                Fabric.connect(new FabricConfig().directory(driver.directory())), "loopback",
                new Info().caps(Flags.MSG | Flags.MULTI_RECV), 8, 0, () -> { })) {
            long to = node.av.insert(lazy.endpoint.name());
            assertEquals(0, lazy.endpoint.messages().recvmsg(lazy.memory.address(), 1 << 20, -1, 7, Flags.MULTI_RECV));
            for (int i = 0; i < MESSAGES; i++) {
                node.fill(i * 8L, 8, i);
                assertEquals(0, node.endpoint.send(node.memory.address(i * 8L), 8, to, i));
            }
            for (int i = 0; i < MESSAGES; i++) {
                node.await(i);
            }
            int received = 0;
            for (int sleeps = 0; sleeps < SLEEPS; sleeps++) {
                long parked = view.counter("times parked");
                // as many as the driver has slots, and one more, for which it must wake
                for (int i = 0; i < 17; i++) {
                    FabricNode.Entry entry = lazy.await(7);
                    assertEquals(lazy.memory.address(received * 8L), entry.buf());
                    lazy.assertFilled(received * 8L, 8, received);
                    received++;
                }
                awaitParked(view, parked);
            }
            assertTrue(System.nanoTime() - begin < TimeUnit.SECONDS.toNanos((SLEEPS - 2) * SLEEP_S),
                "the driver slept its time out");
        } finally {
            TestDirectory.delete(base);
        }
    }

    private static void awaitParked(DriverView view, long before) {
        long deadlineNs = System.nanoTime() + Deadline.ns(20);
        while (view.counter("times parked") == before) {
            assertTrue(System.nanoTime() - deadlineNs < 0, "the driver does not sleep");
            Thread.yield();
        }
    }
}
