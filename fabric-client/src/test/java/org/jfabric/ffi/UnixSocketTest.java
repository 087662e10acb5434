package org.jfabric.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class UnixSocketTest {
    private static final int WAIT_MS = 20_000;
    private static final long LISTENER = 1;
    private static final long PEER = 2;

    private final OpenDirectory dir = new OpenDirectory();
    private final Path path = dir.path("driver.sock");
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment bytes = arena.allocate(1 << 16, 8);
    private final Epoll epoll = new Epoll(8);
    private int listener;

    @BeforeEach
    void before() {
        listener = UnixSocket.listen(path, 4);
        assertTrue(listener >= 0);
        assertEquals(0, epoll.add(listener, Epoll.EPOLLIN, LISTENER));
    }

    @AfterEach
    void after() {
        epoll.close();
        Libc.close(listener);
        arena.close();
        dir.close();
    }

    @Test
    void shouldListenWithOwnerOnlyPath() {
        FileStatus status = FileStatus.of(dir.fd, "driver.sock");
        assertTrue(status.isSocket());
        assertEquals(0600, status.permissions());
        assertEquals(-LinuxErrno.EAGAIN, UnixSocket.accept4(listener, 0));
        assertEquals(-LinuxErrno.EADDRINUSE, UnixSocket.listen(path, 4));
        assertEquals(-LinuxErrno.ENOENT, UnixSocket.listen(dir.path("none/driver.sock"), 4));
    }

    @Test
    void shouldListenForAGroupAndKnowTheGroupsOfThePeer() {
        long group = FileStatus.of(dir.fd, "driver.sock").gid();
        int shared = UnixSocket.listen(dir.path("shared.sock"), 4, group);
        FileStatus status = FileStatus.of(dir.fd, "shared.sock");
        assertEquals(0660, status.permissions());
        assertEquals(group, status.gid());
        int client = UnixSocket.connect(dir.path("shared.sock"), 0);
        int server = UnixSocket.accept4(shared, 0);
        assertTrue(UnixSocket.isPeerInGroup(server, group));
        assertFalse(UnixSocket.isPeerInGroup(server, 4_000_000_007L));
        assertFalse(UnixSocket.isPeerInGroup(-1, group));
        Libc.close(client);
        Libc.close(server);
        Libc.close(shared);
    }

    @Test
    void shouldExchangeBytesAndReportEndOfFileWhenPeerCloses() {
        int client = UnixSocket.connect(path, 0);
        assertTrue(client >= 0);
        assertEquals(1, epoll.poll(WAIT_MS));
        assertEquals(LISTENER, epoll.data(0));
        int server = UnixSocket.accept4(listener, UnixSocket.SOCK_NONBLOCK);
        assertTrue(server >= 0);
        assertEquals(Libc.geteuid(), UnixSocket.peerCredentials(server));
        assertEquals(Libc.geteuid(), UnixSocket.peerCredentials(client));
        assertEquals(0, epoll.add(server, Epoll.EPOLLIN | Epoll.EPOLLRDHUP, PEER));

        assertEquals(-LinuxErrno.EAGAIN, UnixSocket.recv(server, bytes.address(), 8, 0));
        assertEquals(-LinuxErrno.EAGAIN, UnixSocket.recv(client, bytes.address(), 8, UnixSocket.MSG_DONTWAIT));
        bytes.set(ValueLayout.JAVA_LONG, 0, 0x1122);
        assertEquals(8, UnixSocket.send(client, bytes.address(), 8, UnixSocket.MSG_DONTWAIT));
        assertEquals(1, epoll.poll(WAIT_MS));
        assertEquals(PEER, epoll.data(0));
        assertEquals(8, UnixSocket.recv(server, bytes.address() + 64, 64, UnixSocket.MSG_PEEK));
        assertEquals(8, UnixSocket.recv(server, bytes.address() + 64, 64, 0));
        assertEquals(0x1122, bytes.get(ValueLayout.JAVA_LONG, 64));
        assertEquals(0, epoll.poll(0));

        assertEquals(0, Libc.close(client));
        assertEquals(1, epoll.poll(WAIT_MS));
        assertTrue((epoll.events(0) & (Epoll.EPOLLRDHUP | Epoll.EPOLLHUP)) != 0);
        assertEquals(0, UnixSocket.recv(server, bytes.address(), 8, 0));
        // Would end the process by SIGPIPE without MSG_NOSIGNAL.
        assertEquals(-LinuxErrno.EPIPE, UnixSocket.send(server, bytes.address(), 8, 0));
        Libc.close(server);
    }

    @Test
    void shouldReceiveWhatWasSentBeforeTheEnd() {
        int client = UnixSocket.connect(path, UnixSocket.SOCK_NONBLOCK);
        bytes.set(ValueLayout.JAVA_INT, 0, 7);
        assertEquals(4, UnixSocket.send(client, bytes.address(), 4, 0));
        assertEquals(0, UnixSocket.shutdown(client, UnixSocket.SHUT_WR));
        int server = UnixSocket.accept4(listener, 0);
        assertEquals(4, UnixSocket.recv(server, bytes.address() + 8, 64, 0));
        assertEquals(7, bytes.get(ValueLayout.JAVA_INT, 8));
        assertEquals(0, UnixSocket.recv(server, bytes.address() + 8, 64, 0));
        assertEquals(4, UnixSocket.send(server, bytes.address(), 4, 0));
        assertEquals(4, UnixSocket.recv(client, bytes.address() + 16, 64, 0));
        Libc.close(client);
        Libc.close(server);
    }

    @Test
    void shouldNotWaitWhenPeerDoesNotRead() {
        int client = UnixSocket.connect(path, UnixSocket.SOCK_NONBLOCK);
        int result;
        long sentBytes = 0;
        while ((result = UnixSocket.send(client, bytes.address(), (int) bytes.byteSize(), 0)) > 0) {
            sentBytes += result;
        }
        assertEquals(-LinuxErrno.EAGAIN, result);
        assertTrue(sentBytes > 0);
        Libc.close(client);
    }

    @Test
    void shouldReturnEfaultWhenFileOfTheBytesIsCut() {
        int client = UnixSocket.connect(path, 0);
        int server = UnixSocket.accept4(listener, 0);
        try (MappedFile file = MappedFile.create(dir.fd, "f", 4096)) {
            int fd = Libc.openat(dir.fd, "f", Libc.O_RDWR | Libc.O_CLOEXEC, 0);
            Libc.ftruncate(fd, 0);
            Libc.close(fd);
            assertEquals(-LinuxErrno.EFAULT, UnixSocket.send(client, file.address(), 64, 0));
            UnixSocket.send(server, bytes.address(), 64, 0);
            assertEquals(-LinuxErrno.EFAULT, UnixSocket.recv(client, file.address(), 64, 0));
        }
        Libc.close(client);
        Libc.close(server);
    }

    @Test
    void shouldReturnErrorWhenNobodyListens() {
        Libc.close(listener);
        assertEquals(-LinuxErrno.ECONNREFUSED, UnixSocket.connect(path, 0));
        assertEquals(-LinuxErrno.ENOENT, UnixSocket.connect(dir.path("none"), 0));
        assertEquals(0, Libc.unlinkat(dir.fd, "driver.sock"));
        listener = UnixSocket.listen(path, 4);
        assertTrue(listener >= 0);
    }

    @Test
    void shouldReturnEagainWhenBacklogIsFull() {
        int[] clients = new int[16];
        int count = 0;
        int result = 0;
        while (count < clients.length) {
            result = UnixSocket.connect(path, UnixSocket.SOCK_NONBLOCK);
            if (result < 0) {
                break;
            }
            clients[count++] = result;
        }
        assertEquals(-LinuxErrno.EAGAIN, result);
        for (int i = 0; i < count; i++) {
            Libc.close(clients[i]);
        }
    }

    @Test
    void shouldRefusePathThatIsTooLong() throws IOException {
        int nameBytes = UnixSocket.MAX_PATH_BYTES - dir.path.toString().length() - 1;
        Path longest = dir.path("s".repeat(nameBytes));
        int longestListener = UnixSocket.listen(longest, 1);
        assertTrue(longestListener >= 0);
        int client = UnixSocket.connect(longest, 0);
        assertTrue(client >= 0);
        assertTrue(Files.exists(longest));
        Libc.close(client);
        Libc.close(longestListener);

        Path tooLong = dir.path("s".repeat(nameBytes + 1));
        NativeCallException exception =
            assertThrows(NativeCallException.class, () -> UnixSocket.listen(tooLong, 1));
        assertEquals(LinuxErrno.ENAMETOOLONG, exception.errno());
        assertTrue(exception.getMessage().contains(tooLong + " has 108 bytes, a socket's path at most 107"),
            exception.getMessage());
        assertThrows(NativeCallException.class, () -> UnixSocket.connect(tooLong, 0));
        assertThrows(NativeCallException.class, () -> UnixSocket.connect(Path.of(""), 0));
    }

    @Test
    void shouldReturnErrorOnWrongDescriptor() {
        assertEquals(-LinuxErrno.EBADF, UnixSocket.send(-1, bytes.address(), 1, 0));
        assertEquals(-LinuxErrno.EBADF, UnixSocket.recv(-1, bytes.address(), 1, 0));
        assertEquals(-LinuxErrno.EBADF, UnixSocket.shutdown(-1, UnixSocket.SHUT_RDWR));
        assertEquals(-LinuxErrno.EBADF, UnixSocket.peerCredentials(-1));
        assertEquals(-LinuxErrno.EBADF, UnixSocket.accept4(-1, 0));
        int eventFd = EventFd.create();
        assertEquals(-88, UnixSocket.peerCredentials(eventFd));
        Libc.close(eventFd);
    }
}
