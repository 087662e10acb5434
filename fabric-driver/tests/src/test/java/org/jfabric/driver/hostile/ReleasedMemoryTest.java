package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Memory of what has ended goes back without a garbage collection: this process's mappings of JFabric's files are
 * compared before and after.
 */
@Tag("hostile")
@Timeout(60)
class ReleasedMemoryTest {
    private static final int CYCLES = 2;
    private static final int LARGE = 300_000;

    private Path base;

    @BeforeEach
    void makeBase() {
        base = TestDirectory.create();
    }

    @AfterEach
    void deleteBase() {
        TestDirectory.delete(base);
    }

    private FabricDriver embed(String name) {
        return FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(base.resolve(name)).threadingMode(ThreadingMode.INVOKER).build());
    }

    private static FabricNode node(Fabric fabric, String link, Runnable pump) {
        return new FabricNode(fabric, link, new Info().caps(Flags.TAGGED | Flags.SOURCE), 64, 0, pump);
    }

    /** Mappings of files below the base, deleted ones too. */
    private List<String> mappings() {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(base + "/"))
                .map(line -> line.substring(line.indexOf('/'))).sorted().toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void awaitMappings(List<String> expected, Runnable pump) {
        Deadline.awaitParked(() -> "the mappings " + expected + ", seen " + mappings(), () -> {
            pump.run();
            return mappings().equals(expected);
        });
    }

    private static void exchange(FabricNode from, FabricNode to, long address, Runnable pump) {
        assertEquals(0, to.endpoint.trecv(to.memory.address(0), LARGE, -1L, 1, 0, 1));
        assertEquals(0, from.endpoint.tsend(from.memory.address(0), LARGE, address, 1, 2));
        for (FabricNode node : List.of(to, from)) {
            Deadline.awaitParked("the message", () -> {
                pump.run();
                return node.poll() != null;
            });
        }
    }

    /** Rings and regions of peers over shm. */
    @Test
    void shouldReleasePeersThatEnd() {
        try (FabricDriver alpha = embed("alpha");
            FabricNode here = node(alpha.fabric(), "shm", alpha::cycle)) {
            List<String> before = mappings();
            for (int i = 0; i < CYCLES; i++) {
                try (FabricDriver beta = embed("beta");
                    FabricNode there = node(beta.fabric(), "shm", beta::cycle)) {
                    Runnable both = () -> {
                        alpha.cycle();
                        beta.cycle();
                    };
                    long toThere = here.av.insert(there.endpoint.name());
                    long toHere = there.av.insert(here.endpoint.name());
                    exchange(here, there, toThere, both);
                    exchange(there, here, toHere, both);
                    exchange(there, here, toHere, both);
                }
            }
            awaitMappings(before, alpha::cycle);
        }
    }

    @Test
    void shouldReleaseWhatAnApplicationCloses() {
        try (FabricDriver alpha = embed("alpha")) {
            List<String> before = mappings();
            for (int i = 0; i < CYCLES; i++) {
                UnsafeBuffer kept;
                try (FabricNode node = node(
                    alpha.fabric(), "loopback", alpha::cycle)) {
                    kept = node.memory.buffer();
                    kept.putLong(0, 42);
                    exchange(node, node, node.av.insert(node.endpoint.name()), alpha::cycle);
                    assertEquals(42, kept.getLong(0));
                }
                // the addresses are still there
                assertEquals(0, kept.getLong(0));
                kept.putLong(0, 43);
                assertEquals(43, kept.getLong(0));
            }
            awaitMappings(before, alpha::cycle);
        }
    }

    @Test
    void shouldReleaseWhatADriverLeftThatWasKilled() {
        for (int i = 0; i < CYCLES; i++) {
            DriverProcess driver = DriverProcess.start(base.resolve("daemon"));
            try (FabricNode node = node(
                Fabric.connect(new FabricConfig().directory(driver.directory())), "loopback", () -> { })) {
                exchange(node, node, node.av.insert(node.endpoint.name()), () -> { });
                driver.kill();
            }
        }
        awaitMappings(List.of(), () -> { });
    }
}
