package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.GroupRig;
import org.jfabric.driver.kit.GroupRig.Place;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.GroupRingDescriptor;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.Publication;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Somebody changes the files of a log while its group is written: subscriptions that read them get an error that names
 * the file, and no one else notices it. Or the ring, before it is recorded.
 */
@Tag("hostile")
@Timeout(120)
class RecordedDamageTest {
    private static final int LENGTH = 4096;
    /** More than two segments of 1 MiB. */
    private static final int MESSAGES = 700;

    private final Path base = TestDirectory.create();
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[LENGTH]);

    /** What is done to the first segment; another log's first one is there, too. */
    private enum Damage {
        BYTE(FabricErrno.EIO, " at offset ") {
            @Override
            void to(Path segment, Path foreign) throws IOException {
                try (FileChannel file = FileChannel.open(segment, StandardOpenOption.WRITE)) {
                    file.write(ByteBuffer.wrap(new byte[] {-1, -1}), file.size() / 2);
                }
            }
        },
        CUT(FabricErrno.EIO, "was cut") {
            @Override
            void to(Path segment, Path foreign) throws IOException {
                try (FileChannel file = FileChannel.open(segment, StandardOpenOption.WRITE)) {
                    file.truncate(file.size() / 2);
                }
            }
        },
        FOREIGN(FabricErrno.EIO, " at offset 0 is a segment of the log ") {
            @Override
            void to(Path segment, Path foreign) throws IOException {
                Files.copy(foreign, segment, StandardCopyOption.REPLACE_EXISTING);
            }
        },
        NOISE(FabricErrno.EIO, " at offset 0") {
            @Override
            void to(Path segment, Path foreign) throws IOException {
                Files.writeString(segment, "not a segment");
            }
        },
        MISSING(FabricErrno.ENOENT, "") {
            @Override
            void to(Path segment, Path foreign) throws IOException {
                Files.delete(segment);
            }
        };

        private final int errno;
        private final String text;

        Damage(int errno, String text) {
            this.errno = errno;
            this.text = text;
        }

        abstract void to(Path segment, Path foreign) throws IOException;
    }

    /** Messages in order, without a gap. */
    private static final class Reader implements StreamListener {
        private long next;

        Reader(long next) {
            this.next = next;
        }

        @Override
        public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
            assertEquals(next++, header.position());
            assertEquals(header.position(), buffer.getLong(offset));
        }

        @Override
        public void onGap(long first, long last) {
            throw new AssertionError("a gap from " + first + " to " + last);
        }
    }

    @AfterEach
    void delete() {
        TestDirectory.delete(base);
    }

    private Publication publish(Fabric fabric, String group) {
        return Publication.on(fabric, "jfabric://alpha/" + group)
            .recordIn(base.resolve(group), new LogOptions().segmentLengthBytes(1 << 20)).open();
    }

    private void write(Publication publication, long until) {
        Deadline.await("room for messages", () -> {
            message.putLong(0, publication.position());
            int result = publication.offer(message, 0, LENGTH);
            assertTrue(result == 0 || result == -FabricErrno.EAGAIN, () -> FabricErrno.name(-result));
            return publication.position() >= until;
        }, publication::toString);
    }

    private static void read(Subscription subscription, Reader reader, long until) {
        Deadline.await("messages to " + until, () -> {
            subscription.poll(reader, 16);
            return reader.next >= until;
        }, subscription::toString);
    }

    private Path segment(String group) throws IOException {
        try (Stream<Path> files = Files.list(base.resolve(group))) {
            List<Path> segments = files.filter(each -> each.toString().endsWith(".seg")).sorted().toList();
            assertTrue(segments.size() > 1, segments::toString);
            return segments.getFirst();
        }
    }

    @ParameterizedTest
    @EnumSource(Damage.class)
    void shouldNameTheFileToWhoReadsItAndLeaveOthersAlone(Damage damage) throws IOException {
        try (GroupRig rig = new GroupRig(Place.PROCESSES, 2);
            Publication other = publish(rig.writer.fabric, "other");
            Publication quotes = publish(rig.writer.fabric, "quotes")) {
            write(other, MESSAGES);
            write(quotes, MESSAGES);
            Deadline.await("the recorder", () -> quotes.written() == MESSAGES, quotes::toString);
            FabricNode far = rig.readers.get(1);
            try (Subscription now = Subscription.on(far.fabric, GroupRig.GROUP).open()) {
                damage.to(segment("quotes"), segment("other"));
                FabricException found = assertThrows(FabricException.class, () -> {
                    try (Subscription oldest = Subscription.on(far.fabric, GroupRig.GROUP).fromOldest().open()) {
                        Reader reader = new Reader(oldest.position());
                        assertEquals(0, reader.next);
                        read(oldest, reader, MESSAGES);
                    }
                });
                assertEquals(damage.errno, found.errno(), found::getMessage);
                assertTrue(found.getMessage().contains(base.resolve("quotes").toString())
                    && found.getMessage().contains(damage.text), found::getMessage);
                // as long as the ring has what it reads
                Reader fromNow = new Reader(MESSAGES);
                for (int until = MESSAGES; until <= MESSAGES + 300; until += 20) {
                    write(quotes, until);
                    read(now, fromNow, until);
                }
                try (Subscription ofOther = Subscription.on(far.fabric, "jfabric://alpha/other").fromOldest().open()) {
                    read(ofOther, new Reader(0), MESSAGES);
                }
            }
        }
        try (GroupRig rig = new GroupRig(Place.ONE_DRIVER, 1)) {
            if (damage == Damage.FOREIGN || damage == Damage.NOISE) {
                FabricException refused = assertThrows(
                    FabricException.class, () -> publish(rig.writer.fabric, "quotes"));
                assertTrue(refused.getMessage().contains(damage.text), refused::getMessage);
                return;
            }
            // its end is whole, and so are the headers of its segments
            try (Publication quotes = publish(rig.writer.fabric, "quotes")) {
                assertEquals(MESSAGES + 300, quotes.position());
                write(quotes, MESSAGES + 400);
            }
        }
    }

    /** Another process of this user writes a message that is none into the ring. */
    @ParameterizedTest
    @CsvSource({"0, 100", "1000, 100", "2000000000, 100", "-1, 100", "64, 99", "64, 101", "64, -1"})
    void shouldRecordNothingThatIsForged(int length, long position) throws IOException {
        try (GroupRig rig = new GroupRig(Place.PROCESSES, 1)) {
            try (Publication quotes = publish(rig.writer.fabric, "quotes");
                Subscription reader = Subscription.on(rig.readers.getFirst().fabric, GroupRig.GROUP).open()) {
                write(quotes, 100);
                Reader seen = new Reader(0);
                read(reader, seen, 100);
                Deadline.await("the recorder", () -> quotes.written() == 100, quotes::toString);
                forge(rig.directory("alpha"), length, position);
                Deadline.await("the end", () -> quotes.poll() == -FabricErrno.EIO, quotes::toString);
                Deadline.await("its end for the reader", () -> reader.poll(seen, 16) == -FabricErrno.EIO,
                    reader::toString);
                assertEquals(100, seen.next);
            }
            try (DriverView view = new DriverView(rig.directory("alpha"))) {
                assertTrue(view.errors().toString().contains("message 100 was changed by another process"),
                    view.errors()::toString);
            }
            try (Publication quotes = publish(rig.writer.fabric, "quotes")) {
                assertEquals(100, quotes.position());
                write(quotes, 200);
                try (Subscription oldest = Subscription.on(rig.writer.fabric, GroupRig.GROUP).fromOldest().open()) {
                    read(oldest, new Reader(0), 200);
                }
            }
        }
    }

    private static void forge(Path driver, int length, long position) throws IOException {
        Path ring;
        try (Stream<Path> files = Files.list(driver)) {
            ring = files.filter(each -> each.toString().endsWith(".group")).findFirst().orElseThrow();
        }
        try (FileChannel file = FileChannel.open(ring, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            UnsafeBuffer words = new UnsafeBuffer(file.map(FileChannel.MapMode.READ_WRITE, 0, file.size()));
            long tail = words.getLong(GroupRingDescriptor.TAIL_OFFSET);
            int at = GroupRingDescriptor.HEADER_LENGTH
                + (int) (tail % (file.size() - GroupRingDescriptor.HEADER_LENGTH));
            words.putInt(at + GroupRingDescriptor.LENGTH, length);
            words.putInt(at + GroupRingDescriptor.FLAGS, 0);
            words.putLong(at + GroupRingDescriptor.MARK,
                GroupRingDescriptor.mark(position, words.getLong(GroupRingDescriptor.KEY_OFFSET)));
            words.putLongOrdered(GroupRingDescriptor.TAIL_OFFSET, tail + 2 * GroupRingDescriptor.RECORD_ALIGNMENT);
        }
    }
}
