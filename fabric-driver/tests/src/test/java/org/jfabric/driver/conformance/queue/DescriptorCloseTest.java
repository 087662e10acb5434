package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jfabric.CompletionQueue;
import org.jfabric.PortedCalls;
import org.jfabric.WaitObjectHandle;
import org.jfabric.driver.kit.WaitNode;
import org.jfabric.driver.kit.WaitSetup;
import org.jfabric.info.ControlCommand;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a completion queue with a descriptor leaves when it is closed. */
@Isolated("counts the descriptors of the process")
@Tag("conformance")
@Timeout(120)
class DescriptorCloseTest {
    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    @Requirement("CQ-046")
    void shouldCloseDescriptorsOnBothSides(WaitSetup setup) throws IOException {
        try (var place = setup.open(); Selector selector = Selector.open()) {
            long before = descriptors();
            for (int i = 0; i < 50; i++) {
                WaitNode node = new WaitNode(place.owner(), place.peer(), WaitObject.FD);
                CompletionQueue queue = node.queue;
                SocketChannel channel = queue.channel();
                if (i % 2 == 0) {
                    channel.register(selector, SelectionKey.OP_READ);
                    assertEquals(0, queue.tryWait());
                }
                node.close();
                assertFalse(channel.isOpen());
                assertEquals(-FabricErrno.EOPBADSTATE, queue.tryWait());
                assertEquals(-FabricErrno.EOPBADSTATE, PortedCalls.control(
                    queue, ControlCommand.GETWAIT.code(), new WaitObjectHandle()));
                selector.selectNow();
            }
            // with the driver in this process both ends are counted
            Deadline.awaitParked(() -> "descriptors: " + before + " before, " + descriptors() + " now",
                () -> descriptors() <= before);
        }
    }

    static long descriptors() {
        try (var entries = Files.list(Path.of("/proc/self/fd"))) {
            return entries.count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
