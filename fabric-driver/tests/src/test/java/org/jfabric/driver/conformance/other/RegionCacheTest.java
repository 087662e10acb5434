package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** More regions in use than another driver may keep mapped for single copy: every byte is right, the bound holds. */
@Tag("conformance")
@Timeout(120)
class RegionCacheTest {
    private static final int BOUND = 4;
    private static final int REGIONS = 11;
    private static final int LENGTH = 200_000;
    private static final String COPIED = "shm: bytes taken by single copy";
    private static final int ROUNDS = 10_000;

    @Test
    void shouldEvictAndMapAgainWithoutASingleWrongByte() {
        Path base = TestDirectory.create();
        try (DriverProcess alpha = DriverProcess.launch(base.resolve("alpha"));
            DriverProcess beta = DriverProcess.launch(
                base.resolve("beta"), "jfabric.shm.regionCacheSize=" + BOUND);
            DriverView view = new DriverView(beta.awaitReady().directory());
            FabricNode a = node(alpha);
            FabricNode b = node(beta)) {
            long toB = a.av.insert(b.endpoint.name());
            List<MemoryRegion> regions = new ArrayList<>();
            for (int i = 0; i < REGIONS; i++) {
                regions.add(a.domain.allocate(LENGTH));
            }
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < REGIONS; i++) {
                    transfer(a, b, toB, regions.get(i), round * REGIONS + i);
                }
            }
            // all at once: their announcements arrive together
            for (int i = 0; i < REGIONS; i++) {
                fill(regions.get(i).buffer(), 500 + i);
                assertEquals(0, b.endpoint.trecv(b.memory.address(i * (long) LENGTH), LENGTH, -1L, i, 0, i));
            }
            for (int i = 0; i < REGIONS; i++) {
                assertEquals(0, a.endpoint.tsend(regions.get(i).address(), LENGTH, toB, i, i));
            }
            for (int i = 0; i < REGIONS; i++) {
                assertEquals(0, b.await().err());
                assertEquals(0, a.await().err());
            }
            for (int i = 0; i < REGIONS; i++) {
                b.assertFilled(i * (long) LENGTH, LENGTH, 500 + i);
            }
            // each one that went is mapped again when it is used again: one copy, from the right memory
            for (int i = 0; i < REGIONS; i++) {
                long copied = view.counter(COPIED);
                for (int j = 0; view.counter(COPIED) == copied; j++) {
                    assertTrue(j < ROUNDS, "region " + i + " was never mapped again");
                    transfer(a, b, toB, regions.get(i), i + j);
                }
            }
            // nothing is on its way: the last one asked for was found, and the one in its place went before it came
            int mapped = mapped(beta, alpha);
            assertTrue(mapped > 0 && mapped <= BOUND, () -> "mapped: " + mapped);
        } finally {
            TestDirectory.delete(base);
        }
    }

    private static FabricNode node(DriverProcess driver) {
        return new FabricNode(Fabric.connect(new FabricConfig().directory(driver.awaitReady().directory())), "shm",
            new Info().caps(Flags.TAGGED | Flags.SOURCE), 64, 0, () -> { });
    }

    private static int mapped(DriverProcess of, DriverProcess owner) {
        try (var lines = Files.lines(Path.of("/proc/" + of.process().pid() + "/maps"))) {
            return (int) lines.filter(
                line -> line.contains(owner.directory() + "/") && line.contains(".mr")).count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void fill(UnsafeBuffer buffer, int seed) {
        for (int i = 0; i < LENGTH; i++) {
            buffer.putByte(i, FabricNode.pattern(seed, i));
        }
    }

    private static void transfer(FabricNode a, FabricNode b, long toB, MemoryRegion region, int seed) {
        fill(region.buffer(), seed);
        assertEquals(0, b.endpoint.trecv(b.memory.address(), LENGTH, -1L, seed, 0, 1));
        assertEquals(0, a.endpoint.tsend(region.address(), LENGTH, toB, seed, 2));
        b.await(1);
        a.await(2);
        b.assertFilled(0, LENGTH, seed);
    }
}
