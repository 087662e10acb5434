package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.agrona.UnsafeApi;
import org.jfabric.client.DriverState;
import org.jfabric.driver.engine.CounterWriter;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.resource.WaitPoint;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.WaitObject;
import org.jfabric.layout.CounterDescriptor;
import org.jfabric.layout.WaitDescriptor;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Counts and sleepers: very many sleeps, none with a time that would rescue a lost wake-up, at every
 * distance between the count and the going to sleep.
 */
@Tag("slow")
@Timeout(900)
class CounterSleepAndWakeTest {
    /** More in a run of everything: whoever has changed the protocol wants those. */
    private static final long ROUNDS = Effort.rounds(20_000, 200_000);
    private static final long STUCK_NS = Deadline.ns(60);
    private static final int LONGEST_PAUSE_SPINS = 2_000;
    private static final long SEED = 20_261_121;

    @TempDir
    private Path directory;

    @Test
    void shouldWakeEveryTimeWhenAnotherProcessCounts() throws Exception {
        Path file = directory.resolve("1.cntr");
        try (RandomAccessFile made = new RandomAccessFile(file.toFile(), "rw")) {
            made.setLength(CounterDescriptor.FILE_LENGTH);
        }
        MemorySegment memory = SleepingReaderMain.map(file);
        UnsafeApi.putLong(memory.address() + SleepingCounterMain.ROUND_OFFSET, -1);
        try (TestProcess sleeper = start(file)) {
            count(memory, sleeper);
            assertEquals("waited " + ROUNDS + "\n", sleeper.ended(60).output());
        }
    }

    private static void count(MemorySegment memory, TestProcess sleeper) {
        SplittableRandom random = new SplittableRandom(SEED);
        long line = memory.address() + CounterDescriptor.WAIT_OFFSET;
        CounterWriter writer = new CounterWriter(memory.address(), new WaitPoint(line), false);
        for (long round = 0; round < ROUNDS; round++) {
            long deadline = System.nanoTime() + STUCK_NS;
            // an error that comes before the wait is no change that ends it
            boolean awaitsSleeper = round % 4 != 0 || SleepingCounterMain.fails(round);
            while (round(memory) != round || awaitsSleeper && !isAnnounced(line)) {
                assertTrue(System.nanoTime() - deadline < 0 && sleeper.isAlive(), "the sleeper is stuck in round "
                    + round(memory) + " of " + round + ", announced " + isAnnounced(line) + ", seed " + SEED
                    + (sleeper.isAlive() ? "" : ", it has ended: " + sleeper.ended(60)));
                Thread.onSpinWait();
            }
            for (int i = random.nextInt(4) == 0 ? random.nextInt(LONGEST_PAUSE_SPINS) : 0; i > 0; i--) {
                Thread.onSpinWait();
            }
            for (int left = SleepingCounterMain.counts(round); left > 0; left--) {
                if (left == 1 && SleepingCounterMain.fails(round)) {
                    writer.error();
                } else {
                    writer.success(0);
                }
                // one by one or all at once
                if (left == 1 || random.nextBoolean()) {
                    writer.flush();
                }
            }
        }
    }

    /** A thread adds what another one sleeps for, which is the client's own affair. */
    @Test
    void shouldWakeEveryTimeWhenAnotherThreadAdds() throws Exception {
        MemorySegment memory = Arena.ofAuto().allocate(CounterDescriptor.FILE_LENGTH, 4096);
        Counter counter = new Counter(
            null, 1, 0, new CounterAttr().waitObject(WaitObject.UNSPEC), memory, new DriverState(), null, 0, -1);
        SplittableRandom random = new SplittableRandom(SEED);
        Thread sleeper = new Thread(() -> {
            for (long round = 1; round <= ROUNDS; round++) {
                assertEquals(0, counter.await(round, -1));
                UnsafeApi.putLongRelease(null, memory.address() + SleepingCounterMain.ROUND_OFFSET, round);
            }
        });
        sleeper.start();
        for (long round = 1; round <= ROUNDS; round++) {
            for (int i = random.nextInt(LONGEST_PAUSE_SPINS); i > 0; i--) {
                Thread.onSpinWait();
            }
            assertEquals(0, random.nextBoolean() ? counter.add(1) : counter.set(round));
            long deadline = System.nanoTime() + STUCK_NS;
            while (round(memory) != round) {
                assertTrue(System.nanoTime() - deadline < 0 && sleeper.isAlive(), "the sleeper is stuck in round "
                    + round(memory) + " of " + round + ", seed " + SEED);
                Thread.yield();
            }
        }
        sleeper.join(TimeUnit.NANOSECONDS.toMillis(STUCK_NS));
        assertEquals(ROUNDS, counter.read());
    }

    private static boolean isAnnounced(long line) {
        return UnsafeApi.getIntVolatile(null, line + WaitDescriptor.SLEEPERS_OFFSET) != 0;
    }

    private static long round(MemorySegment memory) {
        return UnsafeApi.getLongVolatile(null, memory.address() + SleepingCounterMain.ROUND_OFFSET);
    }

    private static TestProcess start(Path file) {
        return TestJvm.start(
            List.of(TestJvm.COMPILED), SleepingCounterMain.class, file.toString(), Long.toString(ROUNDS));
    }
}
