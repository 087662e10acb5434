package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.OwnerId;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;

class DriverDirectoryTest {
    @TempDir
    private Path temporary;

    private Path base;
    private Path path;
    private DriverConfig config;

    @BeforeEach
    void configure() {
        base = temporary.resolve("base");
        path = base.resolve("driver");
        config = DriverConfig.builder().directory(path).build();
    }

    @Test
    void shouldMakeAPrivateDirectoryAndRemoveItAtClose() throws IOException {
        try (DriverDirectory directory = DriverDirectory.open(config)) {
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(base)));
            assertEquals("rw-------", PosixFilePermissions.toString(
                Files.getPosixFilePermissions(path.resolve(DriverDirectory.LOCK_NAME))));
            assertEquals(path, directory.path());
        }
        assertFalse(Files.exists(path));
    }

    @Test
    void shouldRefuseASecondDriverAndNameTheDirectory() {
        DriverDirectory directory = DriverDirectory.open(config);
        FabricException refused = assertThrows(FabricException.class, () -> DriverDirectory.open(config));
        assertEquals(FabricErrno.EBUSY, refused.errno());
        assertTrue(refused.getMessage().contains(path.toString()), refused.getMessage());
        directory.close();
        DriverDirectory.open(config).close();
    }

    @Test
    void shouldRefuseADirectoryThatOthersCanReach() throws IOException {
        for (Path wide : List.of(base, path)) {
            Files.createDirectories(path);
            Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx------"));
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
            Files.setPosixFilePermissions(wide, PosixFilePermissions.fromString("rwxr-xr-x"));
            FabricException refused = assertThrows(FabricException.class, () -> DriverDirectory.open(config));
            assertEquals(FabricErrno.EACCES, refused.errno());
            assertTrue(refused.getMessage().contains(wide + " has mode 0755, needed is 0700"), refused.getMessage());
            assertTrue(refused.getMessage().contains("chmod 700"), refused.getMessage());
        }
    }

    @Test
    void shouldRefuseASymbolicLinkInItsPlace() throws IOException {
        for (Path link : List.of(base, path)) {
            Path target = Files.createDirectory(
                temporary.resolve("target-" + link.getFileName()),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            Files.createDirectories(link.getParent());
            Files.createSymbolicLink(link, target);
            FabricException refused = assertThrows(FabricException.class, () -> DriverDirectory.open(config));
            assertEquals(FabricErrno.EACCES, refused.errno());
            assertTrue(refused.getMessage().contains("is a symbolic link"), refused.getMessage());
            Files.delete(link);
            if (link.equals(base)) {
                Files.createDirectory(
                    base, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            }
        }
    }

    @Test
    void shouldRefuseADirectoryOfAnotherUser() throws IOException {
        Assumptions.assumeTrue(Libc.geteuid() == 0, "only root can give a directory away");
        Files.createDirectories(path);
        Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx------"));
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
        Files.setAttribute(path, "unix:uid", 65534);
        FabricException refused = assertThrows(FabricException.class, () -> DriverDirectory.open(config));
        assertEquals(FabricErrno.EACCES, refused.errno());
        assertTrue(
            refused.getMessage().contains("belongs to user 65534, this driver runs as user 0"), refused.getMessage());
    }

    @Test
    void shouldRefuseAFileInItsPlace() throws IOException {
        Files.createDirectory(
            base, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Files.createFile(path);
        FabricException refused = assertThrows(FabricException.class, () -> DriverDirectory.open(config));
        assertTrue(refused.getMessage().contains("cannot be opened as a directory"), refused.getMessage());
    }

    @Test
    void shouldCleanWhatAKilledDriverLeftAndKeepItsErrors() throws IOException {
        leaveDeadDriver("the last words", FileHeaderDescriptor.MAJOR_VERSION);
        try (DriverDirectory directory = DriverDirectory.open(config)) {
            assertEquals(2, names().size(), () -> names().toString());
            String log = names().stream().filter(name -> name.startsWith("errors-")).findFirst().orElseThrow();
            String text = Files.readString(directory.path().resolve(log));
            assertTrue(text.contains("the last words"), text);
            assertTrue(text.startsWith("1 times"), text);
        }
        assertEquals(1, names().size(), "the log stays");
        for (int i = 0; i < 12; i++) {
            leaveDeadDriver("word " + i, FileHeaderDescriptor.MAJOR_VERSION);
            DriverDirectory.open(config).close();
        }
        assertTrue(names().size() <= 8, () -> names().toString());
        String newest = names().get(names().size() - 1);
        assertTrue(Files.readString(path.resolve(newest)).contains("word 11"));
    }

    @Test
    void shouldCleanADeadDirectoryOfAnotherVersion() throws IOException {
        leaveDeadDriver("unreadable", 77);
        DriverDirectory.open(config).close();
        assertFalse(Files.exists(path), "another layout's log cannot be read, so there is nothing to keep");
    }

    @Test
    void shouldSurviveACutOrForeignCncFile() throws IOException {
        for (int length : new int[] {0, 1, 100, 4096, 5000}) {
            Files.createDirectories(path);
            Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx------"));
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
            byte[] garbage = new byte[length];
            java.util.Arrays.fill(garbage, (byte) 0xff);
            Files.write(path.resolve(CncDescriptor.FILE_NAME), garbage);
            DriverDirectory.open(config).close();
            assertFalse(Files.exists(path));
        }
    }

    @Test
    void shouldSayWhatIsNeededWhenThereIsTooLittleRoom() {
        DriverConfig greedy =
            DriverConfig.builder().directory(path).set("jfabric.dir.reserveFreeBytes", "1024GiB").build();
        FabricException refused = assertThrows(FabricException.class, () -> DriverDirectory.open(greedy));
        assertEquals(FabricErrno.ENOSPC, refused.errno());
        assertTrue(refused.getMessage().contains("this configuration needs"), refused.getMessage());
        assertTrue(refused.getMessage().contains("available in " + path), refused.getMessage());
        // nothing is held after a refusal
        DriverDirectory.open(config).close();
    }

    /** Files as a driver leaves them that could not close; nobody holds the lock. */
    private void leaveDeadDriver(String error, int majorVersion) throws IOException {
        Path saved = temporary.resolve("cnc.saved");
        DriverDirectory directory = DriverDirectory.open(config);
        try (CncFile cnc = new CncFile(directory, OwnerId.random(), config, System.err)) {
            cnc.onError(new IllegalStateException(error));
            Files.copy(path.resolve(CncDescriptor.FILE_NAME), saved);
        }
        directory.close();
        Files.createDirectories(path);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
        Files.move(saved, path.resolve(CncDescriptor.FILE_NAME));
        Files.write(path.resolve("17.tq"), new byte[4096]);
        Files.write(path.resolve("name.svc"), new byte[10]);
        Files.createFile(path.resolve(DriverDirectory.SOCKET_NAME));
        Files.createFile(path.resolve(DriverDirectory.LOCK_NAME));
        int fd = Libc.openDirectory(path);
        try (MappedFile cnc = MappedFile.open(fd, CncDescriptor.FILE_NAME, false, 1)) {
            cnc.buffer(0, 128).putShort(FileHeaderDescriptor.MAJOR_OFFSET, (short) majorVersion);
        }
        Libc.close(fd);
    }

    private List<String> names() {
        try (Stream<Path> entries = Files.list(path)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        } catch (IOException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
