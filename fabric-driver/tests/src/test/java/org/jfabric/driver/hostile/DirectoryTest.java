package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.driver.kit.DriverProcess;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Directories that cannot be a driver's, and options that cannot be: the process ends with a status and the reason. */
@Tag("hostile")
@Timeout(120)
class DirectoryTest {
    @RegisterExtension
    static final WatchedDriver DRIVER = new WatchedDriver();

    private Path base;
    private Path directory;

    @BeforeEach
    void makeDirectory() throws IOException {
        base = TestDirectory.create();
        directory = base.resolve("driver");
        Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(
            PosixFilePermissions.fromString("rwx------")));
    }

    @AfterEach
    void deleteBase() {
        TestDirectory.delete(base);
    }

    /** Says that the directory is a driver's. */
    private void mark() throws IOException {
        Files.writeString(
            directory.resolve("driver.marker"), "JFabric: a driver deletes its own files in this directory.\n");
    }

    private static void assertContains(String text, String... parts) {
        for (String part : parts) {
            assertTrue(text.contains(part), "\"" + part + "\" is missing in: " + text);
        }
        assertFalse(text.contains("\tat "), "a stack trace: " + text);
    }

    @Test
    void shouldRefuseADirectoryWhereADriverRuns() {
        assertContains(DriverProcess.refused(DRIVER.directory()), DRIVER.directory().toString(),
            "process " + DRIVER.driver().process().pid(), "jfabric.dir.name");
        DRIVER.assertUp();
    }

    @Test
    void shouldRefuseADirectoryThatOthersCanReach() throws IOException {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        String said = DriverProcess.refused(directory);
        assertContains(said, directory.toString(), "mode 0755", "0700");
        assertFalse(said.contains("chmod"), said);
    }

    @Test
    void shouldRefuseADirectoryOfAnotherUser() throws IOException {
        Assumptions.assumeTrue(Libc.geteuid() == 0, "only root can give a directory to another user");
        Files.setAttribute(directory, "unix:uid", 4711);
        assertContains(DriverProcess.refused(directory), directory.toString(), "belongs to user 4711", "user 0");
        FabricException refused = assertThrows(FabricException.class,
            () -> Fabric.connect(new FabricConfig().directory(directory).connectTimeoutNs(0)));
        assertContains(refused.getMessage(), directory.toString());
    }

    @Test
    void shouldRefuseASymbolicLink() throws IOException {
        Path link = base.resolve("link");
        Files.createSymbolicLink(link, directory);
        assertContains(DriverProcess.refused(link), link.toString(), "is a symbolic link");
    }

    @Test
    void shouldRefuseASymbolicLinkInPlaceOfItsLock() throws IOException {
        Path victim = base.resolve("victim");
        Files.writeString(victim, "untouched");
        Files.createSymbolicLink(directory.resolve("driver.lock"), victim);
        mark();
        assertContains(DriverProcess.refused(directory), directory.resolve("driver.lock").toString());
        assertEquals("untouched", Files.readString(victim));
    }

    /** What lies there is removed by name, never followed. */
    @Test
    void shouldStartWhereOtherFilesLinkElsewhere() throws IOException {
        Path victim = base.resolve("victim");
        Files.writeString(victim, "untouched");
        for (String name : new String[] {"cnc", "driver.sock", "1.ctl", "2.cq", "3.mr"}) {
            Files.createSymbolicLink(directory.resolve(name), victim);
        }
        mark();
        try (DriverProcess driver = DriverProcess.start(directory);
            Fabric fabric = Fabric.connect(new FabricConfig().directory(driver.directory()))) {
            assertTrue(fabric.isOpen());
        }
        assertEquals("untouched", Files.readString(victim));
    }

    @Test
    void shouldRefuseADriverOfAnotherLayoutVersionAndNameBoth() {
        try (DriverProcess driver = DriverProcess.start(directory)) {
            int fd = Libc.openDirectory(directory);
            try (MappedFile cnc = MappedFile.open(fd, "cnc", false, 1)) {
                cnc.buffer(0, 4096).putInt(FileHeaderDescriptor.VERSION_OFFSET, 5);
                FabricException refused = assertThrows(FabricException.class,
                    () -> Fabric.connect(new FabricConfig().directory(directory)));
                assertContains(refused.getMessage(), directory.resolve("cnc").toString(), "version 5",
                    "version " + FileHeaderDescriptor.VERSION, "upgrade the older one");
            } finally {
                Libc.close(fd);
            }
            assertTrue(driver.process().isAlive());
        }
    }

    @Test
    void shouldCleanADeadDirectoryOfAnotherLayoutVersion() throws IOException {
        DriverProcess driver = DriverProcess.start(directory);
        driver.kill();
        int fd = Libc.openDirectory(directory);
        try (MappedFile cnc = MappedFile.open(fd, "cnc", false, 1)) {
            cnc.buffer(0, 4096).putInt(FileHeaderDescriptor.VERSION_OFFSET, 5);
        } finally {
            Libc.close(fd);
        }
        Files.write(directory.resolve("9.future"), new byte[100]);
        try (DriverProcess again = DriverProcess.start(directory);
            Fabric fabric = Fabric.connect(new FabricConfig().directory(again.directory()))) {
            assertTrue(fabric.isOpen());
        }
    }

    @Test
    void shouldEndAndSaySoWhenItsDirectoryIsDeleted() throws Exception {
        try (DriverProcess driver = DriverProcess.start(directory)) {
            Files.move(directory, base.resolve("aside"));
            assertTrue(driver.process().waitFor(Deadline.s(20), TimeUnit.SECONDS), driver::output);
            assertEquals(1, driver.process().exitValue());
            Deadline.awaitParked(() -> "the reason, seen " + driver.output(),
                () -> driver.output().contains(directory + " was deleted"));
        }
    }

    @Test
    void shouldSayThatThereIsNoDriver() {
        FabricException refused = assertThrows(FabricException.class,
            () -> Fabric.connect(new FabricConfig().directory(directory).connectTimeoutNs(0)));
        assertContains(refused.getMessage(), directory.toString(), "driver");
    }

    @Test
    void shouldRefuseOptionsThatCannotBe() {
        assertContains(DriverProcess.refused(directory, "jfabric.queue.txSizee=5"), "jfabric.queue.txSizee",
            "jfabric.queue.txSize");
        assertContains(DriverProcess.refused(directory, "jfabric.queue.txSize=3000000000"), "jfabric.queue.txSize",
            "3000000000");
        assertContains(DriverProcess.refused(directory, "jfabric.queue.ctlRingBytes=1000"),
            "jfabric.queue.ctlRingBytes", "1000");
        assertContains(DriverProcess.refused(directory, "jfabric.threading.mode=FAST"), "FAST", "DEDICATED");
        assertContains(DriverProcess.refused(directory, "jfabric.threading.mode=INVOKER"), "INVOKER", "SHARED");
        assertContains(DriverProcess.refused(directory, "jfabric.link.enabled=loopback,warp"), "warp", "loopback");
    }
}
