package org.jfabric.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.jfabric.driver.DriverDirectory;
import org.jfabric.driver.kit.OtherUser;
import org.jfabric.ffi.FileStatus;
import org.jfabric.ffi.Libc;
import org.jfabric.layout.FileType;
import org.junit.jupiter.api.Test;

class CncViewTest {
    /** File systems in memory have small numbers of inodes: after a boot many files have the same one. */
    @Test
    void shouldNotTakeTheLockOfAFileOfAnotherFileSystemForTheDrivers() throws IOException {
        try (ToolDirectory base = new ToolDirectory()) {
            Path directory = Files.createDirectory(base.driver("killed"));
            Path lock = Files.createFile(directory.resolve(DriverDirectory.LOCK_NAME));
            long inode = FileStatus.of(Libc.AT_FDCWD, lock.toString()).inode();
            Path locks = Files.writeString(base.driver("locks"),
                "1: FLOCK  ADVISORY  WRITE 612 00:ff:" + inode + " 0 EOF\n");
            assertFalse(CncView.isRunning(directory, locks));
            int fd = Libc.openat(Libc.AT_FDCWD, lock.toString(), Libc.O_RDWR | Libc.O_CLOEXEC, 0);
            try {
                assertTrue(Libc.lockExclusive(fd) >= 0);
                assertTrue(CncView.isRunning(directory));
            } finally {
                Libc.close(fd);
            }
            assertFalse(CncView.isRunning(directory));
            assertFalse(CncView.isRunning(base.driver("nowhere")));
        }
    }

    /** A driver removes its directory at its end, at any moment of a command that reads it. */
    @Test
    void shouldSayThatNoDriverRunsIfTheDirectoryIsRemovedMeanwhile() {
        try (ToolDirectory base = new ToolDirectory()) {
            ToolException none = assertThrows(ToolException.class, () -> CncView.openPassed(
                FileType.CNC, base.driver("removed"), 0));
            assertTrue(none.getMessage().startsWith("No driver runs in "), none.getMessage());
        }
    }

    @Test
    void shouldNameTheOtherUsersWhoseDriversServeAGroup() throws IOException {
        OtherUser.require();
        try (ToolDirectory base = new ToolDirectory()) {
            Path shared = Files.createDirectories(base.driver("shm"));
            new OtherUser(20001).home(shared.resolve("jfabric-20001"));
            Path ofGroup = new OtherUser(20002).home(shared.resolve("jfabric-20002"));
            Files.setPosixFilePermissions(
                shared.resolve("jfabric-20001"), PosixFilePermissions.fromString("rwx------"));
            Files.setPosixFilePermissions(ofGroup, PosixFilePermissions.fromString("rwxr-x---"));
            String hint = CncView.ofOtherUsers(shared);
            assertTrue(hint.contains("JFABRIC_CLIENT_DRIVER_USER=20002 "), hint);
            Files.setPosixFilePermissions(ofGroup, PosixFilePermissions.fromString("rwx--x--x"));
            assertEquals("", CncView.ofOtherUsers(shared));
            Files.delete(ofGroup);
            assertEquals("", CncView.ofOtherUsers(shared));
        }
    }
}
