package org.jfabric.driver.stream.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.LogReader;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A writer that ends in front of each of its calls of the system, in turn: the next one finds a log, and all of it. */
@Timeout(120)
class LogStepsTest {
    private static final int LENGTH = 100_000;
    private static final int MESSAGES = 45;

    private final Path base = TestDirectory.create();
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[LENGTH]);
    private final LogOptions options = LogKit.options().retainBytes(3L * LogKit.SEGMENT);
    private long written;
    private long synced;
    private long terms;

    @AfterEach
    void after() {
        TestDirectory.delete(base);
    }

    @ParameterizedTest(name = "power cut: {0}")
    @ValueSource(booleans = {false, true})
    void shouldOpenWhereverTheWriterEnds(boolean isPowerCut) throws IOException {
        boolean isThrough = false;
        int step = 0;
        while (!isThrough) {
            Path folder = base.resolve("log" + step);
            FaultyDisk disk = new FaultyDisk();
            disk.callsLeft = step;
            isThrough = write(folder, disk);
            if (isPowerCut && step > 3) {
                LogKit.cutPower(folder);
            }
            check(folder, isPowerCut ? synced : written, step);
            TestDirectory.delete(folder);
            step++;
        }
        assertTrue(step > 50, "steps: " + step);
    }

    /** Writes until it is through or killed. */
    private boolean write(Path folder, FaultyDisk disk) {
        written = 0;
        synced = 0;
        terms = 0;
        LogWriter writer = null;
        try {
            for (int round = 0; round < 2; round++) {
                writer = LogWriter.open(folder, "quotes", options, disk);
                assertEquals(written, writer.position());
                terms = writer.term();
                for (int i = 0; i < MESSAGES; i++) {
                    assertEquals(0, writer.append(writer.position(), i, 0, 0, 0, message, 0, LENGTH));
                    note(writer);
                    if (i % 10 == 5) {
                        boolean isSync = i % 20 == 5;
                        assertEquals(0, isSync ? writer.sync() : writer.flush());
                        // of the file log, which says how far the others are
                        assertTrue(!isSync || disk.dirty.size() <= 1, "not synced: " + disk.dirty.size());
                        note(writer);
                    }
                }
                writer.close();
                note(writer);
            }
            return true;
        } catch (FaultyDisk.KilledException killed) {
            if (writer != null) {
                note(writer);
                writer.release();
            }
            return false;
        }
    }

    private void note(LogWriter writer) {
        written = writer.written();
        synced = writer.synced();
    }

    private void check(Path folder, long known, int step) {
        try (LogWriter next = LogWriter.open(folder, "quotes", options)) {
            assertTrue(next.position() >= known, () -> next.position() + " of " + known + ", step " + step);
            assertTrue(next.term() >= terms, () -> "step " + step);
            assertEquals(0, next.append(next.position(), 0, 0, 0, 0, message, 0, 8));
            assertEquals(0, next.flush());
            long[] read = {next.oldest()};
            try (LogReader reader = LogReader.open(folder)) {
                while (reader.poll((buffer, offset, length, header) ->
                    assertEquals(read[0]++, header.position()), 100) > 0) {
                    Thread.onSpinWait();
                }
                assertEquals(next.position(), read[0], () -> "step " + step);
            }
        }
    }
}
