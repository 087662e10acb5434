package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MemoryRegion;
import org.jfabric.Messenger;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.ffi.Libc;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tiny and full file systems: refused at once with the numbers, never a bus error later. */
@Tag("hostile")
@Timeout(120)
class RoomTest {
    private final List<Path> mounted = new ArrayList<>();
    private final Path base = TestDirectory.create();

    @AfterEach
    void unmount() throws Exception {
        for (Path mount : mounted) {
            TestProcess.run("umount", "-l", mount.toString());
        }
        TestDirectory.delete(base);
    }

    private Path mount(String size) throws Exception {
        Assumptions.assumeTrue(Libc.geteuid() == 0, "only root can mount a file system");
        Path point = Files.createDirectory(base.resolve("tmpfs-" + size));
        TestProcess mount = TestProcess.run(
            "mount", "-t", "tmpfs", "-o", "mode=0700,size=" + size, "tmpfs", point.toString());
        Assumptions.assumeTrue(mount.status() == 0, "this system lets nobody mount: " + mount.output());
        mounted.add(point);
        return point;
    }

    @Test
    void shouldSayExactlyHowManyBytesAreNeeded() throws Exception {
        Path directory = mount("1m").resolve("driver");
        String said = DriverProcess.refused(directory);
        assertTrue(said.contains("this configuration needs") && said.contains("available in " + directory)
            && said.contains("mount -o remount"), said);
        // what it says is enough, and a page less is not
        Matcher bytes = Pattern.compile("needs .*?([\\d,]+) bytes").matcher(said);
        assertTrue(bytes.find(), said);
        long needed = Long.parseLong(bytes.group(1).replace(",", ""));
        Path small = mount(Long.toString(needed - 4096)).resolve("driver");
        assertTrue(DriverProcess.refused(small).contains("this configuration needs"));
        // the file system itself takes a little for directories and the lock
        try (DriverProcess driver = DriverProcess.start(
            mount(Long.toString(needed + 16 * 4096)).resolve("driver"));
            Fabric fabric = Fabric.connect(new FabricConfig().directory(driver.directory()))) {
            assertTrue(fabric.isOpen());
        }
    }

    @Test
    void shouldFitDriverAndClientsInto64MiBAndRefuseARegionThatDoesNot() throws Exception {
        Path directory = mount("64m").resolve("driver");
        try (DriverProcess driver = DriverProcess.start(directory);
            DriverView view = new DriverView(directory);
            Bystanders bystanders = new Bystanders("loopback", directory, directory);
            FabricNode node = Bystanders.node("loopback", directory)) {
            bystanders.assertGoOn(10);
            FabricException refused = assertThrows(FabricException.class, () -> node.domain.allocate(32L << 20));
            assertEquals(FabricErrno.ENOSPC, refused.errno());
            String text = refused.getMessage();
            assertTrue(text.contains(directory.toString()) && text.contains(".mr: wanted " + ((32L << 20) + 4096))
                && text.matches("(?s).*free on its file system: \\d+ bytes.*") && text.contains("remount"), text);
            bystanders.assertGoOn(10);
            fill(node, bystanders, directory);
            assertTrue(driver.process().isAlive());
            assertEquals(1 + 2, view.counter("memory regions"));
            WatchedDriver.assertExplained(view);
        }
    }

    /** To the last page, again and again: nothing is left behind by what failed. */
    private static void fill(FabricNode node, Bystanders bystanders, Path directory) {
        int first = 0;
        long free = directory.toFile().getUsableSpace();
        for (int round = 0; round < 3; round++) {
            List<MemoryRegion> regions = new ArrayList<>();
            for (long length = 8 << 20; length >= 4096; length /= 2) {
                try {
                    for (;;) {
                        regions.add(node.domain.allocate(length));
                    }
                } catch (FabricException full) {
                    assertEquals(FabricErrno.ENOSPC, full.errno(), full.getMessage());
                }
            }
            // everybody else goes on, and whoever comes now is told
            bystanders.assertGoOn(10);
            FabricException refused = assertThrows(FabricException.class,
                () -> Fabric.connect(new FabricConfig().directory(directory)));
            assertTrue(refused.getMessage().contains("wanted"), refused.getMessage());
            assertTrue(round == 0 || first == regions.size(), first + " regions, then " + regions.size());
            first = regions.size();
            regions.forEach(MemoryRegion::close);
            regions.clear();
            // the pages are free when the last view of them is gone
            Deadline.awaitParked(() -> "room again, now " + directory.toFile().getUsableSpace() + " bytes", () -> {
                System.gc();
                return directory.toFile().getUsableSpace() >= free;
            });
        }
    }

    /** Nothing refers to the closed ones, so their room is there, whether the collector has noticed or not. */
    @Test
    void shouldAllocateInTheRoomThatClosedRegionsGaveBack() throws Exception {
        Path directory = mount("64m").resolve("driver");
        try (DriverProcess driver = DriverProcess.start(directory);
            FabricNode node = Bystanders.node("loopback", directory)) {
            long length = directory.toFile().getUsableSpace() / 2 + (1 << 20);
            for (int round = 0; round < 10; round++) {
                node.domain.allocate(length).close();
            }
            // who is referred to keeps its memory, and the answer is the error
            MemoryRegion kept = node.domain.allocate(length);
            kept.buffer().putLong(0, 42);
            kept.close();
            FabricException full = assertThrows(FabricException.class, () -> node.domain.allocate(length));
            assertEquals(FabricErrno.ENOSPC, full.errno());
            assertTrue(
                full.getMessage().matches("(?s).*This client itself keeps \\d{8} bytes there.*"), full.getMessage());
            assertEquals(42, kept.buffer().getLong(0));
            assertTrue(driver.process().isAlive());
        }
    }

    /** Each in a domain of its own, and with memory that the application has looked at. */
    @Test
    void shouldOpenMessengersInTheRoomThatClosedOnesGaveBack() throws Exception {
        Path directory = mount("64m").resolve("driver");
        try (DriverProcess driver = DriverProcess.start(directory);
            Fabric fabric = Fabric.connect(new FabricConfig().directory(directory))) {
            for (int round = 0; round < 30; round++) {
                try (Messenger messenger = fabric.messenger().memoryBytes(4 << 20).open()) {
                    messenger.memory().buffer().putLong(0, round);
                }
            }
            assertTrue(driver.process().isAlive());
        }
    }

    @Test
    void shouldRefuseARegionLargerThanTheMachine() throws IOException {
        Path directory = base.resolve("driver");
        try (DriverProcess driver = DriverProcess.start(directory);
            FabricNode node = Bystanders.node("loopback", directory)) {
            for (long length : new long[] {0, -1, Long.MAX_VALUE, 1L << 41, 1L << 39}) {
                FabricException refused =
                    assertThrows(FabricException.class, () -> node.domain.allocate(length), "length " + length);
                assertTrue(refused.getMessage().contains(Long.toString(length))
                    || refused.getMessage().contains("wanted"), refused.getMessage());
            }
            node.domain.allocate(4096).close();
            assertTrue(driver.process().isAlive());
        }
    }
}
