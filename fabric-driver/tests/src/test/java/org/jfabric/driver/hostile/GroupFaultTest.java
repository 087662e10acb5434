package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.MulticastGroup;
import org.jfabric.MulticastReader;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.GroupRig;
import org.jfabric.driver.kit.GroupRig.Place;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.layout.GroupRingDescriptor;
import org.jfabric.layout.ReadPlaceDescriptor;
import org.jfabric.stream.Publication;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Members of a group that leave, stop, die or do wrong: the others go on. */
@Tag("hostile")
@Timeout(120)
class GroupFaultTest {
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    private static final String[] LITTLE_ROOM = {
        "jfabric.shm.groupRingLengthBytes=4k", "jfabric.engine.unexpectedBudgetBytes=64k",
        "jfabric.engine.creditWindowBytes=4k", "jfabric.engine.eagerLimitBytes=1k"};
    private static final int LENGTH = 400;

    private static MulticastGroup write(GroupRig rig) {
        return rig.writer.endpoint.join(GroupRig.GROUP, 0, Flags.SEND);
    }

    private static void post(FabricNode node, int count) {
        for (int i = 0; i < count; i++) {
            assertEquals(0, node.endpoint.recv(node.memory.address((long) i * LENGTH), LENGTH, ANY, i));
        }
    }

    /** Writes until the group waits for a reader; returns the number of messages that are written. */
    private static int fill(GroupRig rig, MulticastGroup group) {
        for (int i = 0; i < 250; i++) {
            rig.writer.memory.buffer().putInt(i * LENGTH, i);
            assertEquals(0, rig.writer.endpoint.send(rig.writer.memory.address((long) i * LENGTH), LENGTH,
                group.fiAddr(), i));
        }
        int written = 0;
        for (int quiet = 0; quiet < 200; quiet++) {
            if (rig.writer.poll() != null) {
                written++;
                quiet = 0;
            }
            rig.pump();
            Thread.yield();
        }
        assertTrue(written < 250, "all are written");
        return written;
    }

    private static void awaitNumbers(FabricNode reader, int from, int to) {
        for (int i = from; i < to; i++) {
            assertEquals(LENGTH, reader.await(i).len());
            assertEquals(i, reader.memory.buffer().getInt(i * LENGTH));
        }
    }

    @ParameterizedTest
    @EnumSource(value = Place.class, names = {"ONE_DRIVER", "DRIVERS"})
    void shouldReadWhatIsWrittenWhenTheWriterLeaves(Place place) {
        try (GroupRig rig = new GroupRig(place, 2, LITTLE_ROOM)) {
            MulticastGroup group = write(rig);
            rig.readers.forEach(rig::read);
            int written = fill(rig, group);
            group.close();
            for (FabricNode reader : rig.readers) {
                post(reader, 250);
                awaitNumbers(reader, 0, written);
                rig.awaitLost(reader, FabricErrno.ESHUTDOWN, rig.writer.endpoint.name());
            }
            // its sends that were not written
            for (int i = written; i < 250; i++) {
                assertEquals(FabricErrno.ENOTCONN, rig.writer.await().err());
            }
            MulticastGroup again = write(rig);
            rig.readers.forEach(rig::read);
            assertEquals(0, rig.writer.endpoint.send(rig.writer.memory.address(), 8, again.fiAddr(), 9));
            for (FabricNode reader : rig.readers) {
                assertEquals(8, reader.await(written).len());
            }
            assertEquals(List.of(), List.copyOf(rig.events()));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldNotWaitForAReaderThatIsGone(boolean leaves) {
        try (GroupRig rig = new GroupRig(Place.DRIVERS, 2, LITTLE_ROOM)) {
            MulticastGroup group = write(rig);
            FabricNode slow = rig.readers.get(0);
            FabricNode fast = rig.readers.get(1);
            MulticastGroup membership = rig.read(slow);
            rig.read(fast);
            post(fast, 250);
            int written = fill(rig, group);
            if (leaves) {
                membership.close();
            } else {
                slow.endpoint.close();
            }
            for (int i = written; i < 250; i++) {
                rig.writer.await(i);
            }
            awaitNumbers(fast, 0, 250);
            assertEquals(List.of(), List.copyOf(rig.events()));
        }
    }

    @Test
    void shouldRemoveAReaderThatStopsForTooLong() {
        List<String> options = new ArrayList<>(List.of(LITTLE_ROOM));
        // long enough for the other reader, which has its turns between those of all others
        options.add("jfabric.shm.groupStallTimeoutNs=1s");
        try (GroupRig rig = new GroupRig(Place.DRIVERS, 2, options.toArray(String[]::new))) {
            MulticastGroup group = write(rig);
            FabricNode stopped = rig.readers.get(0);
            FabricNode fast = rig.readers.get(1);
            rig.readers.forEach(rig::read);
            post(fast, 250);
            rig.stop("reader-0");
            for (int i = 0; i < 250; i++) {
                rig.writer.memory.buffer().putInt(i * LENGTH, i);
                assertEquals(0, rig.writer.endpoint.send(rig.writer.memory.address((long) i * LENGTH), LENGTH,
                    group.fiAddr(), i));
            }
            for (int i = 0; i < 250; i++) {
                rig.writer.await(i);
            }
            awaitNumbers(fast, 0, 250);
            rig.resume("reader-0");
            rig.awaitLost(stopped, FabricErrno.ETIMEDOUT, rig.writer.endpoint.name());
            rig.read(stopped);
            post(stopped, 1);
            assertEquals(0, fast.endpoint.recv(fast.memory.address(), LENGTH, ANY, 1000));
            assertEquals(0, rig.writer.endpoint.send(rig.writer.memory.address(), 8, group.fiAddr(), 9));
            assertEquals(8, stopped.await(0).len());
            assertEquals(8, fast.await(1000).len());
        }
    }

    /** The ring of the only group of a driver. */
    private static FileChannel ring(GroupRig rig) throws IOException {
        Path name;
        try (var files = Files.list(rig.directory("alpha"))) {
            name = files.filter(file -> file.toString().endsWith(".group")).findFirst().orElseThrow();
        }
        return FileChannel.open(name, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    @Test
    void shouldOutliveARingThatIsTruncated() throws IOException {
        try (GroupRig rig = new GroupRig(Place.DRIVERS, 2)) {
            MulticastGroup group = write(rig);
            rig.readers.forEach(rig::read);
            try (FileChannel file = ring(rig)) {
                file.truncate(4096);
            }
            for (FabricNode reader : rig.readers) {
                post(reader, 2);
            }
            rig.awaitLost(rig.writer, FabricErrno.EIO, GroupRig.GROUP);
            assertEquals(0, rig.writer.endpoint.send(rig.writer.memory.address(), 8, group.fiAddr(), 9));
            assertTrue(rig.writer.await().err() != 0);
            group.close();
            for (FabricNode reader : rig.readers) {
                rig.awaitLost(reader, FabricErrno.EIO, rig.writer.endpoint.name());
            }
            MulticastGroup again = write(rig);
            rig.readers.forEach(rig::read);
            assertEquals(0, rig.writer.endpoint.send(rig.writer.memory.address(), 8, again.fiAddr(), 9));
            rig.writer.await(9);
            for (FabricNode reader : rig.readers) {
                assertEquals(8, reader.await(0).len());
            }
        }
    }

    /** The writer has begun to overwrite the oldest of three messages, and was interrupted there. */
    @Test
    void shouldSkipAMessageThatIsBeingOverwritten() throws IOException {
        try (GroupRig rig = new GroupRig(Place.DRIVERS, 1, LITTLE_ROOM)) {
            FabricNode reader = rig.readers.getFirst();
            long to = rig.writer.endpoint.join(GroupRig.GROUP + "?lossy", 0, Flags.SEND).fiAddr();
            rig.read(reader);
            post(reader, 3);
            rig.stop("reader-0");
            for (int i = 0; i < 3; i++) {
                assertEquals(0, rig.writer.endpoint.send(rig.writer.memory.address(), 10 + i, to, i));
                rig.writer.await(i);
            }
            try (FileChannel file = ring(rig)) {
                file.map(FileChannel.MapMode.READ_WRITE, 0, file.size()).order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(GroupRingDescriptor.INTENT_OFFSET, 4096 + GroupRingDescriptor.RECORD_ALIGNMENT);
            }
            rig.resume("reader-0");
            FabricNode.Entry gap = reader.await();
            assertEquals(new FabricNode.Lost(0, 1), gap.lost());
            // the newest one
            assertEquals(12, reader.await(0).len());
            reader.assertQuiet(20);
            try (DriverView view = new DriverView(rig.directory("reader-0"))) {
                assertEquals(2, view.counter("shm: messages of lossy groups lost by their readers"));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 1, 0x7FFF_FFFF, 0x7FFF_FFFF_FFFF_FFFFL, 24, 0xFFFF_FFC0L})
    void shouldLeaveAGroupWhoseRingHoldsGarbage(long garbage) throws IOException {
        for (String option : List.of("", "?lossy")) {
            try (GroupRig rig = new GroupRig(Place.DRIVERS, 1)) {
                FabricNode reader = rig.readers.getFirst();
                rig.writer.endpoint.join(GroupRig.GROUP + option, 0, Flags.SEND);
                rig.read(reader);
                post(reader, 1);
                try (FileChannel file = ring(rig)) {
                    ByteBuffer ring = file.map(FileChannel.MapMode.READ_WRITE, 0, file.size())
                        .order(ByteOrder.LITTLE_ENDIAN);
                    ring.putInt(GroupRingDescriptor.HEADER_LENGTH, (int) garbage);
                    ring.putInt(GroupRingDescriptor.HEADER_LENGTH + 4, (int) (garbage >>> 1));
                    ring.putLong(GroupRingDescriptor.LATEST_OFFSET, garbage);
                    ring.putLong(GroupRingDescriptor.TAIL_OFFSET, garbage > 0 ? garbage : 4096);
                }
                for (int i = 0; i < 10; i++) {
                    rig.pump();
                }
                // whatever it made of that, the driver works
                long to = reader.av.insert(reader.endpoint.name());
                assertEquals(0, reader.endpoint.trecv(reader.memory.address(), 8, ANY, 5, 0, 50));
                assertEquals(0, reader.endpoint.tsend(reader.memory.address(), 8, to, 5, 51));
                reader.await();
                reader.await();
            }
        }
    }

    /** A ring whose messages do not count by ones, or not from those that were lost. */
    @ParameterizedTest
    @ValueSource(longs = {0, 2, -1, 5, 0x7FFF_FFFF_FFFF_FFFFL, Long.MIN_VALUE})
    void shouldLeaveAGroupWhoseRingHasForgedPositions(long forged) throws IOException {
        for (String option : List.of("", "?lossy")) {
            try (GroupRig rig = new GroupRig(Place.DRIVERS, 1)) {
                FabricNode reader = rig.readers.getFirst();
                long to = rig.writer.endpoint.join(GroupRig.GROUP + option, 0, Flags.SEND).fiAddr();
                rig.read(reader);
                post(reader, 2);
                rig.stop("reader-0");
                for (int i = 0; i < 2; i++) {
                    assertEquals(0, rig.writer.endpoint.send(rig.writer.memory.address(), 10 + i, to, i));
                    rig.writer.await(i);
                }
                try (FileChannel file = ring(rig)) {
                    ByteBuffer bytes = file.map(FileChannel.MapMode.READ_WRITE, 0, file.size())
                        .order(ByteOrder.LITTLE_ENDIAN);
                    bytes.putLong(GroupRingDescriptor.HEADER_LENGTH + GroupRingDescriptor.RECORD_ALIGNMENT
                        + GroupRingDescriptor.MARK,
                        GroupRingDescriptor.mark(forged, bytes.getLong(GroupRingDescriptor.KEY_OFFSET)));
                }
                rig.resume("reader-0");
                assertEquals(10, reader.await(0).len());
                rig.awaitLost(reader, FabricErrno.EIO, rig.writer.endpoint.name());
                try (DriverView view = new DriverView(rig.directory("reader-0"))) {
                    assertTrue(view.errors().toString().contains(
                        "has message " + forged + " at 64, where 1 follows"), view.errors()::toString);
                }
            }
        }
    }

    /** A client that reads in place stores where it is; places of words in its queue's file, and what it claims. */
    @ParameterizedTest
    @CsvSource({"0x100000, 1, 0", "-64, 0, 0", "64, 2, 0", "64, -1, 0", "64, 1, 2", "63, 1, 0"})
    void shouldEndAReaderInPlaceThatSaysItIsWhereItCannotBe(String offset, long position, long lost)
        throws IOException {
        try (GroupRig rig = new GroupRig(Place.DRIVERS, 2)) {
            long to = write(rig).fiAddr();
            FabricNode liar = rig.readers.get(0);
            MulticastReader reader = rig.readInPlace(liar);
            MulticastReader other = rig.readInPlace(rig.readers.get(1));
            assertEquals(0, rig.writer.endpoint.send(rig.writer.memory.address(), 10, to, 0));
            rig.writer.await(0);
            Path queue;
            try (var files = Files.list(rig.directory("reader-0"))) {
                queue = files.filter(file -> file.toString().endsWith(".cq")).findFirst().orElseThrow();
            }
            try (FileChannel file = FileChannel.open(queue, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                long place = file.map(FileChannel.MapMode.READ_WRITE, 0, file.size(), Arena.ofAuto()).address();
                ReadPlaceDescriptor.store(place, Long.decode(offset), position, lost);
                rig.awaitLost(liar, FabricErrno.EIO, rig.writer.endpoint.name());
            }
            try (DriverView view = new DriverView(rig.directory("reader-0"))) {
                assertTrue(view.errors().toString().contains("says it is at " + Long.decode(offset)),
                    view.errors()::toString);
            }
            Deadline.await("the end of the reader", () -> reader.next() == -FabricErrno.EIO, rig::events);
            Deadline.await("the other reader's message", () -> other.next() == 1, rig::events);
            assertEquals(10, other.length());
        }
    }

    @Test
    void shouldEndAReaderInPlaceWhoseRingIsCut() throws IOException {
        try (GroupRig rig = new GroupRig(Place.DRIVERS, 1)) {
            write(rig);
            MulticastReader reader = rig.readInPlace(rig.readers.getFirst());
            try (FileChannel file = ring(rig)) {
                file.truncate(0);
            }
            assertEquals(-FabricErrno.EIO, reader.next());
            assertEquals(-FabricErrno.EIO, reader.next());
            reader.close();
            assertEquals(-FabricErrno.EOPBADSTATE, reader.next());
        }
    }

    /** Nothing that was posted can say so. */
    @Test
    void shouldEndAPublicationThatWritesNothing() throws IOException {
        try (GroupRig rig = new GroupRig(Place.DRIVERS, 1);
            Publication publication = Publication.on(rig.writer.fabric, GroupRig.GROUP).open()) {
            assertEquals(0, publication.poll());
            try (FileChannel file = ring(rig)) {
                file.truncate(4096);
            }
            Deadline.await("the end of the group", () -> publication.poll() == -FabricErrno.EIO, publication::toString);
        }
    }

    @Test
    void shouldNotWaitForEverForADriverThatDoesNotAnswer() {
        try (GroupRig rig = new GroupRig(Place.DRIVERS, 1, "jfabric.shm.connectTimeoutNs=100ms")) {
            write(rig);
            // so that the drivers are connected
            rig.read(rig.node("reader-0", GroupRig.hints()));
            FabricNode reader = rig.readers.getFirst();
            rig.stop("alpha");
            FabricException late = assertThrows(FabricException.class, () -> rig.read(reader));
            assertEquals(FabricErrno.ETIMEDOUT, late.errno(), late::getMessage);
            assertTrue(late.getMessage().contains("has a driver that did not answer in time"), late::getMessage);
            rig.resume("alpha");
            rig.read(reader);
        }
    }

    @Test
    void shouldGoOnWhenDriversAreKilled() {
        try (GroupRig rig = new GroupRig(Place.PROCESSES, 2, LITTLE_ROOM)) {
            MulticastGroup group = write(rig);
            FabricNode near = rig.readers.get(0);
            FabricNode far = rig.readers.get(1);
            rig.readers.forEach(rig::read);
            post(near, 250);
            int written = fill(rig, group);
            rig.kill("beta");
            for (int i = written; i < 250; i++) {
                rig.writer.await(i);
            }
            awaitNumbers(near, 0, 250);
            far.close();

            FabricNode next = rig.node("beta", GroupRig.hints());
            rig.read(next);
            post(near, 3);
            for (int i = 0; i < 3; i++) {
                assertEquals(0, rig.writer.endpoint.send(
                    rig.writer.memory.address((long) i * LENGTH), LENGTH, group.fiAddr(), i));
                rig.writer.await(i);
            }
            rig.kill("alpha");
            post(next, 4);
            // what was written is read
            awaitNumbers(next, 0, 3);
            rig.awaitLost(next, FabricErrno.ECONNRESET, rig.writer.endpoint.name());
            rig.writer.close();
            near.close();

            assertThrows(FabricException.class, () -> rig.read(next));
            FabricNode writer = rig.node("alpha", GroupRig.hints());
            MulticastGroup again = writer.endpoint.join(GroupRig.GROUP, 0, Flags.SEND);
            rig.read(next);
            assertEquals(0, writer.endpoint.send(writer.memory.address(), 8, again.fiAddr(), 9));
            assertEquals(8, next.await(3).len());
        }
    }
}
