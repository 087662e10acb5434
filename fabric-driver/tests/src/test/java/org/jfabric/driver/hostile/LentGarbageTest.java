package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.MemoryRegion;
import org.jfabric.RecvContext;
import org.jfabric.client.LentRegions;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.LentPlaceDescriptor;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Lent messages whose senders are killed, cut their memory, or name memory that they have not lent. */
@Tag("hostile")
@Timeout(120)
class LentGarbageTest {
    private static final int LENGTH = 200_000;
    private static final long ANY = -1L;

    private static Info hints() {
        return new Info().caps(Flags.MSG | Flags.TAGGED | Flags.SOURCE).mode(Mode.BUFFERED_RECV);
    }

    private static RecvContext awaitMessage(FabricNode node) {
        FabricNode.Entry entry = node.await();
        assertEquals(0, entry.err(), entry::toString);
        RecvContext message = node.cq.recvContext(entry.context());
        assertNotNull(message, entry::toString);
        assertTrue(message.isLent(), entry::toString);
        message.retain();
        return message;
    }

    private static void assertShows(RecvContext message, int seed) {
        assertEquals(LENGTH, message.buffer().capacity());
        FabricNode.assertPattern(message.buffer(), 0, LENGTH, seed, 0);
    }

    @Test
    void shouldLeaveWhatAKilledDriverHasLentReadable() {
        try (FabricPair pair = FabricPair.withOwnDaemons(Setup.SHM_DAEMON, hints(), 512)) {
            pair.b.fill(0, LENGTH, 3);
            for (int i = 0; i < 3; i++) {
                assertEquals(0, pair.b.endpoint.messages().sendLent(pair.b.memory.address(0), LENGTH, pair.toA, i));
            }
            RecvContext kept = awaitMessage(pair.a);
            RecvContext claimed = awaitMessage(pair.a);
            RecvContext dropped = awaitMessage(pair.a);
            pair.killDriverOfB();
            Deadline.awaitParked("the end of the connection", () -> {
                assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(0), 8, pair.toB, 20));
                return pair.a.await().err() != 0;
            });
            assertShows(kept, 3);
            assertEquals(0, kept.release());
            claimed.context(8);
            assertEquals(0, pair.a.endpoint.messages().recvmsg(
                pair.a.memory.address(0), LENGTH, ANY, claimed.id(), Flags.CLAIM));
            FabricNode.Entry entry = pair.a.await();
            assertNotEquals(0, entry.err(), entry::toString);
            assertEquals(8, entry.context());
            dropped.context(9);
            assertEquals(0, pair.a.endpoint.messages().recvmsg(0, 0, ANY, dropped.id(), Flags.DISCARD));
            assertEquals(LENGTH, pair.a.await(9).len());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LOOPBACK_EMBEDDED", "SHM_EMBEDDED", "LOOPBACK_DAEMON", "SHM_DAEMON"})
    void shouldThrowAtTheReaderWhenTheSenderCutsItsMemory(Setup setup) throws IOException {
        try (FabricPair pair = FabricPair.withOwnDaemons(setup, hints(), 512)) {
            MemoryRegion region = pair.a.domain.allocate(1 << 20);
            assertEquals(0, pair.a.endpoint.messages().sendLent(region.address(0), 1 << 20, pair.toB, 1));
            RecvContext message = awaitMessage(pair.b);
            Path file = newestRegion(pair.directoryOf(pair.a));
            CutFiles.cut(file.getParent(), file.getFileName().toString(), MemoryRegionDescriptor.DATA_OFFSET);
            assertThrows(InternalError.class, () -> {
                for (int i = 0; i < 1 << 20; i += 64) {
                    message.buffer().getLong(i & -Long.BYTES);
                }
            });
            assertEquals(0, message.release());
            pair.a.await(1);
            // other memory is not concerned
            pair.a.fill(0, LENGTH, 5);
            assertEquals(0, pair.a.endpoint.messages().sendLent(pair.a.memory.address(0), LENGTH, pair.toB, 2));
            RecvContext next = awaitMessage(pair.b);
            assertShows(next, 5);
            assertEquals(0, next.release());
            pair.a.await(2);
        }
    }

    private static List<Path> regions(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".mr")).toList();
        }
    }

    private static Path newestRegion(Path directory) throws IOException {
        Path newest = null;
        for (Path file : regions(directory)) {
            newest = newest == null || number(file) > number(newest) ? file : newest;
        }
        return newest;
    }

    private static long number(Path region) {
        String name = region.getFileName().toString();
        return Long.parseLong(name.substring(0, name.indexOf('.')));
    }

    private static int write(UnsafeBuffer cell, Path directory, long number, long generation) {
        byte[] path = directory.toString().getBytes(StandardCharsets.UTF_8);
        cell.putLong(LentPlaceDescriptor.NUMBER_OFFSET, number);
        cell.putLong(LentPlaceDescriptor.GENERATION_OFFSET, generation);
        cell.putInt(LentPlaceDescriptor.PATH_LENGTH_OFFSET, path.length);
        cell.putBytes(LentPlaceDescriptor.PATH_OFFSET, path);
        return path.length;
    }

    @Test
    void shouldShowNothingThatIsNotInTheRegionThatIsNamed() throws IOException {
        try (FabricPair pair = FabricPair.withOwnDaemons(Setup.LOOPBACK_DAEMON, hints(), 64)) {
            pair.a.fill(0, 100, 7);
            Path directory = pair.directoryOf(pair.a);
            long number = number(regions(directory).stream().min(
                (one, other) -> Long.compare(number(one), number(other))).orElseThrow());
            ByteBuffer header = ByteBuffer.wrap(Files.readAllBytes(
                directory.resolve(FileType.MEMORY_REGION.fileName(number)))).order(
                ByteOrder.LITTLE_ENDIAN);
            long generation = header.getLong(FileHeaderDescriptor.GENERATION_OFFSET);
            long length = header.getLong(FileHeaderDescriptor.DATA_LENGTH_OFFSET);
            UnsafeBuffer cell = new UnsafeBuffer(new byte[4096]);
            UnsafeBuffer view = new UnsafeBuffer(0, 0);
            LentRegions lent = new LentRegions(region -> false);
            write(cell, directory, number, generation);
            LentRegions.Region region = lent.find(cell, 0);
            assertTrue(region.show(view, 0, 100));
            FabricNode.assertPattern(view, 0, 100, 7, 0);
            assertTrue(region.show(view, length, 0));
            for (long[] range : new long[][] {{-1, 1}, {0, -1}, {0, length + 1}, {length, 1}, {length - 1, 2},
                {Long.MAX_VALUE, 1}, {1, Long.MAX_VALUE}, {Long.MIN_VALUE, Long.MIN_VALUE}}) {
                assertFalse(region.show(view, range[0], range[1]), () -> range[0] + ", " + range[1]);
            }
            for (long other : new long[] {0, -1, number + 1000, Long.MAX_VALUE, Long.MIN_VALUE}) {
                write(cell, directory, other, generation);
                assertFalse(lent.find(cell, 0).show(view, 0, 1), () -> "number " + other);
            }
            write(cell, directory, number, generation + 1);
            assertFalse(lent.find(cell, 0).show(view, 0, 1));
            write(cell, Path.of("/proc/self"), number, generation + 2);
            assertFalse(lent.find(cell, 0).show(view, 0, 1));
            for (int pathLength : new int[] {-1, 5000, Integer.MAX_VALUE, Integer.MIN_VALUE, 0}) {
                write(cell, directory, number, generation + 3 + pathLength);
                cell.putInt(LentPlaceDescriptor.PATH_LENGTH_OFFSET, pathLength);
                assertFalse(lent.find(cell, 0).show(view, 0, 1), () -> "path of " + pathLength);
            }
            lent.close();
        }
    }
}
