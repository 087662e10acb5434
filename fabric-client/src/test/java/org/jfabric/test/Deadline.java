package org.jfabric.test;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * When something must have happened by. All deadlines of tests come from here: on a slow machine they are longer, by
 * the factor {@code -Djfabric.test.slowness}, which is measured unless it is given. A long deadline costs nothing: only
 * what has failed waits for its end.
 */
public final class Deadline {
    /** Property of the factor; processes that a test starts get it from {@link #property()}. */
    public static final String SLOWNESS = Slowness.PROPERTY;

    private static final long USUAL_S = 20;
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(100);

    private final long seconds;
    private final long beginNs = System.nanoTime();

    private Deadline(long seconds) {
        this.seconds = seconds;
    }

    /** The usual one. */
    public static Deadline usual() {
        return new Deadline(USUAL_S);
    }

    /** After so many seconds of a quiet machine. */
    public static Deadline in(long seconds) {
        return new Deadline(seconds);
    }

    /** How much slower than a quiet machine this one is, at least 1. */
    public static double slowness() {
        return Slowness.factor();
    }

    /** The argument that tells a JVM the factor of this one. */
    public static String property() {
        return "-D" + SLOWNESS + '=' + slowness();
    }

    /** So many seconds of a quiet machine, here, in nanoseconds. */
    public static long ns(long seconds) {
        return (long) (TimeUnit.SECONDS.toNanos(seconds) * slowness());
    }

    /** So many seconds of a quiet machine, here, in milliseconds. */
    public static int ms(long seconds) {
        return Math.toIntExact(TimeUnit.NANOSECONDS.toMillis(ns(seconds)));
    }

    /** So many seconds of a quiet machine, here, in whole seconds. */
    public static long s(long seconds) {
        return (long) Math.ceil(seconds * slowness());
    }

    /** Awaits a condition within the usual time; asks again and again, and lets others run meanwhile. */
    public static void await(String what, BooleanSupplier condition, Supplier<?> state) {
        usual().until(what, condition, Thread::yield, state);
    }

    /** As {@link #await}, for what other processes do: sleeps a little between two questions. */
    public static void awaitParked(Supplier<String> whatAndState, BooleanSupplier condition) {
        usual().until("this", condition, () -> LockSupport.parkNanos(PAUSE_NS), whatAndState);
    }

    /** The same where there is no state to tell. */
    public static void awaitParked(String what, BooleanSupplier condition) {
        awaitParked(() -> what, condition);
    }

    /** The first thing that is not null; sleeps a little between two questions. */
    public static <T> T awaitValue(String what, Supplier<T> supplier) {
        AtomicReference<T> value = new AtomicReference<>();
        awaitParked(what, () -> {
            value.set(supplier.get());
            return value.get() != null;
        });
        return value.get();
    }

    /** Awaits a condition; what is done between two questions may be what makes it true. */
    public void until(String what, BooleanSupplier condition, Runnable between, Supplier<?> state) {
        while (!condition.getAsBoolean()) {
            check(what, state);
            between.run();
        }
    }

    /** Fails if it is over: says what was awaited, how long, and the state. */
    public void check(String what, Supplier<?> state) {
        if (isOver()) {
            throw new AssertionError("waited " + s(seconds) + " s in vain for " + what + ": " + state.get());
        }
    }

    public boolean isOver() {
        return leftNs() <= 0;
    }

    /** Nanoseconds until it is over, negative afterwards. */
    public long leftNs() {
        return beginNs + ns(seconds) - System.nanoTime();
    }

    /** Milliseconds until it is over, at least 1: for calls to which 0 means without an end. */
    public int leftMs() {
        return Math.toIntExact(Math.max(1, TimeUnit.NANOSECONDS.toMillis(leftNs())));
    }
}
