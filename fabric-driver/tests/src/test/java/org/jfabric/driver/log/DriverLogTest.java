package org.jfabric.driver.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LogConfig;
import org.jfabric.driver.config.LogFormat;
import org.jfabric.driver.config.LogTarget;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class DriverLogTest {
    private final List<Throwable> recorded = Collections.synchronizedList(new ArrayList<>());
    private final List<String> written = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch mayWrite = new CountDownLatch(1);
    private final AtomicLong clockNs = new AtomicLong(Long.MAX_VALUE - 5);

    @TempDir
    private Path folder;

    /** Keeps the messages; the first one waits for {@link #mayWrite}. */
    private final class Kept implements LogSink {
        @Override
        public void write(LogEntry entry) {
            try {
                mayWrite.await();
            } catch (InterruptedException ex) {
                throw new IllegalStateException(ex);
            }
            written.add(entry.toMessage());
        }

        @Override
        public void close() {
            written.add("closed");
        }
    }

    private DriverLog log() {
        return new DriverLog(recorded::add, new Kept(), clockNs::get, null, null);
    }

    private static FabricException error(String text) {
        return new FabricException(FabricErrno.EIO, text, "Do something.");
    }

    @Test
    void shouldWriteEventsInTheirOrderAndRecordErrors() {
        mayWrite.countDown();
        FabricException died = error("client 1 died");
        FabricException lost = error("peer\n  is gone");
        try (DriverLog lines = log()) {
            AgentLog log = lines.agent("test", true);
            log.driver(EventKind.DRIVER_READY, "/dev/shm/d");
            log.event(EventKind.ENDPOINT_ENABLED, 1, 2, 0, 0, "has no line");
            log.client(EventKind.CLIENT_CAME, 1, "a \"b\"", 77, "it is attached");
            log.onError(lost);
            log.clientFailed(EventKind.CLIENT_DIED, 1, "", 77, died);
        }
        assertEquals(List.of(
            "driver-ready: /dev/shm/d",
            "client-came client=1 pid=77 name=\"a \\\"b\\\"\": it is attached",
            "error: " + lost.getMessage().replace("\n  ", " | "),
            "client-died client=1 pid=77: " + died.getMessage(),
            "closed"), written);
        assertEquals(List.of(lost, died), recorded);
    }

    @Test
    void shouldNeverHoldUpTheDriverAndSayHowManyLinesAreMissing() {
        try (DriverLog lines = log()) {
            AgentLog log = lines.agent("test", true);
            // the writer waits with one of them
            for (int i = 0; i < DriverLog.CAPACITY + 100; i++) {
                log.driver(EventKind.DRIVER_READY, "" + i);
            }
            mayWrite.countDown();
        }
        long kept = written.stream().filter(each -> each.startsWith("driver-ready")).count();
        assertTrue(kept == DriverLog.CAPACITY || kept == DriverLog.CAPACITY + 1, kept + " lines");
        // two lines if the writer began when some had been left out
        long missing = written.stream().filter(each -> each.startsWith("log-lost"))
            .mapToLong(each -> Long.parseLong(each.replaceAll("\\D*(\\d+) lines.*", "$1"))).sum();
        assertEquals(DriverLog.CAPACITY + 100 - kept, missing, () -> written.toString());
    }

    @Test
    void shouldCountAnErrorThatComesAgainAndAgain() {
        mayWrite.countDown();
        DriverLog lines = log();
        AgentLog log = lines.agent("test", true);
        for (int i = 0; i < 10; i++) {
            log.onError(error("refused"));
        }
        log.onError(error("another"));
        // the clock is read by the writer: it has to be there first
        Deadline.await("two lines", () -> written.size() == 2, () -> written);
        clockNs.addAndGet(DriverLog.REPEAT_NS);
        log.onError(error("refused"));
        lines.close();
        assertEquals(List.of(
            "error: " + error("refused").getMessage(),
            "error: " + error("another").getMessage(),
            "error: " + error("refused").getMessage() + " (and 9 times before this line)", "closed"), written);
        assertEquals(12, recorded.size());
    }

    @Test
    void shouldOnlyRecordWithoutASinkAndAfterItsEnd() {
        AgentLog none = new AgentLog(recorded::add);
        none.driver(EventKind.DRIVER_READY, "x");
        none.onError(error("first"));
        mayWrite.countDown();
        DriverLog ended = log();
        ended.close();
        ended.agent("test", true).onError(error("late"));
        ended.close();
        assertEquals(2, recorded.size());
        assertEquals(List.of("closed"), written);
    }

    @Test
    void shouldKeepAtMostTheConfiguredFilesOfTheConfiguredLength() throws IOException {
        DriverConfig config = DriverConfig.builder()
            .set(LogConfig.TARGET, LogTarget.FILE).set(LogConfig.FILE, folder.resolve("50%u.log"))
            .set(LogConfig.FILE_LENGTH_BYTES, 1024).set(LogConfig.FILE_COUNT, 3).build();
        for (int round = 0; round < 2; round++) {
            try (DriverLog lines = DriverLog.open(config, false, recorded::add, System.err, null)) {
                AgentLog log = lines.agent("test", true);
                for (int i = 0; i < 50; i++) {
                    log.driver(EventKind.DRIVER_READY, round + " " + "x".repeat(50) + i);
                }
            }
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(IntStream.range(0, 3).mapToObj(i -> folder.resolve("50%u.log." + i)).toList(),
                files.sorted().toList());
        }
        List<String> newest = new ArrayList<>(Files.readAllLines(folder.resolve("50%u.log.1")));
        newest.addAll(Files.readAllLines(folder.resolve("50%u.log.0")));
        assertTrue(newest.getLast().endsWith("x49") && newest.getLast().contains("driver-ready: 1 "), newest::toString);
        for (int i = 0; i < 3; i++) {
            long length = Files.size(folder.resolve("50%u.log." + i));
            assertTrue(length < 1024 + 120 && (length > 0 || i == 0), "length " + length);
        }
    }

    @Test
    void shouldWriteOneJsonObjectForEachLine() {
        LogEntry entry = new LogEntry(
            Instant.EPOCH, Level.WARNING, "client-died", 3, "a\"b", 12, "first\r\n second\tthird \u0001");
        assertEquals("{\"time\":\"1970-01-01T00:00:00Z\",\"level\":\"WARNING\",\"event\":\"client-died\",\"client\":3,"
            + "\"pid\":12,\"name\":\"a\\\"b\",\"text\":\"first | second\\tthird \\u0001\"}", entry.toJson());
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        LogSink sink = LogSink.stream(bytes, LogFormat.JSON, false);
        sink.write(entry);
        sink.close();
        assertEquals(entry.toJson() + "\n", bytes.toString(StandardCharsets.UTF_8));
        assertFalse(entry.toText().contains("\n"));
    }

    @Test
    void shouldBeginLinesForTheJournalWithTheirPriority() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        LogSink sink = LogSink.stream(bytes, LogFormat.TEXT, true);
        for (Level level : new Level[] {Level.INFO, Level.WARNING, Level.ERROR}) {
            sink.write(new LogEntry(Instant.EPOCH, level, "client-died", 3, "desk", 12, "text"));
        }
        sink.close();
        assertEquals("<6>1970<4>1970<3>1970", bytes.toString(StandardCharsets.UTF_8).replaceAll("-.*\n", ""));
        Path error = Path.of("/proc/self/fd/2");
        Object device = Files.getAttribute(error, "unix:dev");
        assertTrue(LogSink.isJournal(device + ":" + Files.getAttribute(error, "unix:ino")));
        assertFalse(LogSink.isJournal(device + ":1") || LogSink.isJournal(null), "another stream");
    }

    @Test
    void shouldLogOfADaemonByDefaultAndNotOfAnEmbeddedDriver() {
        LogTarget option = DriverConfig.builder().build().get(LogConfig.TARGET);
        assertEquals(LogTarget.STDERR, DriverLog.target(option, true));
        assertEquals(LogTarget.NONE, DriverLog.target(option, false));
    }
}
