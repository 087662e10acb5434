package org.jfabric.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class UseLockTest {
    private int finished;

    /** Whether a thread that is in no use can begin one. */
    private static boolean isFree(UseLock lock) {
        return CompletableFuture.supplyAsync(() -> {
            boolean entered = lock.tryEnter();
            if (entered) {
                lock.exitUnused();
            }
            return entered;
        }, task -> new Thread(task).start()).join();
    }

    @Test
    void shouldLetOthersInAfterTheLastUse() {
        UseLock lock = new UseLock(() -> finished++);
        lock.enter();
        assertTrue(lock.tryEnter());
        assertFalse(isFree(lock));
        lock.exit();
        assertEquals(0, finished);
        assertFalse(isFree(lock));
        lock.exit();
        assertEquals(1, finished);
        assertTrue(isFree(lock));
    }

    @Test
    void shouldLetOthersInWithoutAnythingToFinish() {
        UseLock lock = new UseLock();
        lock.enter();
        lock.exit();
        assertTrue(isFree(lock));
    }

    @Test
    void shouldLetOthersInWhenTheEndOfAUseFails() {
        UseLock lock = new UseLock(() -> {
            throw new IllegalStateException("of the test");
        });
        lock.enter();
        assertThrows(IllegalStateException.class, lock::exit);
        assertTrue(isFree(lock));
        lock.enter();
        lock.exitUnused();
        assertTrue(isFree(lock));
    }
}
