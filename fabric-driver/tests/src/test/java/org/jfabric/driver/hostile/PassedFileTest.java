package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.agrona.BufferUtil;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.DoneDecoder;
import org.jfabric.codec.control.PassFileEncoder;
import org.jfabric.codec.control.RegionReadyDecoder;
import org.jfabric.codec.control.RegisterRegionEncoder;
import org.jfabric.driver.ControlClient;
import org.jfabric.driver.conformance.memory.DiskDirectory;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.UnixSocket;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Clients that pass wrong descriptors to the driver, too many, too late or none. */
@Tag("hostile")
@Timeout(120)
class PassedFileTest {
    @RegisterExtension
    static final WatchedDriver DRIVER = new WatchedDriver();

    private static final int LENGTH = 10_000;

    private final DiskDirectory disk = new DiskDirectory();
    private final ExpandableArrayBuffer body = new ExpandableArrayBuffer();

    @AfterEach
    void delete() {
        disk.close();
    }

    private static int open(Path path, int flags) {
        int fd = Libc.openat(Libc.AT_FDCWD, path.toString(), flags | Libc.O_CLOEXEC, 0);
        assertTrue(fd >= 0, () -> path + ": " + fd);
        return fd;
    }

    private Path file(int length) throws IOException {
        return Files.write(disk.file("file-" + length), new byte[length]);
    }

    private void announce(ControlClient client) {
        PassFileEncoder encoder = new PassFileEncoder().wrap(body, 0).correlationId(client.nextId());
        client.command(PassFileEncoder.TEMPLATE_ID, body, encoder.encodedLength());
        client.expect(DoneDecoder.TEMPLATE_ID);
    }

    private void register(ControlClient client, long length) {
        RegisterRegionEncoder encoder = new RegisterRegionEncoder().wrap(body, 0).correlationId(client.nextId())
            .length(length).access(0).requestedKey(0).flags(Flags.RMA_PMEM).nativeAddress(0).domain(0)
            .descriptor(0).place(0);
        client.command(RegisterRegionEncoder.TEMPLATE_ID, body, encoder.encodedLength());
    }

    private void pass(ControlClient client, Path path, int flags) {
        int fd = open(path, flags);
        assertEquals(0, UnixSocket.sendDescriptor(client.fd, fd));
        Libc.close(fd);
    }

    private int refusal(ControlClient client, Path path, int flags, long length) {
        announce(client);
        pass(client, path, flags);
        register(client, length);
        return client.expectFailure();
    }

    private void assertTaken(ControlClient client) throws IOException {
        announce(client);
        pass(client, file(LENGTH), Libc.O_RDWR);
        register(client, LENGTH);
        client.expect(RegionReadyDecoder.TEMPLATE_ID);
    }

    private static void awaitDescriptors(long count) {
        Deadline.usual().until("the descriptors to be closed", () -> DRIVER.descriptors() <= count, Thread::yield,
            DRIVER::descriptors);
    }

    @Test
    void shouldRefuseFilesThatCannotBeMapped() throws IOException {
        DRIVER.settle();
        long before = DRIVER.descriptors();
        ControlClient client = DRIVER.client();
        Path file = file(LENGTH);
        assertEquals(FabricErrno.EINVAL, refusal(client, file, Libc.O_RDONLY, LENGTH), "not writable");
        assertEquals(FabricErrno.EINVAL, refusal(client, file, Libc.O_RDWR, LENGTH + 1), "too short");
        assertEquals(FabricErrno.EINVAL, refusal(client, file, Libc.O_RDWR, 1L << 40), "too short");
        assertEquals(FabricErrno.EINVAL, refusal(client, file, Libc.O_RDWR, 0), "no length");
        assertEquals(FabricErrno.EINVAL, refusal(client, file, Libc.O_RDWR, Long.MIN_VALUE), "no length");
        assertEquals(FabricErrno.EINVAL, refusal(client, disk.file(""), Libc.O_DIRECTORY, 1), "a folder");
        assertTrue(refusal(client, Path.of("/dev/null"), Libc.O_RDWR, 1) > 0);
        assertTrue(refusal(client, Path.of("/dev/zero"), Libc.O_RDWR, 4096) > 0);
        Path memory = Files.createTempFile(Path.of("/dev/shm"), "jfabric", "");
        Files.write(memory, new byte[LENGTH]);
        try {
            assertEquals(FabricErrno.EOPNOTSUPP, refusal(client, memory, Libc.O_RDWR, LENGTH), "in memory");
        } finally {
            Files.delete(memory);
        }
        assertTaken(client);
        client.close();
        awaitDescriptors(before);
    }

    private void registerMemory(ControlClient client, long address, long length) {
        RegisterRegionEncoder encoder = new RegisterRegionEncoder().wrap(body, 0).correlationId(client.nextId())
            .length(length).access(0).requestedKey(0).flags(0).nativeAddress(address).domain(0)
            .descriptor(0).place(0);
        client.command(RegisterRegionEncoder.TEMPLATE_ID, body, encoder.encodedLength());
    }

    private int memoryRefusal(ControlClient client, Path path, int flags, long address) {
        announce(client);
        pass(client, path, flags);
        registerMemory(client, address, 8);
        return client.expectFailure();
    }

    @Test
    void shouldTakeNothingButTheMemoryOfAProcess() throws IOException {
        DRIVER.settle();
        long before = DRIVER.descriptors();
        ControlClient client = DRIVER.client();
        UnsafeBuffer memory = new UnsafeBuffer(BufferUtil.allocateDirectAligned(64, 64));
        long address = memory.addressOffset();
        Path mem = Path.of("/proc/self/mem");
        assertEquals(FabricErrno.EINVAL, memoryRefusal(client, file(LENGTH), Libc.O_RDWR, address), "a file");
        assertEquals(FabricErrno.EINVAL, memoryRefusal(client, mem, Libc.O_RDONLY, address), "not writable");
        assertEquals(FabricErrno.EINVAL,
            memoryRefusal(client, Path.of("/proc/self/oom_score_adj"), Libc.O_RDWR, address), "something else");
        assertEquals(FabricErrno.EINVAL, memoryRefusal(client, Path.of("/dev/zero"), Libc.O_RDWR, address), "zeros");
        // kept, so that it need not come again
        assertEquals(FabricErrno.EFAULT, memoryRefusal(client, mem, Libc.O_RDWR, 4096), "not mapped");
        registerMemory(client, -8, 8);
        assertEquals(FabricErrno.EINVAL, client.expectFailure());
        registerMemory(client, address, 64);
        client.expect(RegionReadyDecoder.TEMPLATE_ID);
        registerMemory(client, Long.MAX_VALUE - 4096, 8);
        assertEquals(FabricErrno.EFAULT, client.expectFailure());
        client.close();
        awaitDescriptors(before);
    }

    @Test
    void shouldKeepNoDescriptorThatNobodyTakes() throws IOException {
        DRIVER.settle();
        long before = DRIVER.descriptors();
        ControlClient client = DRIVER.client();
        for (int i = 0; i < 20; i++) {
            // not announced: read as a doorbell
            pass(client, file(LENGTH), Libc.O_RDWR);
        }
        for (int i = 0; i < 20; i++) {
            announce(client);
            pass(client, file(LENGTH), Libc.O_RDWR);
            pass(client, file(LENGTH), Libc.O_RDWR);
        }
        assertTaken(client);
        awaitDescriptors(before + 3);
        announce(client);
        pass(client, file(LENGTH), Libc.O_RDWR);
        client.close();
        awaitDescriptors(before);
    }

    @Test
    void shouldRefuseARegionWhoseFileDoesNotCome() throws IOException {
        ControlClient client = DRIVER.client();
        register(client, LENGTH);
        assertEquals(FabricErrno.ETIMEDOUT, client.expectFailure());
        assertTaken(client);
        // one that waits for it ends with its client
        register(client, LENGTH);
        client.close();
        ControlClient other = DRIVER.client();
        assertTaken(other);
    }

    @Test
    void shouldEndAClientThatCutsItsFile() throws IOException {
        ControlClient client = DRIVER.client();
        ControlClient.Queues queues = client.open("cutter", "");
        announce(client);
        Path file = file(LENGTH);
        pass(client, file, Libc.O_RDWR);
        register(client, LENGTH);
        RegionReadyDecoder ready = new RegionReadyDecoder().wrap(
            client.expect(RegionReadyDecoder.TEMPLATE_ID).body(), 0, RegionReadyDecoder.BLOCK_LENGTH, 0);
        Files.write(file, new byte[0]);
        long address = new ControlClient.Region(null, ready.regionIndex(), ready.generation(), LENGTH).address(0);
        long to = client.insert(queues, queues.address);
        client.send(queues, Flags.TAGGED, address, 64, to, 1, 1);
        String reason = client.expectEnded();
        assertTrue(reason.contains("cut"), reason);
    }
}
