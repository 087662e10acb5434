package org.jfabric.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FutexTest {
    private final OpenDirectory dir = new OpenDirectory();
    private final MappedFile file = MappedFile.create(dir.fd, "1.wait", 4096);
    private final UnsafeBuffer words = file.buffer();

    @AfterEach
    void after() {
        file.close();
        dir.close();
    }

    @Test
    void shouldNotSleepWhenWordDiffers() {
        words.putIntVolatile(0, 1);
        assertEquals(-1, Futex.wait(file.address(), 0, -1));
        assertEquals(-1, Futex.wait(file.address(), Integer.MIN_VALUE, -1));
    }

    @Test
    void shouldCompareNegativeWord() {
        words.putIntVolatile(0, -1);
        assertSleeps(-1);
    }

    @Test
    void shouldTimeOut() {
        assertSleeps(0);
        assertEquals(-1, Futex.wait(file.address(), 0, 0));
    }

    /** Until the timeout: with another value it would return at once. */
    private void assertSleeps(int expected) {
        long startNs = System.nanoTime();
        assertEquals(-1, Futex.wait(file.address(), expected, 2_000_000));
        assertTrue(System.nanoTime() - startNs >= 2_000_000);
    }

    @Test
    void shouldNotSleepWhenAddressIsWrong() {
        assertEquals(-1, Futex.wait(file.address() + 1, 0, -1));
        assertEquals(-1, Futex.wake(file.address() + 2, 1));
        assertEquals(-1, Futex.wait(0, 0, -1));
    }

    @Test
    void shouldWakeNobodyWhenNobodySleeps() {
        assertEquals(0, Futex.wake(file.address(), Integer.MAX_VALUE));
    }

    @Test
    void shouldWakeAcrossThreadsAndMappings() throws InterruptedException {
        try (MappedFile other = MappedFile.open(dir.fd, "1.wait", true, 4096)) {
            AtomicInteger results = new AtomicInteger();
            Thread[] sleepers = new Thread[2];
            for (int i = 0; i < sleepers.length; i++) {
                sleepers[i] = new Thread(() -> {
                    // Through another, read-only, mapping: only a shared futex meets its waker then.
                    int result = Futex.wait(other.address() + 64, 0, Deadline.ns(30));
                    results.addAndGet(result == 0 ? 1 : 100);
                });
                sleepers[i].start();
            }
            int woken = 0;
            long deadlineNs = System.nanoTime() + Deadline.ns(20);
            while (woken < sleepers.length && System.nanoTime() < deadlineNs) {
                int now = Futex.wake(file.address() + 64, 1);
                assertTrue(now == 0 || now == 1);
                woken += now;
                Thread.onSpinWait();
            }
            for (Thread sleeper : sleepers) {
                sleeper.join(Deadline.ms(20));
                assertFalse(sleeper.isAlive());
            }
            assertEquals(sleepers.length, woken);
            assertEquals(sleepers.length, results.get());
        }
    }
}
