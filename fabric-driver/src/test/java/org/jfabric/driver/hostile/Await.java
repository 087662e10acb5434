package org.jfabric.driver.hostile;

import org.jfabric.test.Deadline;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waiting with a deadline and without a busy loop. */
final class Await {
    static final long DEADLINE_NS = Deadline.ns(15);
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(100);

    private Await() {
    }

    static void until(Supplier<String> what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("waited in vain: " + what.get());
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    static void until(String what, BooleanSupplier condition) {
        until(() -> what, condition);
    }

    /** The first thing that is not null. */
    static <T> T value(String what, Supplier<T> supplier) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        T value = supplier.get();
        while (value == null) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("waited in vain for " + what);
            }
            LockSupport.parkNanos(PAUSE_NS);
            value = supplier.get();
        }
        return value;
    }
}
