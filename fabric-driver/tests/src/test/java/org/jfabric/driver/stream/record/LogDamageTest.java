package org.jfabric.driver.stream.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.SplittableRandom;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.LogDescriptor;
import org.jfabric.stream.LogReader;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Files of a log that somebody has changed, cut, exchanged or deleted. */
@Timeout(120)
class LogDamageTest {
    private static final int CHANGES = 300;

    private final long seed = Long.getLong("jfabric.test.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Path folder = TestDirectory.create();
    private final LogKit kit = new LogKit();
    private long end;
    private List<Path> segments;

    @BeforeEach
    void write() throws IOException {
        try (LogWriter writer = LogWriter.open(folder, "quotes", LogKit.options())) {
            while (LogKit.segments(folder).size() < 3) {
                kit.append(writer, 1);
            }
            kit.append(writer, 500);
            end = writer.position();
        }
        segments = LogKit.segments(folder);
    }

    @AfterEach
    void after() {
        TestDirectory.delete(folder);
    }

    private long readAll() {
        LogKit.Check check = new LogKit.Check(0);
        try (LogReader reader = LogReader.open(folder)) {
            while (reader.poll(check, 1000) > 0) {
                assertTrue(check.next <= end);
            }
        }
        assertEquals(List.of(), check.gaps);
        return check.next;
    }

    @Test
    void shouldFindAChangedByte() throws IOException {
        System.out.println("seed " + seed);
        assertEquals(end, readAll());
        for (int i = 0; i < CHANGES; i++) {
            Path file = segments.get(random.nextInt(2));
            long offset = LogDescriptor.recordsOffset(LogKit.SEGMENT) + random.nextInt(LogKit.SEGMENT * 3 / 4);
            byte old = read(file, offset);
            LogKit.change(file, offset, (byte) (old ^ 1 << random.nextInt(8)));
            FabricException found = assertThrows(FabricException.class, this::readAll,
                () -> file + " at " + offset + ", seed " + seed);
            assertEquals(FabricErrno.EIO, found.errno());
            assertTrue(found.getMessage().contains(file + " at offset "), found::getMessage);
            long named = Long.parseLong(found.getMessage().replaceAll("(?s).* at offset (\\d+).*", "$1"));
            assertTrue(named <= offset, found::getMessage);
            LogKit.change(file, offset, old);
        }
        assertEquals(end, readAll());
    }

    private static byte read(Path file, long offset) throws IOException {
        ByteBuffer one = ByteBuffer.allocate(1);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            channel.read(one, offset);
        }
        return one.get(0);
    }

    /** The index is a hint: with any other one the same is found. */
    @Test
    void shouldNotTrustTheIndex() throws IOException {
        byte[] noise = new byte[LogDescriptor.indexEntries(LogKit.SEGMENT) * 24];
        for (int i = 0; i < 20; i++) {
            for (Path segment : segments) {
                random.nextBytes(noise);
                LogKit.change(segment, LogDescriptor.INDEX_OFFSET, i == 0 ? new byte[noise.length] : noise);
            }
            try (LogReader reader = LogReader.open(folder)) {
                long from = random.nextLong(end);
                assertTrue(reader.from(from).poll(new LogKit.Check(from), 100) > 0);
                assertEquals(from, reader.fromTime(LogKit.timeNs(from)).position());
            }
        }
    }

    @Test
    void shouldNameACutFile() throws IOException {
        try (LogReader reader = LogReader.open(folder)) {
            LogKit.Check check = new LogKit.Check(0);
            reader.poll(check, 10);
            // while it is read
            try (FileChannel channel = FileChannel.open(segments.get(1), StandardOpenOption.WRITE)) {
                channel.truncate(LogKit.SEGMENT / 2);
            }
            FabricException cut = assertThrows(FabricException.class, () -> {
                while (reader.poll(check, 100) > 0) {
                    assertTrue(check.next < end);
                }
            });
            assertTrue(cut.getMessage().contains(segments.get(1) + " at offset "), cut::getMessage);
            assertTrue(cut.getMessage().contains("was cut: it has " + LogKit.SEGMENT / 2), cut::getMessage);
            // again and again, and what is behind it can be read
            assertThrows(FabricException.class, () -> reader.poll(check, 100));
            String name = segments.get(2).getFileName().toString();
            long third = Long.parseLong(name.substring(name.length() - 12, name.length() - 4));
            LogKit.Check rest = new LogKit.Check(third);
            assertEquals(100, reader.from(third).poll(rest, 100));
        }
    }

    @Test
    void shouldNameAMissingSegment() throws IOException {
        Files.delete(segments.get(1));
        FabricException missing = assertThrows(FabricException.class, this::readAll);
        assertEquals(FabricErrno.ENOENT, missing.errno());
        assertTrue(missing.getMessage().contains(folder.toString()), missing::getMessage);
        Files.delete(segments.get(0));
        assertThrows(FabricException.class, this::readAll);
        // a writer refuses a log that has lost its end
        Files.delete(segments.get(2));
        assertThrows(FabricException.class, () -> LogWriter.open(folder, "quotes", LogKit.options()));
    }

    @Test
    void shouldRefuseForeignFiles() throws IOException {
        Path other = folder.resolve("other");
        try (LogWriter writer = LogWriter.open(other, "quotes", LogKit.options())) {
            kit.append(writer, 10);
        }
        // of another log under its own name: none of ours
        Path foreign = LogKit.segments(other).getFirst();
        Files.copy(foreign, folder.resolve(foreign.getFileName()));
        assertEquals(end, readAll());
        // and under one of ours
        Files.delete(segments.get(1));
        Files.copy(foreign, segments.get(1));
        FabricException refused = assertThrows(FabricException.class, this::readAll);
        assertTrue(refused.getMessage().contains(segments.get(1) + " at offset 0 is a segment of the log "),
            refused::getMessage);
        Files.write(folder.resolve("log"), new byte[4096]);
        assertTrue(assertThrows(FabricException.class, () -> LogReader.open(folder)).getMessage()
            .contains("no log of JFabric"));
        Files.delete(folder.resolve("log"));
        assertEquals(FabricErrno.ENOENT,
            assertThrows(FabricException.class, () -> LogReader.open(folder)).errno());
        Files.createSymbolicLink(folder.resolve("log"), other.resolve("log"));
        assertThrows(FabricException.class, () -> LogReader.open(folder));
    }

    /** A file log in which any byte was changed is refused, or nothing else is read by it. */
    @Test
    void shouldFindChangesOfTheHeader() throws IOException {
        Path file = folder.resolve("log");
        byte[] good = Files.readAllBytes(file);
        for (int i = 0; i < CHANGES; i++) {
            int offset = random.nextInt(LogDescriptor.STATE_OFFSET + 64);
            byte[] changed = good.clone();
            changed[offset] ^= (byte) (1 << random.nextInt(8));
            Files.write(file, changed);
            if (offset < LogDescriptor.STATE_OFFSET) {
                assertThrows(FabricException.class, this::readAll);
            } else {
                assertEquals(end, readAll());
            }
        }
    }
}
