package org.jfabric.driver.progress;

import java.util.concurrent.atomic.AtomicInteger;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.Inbox;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A change that fails: its conductor is notified, and a memory fault reaches the progress cycle. */
@Isolated("simulates faults of all threads")
class ProgressCommandTest {
    private static final int ALL = 10;

    private final Inbox progress = new Inbox();
    private final Inbox conductor = new Inbox();

    /** Fails on request, and records its notifications. */
    private static final class Change extends ProgressCommand {
        private final Throwable fails;
        private Throwable cause;
        private int done;
        private int failed;

        Change(Throwable fails) {
            this.fails = fails;
        }

        @Override
        protected void onProgress() {
            if (fails instanceof Error error) {
                throw error;
            }
            if (fails instanceof RuntimeException exception) {
                throw exception;
            }
        }

        @Override
        protected void onDone() {
            done++;
        }

        @Override
        protected void onFailed(Throwable failure) {
            failed++;
            cause = failure;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldThrowAFaultInTheCycleAfterTheResultIsSent(boolean direct) {
        InternalError fault = new InternalError("a fault occurred in an unsafe memory access operation");
        Change change = new Change(fault);
        new ProgressProxy(progress, conductor, direct).execute(change);

        assertSame(fault, assertThrows(InternalError.class, () -> progress.drain(ALL)));
        assertEquals(direct ? 0 : 1, conductor.drain(ALL));
        assertEquals(1, change.failed);
        assertEquals(0, change.done);
        assertSame(fault, change.cause);
        assertTrue(progress.isEmpty(), "it is thrown once");
    }

    /** In front of the change a fault is of an access before, behind it of an access in it: the change is made. */
    @ParameterizedTest
    @CsvSource({"1, false", "2, false", "1, true", "2, true"})
    void shouldHaveMadeTheChangeWhoseFaultIsRaisedBeforeOrBehindIt(int point, boolean direct) {
        InternalError fault = new InternalError("a fault occurred in an unsafe memory access operation");
        Thread own = Thread.currentThread();
        AtomicInteger left = new AtomicInteger(point);
        FaultPoint.simulate(() -> {
            if (Thread.currentThread() == own && left.decrementAndGet() == 0) {
                throw fault;
            }
        });
        Change change = new Change(null);
        try {
            new ProgressProxy(progress, conductor, direct).execute(change);
            assertSame(fault, assertThrows(InternalError.class, () -> progress.drain(ALL)));
        } finally {
            FaultPoint.simulate(null);
        }
        conductor.drain(ALL);
        assertEquals(1, change.done);
        assertEquals(0, change.failed);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldKeepAnyOtherFailureFromTheCycle(boolean direct) {
        for (Throwable failure : new Throwable[] {new IllegalStateException("no"), new OutOfMemoryError("none left")}) {
            Change change = new Change(failure);
            new ProgressProxy(progress, conductor, direct).execute(change);

            assertEquals(direct ? 0 : 1, progress.drain(ALL));
            conductor.drain(ALL);
            assertEquals(1, change.failed);
            assertSame(failure, change.cause);
        }
    }

    @Test
    void shouldTellTheConductorOnlyWhenItLooks() {
        Change change = new Change(null);
        new ProgressProxy(progress, conductor, false).execute(change);

        assertEquals(1, progress.drain(ALL));
        assertEquals(0, change.done);
        assertEquals(1, conductor.drain(ALL));
        assertEquals(1, change.done);
        assertNull(change.cause);
    }
}
