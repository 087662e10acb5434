package org.jfabric.client;

import org.junit.jupiter.api.Test;

import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** One thread at a time, as often as it likes. */
class UseGuardTest {
    private final UseGuard guard = new UseGuard("the queue");

    private Throwable enterElsewhere() throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = new Thread(() -> {
            try {
                guard.enter();
                guard.exit();
            } catch (AssertionError e) {
                thrown.set(e);
            }
        }, "intruder");
        thread.start();
        thread.join();
        return thrown.get();
    }

    @Test
    void shouldNameBothThreadsWhenTwoUseItAtOnce() throws InterruptedException {
        guard.enter();
        Throwable thrown = enterElsewhere();
        assertNotNull(thrown);
        assertTrue(thrown.getMessage().contains("intruder"), thrown.getMessage());
        assertTrue(thrown.getMessage().contains(Thread.currentThread().getName()), thrown.getMessage());
    }

    @Test
    void shouldLetAThreadEnterAgainAndOthersAfterIt() throws InterruptedException {
        guard.enter();
        guard.enter();
        guard.exit();
        assertNotNull(enterElsewhere());
        guard.exit();
        assertNull(enterElsewhere());
    }
}
