package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.client.QueueSnapshot;
import org.jfabric.client.QueueWatch;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A tool that goes through the endpoints of a driver in the same process. */
@Timeout(60)
class QueueWatchTest {
    private static final int ENDPOINTS = 3;

    private final Path base = TestDirectory.create();

    @AfterEach
    void delete() {
        TestDirectory.delete(base);
    }

    @Test
    void shouldShowEachEndpointOnceInTheOrderOfTheirNumbers() {
        List<FabricNode> nodes = new ArrayList<>();
        try (FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve("driver"))
            .threadingMode(ThreadingMode.SHARED).build())) {
            List<String> names = new ArrayList<>();
            for (int i = 0; i < ENDPOINTS; i++) {
                FabricNode node = new FabricNode(
                    driver.fabric(), "loopback", new Info().caps(Flags.MSG), 64, 0, Thread::yield);
                nodes.add(node);
                names.add(node.endpoint.name());
            }
            List<String> shown = new ArrayList<>();
            try (QueueWatch watch = QueueWatch.connect(driver.directory(), Deadline.ns(20))) {
                QueueSnapshot next = watch.next(0);
                // one more look than there are endpoints, in case that it would not end
                while (next != null && shown.size() <= ENDPOINTS) {
                    shown.add(next.address());
                    next = watch.next(next.endpointId());
                }
            }
            assertEquals(names, shown);
            nodes.forEach(FabricNode::close);
        }
    }
}
