package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.RemoteMemory;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory whose file was cut, on either side of accesses over tcp, of lengths that are copied and that are not. */
@Timeout(120)
class TcpCutMemoryTest {
    private static final int LENGTH = 1 << 20;
    private static final long KEY = 7;
    private static final long OTHER = 8;

    private FabricPair pair;
    private RemoteMemory remote;

    @BeforeEach
    void open() {
        Info hints = new Info().caps(Flags.MSG | Flags.RMA);
        hints.txAttr().opFlags(Flags.DELIVERY_COMPLETE);
        pair = new FabricPair(Setup.NETWORK_EMBEDDED, hints, 64);
        remote = pair.a.endpoint.remoteMemory();
    }

    private static MemoryRegionAttr attr(long key) {
        return new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(key);
    }

    @AfterEach
    void close() {
        pair.close();
    }

    /** A region of that node whose file has no bytes any more. */
    private MemoryRegion cut(FabricNode node, String driver, MemoryRegionAttr attr) throws IOException {
        Path directory = pair.directory(driver);
        Set<Path> before = files(directory);
        MemoryRegion region = node.domain.allocate(LENGTH, attr);
        Set<Path> made = files(directory);
        made.removeAll(before);
        assertEquals(1, made.size(), made::toString);
        try (FileChannel channel = FileChannel.open(made.iterator().next(), StandardOpenOption.WRITE)) {
            channel.truncate(0);
        }
        return region;
    }

    private static Set<Path> files(Path directory) throws IOException {
        Set<Path> files = new HashSet<>();
        try (var list = Files.newDirectoryStream(directory)) {
            list.forEach(files::add);
        }
        return files;
    }

    /** An endpoint writes and reads memory of its own, over a connection to itself. */
    private static void assertServes(FabricNode node) {
        MemoryRegion region = node.domain.allocate(64, attr(OTHER));
        RemoteMemory remote = node.endpoint.remoteMemory();
        long self = node.av.insert(node.endpoint.name());
        for (int i = 0; i < 3; i++) {
            node.memory.buffer().putLong(0, i + 40);
            assertEquals(0, remote.write(node.memory.address(), 8, self, 8, OTHER, 5));
            node.await(5);
            assertEquals(i + 40, region.buffer().getLong(8));
            assertEquals(0, remote.read(node.memory.address(64), 8, self, 8, OTHER, 6));
            node.await(6);
            assertEquals(i + 40, node.memory.buffer().getLong(64));
        }
        region.close();
    }

    private void assertFails(int errno, long context) {
        FabricNode.Entry entry = pair.a.await();
        assertEquals(FabricErrno.name(errno), FabricErrno.name(entry.err()));
        assertEquals(context, entry.context());
        pair.a.assertQuiet(5);
    }

    /** The driver ends the client whose memory has failed. */
    private void awaitEnd(FabricNode node) {
        UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);
        Deadline deadline = Deadline.usual();
        while (node.cq.read(entry, 0, 1) != -FabricErrno.ENODEV) {
            deadline.check("the end of the client", node::toString);
            pair.pump();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 5000, LENGTH})
    void shouldEndTheConnectionOfAWriteToMemoryThatIsCut(int length) throws IOException {
        cut(pair.b, "beta", attr(KEY));
        assertEquals(0, remote.write(pair.a.memory.address(), length, pair.toB, 0, KEY, 1));
        assertFails(FabricErrno.ECONNRESET, 1);
        assertServes(pair.a);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 5000, LENGTH})
    void shouldEndTheConnectionOfAReadOfMemoryThatIsCut(int length) throws IOException {
        cut(pair.b, "beta", attr(KEY));
        assertEquals(0, remote.read(pair.a.memory.address(), length, pair.toB, 0, KEY, 2));
        assertFails(FabricErrno.ECONNRESET, 2);
        assertServes(pair.a);
        assertServes(pair.b);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 5000, LENGTH})
    void shouldEndTheClientThatReadsIntoMemoryThatIsCut(int length) throws IOException {
        pair.b.domain.allocate(LENGTH, attr(KEY));
        MemoryRegion local = cut(pair.a, "alpha", new MemoryRegionAttr());
        assertEquals(0, remote.read(local.address(), length, pair.toB, 0, KEY, 2));
        awaitEnd(pair.a);
        assertServes(pair.b);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 5000, LENGTH})
    void shouldWriteNothingOfOwnMemoryThatIsCut(int length) throws IOException {
        MemoryRegion target = pair.b.domain.allocate(LENGTH, attr(KEY));
        target.buffer().setMemory(0, LENGTH, (byte) 0x5C);
        MemoryRegion local = cut(pair.a, "alpha", new MemoryRegionAttr());
        assertEquals(0, remote.write(local.address(), length, pair.toB, 0, KEY, 1));
        if (length == 8) {
            awaitEnd(pair.a);
        } else {
            // the system refuses to read it
            assertFails(FabricErrno.EFAULT, 1);
            assertServes(pair.a);
        }
        assertServes(pair.b);
        for (int i = 0; i < LENGTH; i++) {
            assertEquals(0x5C, target.buffer().getByte(i));
        }
    }
}
