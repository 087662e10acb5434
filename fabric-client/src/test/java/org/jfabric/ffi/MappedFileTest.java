package org.jfabric.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MappedFileTest {
    private static final long GIB = 1L << 30;

    private final OpenDirectory dir = new OpenDirectory();

    @AfterEach
    void after() {
        dir.close();
    }

    @Tag("slow") // runs a program
    @Test
    void shouldCreateReservedZeroedOwnerOnlyFile() {
        long pageBytes = Libc.pageBytes();
        try (MappedFile file = MappedFile.create(dir.fd, "1.tq", pageBytes + 1)) {
            assertEquals(2 * pageBytes, file.lengthBytes());
            assertEquals(dir.path("1.tq").toString(), file.path());
            assertFalse(file.isReadOnly());
            assertEquals(0600, file.status().permissions());
            assertEquals(2 * pageBytes, file.status().sizeBytes());
            assertTrue(LibcTest.allocatedBytes(dir.path("1.tq")) >= 2 * pageBytes);
            assertEquals(-1, file.segment().mismatch(MemorySegment.ofArray(new byte[(int) (2 * pageBytes)])));
            assertEquals(0, file.populate());
            assertEquals(2 * pageBytes, file.buffer().capacity());
            assertEquals(file.address() + 64, file.buffer(64, 64).addressOffset());
            assertThrows(IndexOutOfBoundsException.class, () -> file.buffer(pageBytes, (int) pageBytes + 1));
            assertThrows(IndexOutOfBoundsException.class, () -> file.directBuffer(-1, 1));
        }
    }

    @Test
    void shouldShareStoresBetweenMappings() {
        try (MappedFile writer = MappedFile.create(dir.fd, "f", 4096);
            MappedFile reader = MappedFile.open(dir.fd, "f", true, 4096);
            MappedFile second = MappedFile.open(dir.fd, "f", false, 1)) {
            writer.buffer().putLongRelease(8, 77);
            assertEquals(77, reader.directBuffer(0, 4096).getLong(8));
            assertEquals(77, reader.segment().get(ValueLayout.JAVA_LONG, 8));
            assertTrue(reader.isReadOnly());
            assertTrue(reader.segment().isReadOnly());
            assertEquals(0, reader.populate());
            assertThrows(IllegalArgumentException.class, () -> reader.segment().set(ValueLayout.JAVA_LONG, 0, 1));
            second.segment().set(ValueLayout.JAVA_LONG, 16, 78);
            assertEquals(78, reader.directBuffer(16, 8).getLong(0));
            assertTrue(reader.status().isSameFile(writer.status()));
        }
    }

    @Test
    void shouldHandOutAReadOnlyMappingOnlyForReading() throws NoSuchMethodException {
        MappedFile.create(dir.fd, "f", 4096).close();
        MappedFile file = MappedFile.open(dir.fd, "f", true, 4096);
        assertThrows(IllegalStateException.class, file::buffer);
        assertThrows(IllegalStateException.class, () -> file.buffer(0, 8));
        assertTrue(file.segment().isReadOnly());
        assertTrue(file.segment(Arena.ofAuto()).isReadOnly());
        assertTrue(file.segment().isReadOnly());
        assertThrows(IllegalStateException.class, () -> file.buffer(0, 8));
        assertEquals(0, file.directBuffer(0, 4096).getLong(8));
        // what the compiler lets callers do with it
        assertEquals(DirectBuffer.class,
            MappedFile.class.getMethod("directBuffer", long.class, int.class).getReturnType());
    }

    @Test
    void shouldUnmapOnce() throws IOException {
        MappedFile file = MappedFile.create(dir.fd, "f", 4096);
        assertTrue(isMapped(dir.path("f")));
        file.close();
        assertTrue(file.isUnmapped());
        assertFalse(isMapped(dir.path("f")));
        // Whatever the kernel puts at the same place now must survive the second close.
        long again = Libc.mmap(4096, Libc.PROT_READ, Libc.MAP_PRIVATE | Libc.MAP_ANONYMOUS, -1, 0);
        file.close();
        assertEquals(0, Libc.populate(again, 4096, false));
        Libc.munmap(again, 4096);
        assertThrows(IllegalStateException.class, file::buffer);
        assertThrows(IllegalStateException.class, file::segment);
        assertThrows(IllegalStateException.class, file::populate);
        assertThrows(IllegalStateException.class, () -> file.segment(Arena.global()));
    }

    @Test
    void shouldRefuseExistingNameAndNotDeleteIt() throws IOException {
        Files.writeString(dir.path("f"), "kept");
        Files.createSymbolicLink(dir.path("link"), dir.path("absent"));
        assertEquals(LinuxErrno.EEXIST, failure(() -> MappedFile.create(dir.fd, "f", 1)).errno());
        assertEquals(LinuxErrno.EEXIST, failure(() -> MappedFile.create(dir.fd, "link", 1)).errno());
        assertEquals("kept", Files.readString(dir.path("f")));
        assertFalse(Files.exists(dir.path("absent")));
    }

    @Test
    void shouldRefuseNamesAndLengthsThatCannotBe() {
        for (String name : new String[] {"", ".", "..", "a/b", "/dev/shm/x", "a\0b"}) {
            assertThrows(IllegalArgumentException.class, () -> MappedFile.create(dir.fd, name, 1));
            assertThrows(IllegalArgumentException.class, () -> MappedFile.open(dir.fd, name, true, 1));
        }
        for (long lengthBytes : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
            assertThrows(IllegalArgumentException.class, () -> MappedFile.create(dir.fd, "f", lengthBytes));
        }
        assertNull(FileStatus.of(dir.fd, "f"));
    }

    @Tag("slow") // runs a program
    @Test
    void shouldRefuseToOpenAnythingButOwnRegularFile() throws Exception {
        MappedFile.create(dir.fd, "real", 4096).close();
        Files.createSymbolicLink(dir.path("link"), dir.path("real"));
        Files.createDirectory(dir.path("sub"));
        assumeTrue(LibcTest.run("mkfifo", dir.path("pipe").toString()) == 0, "no mkfifo: install coreutils");

        assertEquals(LinuxErrno.ENOENT, failure(() -> MappedFile.open(dir.fd, "none", true, 1)).errno());
        assertEquals(LinuxErrno.ELOOP, failure(() -> MappedFile.open(dir.fd, "link", true, 1)).errno());
        assertEquals(LinuxErrno.ELOOP, failure(() -> MappedFile.open(dir.fd, "link", false, 1)).errno());
        assertEquals(LinuxErrno.EINVAL, failure(() -> MappedFile.open(dir.fd, "pipe", true, 1)).errno());
        assertEquals(LinuxErrno.EINVAL, failure(() -> MappedFile.open(dir.fd, "pipe", false, 1)).errno());
        NativeCallException isDirectory = failure(() -> MappedFile.open(dir.fd, "sub", true, 1));
        assertEquals(LinuxErrno.EINVAL, isDirectory.errno());
        assertTrue(isDirectory.getMessage().contains("not a regular file"), isDirectory.getMessage());
        assertTrue(isDirectory.getMessage().contains(dir.path("sub").toString()), isDirectory.getMessage());
    }

    @Test
    void shouldRefuseShortAndEmptyFile() throws IOException {
        Files.write(dir.path("f"), new byte[100]);
        Files.createFile(dir.path("empty"));
        NativeCallException tooShort = failure(() -> MappedFile.open(dir.fd, "f", true, 101));
        assertEquals(LinuxErrno.EINVAL, tooShort.errno());
        assertTrue(tooShort.getMessage().contains("has 100 bytes, needs 101"), tooShort.getMessage());
        assertEquals(LinuxErrno.EINVAL, failure(() -> MappedFile.open(dir.fd, "empty", true, 0)).errno());
        MappedFile.open(dir.fd, "f", true, 100).close();
    }

    @Test
    void shouldRefuseFileOfAnotherUser() throws IOException {
        assumeTrue(Libc.geteuid() == 0, "only root can give files away");
        MappedFile.create(dir.fd, "f", 4096).close();
        Files.setAttribute(dir.path("f"), "unix:uid", 12345);
        NativeCallException notOwner = failure(() -> MappedFile.open(dir.fd, "f", true, 1));
        assertEquals(LinuxErrno.EACCES, notOwner.errno());
        assertTrue(notOwner.getMessage().contains("12345"), notOwner.getMessage());
        // that user has passed it
        int fd = Libc.openat(dir.fd, "f", Libc.O_RDONLY | Libc.O_CLOEXEC, 0);
        MappedFile.ofWhole(fd, "f", true, 4096, 12345).close();
        assertEquals(LinuxErrno.EACCES, failure(() -> MappedFile.ofWhole(fd, "f", true, 1, 12346)).errno());
        assertEquals(LinuxErrno.EACCES, failure(() -> MappedFile.ofWhole(fd, "f", false, 1, 12345)).errno());
        assertEquals(LinuxErrno.EACCES, failure(() -> MappedFile.ofDescriptor(fd, "f", 4096, 0)).errno());
        Libc.close(fd);
    }

    @Test
    void shouldMapMoreThanTwoGib() {
        int fd = Libc.openat(dir.fd, "f", Libc.O_RDWR | Libc.O_CREAT | Libc.O_EXCL | Libc.O_CLOEXEC, 0600);
        assertEquals(0, Libc.ftruncate(fd, 5 * GIB));
        Libc.close(fd);
        try (MappedFile file = MappedFile.open(dir.fd, "f", false, 5 * GIB)) {
            assertEquals(5 * GIB, file.lengthBytes());
            file.segment().set(ValueLayout.JAVA_LONG, 5 * GIB - 8, 99);
            assertEquals(99, file.buffer(5 * GIB - 64, 64).getLong(56));
            assertThrows(IllegalStateException.class, file::buffer);
            assertThrows(IndexOutOfBoundsException.class, () -> file.buffer(5 * GIB - 8, 9));
        }
    }

    @Test
    void shouldThrowInternalErrorWhenFileIsCutUnderTheMapping() {
        try (MappedFile file = MappedFile.create(dir.fd, "f", 8 * Libc.pageBytes())) {
            UnsafeBuffer buffer = file.buffer();
            int offset = buffer.capacity() - 64;
            // Both the interpreter and compiled code have to survive.
            long sum = 0;
            for (int i = 0; i < 50_000; i++) {
                sum += read(buffer, offset);
            }
            assertEquals(0, sum);
            cut("f", Libc.pageBytes());
            for (int i = 0; i < 100; i++) {
                assertThrows(InternalError.class, () -> read(buffer, offset));
                assertThrows(InternalError.class, () -> buffer.putLong(offset, 1));
                assertThrows(InternalError.class, () -> buffer.getBytes(offset, new byte[64]));
                assertThrows(InternalError.class, () -> file.segment().get(ValueLayout.JAVA_LONG, offset));
            }
            assertEquals(0, read(buffer, 0));
            assertEquals(-LinuxErrno.EFAULT, file.populate());
            assertEquals(-1, Futex.wait(file.address() + offset, 0, -1));
        }
    }

    @Test
    void shouldLeaveNoFileWhenBlocksCannotBeReserved() {
        long freeBytes = Libc.freeBytes(dir.fd);
        assumeTrue(freeBytes < 1L << 42, "no limit on " + dir.path);
        NativeCallException full = failure(() -> MappedFile.create(dir.fd, "f", 1L << 43));
        assertTrue(full.errno() == LinuxErrno.ENOSPC || full.errno() == 27, full.getMessage());
        assertTrue(full.getMessage().contains(dir.path("f").toString()), full.getMessage());
        assertTrue(full.getMessage().contains("wanted " + (1L << 43) + " bytes"), full.getMessage());
        assertNull(FileStatus.of(dir.fd, "f"));
    }

    @Tag("slow") // runs a program
    @Test
    void shouldThrowWithFreeBytesAndRemedyOnTinyFileSystem() throws Exception {
        assumeTrue(Libc.geteuid() == 0, "only root can mount a tiny tmpfs");
        Path mount = Files.createDirectory(dir.path("tiny"));
        assumeTrue(LibcTest.run("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", mount.toString()) == 0,
            "this container may not mount a tmpfs");
        try {
            int fd = Libc.openDirectory(mount);
            MappedFile small = MappedFile.create(fd, "small", 64 * 1024);
            long freeBytes = Libc.freeBytes(fd);
            NativeCallException full = failure(() -> MappedFile.create(fd, "large", 224 * 1024));
            assertEquals(LinuxErrno.ENOSPC, full.errno());
            assertEquals("fallocate", full.call());
            assertTrue(full.getMessage().contains(mount.resolve("large") + ": wanted 229376 bytes, free on its file " +
                "system: " + freeBytes + " bytes; make room"), full.getMessage());
            assertNull(FileStatus.of(fd, "large"));
            assertEquals(freeBytes, Libc.freeBytes(fd));
            small.segment().fill((byte) 1);
            small.close();
            Libc.close(fd);
        } finally {
            assertEquals(0, LibcTest.run("umount", mount.toString()));
        }
    }

    @Test
    void shouldUnmapWithItsArena() throws IOException {
        MappedFile file = MappedFile.create(dir.fd, "f", 4096);
        MemorySegment segment;
        try (Arena arena = Arena.ofConfined()) {
            segment = file.segment(arena);
            assertEquals(4096, segment.byteSize());
            file.close();
            assertFalse(file.isUnmapped());
            segment.set(ValueLayout.JAVA_INT, 0, 5);
            assertEquals(5, file.buffer(0, 4).getInt(0));
            assertEquals(segment.address(), file.segment().address());
            assertThrows(IllegalStateException.class, () -> file.segment(Arena.ofAuto()));
        }
        assertTrue(file.isUnmapped());
        assertFalse(isMapped(dir.path("f")));
        assertThrows(IllegalStateException.class, () -> segment.get(ValueLayout.JAVA_INT, 0));
        assertThrows(IllegalStateException.class, file::buffer);
        file.close();
    }

    @Tag("slow") // waits for the garbage collector
    @Test
    void shouldUnmapWithLastReference() throws Exception {
        UnsafeBuffer buffer = automaticBuffer();
        System.gc();
        Thread.sleep(20);
        System.gc();
        assertTrue(isMapped(dir.path("f")), "a buffer still refers to it");
        buffer.putLong(0, 3);
        Reference.reachabilityFence(buffer);
        buffer = null;

        long deadlineNs = System.nanoTime() + Deadline.ns(20);
        while (isMapped(dir.path("f"))) {
            assertTrue(System.nanoTime() < deadlineNs, "still mapped without any reference");
            System.gc();
            Thread.sleep(5);
        }
    }

    private UnsafeBuffer automaticBuffer() {
        MappedFile file = MappedFile.create(dir.fd, "f", 4096);
        assertNotNull(file.segment(Arena.ofAuto()));
        return file.buffer();
    }

    private void cut(String name, long lengthBytes) {
        int fd = Libc.openat(dir.fd, name, Libc.O_RDWR | Libc.O_CLOEXEC, 0);
        assertEquals(0, Libc.ftruncate(fd, lengthBytes));
        Libc.close(fd);
    }

    private static long read(UnsafeBuffer buffer, int offset) {
        return buffer.getLongVolatile(offset);
    }

    private static NativeCallException failure(Runnable call) {
        return assertThrows(NativeCallException.class, call::run);
    }

    private static boolean isMapped(Path path) throws IOException {
        return Files.readString(Path.of("/proc/self/maps")).contains(path.toString());
    }
}
