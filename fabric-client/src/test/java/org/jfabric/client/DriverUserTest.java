package org.jfabric.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Test;

class DriverUserTest {
    /** A client that comes back waits for the next driver then, and gives up for one of another user. */
    @Test
    void shouldTellADriverThatEndsFromOneOfAnotherUser() throws IOException {
        Path base = TestDirectory.create();
        Path directory = Files.createDirectory(base.resolve("driver"));
        Path socket = directory.resolve("driver.sock");
        int listening = UnixSocket.listen(socket, 1);
        int connected = UnixSocket.connect(socket, UnixSocket.SOCK_NONBLOCK);
        try {
            assertTrue(listening >= 0 && connected >= 0, () -> listening + " " + connected);
            DriverUser.own().require(directory, connected);
            DriverUser other = new DriverUser(Libc.geteuid() + 1);
            assertEquals(FabricErrno.EACCES, errno(other, directory, connected));
            Files.delete(socket);
            Files.delete(directory);
            assertEquals(FabricErrno.ENODEV, errno(DriverUser.own(), directory, connected));
        } finally {
            Libc.close(connected);
            Libc.close(listening);
            TestDirectory.delete(base);
        }
    }

    private static int errno(DriverUser user, Path directory, int socket) {
        return assertThrows(FabricException.class, () -> user.require(directory, socket)).errno();
    }
}
