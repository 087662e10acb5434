package org.jfabric.driver.link.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.ffi.Libc;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.layout.FileType;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    private static ShmConnection connection(ShmNode from, ShmNode to) {
        return ((ShmLink) from.link).connection(ShmNode.address(to.services.driverName()));
    }

    @Test
    void shouldFailWhenTheDriverWhoseRequestIsAwaitedWasKilled() {
        ShmNode asking = new ShmNode(base, "b");
        try {
            ShmNode killed = new ShmNode(base, "a");
            assertEquals(0, killed.endpoint.send(
                ShmNode.TAGGED, killed.buf(0), 8, killed.addresses.insert(ShmNode.address("b")), 1, 0, 1));
            // it is stopped before its request leaves, but for the thread that answers the other one
            killed.services.tasks.clear();
            assertEquals(0, asking.endpoint.send(
                ShmNode.TAGGED, asking.buf(0), 8, asking.addresses.insert(ShmNode.address("a")), 1, 0, 1));
            Deadline.await("a refusal because of the other request", () -> {
                killed.step();
                asking.step();
                return connection(asking, killed).state() == ShmConnection.AWAITING;
            }, () -> asking.services.errors + " and " + killed.services.errors);
            killed.close();
            ShmNode.Entry[] entry = new ShmNode.Entry[1];
            Deadline.usual().until("the end of the send", () -> (entry[0] = asking.poll()) != null, asking::step,
                () -> asking.services.errors);
            // and not that the time for a connection was over
            assertEquals(FabricErrno.EHOSTUNREACH, entry[0].err());
        } finally {
            asking.close();
        }
    }

    @Test
    void shouldExplainThatThePeerHasEndedWhileItWasConnecting() throws IOException {
        ShmNode ending = new ShmNode(base, "ending");
        assertEquals(0, ending.endpoint.send(
            ShmNode.TAGGED, ending.buf(0), 8, ending.addresses.insert(ShmNode.address("alpha")), 1, 0, 1));
        Deadline.await("a hello", () -> {
            ending.step();
            return connection(ending, alpha).state() == ShmConnection.GREETING;
        }, () -> ending.services.errors);
        ending.close();
        // as its resource thread would
        try (Stream<Path> files = Files.list(base.resolve("ending"))) {
            files.filter(each -> each.toString().endsWith(".ring")).forEach(each -> each.toFile().delete());
        }
        Deadline.await("the refusal of the files that are gone", () -> {
            alpha.step();
            return !alpha.services.errors.isEmpty();
        }, () -> "");
        assertInstanceOf(FabricException.class, alpha.services.errors.getFirst());
        assertTrue(alpha.services.errors.getFirst().getMessage().contains(
            "ending has removed its files while it was connecting"), () -> alpha.services.errors.toString());
        assertTransfers(beta, alpha, 8, 1);
    }

    @Test
    void shouldConnectAgainWhenThePeerHadNotNoticedTheEndYet() {
        assertTransfers(beta, alpha, 8, 1);
        // alpha finds beta's next request before the end of this connection
        connection(beta, alpha).fail(FabricErrno.ECONNRESET, null);
        assertTransfers(beta, alpha, 8, 2);
        assertTransfers(alpha, beta, 8, 3);
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

    /** Both begin while one ring is full: the OPEN that waits for room must not be written after the answer. */
    @Test
    void shouldMakeOneChannelWhenAnOpenComesWhileTheOwnOneWaitsForRoom() {
        stop();
        alpha = new ShmNode(base, "alpha-small", 64 << 10);
        beta = new ShmNode(base, "beta-small", 64 << 10);
        assertTransfers(alpha, beta, 64, 1);
        // alpha's ring is full to the last line: no driver reads it, and records of one line fill the rest
        int sent = 0;
        for (; sent < 200; sent++) {
            assertEquals(0,
                alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), sent < 7 ? 8192 : 8, 0, 1000, 0, 1000));
        }
        EngineEndpoint second = alpha.addEndpoint(2, "second");
        EngineEndpoint other = beta.addEndpoint(2, "other");
        long toOther = alpha.addresses.insert(FabricName.of("beta-small", "other"));
        long toSecond = beta.addresses.insert(FabricName.of("alpha-small", "second"));
        alpha.fill(1 << 20, 64, 5);
        beta.fill(1 << 20, 64, 6);
        for (int i = 0; i < 3; i++) {
            assertEquals(0, second.send(ShmNode.TAGGED, alpha.buf(1 << 20), 64, toOther, 40 + i, 0, 40 + i));
            assertEquals(0, other.send(ShmNode.TAGGED, beta.buf(1 << 20), 64, toSecond, 50 + i, 0, 50 + i));
        }
        // beta has written its OPEN and reads nothing yet
        for (int i = 0; i < 20; i++) {
            alpha.step();
        }
        for (int i = 0; i < 3; i++) {
            assertEquals(0, other.receive(ShmNode.TAGGED, beta.buf(2 << 20), 64, -1, 40 + i, 0, 60 + i));
            assertEquals(0, second.receive(ShmNode.TAGGED, alpha.buf(2 << 20), 64, -1, 50 + i, 0, 70 + i));
        }
        for (int i = 0; i < sent; i++) {
            assertEquals(0, beta.endpoint.receive(ShmNode.TAGGED, beta.buf(3 << 20), 8192, -1, 1000, 0, 1000));
        }
        List<Long> atAlpha = contexts(alpha, sent + 6);
        List<Long> atBeta = contexts(beta, sent + 6);
        assertEquals(List.of(40L, 41L, 42L, 70L, 71L, 72L), atAlpha);
        assertEquals(List.of(50L, 51L, 52L, 60L, 61L, 62L), atBeta);
        assertTrue(beta.isFilled(2 << 20, 64, 5) && alpha.isFilled(2 << 20, 64, 6));
        // one channel, which both sides use: nothing was refused, closed or opened twice
        assertEquals(List.of(), alpha.peersDown);
        assertEquals(List.of(), beta.peersDown);
        assertEquals(0, alpha.services.errors.size() + beta.services.errors.size(),
            () -> alpha.services.errors + " " + beta.services.errors);
        assertEquals(0, alpha.engine.violations() + beta.engine.violations());
        assertTransfers(alpha, beta, 1 << 20, 2);
    }

    /** Contexts of the next completions, which must be successes, in order of their value; without 1000. */
    private List<Long> contexts(ShmNode node, int count) {
        List<Long> result = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ShmNode.Entry entry = await(node);
            assertEquals(0, entry.err(), entry::toString);
            if (entry.context() != 1000) {
                result.add(entry.context());
            }
        }
        result.sort(null);
        return result;
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

    /** Its successor's hello may be seen before the end of its socket. */
    @Test
    void shouldDeliverWhatWasSentBeforeTheSenderDiedAlsoIfItsSuccessorIsSeenFirst() {
        assertTransfers(alpha, beta, 64, 1);
        for (int i = 0; i < 20; i++) {
            alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), 64, 0, 50 + i, 0, i);
            assertEquals(0, await(alpha, i).err());
        }
        alpha.close();
        deleteTree(base.resolve("alpha"));
        alpha = new ShmNode(base, "alpha");
        alpha.addresses.insert(ShmNode.address("beta"));
        alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), 64, 0, 99, 0, 99);
        alpha.step();
        for (int i = 0; i < 20; i++) {
            beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), 64, -1, 50 + i, 0, i);
            assertEquals(0, await(beta, i).err());
        }
        assertEquals(1, beta.peersDown.size(), () -> beta.peersDown.toString());
        beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), 64, -1, 99, 0, 99);
        assertEquals(0, await(beta, 99).err());
    }

    private ShmNode.Entry await(ShmNode node, long context) {
        ShmNode.Entry entry = null;
        for (Deadline end = Deadline.usual(); !end.isOver() && entry == null;) {
            if (node == alpha) {
                // the receiver stands still: what was sent stays in the ring
                alpha.step();
            } else {
                alpha.step();
                beta.step();
            }
            entry = node.poll();
        }
        assertNotNull(entry, () -> "no completion " + context);
        assertEquals(context, entry.context());
        return entry;
    }

    /** The receive whose payload is gone ends with an error; later messages are delivered. */
    @Test
    void shouldDeliverWhatWasSentBeforeTheSenderDiedAlsoIfItsRegionWasCut() throws IOException {
        assertTransfers(alpha, beta, 1 << 20, 1);
        assertTransfers(alpha, beta, 1 << 20, 2);
        beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), 1 << 20, -1, 77, 0, 1);
        beta.endpoint.receive(ShmNode.TAGGED, beta.buf(0), 64, -1, 78, 0, 2);
        alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(1 << 20), 1 << 20, 0, 77, 0, 1);
        alpha.endpoint.send(ShmNode.TAGGED, alpha.buf(0), 64, 0, 78, 0, 2);
        alpha.services.die();
        Path region = base.resolve("alpha").resolve(FileType.MEMORY_REGION.fileName(alpha.regionNumber));
        try (FileChannel file = FileChannel.open(region, StandardOpenOption.WRITE)) {
            file.truncate(8192);
        }
        for (Deadline end = Deadline.usual(); !end.isOver() && beta.peersDown.isEmpty();) {
            beta.step();
        }
        beta.step();
        ShmNode.Entry lost = beta.poll();
        ShmNode.Entry received = beta.poll();
        assertEquals(1, lost.context());
        assertEquals(FabricErrno.EIO, lost.err());
        assertEquals(2, received.context());
        assertEquals(0, received.err());
        assertEquals(1, beta.peersDown.size(), () -> beta.peersDown.toString());
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
        for (Deadline end = Deadline.usual(); !end.isOver() && failed == null;) {
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
        for (Deadline end = Deadline.usual(); !end.isOver() && failed == null;) {
            beta.step();
            failed = beta.poll();
        }
        assertEquals(FabricErrno.EIO, failed.err());
        assertEquals(Flags.RECV, failed.flags() & Flags.RECV);
        // the sender gets a completion in error, and the connection continues
        ShmNode.Entry refused = null;
        for (Deadline end = Deadline.usual(); !end.isOver() && refused == null;) {
            alpha.step();
            beta.step();
            refused = alpha.poll();
        }
        assertEquals(FabricErrno.EIO, refused.err());
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
