package org.jfabric;

import org.agrona.UnsafeApi;
import org.jfabric.layout.CounterDescriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The client's end of a counter's file, beside a driver that the test plays. */
@Timeout(60)
class CounterValuesTest {
    private final MemorySegment memory = Arena.ofAuto().allocate(CounterDescriptor.FILE_LENGTH, 4096);
    private final CounterValues values = new CounterValues(memory, false, false);

    @Test
    void shouldAddWhatTheClientAddsToWhatTheDriverCounts() {
        count(5, 2);
        values.add(10);
        values.addErr(20);
        assertEquals(15, values.value());
        assertEquals(22, values.errorValue());
        count(6, 3);
        assertEquals(16, values.value());
        assertEquals(23, values.errorValue());
        values.set(1);
        values.setErr(0);
        assertEquals(1, values.value());
        assertEquals(0, values.errorValue());
        count(8, 3);
        assertEquals(3, values.value());
        values.set(Long.MAX_VALUE);
        count(10, 3);
        assertEquals(1, values.value(), "modulo 2^63");
    }

    @Test
    void shouldNotAddWordsOfTwoFilesWhileItMovesToTheNext() throws InterruptedException {
        int moves = 100_000;
        MemorySegment files = Arena.ofAuto().allocate((long) moves * CounterDescriptor.FILE_LENGTH, 4096);
        CounterValues moved = new CounterValues(memory, false, true);
        Thread driver = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < moves; i++) {
                MemorySegment next = files.asSlice(
                    (long) i * CounterDescriptor.FILE_LENGTH, CounterDescriptor.FILE_LENGTH);
                moved.moveTo(next);
                for (int turn = 0; turn < 50; turn++) {
                    Thread.onSpinWait();
                }
                UnsafeApi.putLongRelease(null, next.address() + CounterDescriptor.COUNTED_OFFSET, 1);
            }
        });
        long last = 0;
        while (driver.isAlive()) {
            long value = moved.value();
            assertTrue(value >= last, last + " before " + value);
            last = value;
        }
        driver.join();
        assertEquals(moves, moved.value());
    }

    @Test
    void shouldTranslateAThresholdIntoWhatTheDriverCounts() {
        count(100, 0);
        assertEquals(7, values.wakeAt(7));
        values.set(0);
        assertEquals(107, values.wakeAt(7));
        values.add(4);
        assertEquals(103, values.wakeAt(7));
        assertFalse(values.isReady(7, 0));
        count(102, 0);
        assertFalse(values.isReady(7, 0));
        count(103, 0);
        assertTrue(values.isReady(7, 0));
        count(102, 1);
        assertTrue(values.isReady(7, 0), "an error");
        assertFalse(values.isReady(7, 1), "an error that was there before");
        // several threads want several values: each count wakes
        assertTrue(new CounterValues(memory, true, false).wakeAt(7) <= 0);
    }

    @Test
    void shouldHaveNewsUntilBothValuesAreRead() {
        assertFalse(values.isReady());
        count(1, 1);
        assertTrue(values.isReady());
        assertEquals(1, values.read());
        assertTrue(values.isReady());
        assertEquals(1, values.readErr());
        assertFalse(values.isReady());
        values.set(0);
        assertTrue(values.isReady(), "also what the application does itself");
        values.set(1);
        assertFalse(values.isReady());
    }

    @Test
    void shouldLoseNothingOfSeveralThreadsAndTheDriver() throws InterruptedException {
        int additions = 100_000;
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 3; t++) {
            threads.add(new Thread(() -> {
                for (int i = 0; i < additions; i++) {
                    values.add(3);
                    values.addErr(1);
                }
            }));
        }
        threads.add(new Thread(() -> {
            for (int i = 1; i <= additions; i++) {
                count(i, i);
            }
        }));
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(10L * additions, values.value());
        assertEquals(4L * additions, values.errorValue());
    }

    private void count(long successes, long errors) {
        UnsafeApi.putLongRelease(null, memory.address() + CounterDescriptor.COUNTED_ERRORS_OFFSET, errors);
        UnsafeApi.putLongRelease(null, memory.address() + CounterDescriptor.COUNTED_OFFSET, successes);
    }
}
