package org.jfabric;

import org.agrona.UnsafeApi;
import org.jfabric.driver.engine.CompletionWriter;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.resource.WaitPoint;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.WaitDescriptor;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Entries and sleepers of two processes: very many sleeps, none with a time that would rescue a lost wake-up. The
 * writer goes on at every distance from the reader's going to sleep: while it reads, while it announces itself, while
 * it looks for the last time, when it sleeps.
 */
@Tag("slow")
@Timeout(3600)
class SleepAndWakeTest {
    private static final int CAPACITY = 16;
    /** A million in a run of everything, whoever has changed the protocol wants those. */
    private static final long SLEEPS = Effort.rounds(50_000, 1_000_000);
    private static final long STUCK_NS = Deadline.ns(60);
    private static final int LONGEST_PAUSE_SPINS = 2_000;

    @TempDir
    private Path directory;

    @Test
    void shouldWakeEveryTime() throws Exception {
        Path file = directory.resolve("1.cq");
        try (RandomAccessFile made = new RandomAccessFile(file.toFile(), "rw")) {
            made.setLength(CompletionQueueDescriptor.fileLength(CAPACITY));
        }
        MemorySegment memory = SleepingReaderMain.map(file);
        long entries = SLEEPS + SLEEPS / 4;
        try (TestProcess reader = startReader(file, entries)) {
            long sleeps = write(memory, entries, reader);
            assertEquals("read " + entries + "\n", reader.ended(60).output());
            assertTrue(sleeps >= SLEEPS, "only " + sleeps + " sleeps in " + entries + " entries");
        }
    }

    private static long write(MemorySegment memory, long entries, TestProcess reader) {
        long seed = 20_260_701;
        SplittableRandom random = new SplittableRandom(seed);
        long line = memory.address() + CompletionQueueDescriptor.WAIT_OFFSET;
        CompletionWriter writer = new CompletionWriter(memory.address(), CAPACITY, new WaitPoint(line));
        long sleeps = 0;
        for (long number = 0; number < entries; number++) {
            boolean awaitsSleeper = number % 5 != 0;
            long deadline = System.nanoTime() + STUCK_NS;
            while (readPosition(memory) != number || awaitsSleeper && !isAnnounced(line)) {
                assertTrue(System.nanoTime() - deadline < 0 && reader.isAlive(), "the reader is stuck at "
                    + readPosition(memory) + " of " + number + ", announced " + isAnnounced(line) + ", seed " + seed);
                Thread.onSpinWait();
            }
            sleeps += awaitsSleeper ? 1 : 0;
            for (int i = random.nextInt(4) == 0 ? random.nextInt(LONGEST_PAUSE_SPINS) : 0; i > 0; i--) {
                Thread.onSpinWait();
            }
            writer.success(0, 0, number, 0, 0, 0, 0, ~number, -1);
            writer.flush();
        }
        return sleeps;
    }

    private static boolean isAnnounced(long line) {
        return UnsafeApi.getIntVolatile(null, line + WaitDescriptor.SLEEPERS_OFFSET) != 0;
    }

    private static long readPosition(MemorySegment memory) {
        return UnsafeApi.getLongVolatile(null, memory.address() + CompletionQueueDescriptor.READ_POSITION_OFFSET);
    }

    private static TestProcess startReader(Path file, long entries) {
        return TestJvm.start(List.of(TestJvm.COMPILED), SleepingReaderMain.class,
            file.toString(), Integer.toString(CAPACITY), Long.toString(entries));
    }
}
