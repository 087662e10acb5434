package org.jfabric.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jfabric.driver.FabricDriver;
import org.jfabric.samples.restart.Heartbeat;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The program of the page on restarts, as a process that outlives two daemons. */
@Tag("slow")
class HeartbeatTest {
    private final Path base = TestDirectory.create();
    private final List<String> properties = List.of("jfabric.dir.base=" + base);

    @AfterEach
    void delete() {
        TestDirectory.delete(base);
    }

    private TestProcess driver() {
        TestProcess driver = TestJvm.start(properties, FabricDriver.class);
        driver.awaitLine("jfabric driver ready");
        return driver;
    }

    @Test
    void shouldBeatOverAKillAndATermination() {
        TestProcess driver = driver();
        try (TestProcess heartbeat = TestJvm.start(properties, Heartbeat.class, "1000000")) {
            heartbeat.awaitLine("beat 2");
            driver.kill();
            heartbeat.awaitLine("the driver is away");
            driver = driver();
            heartbeat.awaitLine("connected to the next driver");
            heartbeat.awaitLine("beat ");
            driver.process().destroy();
            heartbeat.awaitLine("the driver is away");
            driver.ended();
            driver = driver();
            heartbeat.awaitLine("connected to the next driver");
            heartbeat.awaitLine("beat ");
        } finally {
            driver.process().destroy();
            driver.ended();
        }
    }

    @Test
    void shouldStandOnThePageOnRestarts() throws IOException {
        assertEquals(
            PageCode.regions(Files.readString(
                Path.of("src", "main", "java", "org", "jfabric", "samples", "restart", "Heartbeat.java"))),
            PageCode.blocks(Files.readString(Path.of("..", "docs", "restart.md"))));
    }
}
