package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.file.Path;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.WaitNode;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/** Applications that wait at a descriptor are told that their driver has died. */
@Isolated("counts the descriptors of the process")
@Tag("slow")
@Timeout(300)
class DescriptorWaitDriverEndTest {
    @Test
    // closed early on purpose
    @SuppressWarnings("try")
    void shouldWakeWhenTheDriverDies() throws IOException {
        Path base = TestDirectory.create();
        long before = 0;
        // each mode once, and what was written read before the end and behind it; or each of one with each of the other
        for (int round = 0; round < 4; round += Effort.rounds(3, 1)) {
            try (DriverProcess driver = DriverProcess.start(base.resolve("alpha"),
                "jfabric.threading.mode=" + (round % 2 == 0 ? "SHARED" : "DEDICATED"));
                 Selector selector = Selector.open()) {
                Fabric fabric = Fabric.connect(new FabricConfig().directory(driver.directory()));
                FabricNode owner = new FabricNode(
                    fabric, "loopback", new Info().caps(Flags.TAGGED | Flags.MSG), 64, 1, () -> { });
                WaitNode node = new WaitNode(owner, owner, WaitObject.FD);
                node.queue.channel().register(selector, SelectionKey.OP_READ);
                node.complete(1);
                node.awaitEntry();
                assertEquals(1, node.take());
                node.complete(2);
                node.awaitEntry();
                assertEquals(-FabricErrno.EAGAIN, node.queue.tryWait());
                boolean late = round >= 2;
                if (late) {
                    assertEquals(2, node.take());
                    assertEquals(0, node.queue.tryWait());
                }
                driver.kill();
                assertEquals(-FabricErrno.EAGAIN,
                    DescriptorWaitRaceTest.await(node, selector, "no wake-up by the driver's end"));
                if (!late) {
                    assertEquals(2, node.take(), "what was written stays readable");
                }
                Deadline.awaitParked("the end of the driver", () -> node.take() == -FabricErrno.ENODEV);
                assertEquals(-FabricErrno.EAGAIN, node.queue.tryWait());
                fabric.close();
                selector.selectNow();
            }
            long now = DescriptorCloseTest.descriptors();
            assertTrue(round == 0 || now <= before, "descriptors: " + before + " before, " + now + " now");
            before = now;
        }
        TestDirectory.delete(base);
    }
}
