package org.jfabric.driver.stream.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.conformance.memory.DiskDirectory;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.LogDescriptor;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.LogReader;
import org.jfabric.stream.StreamListener;
import org.jfabric.test.AllocatedBytes;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class LogWriterTest {
    private static final int MESSAGES = 200_000;

    private final Path folder = TestDirectory.create();
    private final LogKit kit = new LogKit();
    private final FaultyDisk disk = new FaultyDisk();

    @AfterEach
    void after() {
        TestDirectory.delete(folder);
    }

    private LogKit.Check readAll() {
        LogKit.Check check = new LogKit.Check(0);
        try (LogReader reader = LogReader.open(folder)) {
            while (reader.poll(check, 1000) > 0) {
                Thread.onSpinWait();
            }
        }
        return check;
    }

    /** As a driver that is killed in simulation, whose process goes on. */
    @Test
    void shouldCloseItsFilesIfTheCloseFails() throws IOException {
        LogWriter writer = LogWriter.open(folder, "quotes", LogKit.options(), disk);
        assertTrue(openFiles() > 0, "none is open");
        disk.callsLeft = 0;
        assertThrows(FaultyDisk.KilledException.class, writer::close);
        assertEquals(0, openFiles());
    }

    /** Descriptors of this process in the folder. */
    private long openFiles() throws IOException {
        String inFolder = folder.toRealPath().toString();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.filter(each -> {
                try {
                    return Files.readSymbolicLink(each).toString().startsWith(inFolder);
                } catch (IOException closed) {
                    return false;
                }
            }).count();
        }
    }

    /** The numbers of descriptors that were closed are given to the next files. */
    @Test
    void shouldCloseNothingOfOthersWhenClosedAgain() {
        LogWriter writer = LogWriter.open(folder, "quotes", LogKit.options());
        kit.append(writer, 3);
        writer.close();
        LogReader closed = LogReader.open(folder);
        closed.close();
        try (LogReader reader = LogReader.open(folder)) {
            closed.close();
            writer.close();
            writer.release();
            assertEquals(3, reader.poll((buffer, offset, length, header) -> {
            }, 10));
        }
    }

    @Test
    void shouldContinueATermOnlyIfTheLogWasClosed() {
        UUID logId;
        try (LogWriter writer = LogWriter.open(folder, "quotes", LogKit.options())) {
            logId = writer.logId();
            assertEquals(1, writer.term());
            kit.append(writer, 10);
        }
        LogWriter second = LogWriter.open(folder, "quotes", new LogOptions());
        assertEquals(10, second.position());
        assertEquals(1, second.term());
        assertEquals(logId, second.logId());
        kit.append(second, 5);
        assertEquals(0, second.flush());
        second.release();
        try (LogWriter third = LogWriter.open(folder, "quotes", new LogOptions())) {
            assertEquals(15, third.position());
            assertEquals(15, third.synced());
            assertEquals(2, third.term());
            kit.append(third, 1);
        }
        assertEquals(16, readAll().next);
        try (LogReader reader = LogReader.open(folder)) {
            assertEquals("quotes", reader.group());
            assertEquals(logId, reader.logId());
            assertEquals(15, reader.from(1, 15).position());
            assertThrows(FabricException.class, () -> reader.from(1, 16));
            assertThrows(FabricException.class, () -> reader.from(2, 17));
            assertThrows(FabricException.class, () -> reader.from(17));
            assertEquals(16, reader.from(16).position());
        }
    }

    @Test
    void shouldRefuseWhatItCannotTake() {
        try (LogWriter writer = LogWriter.open(folder, "quotes", LogKit.options())) {
            UnsafeBuffer buffer = new UnsafeBuffer(new byte[writer.maxLength() + 1]);
            assertEquals(-FabricErrno.EINVAL, writer.append(1, 0, 0, 0, 0, buffer, 0, 8));
            assertEquals(-FabricErrno.EINVAL, writer.append(0, 0, 0, 0, 0, buffer, 0, writer.maxLength() + 1));
            assertEquals(0, writer.append(0, 0, 0, 0, 0, buffer, 0, writer.maxLength()));
        }
        assertRefused("quotes", LogKit.options().segmentLengthBytes(3 << 20), "3145728");
        assertRefused("quotes", new LogOptions().segmentLengthBytes(2 << 20), "1048576");
        assertRefused("another", LogKit.options(), "another");
        assertRefused("quotes", LogKit.options().retainBytes(LogKit.SEGMENT), "1048576");
    }

    private void assertRefused(String group, LogOptions options, String named) {
        FabricException refused = assertThrows(FabricException.class, () -> LogWriter.open(folder, group, options));
        assertEquals(FabricErrno.EINVAL, refused.errno());
        assertTrue(refused.getMessage().contains(named), refused::getMessage);
    }

    @Test
    void shouldNameTheOwnerToASecondWriter() {
        try (LogWriter writer = LogWriter.open(folder, "quotes", LogKit.options())) {
            kit.append(writer, 1);
            FabricException busy =
                assertThrows(FabricException.class, () -> LogWriter.open(folder, "quotes", LogKit.options()));
            assertEquals(FabricErrno.EBUSY, busy.errno());
            assertTrue(busy.getMessage().contains("process " + ProcessHandle.current().pid()), busy::getMessage);
        }
        LogWriter.open(folder, "quotes", LogKit.options()).close();
    }

    @Test
    void shouldKeepWhatRetentionSays() throws IOException {
        LogOptions options = LogKit.options().retainBytes(3L * LogKit.SEGMENT);
        try (LogWriter writer = LogWriter.open(folder, "quotes", options); LogReader slow = LogReader.open(folder)) {
            LogKit.Check check = new LogKit.Check(0);
            kit.append(writer, 10);
            assertEquals(0, writer.flush());
            assertEquals(5, slow.poll(check, 5));
            while (writer.oldest() == 0) {
                kit.append(writer, 1);
            }
            kit.append(writer, 30_000);
            assertEquals(0, writer.flush());
            assertEquals(3, LogKit.segments(folder).size());
            // the deleted segment it has open is read to its end
            while (slow.poll(check, 1000) > 0) {
                Thread.onSpinWait();
            }
            assertEquals(writer.position(), check.next);
            assertEquals(1, check.gaps.size(), check.gaps::toString);
            assertTrue(check.gaps.getFirst().endsWith("-" + (writer.oldest() - 1)), check.gaps::toString);
            try (LogReader late = LogReader.open(folder)) {
                assertEquals(writer.oldest(), late.position());
                LogKit.Check all = new LogKit.Check(3);
                late.from(3).poll(all, 1);
                assertEquals(List.of("3-" + (writer.oldest() - 1)), all.gaps);
            }
            assertEquals(0, writer.retain(Long.MAX_VALUE));
            assertEquals(1, LogKit.segments(folder).size());
        }
        TestDirectory.delete(folder);
        Files.createDirectories(folder);
        // messages of the kit are 1 ms apart
        try (LogWriter writer = LogWriter.open(folder, "quotes", LogKit.options().retainNs(2_000_000_000))) {
            kit.append(writer, 40_000);
            assertTrue(writer.oldest() > 0);
            assertTrue(writer.oldest() < 40_000 - 2_000);
        }
    }

    /** Segments say where the terms before them began, so that no reader continues behind what was lost. */
    @Test
    void shouldRefuseALostPlaceAlsoWhenTheBeginOfTheNextTermIsDeleted() throws IOException {
        long[] starts = new long[13];
        for (int term = 1; term < starts.length; term++) {
            LogWriter writer = LogWriter.open(folder, "quotes", LogKit.options());
            assertEquals(term, writer.term());
            starts[term] = writer.position();
            // some terms begin within a segment, some are several segments long
            kit.append(writer, term % 3 == 2 ? 25_000 : 10);
            assertEquals(0, writer.flush());
            if (term == 5 || term == starts.length - 1) {
                assertEquals(0, writer.retain(Long.MAX_VALUE));
                assertEquals(1, LogKit.segments(folder).size());
            }
            writer.release();
            for (int earlier = Math.max(1, term - 9); earlier < term; earlier++) {
                assertContinuesUpTo(earlier, starts[earlier + 1]);
            }
        }
        try (LogReader reader = LogReader.open(folder)) {
            FabricException refused = assertThrows(FabricException.class, () -> reader.from(1, starts[2]));
            assertEquals(FabricErrno.EINVAL, refused.errno());
            assertTrue(refused.getMessage().contains("where term 1 has ended"), refused::getMessage);
        }
    }

    private void assertContinuesUpTo(int term, long end) {
        try (LogReader reader = LogReader.open(folder)) {
            assertEquals(end, reader.from(term, end).position());
            FabricException refused = assertThrows(FabricException.class, () -> reader.from(term, end + 1));
            assertTrue(refused.getMessage().contains("from position " + end), refused::getMessage);
        }
    }

    @Test
    void shouldRefuseMessagesWhileTheDiskIsFull() {
        try (LogWriter writer = LogWriter.open(folder, "quotes", LogKit.options(), disk)) {
            disk.reserved = -FabricErrno.ENOSPC;
            int result = 0;
            while (result == 0) {
                result = kit.append(writer);
            }
            long full = writer.position();
            assertEquals(-FabricErrno.ENOSPC, result);
            assertEquals(-FabricErrno.ENOSPC, kit.append(writer));
            assertEquals(0, writer.sync());
            assertEquals(full, writer.synced());
            disk.reserved = 0;
            kit.append(writer, 10);
            assertEquals(0, writer.dropped());
        }
        assertEquals(List.of(), readAll().gaps);
    }

    @Test
    void shouldRecordAGapWhereTheDiskWasFull() {
        LogOptions options = LogKit.options().whenFull(LogOptions.FullDisk.GAP);
        long first;
        long last;
        try (LogWriter writer = LogWriter.open(folder, "quotes", options, disk)) {
            kit.append(writer, 10);
            disk.reserved = -FabricErrno.ENOSPC;
            while (writer.dropped() == 0) {
                kit.append(writer, 1);
            }
            first = writer.position() - 1;
            kit.append(writer, 100);
            assertEquals(101, writer.dropped());
            assertEquals(0, writer.sync());
            assertTrue(writer.synced() < writer.position());
            disk.reserved = 0;
            last = writer.position() - 1;
            kit.append(writer, 10);
        }
        LogKit.Check check = readAll();
        assertEquals(List.of(first + "-" + last), check.gaps);
        assertEquals(last + 11, check.next);
        // a log that ends in a gap which could not be recorded was not closed
        LogWriter writer = LogWriter.open(folder, "quotes", options, disk);
        assertEquals(1, writer.term());
        disk.reserved = -FabricErrno.ENOSPC;
        while (writer.dropped() == 0) {
            kit.append(writer, 1);
        }
        assertEquals(FabricErrno.ENOSPC, assertThrows(FabricException.class, writer::close).errno());
        disk.reserved = 0;
        try (LogWriter next = LogWriter.open(folder, "quotes", options)) {
            assertEquals(2, next.term());
        }
    }

    @Test
    void shouldShowReadersWhatIsThereWhenTheStateFindsRoomAgain() {
        try (LogWriter writer = LogWriter.open(folder, "quotes", LogKit.options(), disk);
            LogReader reader = LogReader.open(folder)) {
            kit.append(writer, 10);
            // the one of the messages is good
            disk.fullWrite = 2;
            assertEquals(-FabricErrno.ENOSPC, writer.flush());
            assertEquals(0, reader.written());
            assertEquals(0, writer.flush());
            assertEquals(10, reader.written());
        }
    }

    @Test
    void shouldEndAGapWhenThereIsRoomAgainAlsoWithoutAMessage() {
        LogOptions options = LogKit.options().whenFull(LogOptions.FullDisk.GAP);
        try (LogWriter writer = LogWriter.open(folder, "quotes", options, disk)) {
            disk.reserved = -FabricErrno.ENOSPC;
            while (writer.dropped() == 0) {
                kit.append(writer, 1);
            }
            disk.reserved = 0;
            assertEquals(0, writer.flush());
            assertEquals(0, writer.flush());
            assertEquals(writer.position(), writer.written());
        }
    }

    /** Also where space for a byte in the middle of a segment can be missing, as with copies on write. */
    @Test
    void shouldGoOnAfterAWriteThatFoundNoSpace() {
        try (LogWriter writer = LogWriter.open(folder, "quotes", LogKit.options(), disk)) {
            kit.append(writer, 10);
            disk.written = -FabricErrno.ENOSPC;
            assertEquals(-FabricErrno.ENOSPC, writer.flush());
            assertEquals(0, writer.written());
            while (kit.append(writer) == 0) {
                assertTrue(writer.position() < 1_000_000);
            }
            disk.written = 0;
            kit.append(writer, 30_000);
        }
        assertEquals(List.of(), readAll().gaps);
    }

    /** The end of the old segment stands before the new term's first record. */
    @Test
    void shouldBeginATermWhereTheLastSegmentHasNoRoomForItsBegin() throws IOException {
        for (int left = 0; left < 160; left += 8) {
            Path log = folder.resolve("left" + left);
            UnsafeBuffer bytes = new UnsafeBuffer(new byte[LogKit.SEGMENT]);
            LogWriter writer = LogWriter.open(log, "quotes", LogKit.options());
            long at = LogDescriptor.recordsOffset(LogKit.SEGMENT);
            while (LogKit.SEGMENT - at > writer.maxLength()) {
                int length = (int) Math.min(writer.maxLength() / 2, LogKit.SEGMENT - at - left
                    - LogDescriptor.END_LENGTH - LogDescriptor.MESSAGE_HEAD);
                assertEquals(0, writer.append(writer.position(), 0, 0, 0, 0, bytes, 0, length));
                at += LogDescriptor.aligned(LogDescriptor.MESSAGE_HEAD + length);
            }
            int rest = (int) (LogKit.SEGMENT - at) - left - LogDescriptor.END_LENGTH - LogDescriptor.MESSAGE_HEAD;
            assertEquals(0, writer.append(writer.position(), 0, 0, 0, 0, bytes, 0, rest));
            assertEquals(0, writer.flush());
            long count = writer.position();
            writer.release();
            try (LogWriter next = LogWriter.open(log, "quotes", LogKit.options())) {
                assertEquals(count, next.position());
                assertEquals(0, next.append(count, 0, 0, 0, 0, bytes, 0, 8));
            }
            try (LogReader reader = LogReader.open(log)) {
                int read = 0;
                for (int more = 1; more != 0; read += more) {
                    more = reader.poll((buffer, offset, length, header) -> { }, 64);
                }
                assertEquals(count + 1, read);
            }
        }
    }

    @Test
    void shouldEndWhenASyncFails() {
        LogWriter writer = LogWriter.open(folder, "quotes", LogKit.options(), disk);
        kit.append(writer, 10);
        assertEquals(0, writer.sync());
        kit.append(writer, 10);
        disk.synced = -FabricErrno.EIO;
        assertEquals(-FabricErrno.EIO, writer.sync());
        disk.synced = 0;
        int syncs = disk.syncs;
        assertEquals(-FabricErrno.EIO, writer.sync());
        assertEquals(-FabricErrno.EIO, writer.flush());
        assertEquals(-FabricErrno.EIO, writer.retain(0));
        assertEquals(-FabricErrno.EIO, kit.append(writer));
        assertEquals(10, writer.synced());
        writer.close();
        assertEquals(syncs, disk.syncs, "nothing was synced again");
        try (LogWriter next = LogWriter.open(folder, "quotes", LogKit.options())) {
            assertEquals(2, next.term());
        }
    }

    @Test
    void shouldFollowAWriter() throws InterruptedException {
        AtomicReference<Throwable> failed = new AtomicReference<>();
        LogWriter writer = LogWriter.open(folder, "quotes", LogKit.options());
        Thread writing = Thread.ofPlatform().daemon().start(() -> {
            try (writer) {
                for (int i = 0; i < MESSAGES / 4; i++) {
                    assertEquals(0, kit.append(writer));
                    if (i % 7 == 0) {
                        assertEquals(0, writer.flush());
                    }
                }
            } catch (Throwable thrown) {
                failed.set(thrown);
            }
        });
        LogKit.Check check = new LogKit.Check(0);
        try (LogReader reader = LogReader.open(folder)) {
            Deadline deadline = Deadline.usual();
            while (check.next < MESSAGES / 4 && failed.get() == null) {
                reader.poll(check, 100);
                deadline.check("the last message", () -> check.next);
            }
        }
        writing.join();
        assertEquals(null, failed.get());
        assertEquals(List.of(), check.gaps);
    }

    @Test
    void shouldKnowStableStorage() {
        try (DiskDirectory onDisk = new DiskDirectory()) {
            Path log = onDisk.file("log");
            try (LogWriter writer = LogWriter.open(log, "quotes", LogKit.options())) {
                kit.append(writer, 10);
                assertEquals(0, writer.sync());
                assertTrue(writer.isStable());
            }
        }
        try (LogWriter writer = LogWriter.open(folder, "quotes", LogKit.options())) {
            assertFalse(writer.isStable() && folder.startsWith("/dev/shm"));
        }
    }

    @Test
    void shouldAllocateNothing() {
        UnsafeBuffer buffer = new UnsafeBuffer(new byte[64]);
        try (LogWriter writer = LogWriter.open(folder, "quotes", new LogOptions().segmentLengthBytes(1 << 26));
             LogReader reader = LogReader.open(folder)) {
            long[] count = {0, 0};
            assertEquals(0, AllocatedBytes.least(() -> {
                for (int i = 0; i < 1000; i++) {
                    count[0] += writer.append(writer.position(), i, 1, 2, 3, buffer, 0, 64);
                }
                writer.flush();
            }));
            StreamListener listener = (message, offset, length, header) -> count[0] += length - 64;
            assertEquals(0, AllocatedBytes.least(() -> count[1] += reader.poll(listener, 1000)));
            assertEquals(0, count[0]);
            assertTrue(count[1] > 0);
        }
    }
}
