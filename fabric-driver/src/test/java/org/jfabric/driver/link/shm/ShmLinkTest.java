package org.jfabric.driver.link.shm;

import org.jfabric.FabricErrno;
import org.jfabric.Flags;
import org.jfabric.ffi.Libc;
import org.jfabric.layout.FileType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Two engines over the shm link with real files and sockets, stepped by the test. */
class ShmLinkTest {
    @TempDir
    Path base;
    private ShmNode alpha;
    private ShmNode beta;

    @BeforeEach
    void start() throws IOException {
        Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx------"));
        alpha = new ShmNode(base, "alpha");
        beta = new ShmNode(base, "beta");
    }

    @AfterEach
    void stop() {
        alpha.close();
        beta.close();
    }

    private ShmNode.Entry await(ShmNode node) {
        for (int i = 0; i < 100_000; i++) {
            ShmNode.Entry entry = node.poll();
            if (entry != null) {
                return entry;
            }
            alpha.step();
            beta.step();
        }
        throw new AssertionError("no completion; errors " + alpha.services.errors + " and " + beta.services.errors);
    }

    private void assertTransfers(ShmNode from, ShmNode to, int length, int seed) {
        long dest = from.addresses.insert(ShmNode.address(to.services.driverName()));
        from.fill(0, length, seed);
        long half = ShmNode.MEMORY / 2;
        assertEquals(0, to.endpoint.receive(ShmNode.TAGGED, to.buf(half), length, -1, seed, 0, 100 + seed));
        assertEquals(0, from.endpoint.send(ShmNode.TAGGED, from.buf(0), length, dest, seed, 0, 200 + seed));
        ShmNode.Entry received = await(to);
        assertEquals(0, received.err());
        assertEquals(100 + seed, received.context());
        assertEquals(length, received.length());
        assertEquals(seed, received.tag());
        ShmNode.Entry sent = await(from);
        assertEquals(0, sent.err());
        assertEquals(200 + seed, sent.context());
        assertTrue(to.isFilled(half, length, seed), "length " + length);
    }

    @ParameterizedTest(name = "link=shm length={0}")
    @ValueSource(ints = {0, 1, 7, 39, 40, 41, 64, 100, 1000, 4096, 8192, 8193, 70_000, 1 << 20, 3 << 20})
    void shouldMoveMessagesOfEveryLengthInBothDirections(int length) {
        for (int i = 1; i <= 3; i++) {
            assertTransfers(alpha, beta, length, i);
            assertTransfers(beta, alpha, length, i + 10);
        }
    }

    @Test
    void shouldCopyOnceWhenTheRegionIsMapped() {
        assertTransfers(alpha, beta, 1 << 20, 1);
        long before = beta.services.copiedBytes();
        assertTransfers(alpha, beta, 1 << 20, 2);
        assertEquals(1 << 20, beta.services.copiedBytes() - before);
    }

    @Test
    void shouldMakeOneConnectionWhenBothSidesBegin() {
        long toBeta = alpha.addresses.insert(ShmNode.address("beta"));
        long toAlpha = beta.addresses.insert(ShmNode.address("alpha"));
        alpha.endpoint.receive(ShmNode.TAGGED, alpha.buf(0), 64, -1, 1, 0, 1);
        beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), 64, -1, 1, 0, 1);
        alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(64), 64, toBeta, 1, 0, 2);
        beta.endpoint.send(ShmNode.TAGGED, beta.buf(64), 64, toAlpha, 1, 0, 2);
        for (ShmNode node : new ShmNode[] {alpha, beta}) {
            assertEquals(0, await(node).err());
            assertEquals(0, await(node).err());
        }
        assertTransfers(alpha, beta, 100, 3);
        assertTransfers(beta, alpha, 100, 4);
        assertEquals(0, alpha.services.errors.size() + beta.services.errors.size(),
            () -> alpha.services.errors + " " + beta.services.errors);
    }

    @Test
    void shouldFailSendsWhenThereIsNoSuchEndpointOrDriver() {
        long noEndpoint = alpha.addresses.insert("jfabric://beta/other");
        long noDriver = alpha.addresses.insert("jfabric://gamma/ep");
        alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), 8, noEndpoint, 1, 0, 1);
        assertEquals(FabricErrno.ECONNREFUSED, await(alpha).err());
        alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), 8, noDriver, 1, 0, 2);
        assertEquals(FabricErrno.EHOSTUNREACH, await(alpha).err());
        assertTransfers(alpha, beta, 64, 5);
    }

    @Test
    void shouldDeliverWhatWasSentBeforeTheSenderDied() {
        assertTransfers(alpha, beta, 64, 1);
        long dest = 0;
        for (int i = 0; i < 20; i++) {
            alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), 64, dest, 50 + i, 0, i);
        }
        alpha.services.die();
        while (beta.peersDown.isEmpty()) {
            beta.step();
        }
        for (int i = 0; i < 20; i++) {
            beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), 64, -1, 50 + i, 0, i);
            ShmNode.Entry entry = beta.poll();
            assertEquals(0, entry.err());
            assertEquals(i, entry.context());
        }
    }

    @Test
    void shouldFailOperationsOfADeadPeerAndReachItsSuccessor() {
        assertTransfers(alpha, beta, 64, 1);
        alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), 1 << 20, 0, 9, 0, 7);
        alpha.step();
        beta.step();
        assertNull(alpha.poll());
        beta.close();
        ShmNode.Entry failed = null;
        for (int i = 0; i < 100_000 && failed == null; i++) {
            alpha.step();
            failed = alpha.poll();
        }
        assertEquals(FabricErrno.ECONNRESET, failed.err());
        assertEquals(7, failed.context());
        deleteTree(base.resolve("beta"));
        beta = new ShmNode(base, "beta");
        assertTransfers(alpha, beta, 64, 2);
        assertTransfers(beta, alpha, 1 << 20, 3);
    }

    @Test
    void shouldFallBackToSegmentsWhenTheRegionFileIsALinkOrGone() throws IOException {
        Path region = base.resolve("alpha").resolve(FileType.MEMORY_REGION.fileName(alpha.regionNumber));
        Path elsewhere = base.resolve("moved");
        Files.move(region, elsewhere);
        Files.createSymbolicLink(region, elsewhere);
        assertTransfers(alpha, beta, 1 << 20, 1);
        assertTransfers(alpha, beta, 1 << 20, 2);
        assertEquals(0, beta.services.copiedBytes());
        Files.delete(region);
        assertTransfers(alpha, beta, 1 << 20, 3);
    }

    @Test
    void shouldRefuseARegionOfAnotherGeneration() throws IOException {
        Path region = base.resolve("alpha").resolve(FileType.MEMORY_REGION.fileName(alpha.regionNumber));
        try (FileChannel file = FileChannel.open(region, StandardOpenOption.WRITE)) {
            file.write(java.nio.ByteBuffer.wrap(new byte[] {99}), 48);
        }
        assertTransfers(alpha, beta, 1 << 20, 1);
        assertTransfers(alpha, beta, 1 << 20, 2);
        assertEquals(0, beta.services.copiedBytes());
    }

    @Test
    void shouldEndOnlyTheTransferWhenAPeerCutsItsRegion() throws IOException {
        assertTransfers(alpha, beta, 1 << 20, 1);
        assertTransfers(alpha, beta, 1 << 20, 2);
        Path region = base.resolve("alpha").resolve(FileType.MEMORY_REGION.fileName(alpha.regionNumber));
        long dest = 0;
        beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), 1 << 20, -1, 77, 0, 1);
        alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(1 << 20), 1 << 20, dest, 77, 0, 1);
        try (FileChannel file = FileChannel.open(region, StandardOpenOption.WRITE)) {
            file.truncate(8192);
        }
        ShmNode.Entry failed = null;
        for (int i = 0; i < 100_000 && failed == null; i++) {
            beta.step();
            failed = beta.poll();
        }
        assertEquals(FabricErrno.EIO, failed.err());
        assertEquals(Flags.RECV, failed.flags() & Flags.RECV);
        // the sender is told, and the connection goes on
        ShmNode.Entry told = null;
        for (int i = 0; i < 100_000 && told == null; i++) {
            alpha.step();
            beta.step();
            told = alpha.poll();
        }
        assertEquals(FabricErrno.EIO, told.err());
        assertTransfers(alpha, beta, 100, 3);
    }

    private static void deleteTree(Path directory) {
        try (var files = Files.list(directory)) {
            int fd = Libc.openDirectory(directory);
            files.forEach(file -> Libc.unlinkat(fd, file.getFileName().toString()));
            Libc.close(fd);
            Files.delete(directory);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
