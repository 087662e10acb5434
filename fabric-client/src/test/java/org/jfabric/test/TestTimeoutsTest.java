package org.jfabric.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.InvocationInterceptor.Invocation;

class TestTimeoutsTest {
    private static final long LONG_NS = Deadline.ns(60);
    private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(20);

    @Test
    void shouldReturnAndThrowWhatTheTestDoes() throws Throwable {
        assertEquals("a", TestTimeouts.interrupted(() -> "a", LONG_NS));
        assertEquals("b", TestTimeouts.inThread(() -> "b", LONG_NS));
        IllegalStateException failure = new IllegalStateException();
        Invocation<Void> failing = () -> {
            throw failure;
        };
        assertSame(failure, assertThrows(Throwable.class, () -> TestTimeouts.interrupted(failing, LONG_NS)));
        assertSame(failure, assertThrows(Throwable.class, () -> TestTimeouts.inThread(failing, LONG_NS)));
    }

    @Test
    void shouldInterruptTheTestAndTellWhatItDid() {
        CountDownLatch never = new CountDownLatch(1);
        TimeoutException over = assertThrows(TimeoutException.class, () -> TestTimeouts.interrupted(() -> {
            never.await();
            return null;
        }, SHORT_NS));
        assertFalse(Thread.currentThread().isInterrupted());
        assertTrue(over.getMessage().contains("did not end within 20 ms"), over::getMessage);
        assertTrue(over.getMessage().contains("CountDownLatch.await"), over::getMessage);
        assertEquals(InterruptedException.class, over.getSuppressed()[0].getClass());
    }

    @Test
    void shouldLeaveATestThatCannotBeInterrupted() {
        CountDownLatch end = new CountDownLatch(1);
        TimeoutException over = assertThrows(TimeoutException.class, () -> TestTimeouts.inThread(() -> {
            while (end.getCount() != 0) {
                Thread.onSpinWait();
            }
            return null;
        }, SHORT_NS));
        end.countDown();
        assertTrue(over.getMessage().contains("(test)"), over::getMessage);
    }

    /** JUnit would have it in this thread's own way; that it is another one shows that ours is in effect. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldBeInEffect() {
        assertTrue(Thread.currentThread().getName().endsWith(" (test)"), Thread.currentThread()::getName);
    }

    @Test
    void shouldMakeTheProductAsPatientAsTheTests() {
        assertEquals(Map.of(), TestSession.patience(1));
        assertEquals("12500ms", TestSession.patience(2.5).get("jfabric.tcp.connectTimeoutNs"));
        assertEquals(6, TestSession.patience(10).size());
    }
}
