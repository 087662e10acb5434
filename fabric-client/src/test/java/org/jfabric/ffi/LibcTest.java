package org.jfabric.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("closes the number of a descriptor twice")
@Timeout(60)
class LibcTest {
    private static final int CREATE = Libc.O_RDWR | Libc.O_CREAT | Libc.O_EXCL | Libc.O_CLOEXEC;

    private final OpenDirectory dir = new OpenDirectory();

    @AfterEach
    void after() {
        dir.close();
    }

    @Test
    void shouldOpenDirectoryButNothingElse() throws IOException {
        Files.createSymbolicLink(dir.path("link"), dir.path);
        Files.writeString(dir.path("file"), "x");

        int fd = Libc.openDirectory(dir.path);
        assertTrue(fd >= 0);
        assertTrue(FileStatus.of(fd).isDirectory());
        assertEquals(0, Libc.close(fd));
        assertEquals(-LinuxErrno.EBADF, Libc.close(fd));

        assertEquals(-LinuxErrno.ENOTDIR, Libc.openDirectory(dir.path("link")));
        assertEquals(-LinuxErrno.ENOTDIR, Libc.openDirectory(dir.path("file")));
        assertEquals(-LinuxErrno.ENOENT, Libc.openDirectory(dir.path("none")));
    }

    @Test
    void shouldReturnNegativeErrnoWhenOpenFails() throws IOException {
        Files.createSymbolicLink(dir.path("link"), dir.path("file"));
        int fd = Libc.openat(dir.fd, "file", CREATE, 0600);
        assertTrue(fd >= 0);
        assertEquals(0, Libc.close(fd));

        assertEquals(-LinuxErrno.EEXIST, Libc.openat(dir.fd, "file", CREATE, 0600));
        assertEquals(-LinuxErrno.EEXIST, Libc.openat(dir.fd, "link", CREATE, 0600));
        assertEquals(-LinuxErrno.ELOOP, Libc.openat(dir.fd, "link", Libc.O_RDWR | Libc.O_NOFOLLOW, 0));
        assertEquals(-LinuxErrno.ENOENT, Libc.openat(dir.fd, "none", Libc.O_RDONLY, 0));
        assertEquals(-LinuxErrno.EINVAL, Libc.openat(dir.fd, "", Libc.O_RDONLY, 0));
        assertEquals(-LinuxErrno.EINVAL, Libc.openat(dir.fd, "file\0x", Libc.O_RDONLY, 0));
        assertEquals(-LinuxErrno.ENAMETOOLONG, Libc.openat(dir.fd, "n".repeat(256), Libc.O_RDONLY, 0));
        assertEquals(-LinuxErrno.ENAMETOOLONG, Libc.openat(dir.fd, "a/".repeat(4096), Libc.O_RDONLY, 0));
        assertEquals(-LinuxErrno.EBADF, Libc.openat(-1, "file", Libc.O_RDONLY, 0));
    }

    @Test
    void shouldMakeADescriptorThatDoesNotWaitAndLeaveItsOtherFlags() throws IOException {
        int fd = Libc.openat(dir.fd, "file", CREATE, 0600);
        int before = statusFlags(fd);
        assertEquals(0, before & Libc.O_NONBLOCK);
        assertEquals(0, Libc.setNonBlocking(fd));
        assertEquals(before | Libc.O_NONBLOCK, statusFlags(fd));
        assertEquals(0, Libc.close(fd));
        assertEquals(-LinuxErrno.EBADF, Libc.setNonBlocking(fd));
    }

    private static int statusFlags(int fd) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/fdinfo/" + fd))) {
            if (line.startsWith("flags:")) {
                return Integer.parseInt(line.substring("flags:".length()).strip(), 8);
            }
        }
        throw new AssertionError("no flags of descriptor " + fd);
    }

    @Test
    void shouldMakeAndDeleteNames() throws IOException {
        assertEquals(0, Libc.mkdirat(dir.fd, "sub", 0700));
        assertEquals(-LinuxErrno.EEXIST, Libc.mkdirat(dir.fd, "sub", 0700));
        FileStatus status = FileStatus.of(dir.fd, "sub");
        assertTrue(status.isDirectory());
        assertFalse(status.isRegular());
        assertEquals(0700, status.permissions());

        Files.writeString(dir.path("sub/ä"), "x");
        int subFd = Libc.openDirectory(dir.path("sub"));
        assertEquals(0, Libc.unlinkat(subFd, "ä"));
        assertEquals(-LinuxErrno.ENOENT, Libc.unlinkat(subFd, "ä"));
        Libc.close(subFd);

        assertTrue(Libc.unlinkat(dir.fd, "sub") < 0);
        assertEquals(0, Libc.rmdirat(dir.fd, "sub"));
        assertEquals(-LinuxErrno.ENOENT, Libc.rmdirat(dir.fd, "sub"));
        assertNull(FileStatus.of(dir.fd, "sub"));
    }

    @Test
    void shouldTellStatusOfFile() throws IOException {
        Files.write(dir.path("file"), new byte[123]);
        Files.createLink(dir.path("second"), dir.path("file"));
        Files.createSymbolicLink(dir.path("link"), dir.path("file"));
        int fd = Libc.openat(dir.fd, "file", Libc.O_RDWR | Libc.O_CLOEXEC, 0);

        FileStatus status = FileStatus.of(fd);
        assertTrue(status.isRegular());
        assertFalse(status.isDirectory());
        assertFalse(status.isSocket());
        assertEquals(123, status.sizeBytes());
        assertEquals(2, status.linkCount());
        assertEquals(Libc.geteuid(), status.uid());
        assertEquals(((Number) Files.getAttribute(dir.path("file"), "unix:ino")).longValue(), status.inode());
        assertTrue(status.isSameFile(FileStatus.of(dir.fd, "second")));
        assertTrue(FileStatus.of(dir.fd, "link").isSymbolicLink());
        assertFalse(status.isSameFile(FileStatus.of(dir.fd, "link")));

        assertEquals(0, Libc.fchmod(fd, 0640));
        assertEquals(0640, FileStatus.of(fd).permissions());
        Libc.close(fd);
        assertEquals(LinuxErrno.EBADF, assertThrows(NativeCallException.class, () -> FileStatus.of(fd)).errno());
        NativeCallException noDirectory =
            assertThrows(NativeCallException.class, () -> FileStatus.of(dir.fd, "file/x"));
        assertEquals(LinuxErrno.ENOTDIR, noDirectory.errno());
        assertEquals("statx", noDirectory.call());
        assertTrue(noDirectory.getMessage().contains(dir.path("file/x").toString()), noDirectory.getMessage());
    }

    @Tag("slow") // runs a program
    @Test
    void shouldReserveBlocksAndKeepContents() throws IOException {
        Files.writeString(dir.path("file"), "content");
        int fd = Libc.openat(dir.fd, "file", Libc.O_RDWR | Libc.O_CLOEXEC, 0);
        long lengthBytes = 1 << 20;

        assertEquals(0, Libc.ftruncate(fd, lengthBytes));
        assertEquals(0, Libc.reserve(fd, 0, lengthBytes));
        assertEquals(lengthBytes, FileStatus.of(fd).sizeBytes());
        assertTrue(allocatedBytes(dir.path("file")) >= lengthBytes);
        assertTrue(Files.readString(dir.path("file")).startsWith("content\0"));

        assertEquals(-LinuxErrno.EINVAL, Libc.reserve(fd, 0, 0));
        assertEquals(-LinuxErrno.EINVAL, Libc.reserve(fd, -1, 1));
        assertEquals(-LinuxErrno.EINVAL, Libc.reserve(fd, Long.MAX_VALUE, 2));
        assertEquals(-LinuxErrno.EINVAL, Libc.ftruncate(fd, -1));
        Libc.close(fd);
        assertEquals(-LinuxErrno.EBADF, Libc.reserve(fd, 0, 1));
        assertEquals(-LinuxErrno.EBADF, Libc.ftruncate(fd, 1));
        assertEquals(-LinuxErrno.EBADF, Libc.freeBytes(fd));
    }

    @Tag("slow") // runs a program
    @Test
    void shouldReserveByWritingWhereTheFileSystemCannot() throws IOException {
        assumeTrue(Libc.geteuid() == 0, "only root can mount a ramfs, which has no fallocate");
        Path mount = Files.createDirectory(dir.path("ram"));
        assumeTrue(run("mount", "-t", "ramfs", "ramfs", mount.toString()) == 0, "this container may not mount a ramfs");
        try {
            int mountFd = Libc.openDirectory(mount);
            int fd = Libc.openat(mountFd, "file", CREATE, 0600);
            assertEquals(-LinuxErrno.EOPNOTSUPP, Libc.fallocate(fd, 0, 0, 40_000));
            assertEquals(0, Libc.reserve(fd, 0, 40_000));
            assertEquals(40_000, FileStatus.of(fd).sizeBytes());
            assertEquals(Long.MAX_VALUE, Libc.freeBytes(mountFd));
            Libc.close(fd);
            int readOnlyFd = Libc.openat(mountFd, "file", Libc.O_RDONLY | Libc.O_CLOEXEC, 0);
            assertEquals(-LinuxErrno.EBADF, Libc.reserve(readOnlyFd, 0, 1));
            Libc.close(readOnlyFd);
            Libc.close(mountFd);
        } finally {
            assertEquals(0, run("umount", mount.toString()));
        }
    }

    @Test
    void shouldTellFreeBytes() throws IOException {
        long freeBytes = Libc.freeBytes(dir.fd);
        long usableBytes = Files.getFileStore(dir.path).getUsableSpace();
        assertTrue(freeBytes > 0);
        assertTrue(freeBytes == Long.MAX_VALUE || Math.abs(freeBytes - usableBytes) < 1L << 30,
            freeBytes + " and " + usableBytes);
    }

    @Test
    void shouldConflictWhenLockedThroughAnotherOpen() {
        int first = Libc.openat(dir.fd, "lock", CREATE, 0600);
        int second = Libc.openat(dir.fd, "lock", Libc.O_RDWR | Libc.O_CLOEXEC, 0);
        int third = Libc.openat(dir.fd, "lock", Libc.O_RDWR | Libc.O_CLOEXEC, 0);

        assertEquals(0, Libc.lockExclusive(first));
        assertEquals(0, Libc.lockExclusive(first));
        assertEquals(-LinuxErrno.EAGAIN, Libc.lockExclusive(second));
        // A POSIX lock would be lost by this.
        assertEquals(0, Libc.close(third));
        assertEquals(-LinuxErrno.EAGAIN, Libc.lockExclusive(second));

        assertEquals(0, Libc.unlock(first));
        assertEquals(0, Libc.lockExclusive(second));
        assertEquals(-LinuxErrno.EAGAIN, Libc.lockExclusive(first));
        Libc.close(second);
        assertEquals(0, Libc.lockExclusive(first));
        Libc.close(first);
        assertEquals(-LinuxErrno.EBADF, Libc.lockExclusive(first));
    }

    @Test
    void shouldMapAnonymousMemory() {
        long lengthBytes = 4 * Libc.pageBytes();
        long address = Libc.mmap(
            lengthBytes, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_PRIVATE | Libc.MAP_ANONYMOUS, -1, 0);
        assertTrue(address > 0);
        assertEquals(0, address & Libc.pageBytes() - 1);
        MemorySegment segment = segmentAt(address, lengthBytes);
        segment.set(ValueLayout.JAVA_LONG, 0, 42);

        assertEquals(0, Libc.populate(address, lengthBytes, true));
        assertEquals(42, segment.get(ValueLayout.JAVA_LONG, 0));
        assertEquals(-LinuxErrno.EINVAL, Libc.madvise(address + 1, lengthBytes, Libc.MADV_POPULATE_READ));
        assertEquals(-LinuxErrno.EINVAL, Libc.madvise(address, lengthBytes, 9999));
        assertEquals(0, Libc.munmap(address, lengthBytes));
        assertEquals(-LinuxErrno.ENOMEM, Libc.populate(address, lengthBytes, false));
        assertEquals(-LinuxErrno.EINVAL, Libc.munmap(address + 1, lengthBytes));
        assertEquals(-LinuxErrno.EINVAL, Libc.mmap(0, Libc.PROT_READ, Libc.MAP_SHARED, dir.fd, 0));
        assertEquals(-LinuxErrno.EBADF, Libc.mmap(lengthBytes, Libc.PROT_READ, Libc.MAP_SHARED, -1, 0));
        assertEquals(-LinuxErrno.ENOMEM, Libc.mmap(1L << 60, Libc.PROT_READ,
            Libc.MAP_PRIVATE | Libc.MAP_ANONYMOUS, -1, 0));
    }

    @Test
    void shouldKeepErrnoPerThread() throws InterruptedException {
        AtomicInteger wrong = new AtomicInteger();
        Thread[] threads = new Thread[2];
        for (int t = 0; t < threads.length; t++) {
            boolean absent = t == 0;
            threads[t] = new Thread(() -> {
                int expected = absent ? -LinuxErrno.ENOENT : -LinuxErrno.EBADF;
                for (int i = 0; i < 20_000; i++) {
                    int result = absent ? Libc.unlinkat(dir.fd, "absent") : Libc.close(-1);
                    if (result != expected) {
                        wrong.incrementAndGet();
                    }
                }
            });
            threads[t].start();
        }
        for (Thread thread : threads) {
            thread.join(Deadline.ms(30));
            assertFalse(thread.isAlive());
        }
        assertEquals(0, wrong.get());
    }

    @Test
    void shouldWorkOnVirtualThreads() throws InterruptedException {
        AtomicInteger result = new AtomicInteger(1);
        Thread thread = Thread.ofVirtual().start(() -> result.set(Libc.unlinkat(dir.fd, "absent")));
        assertTrue(thread.join(Duration.ofNanos(Deadline.ns(10))));
        assertEquals(-LinuxErrno.ENOENT, result.get());
    }

    @Test
    void shouldNameErrnoInMessages() {
        assertEquals("ENOSPC (28, no space left on device)", LinuxErrno.describe(LinuxErrno.ENOSPC));
        assertEquals("errno 200", LinuxErrno.describe(200));
        NativeCallException exception = new NativeCallException("openat", LinuxErrno.ENOENT, "/x");
        assertEquals("openat: ENOENT (2, no such file or directory): /x", exception.getMessage());
        assertEquals(LinuxErrno.ENOENT, exception.errno());
        assertEquals("openat", exception.call());
    }

    static int run(String... command) {
        return TestProcess.run(command).status();
    }

    @SuppressWarnings("restricted")
    static MemorySegment segmentAt(long address, long lengthBytes) {
        return MemorySegment.ofAddress(address).reinterpret(lengthBytes, Arena.global(), null);
    }

    static long allocatedBytes(Path file) {
        return Long.parseLong(TestProcess.run("stat", "-c", "%b", file.toString()).succeeded().strip()) * 512;
    }
}
