package org.jfabric;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.client.DriverState;
import org.jfabric.client.Invoker;

/**
 * How a thread waits for a queue, a counter or a wait set: it spins briefly, then sleeps where the subclass lets it,
 * until there is something, or a reason to end: a signal, an interrupt, a close, the driver's end, the time.
 *
 * <p>With an embedded driver in INVOKER mode no other thread runs the duty cycle, so the waiting thread runs it,
 * yields, and naps when nothing happens for long. With wait object YIELD it yields on every round.
 *
 * <p>Owner: {@link #awaitReady} and {@link #mayContinue} belong to the waiting thread; on a wait set, on an event
 * queue, and in a domain that keeps threads apart, any number of threads waits at a time. The others come from any
 * thread.
 */
abstract class WaitLoop {
    /** The wait ended because something can be read. */
    static final int READY = 0;
    /** The wait was ended by a signal, which is taken. */
    static final int SIGNALLED = 1;
    /** The wait ended by time, interrupt, close or the driver's end. */
    static final int OVER = 2;

    private static final long CYCLES_BEFORE_NAP_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long NAP_NS = TimeUnit.MICROSECONDS.toNanos(20);

    private final AtomicInteger signals = new AtomicInteger();
    private final Waitable source;
    private final DriverState driver;
    private final Invoker invoker;
    private final boolean yields;
    private final long spinNs;
    private volatile int signalsTaken;
    private volatile boolean closed;

    /**
     * A wait that is not closed.
     *
     * @param source  checked for what is waited for.
     * @param driver  whose end ends a wait; null if the source notices it.
     * @param invoker runs the embedded driver's cycle, or null.
     * @param yields  whether every round yields instead of sleeping.
     * @param spinNs  how long to check without sleeping.
     */
    WaitLoop(Waitable source, DriverState driver, Invoker invoker, boolean yields, long spinNs) {
        this.source = source;
        this.driver = driver;
        this.invoker = invoker;
        this.yields = yields;
        this.spinNs = spinNs;
    }

    /**
     * Sleeps until it is woken, or for a shorter time. The event that makes the source ready wakes the sleepers, so the
     * subclass checks {@link #isDone} once more after it has announced its sleep.
     *
     * @param needed      as {@link Waitable#isReady(long, long)} takes it.
     * @param seenErrors  as {@link Waitable#isReady(long, long)} takes it.
     * @param seenSignals signals before the wait.
     * @param leftNs      nanoseconds at most, 1 or more.
     */
    abstract void sleep(long needed, long seenErrors, int seenSignals, long leftNs);

    /** Lets those who wait check again. */
    abstract void wake();

    /**
     * Waits until the source is ready, or there is a reason to wait no longer.
     *
     * @param needed     as {@link Waitable#isReady(long, long)} takes it.
     * @param seenErrors as {@link Waitable#isReady(long, long)} takes it.
     * @param startNs    when the wait began.
     * @param timeoutNs  nanoseconds from then on; negative for no limit.
     * @return {@link #READY}, {@link #SIGNALLED} or {@link #OVER}.
     */
    final int awaitReady(long needed, long seenErrors, long startNs, long timeoutNs) {
        int seenSignals = signalsTaken;
        long limitNs = timeoutNs < 0 ? Long.MAX_VALUE : timeoutNs;
        while (!source.isReady(needed, seenErrors)) {
            int nowSignals = signals.get();
            if (nowSignals != seenSignals) {
                // one signal releases all who waited when it came, or, if none did, the next one
                signalsTaken = nowSignals;
                return SIGNALLED;
            }
            long waitedNs = System.nanoTime() - startNs;
            if (isOver() || waitedNs >= limitNs) {
                return OVER;
            }
            round(needed, seenErrors, seenSignals, waitedNs, limitNs - waitedNs);
        }
        return READY;
    }

    /**
     * Whether a thread whose wait ended with {@link #READY}, but which found nothing, may wait once more.
     *
     * @param startNs   when the wait began.
     * @param timeoutNs nanoseconds from then on; negative for no limit.
     * @return false if the time is over, or there is a signal, which this call takes, or another reason to end.
     */
    final boolean mayContinue(long startNs, long timeoutNs) {
        boolean late = timeoutNs >= 0 && System.nanoTime() - startNs >= timeoutNs;
        return !late && !isOver() && !takeSignal();
    }

    /** Releases the threads that wait now, or the next one that is about to wait on an empty queue. */
    final void signal() {
        signals.incrementAndGet();
        wake();
    }

    /** No thread may wait from now on; the subclass wakes those who do. */
    final void markClosed() {
        closed = true;
    }

    final boolean isClosed() {
        return closed;
    }

    /** Whether a sleep would be in vain. */
    final boolean isDone(long needed, long seenErrors, int seenSignals) {
        return source.isReady(needed, seenErrors) || isOver() || signals.get() != seenSignals;
    }

    /** Whether a thread that waits at a native object has to be woken. */
    final boolean isDue() {
        return closed || source.isReady() || signals.get() != signalsTaken || isLost();
    }

    /** Whether a thread may not begin to wait at a native object; takes a signal. */
    final boolean takeReason() {
        return source.isReady() || takeSignal() || isLost();
    }

    /** Runs the embedded driver's cycle, if this thread has to. */
    final void cycle() {
        if (invoker != null) {
            invoker.cycle();
        }
    }

    /** Runs the embedded driver's cycle; null for a driver with threads of its own. */
    final Invoker invoker() {
        return invoker;
    }

    final Waitable source() {
        return source;
    }

    private boolean takeSignal() {
        int now = signals.get();
        if (now == signalsTaken) {
            return false;
        }
        signalsTaken = now;
        return true;
    }

    private boolean isLost() {
        return driver != null && driver.isLost();
    }

    private boolean isOver() {
        return closed || isLost() || Thread.currentThread().isInterrupted();
    }

    private void round(long needed, long seenErrors, int seenSignals, long waitedNs, long leftNs) {
        if (invoker != null) {
            // who waits longer has the time for the driver's events, too
            if ((waitedNs < spinNs ? invoker.poll(0) : invoker.cycle()) == 0) {
                pause(waitedNs);
            }
        } else if (yields) {
            Thread.yield();
        } else if (waitedNs < spinNs) {
            Thread.onSpinWait();
        } else {
            sleep(needed, seenErrors, seenSignals, leftNs);
        }
    }

    private void pause(long waitedNs) {
        if (waitedNs < spinNs) {
            Thread.onSpinWait();
        } else if (yields || waitedNs < CYCLES_BEFORE_NAP_NS) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(NAP_NS);
        }
    }
}
