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
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.log.LogCursor;
import org.jfabric.client.log.LogFolder;
import org.jfabric.client.log.LogSegment;
import org.jfabric.codec.log.TermStartEncoder;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.stream.LogReader;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a power cut leaves: a file of which some pages were written, and others not. */
@Timeout(120)
class LogTornTest {
    private static final int SYNCED = 20;
    private static final int LAST = 2;

    private final long seed = Long.getLong("jfabric.test.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Path base = TestDirectory.create();
    private final LogKit kit = new LogKit();

    @AfterEach
    void after() {
        TestDirectory.delete(base);
    }

    private enum Damage {
        CUT, ZEROS, NOISE, HOLE
    }

    @Test
    void shouldOpenAtTheLastWholeRecord() throws IOException {
        System.out.println("seed " + seed);
        Path whole = base.resolve("whole");
        LogWriter writer = LogWriter.open(whole, "quotes", LogKit.options());
        kit.append(writer, SYNCED);
        assertEquals(0, writer.sync());
        kit.append(writer, LAST);
        assertEquals(0, writer.flush());
        writer.release();
        LogKit.cutPower(whole);
        List<Long> ends = ends(whole);
        assertEquals(SYNCED + LAST, ends.size());
        long first = ends.get(SYNCED - 1);
        long last = ends.getLast();
        for (long offset = first; offset <= last; offset++) {
            for (Damage damage : Damage.values()) {
                Path torn = base.resolve("torn");
                LogKit.copy(whole, torn);
                int kept = damage(torn, damage, offset, ends);
                checkReader(torn, kept);
                checkWriter(torn, kept);
                TestDirectory.delete(torn);
            }
        }
    }

    /** Returns how many messages are whole in front of it. */
    private int damage(Path torn, Damage damage, long offset, List<Long> ends) throws IOException {
        Path file = LogKit.segments(torn).getFirst();
        long last = ends.getLast();
        int length = switch (damage) {
            case CUT -> 0;
            case ZEROS -> (int) (last - offset);
            case NOISE -> (int) (last - offset) + 100;
            case HOLE -> (int) Math.min(1, last - offset);
        };
        byte[] bytes = new byte[length];
        if (damage == Damage.CUT) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(offset);
            }
        } else if (damage == Damage.HOLE && length > 0) {
            // whole records are behind it
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
                channel.read(ByteBuffer.wrap(bytes), offset);
            }
            bytes[0] ^= (byte) (1 + random.nextInt(255));
        } else if (damage == Damage.NOISE) {
            random.nextBytes(bytes);
        }
        long from = damage == Damage.ZEROS ? firstByteThatIsNotZero(file, offset, last) : offset;
        LogKit.change(file, offset, bytes);
        return (int) ends.stream().filter(end -> end <= from).count();
    }

    /** Zeros in place of zeros are no damage. */
    private static long firstByteThatIsNotZero(Path file, long offset, long last) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate((int) (last - offset));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            channel.read(bytes, offset);
        }
        int at = 0;
        while (at < bytes.capacity() && bytes.get(at) == 0) {
            at++;
        }
        return offset + at;
    }

    private static void checkReader(Path torn, int kept) {
        try (LogReader reader = LogReader.open(torn)) {
            LogKit.Check check = new LogKit.Check(0);
            assertEquals(kept, reader.poll(check, kept + 1));
            assertEquals(0, reader.poll(check, 1));
            FabricException beyond = assertThrows(FabricException.class, () -> reader.from(kept + 1));
            assertTrue(beyond.getMessage().contains("ends at position " + kept), beyond::getMessage);
        }
    }

    private void checkWriter(Path torn, int kept) {
        try (LogWriter writer = LogWriter.open(torn, "quotes", LogKit.options())) {
            assertEquals(kept, writer.position());
            assertEquals(2, writer.term());
            kit.append(writer, 3);
        }
        try (LogReader reader = LogReader.open(torn).from(2, kept)) {
            LogKit.Check check = new LogKit.Check(kept);
            assertEquals(3, reader.poll(check, 1000));
            assertEquals(2, check.term);
            // who has seen more of the first term must not go on
            FabricException ahead = assertThrows(FabricException.class, () -> reader.from(1, kept + 1));
            assertEquals(FabricErrno.EINVAL, ahead.errno());
            assertEquals(kept, reader.from(1, kept).position());
        }
    }

    /** A whole record of a term that was given up lies where the next one would be, and has its position. */
    @Test
    void shouldNotTakeUpRecordsOfAnEarlierTerm() throws IOException {
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[96]);
        Path log = base.resolve("log");
        LogWriter writer = LogWriter.open(log, "quotes", LogKit.options());
        assertEquals(0, writer.append(0, 0, 0, 0, 0, bytes, 0, 96));
        assertEquals(0, writer.append(1, 0, 0, 0, 0, bytes, 0, 96));
        assertEquals(0, writer.flush());
        writer.release();
        LogKit.cutPower(log);
        long first = ends(log).getFirst() - 8;
        LogKit.change(LogKit.segments(log).getFirst(), first, (byte) 1);
        // the new term's own record makes the difference
        writer = LogWriter.open(log, "quotes", LogKit.options());
        assertEquals(0, writer.append(0, 0, 0, 0, 0, bytes, 0, 96 - TermStartEncoder.BLOCK_LENGTH));
        assertEquals(0, writer.sync());
        writer.release();
        LogKit.cutPower(log);
        try (LogReader reader = LogReader.open(log)) {
            assertEquals(1, reader.poll((buffer, offset, length, header) -> assertEquals(2, header.term()), 10));
        }
        try (LogWriter next = LogWriter.open(log, "quotes", LogKit.options())) {
            assertEquals(1, next.position());
            assertEquals(3, next.term());
        }
    }

    /** The index names whole records of a term that was given up. */
    @Test
    void shouldNotFindRecordsOfAnEarlierTerm() throws IOException {
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[10_000]);
        Path log = base.resolve("log");
        LogWriter writer = LogWriter.open(log, "quotes", LogKit.options());
        for (int i = 0; i < 20; i++) {
            assertEquals(0, writer.append(i, 0, 0, 0, 0, bytes, 0, 10_000));
        }
        assertEquals(0, writer.flush());
        writer.release();
        LogKit.cutPower(log);
        LogKit.change(LogKit.segments(log).getFirst(), ends(log).get(2) - 100, (byte) 1);
        writer = LogWriter.open(log, "quotes", LogKit.options());
        for (int i = 2; i < 20; i++) {
            assertEquals(0, writer.append(i, 0, 0, 0, 0, bytes, 0, 100));
        }
        writer.close();
        try (LogReader reader = LogReader.open(log)) {
            for (int i = 2; i < 20; i++) {
                reader.from(i).poll((buffer, offset, length, header) -> {
                    assertEquals(2, header.term());
                    assertEquals(100, length);
                }, 1);
            }
        }
    }

    /** Offset behind each message. */
    private static List<Long> ends(Path folder) {
        List<Long> ends = new ArrayList<>();
        try (LogFolder log = LogFolder.open(folder); LogSegment segment = LogSegment.open(log, 0)) {
            LogCursor cursor = new LogCursor();
            cursor.begin(segment);
            long position = 0;
            while (cursor.next() != 0) {
                if (cursor.position() > position) {
                    position = cursor.position();
                    ends.add(cursor.offset());
                }
            }
        }
        return ends;
    }

    /** A segment that was begun and not synced may be there, or empty, or not there, whatever comes behind it. */
    @Test
    void shouldOpenInFrontOfALostSegment() throws IOException {
        Path whole = base.resolve("whole");
        LogWriter writer = LogWriter.open(whole, "quotes", LogKit.options());
        kit.append(writer, SYNCED);
        assertEquals(0, writer.sync());
        while (LogKit.segments(whole).size() < 4) {
            kit.append(writer, 1);
        }
        assertEquals(0, writer.flush());
        writer.release();
        LogKit.cutPower(whole);
        for (int lost = 1; lost < 4; lost++) {
            for (boolean isEmpty : new boolean[] {false, true}) {
                Path torn = base.resolve("torn");
                LogKit.copy(whole, torn);
                Path file = LogKit.segments(torn).get(lost);
                String name = file.getFileName().toString();
                int first = Integer.parseInt(name.substring(name.length() - 12, name.length() - 4));
                if (isEmpty) {
                    LogKit.change(file, 0, new byte[LogKit.SEGMENT]);
                } else {
                    Files.delete(file);
                }
                checkReader(torn, first);
                checkWriter(torn, first);
                TestDirectory.delete(torn);
            }
        }
    }
}
