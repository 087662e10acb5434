package org.jfabric;

import org.jfabric.client.DriverState;
import org.jfabric.client.Invoker;
import org.jfabric.client.WaitLine;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * How a reader of one completion queue waits: it spins briefly, then sleeps on a word that the driver wakes, in slices
 * short enough to notice what nobody wakes for: an interrupt, the end of the driver.
 *
 * <p>With an embedded driver in INVOKER mode nobody else runs the duty cycle, so the waiting thread runs it, yields,
 * and naps when nothing happens for long. With {@link WaitObject#YIELD} it yields on every round.
 *
 * <p>Owner: {@link #await} belongs to the reading thread; {@link #signal()} and {@link #close()} come from any thread.
 */
final class CompletionWait {
    /** Longest sleep without a look at interrupt and driver. */
    static final long SLICE_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final long CYCLES_BEFORE_NAP_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long NAP_NS = TimeUnit.MICROSECONDS.toNanos(20);

    private final AtomicInteger signals = new AtomicInteger();
    private final CompletionReader reader;
    private final WaitLine line;
    private final DriverState driver;
    private final Invoker invoker;
    private final boolean yields;
    private final boolean counts;
    private final long spinNs;
    private final long sliceNs;
    private volatile int signalsTaken;
    private volatile boolean closed;

    /**
     * The waiting side of a queue.
     *
     * @param reader    looked at for entries.
     * @param line      slept on.
     * @param attr      wait object and condition.
     * @param driver    whose end is noticed.
     * @param invoker   runs the embedded driver's cycle, or null.
     * @param spinNs    how long to look without sleeping.
     * @param sliceNs   longest single sleep; negative for no limit.
     */
    CompletionWait(
        CompletionReader reader,
        WaitLine line,
        CompletionQueueAttr attr,
        DriverState driver,
        Invoker invoker,
        long spinNs,
        long sliceNs) {
        this.reader = reader;
        this.line = line;
        this.driver = driver;
        this.invoker = invoker;
        this.yields = attr.waitObject() == WaitObject.YIELD;
        this.counts = attr.waitCondition() == WaitCondition.THRESHOLD;
        this.spinNs = spinNs;
        this.sliceNs = sliceNs;
    }

    /**
     * Waits until enough entries, an error entry or the overrun state can be read, or there is a reason to wait no
     * longer: a signal, an interrupt, a close, the driver's end, the time.
     *
     * @param cond      entries wanted, if the queue was opened with {@link WaitCondition#THRESHOLD}; else ignored.
     * @param count     most entries that the caller takes.
     * @param startNs   when the wait began.
     * @param timeoutMs milliseconds from then on; negative for no limit.
     * @return false if there is something to read, true if there is a reason to wait no longer.
     */
    boolean await(long cond, int count, long startNs, int timeoutMs) {
        int needed = needed(cond, count);
        int seenSignals = signalsTaken;
        long limitNs = timeoutMs < 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (!reader.isReady(needed)) {
            int nowSignals = signals.get();
            if (nowSignals != seenSignals) {
                // one signal releases all who waited when it came, or, if nobody did, the next one
                signalsTaken = nowSignals;
                return true;
            }
            long waitedNs = System.nanoTime() - startNs;
            if (isOver() || waitedNs >= limitNs) {
                return true;
            }
            round(needed, seenSignals, waitedNs, limitNs - waitedNs);
        }
        return false;
    }

    /** Releases the threads that wait now, or the next one that is about to wait on an empty queue (AMB-07). */
    void signal() {
        signals.incrementAndGet();
        line.wakeAll();
    }

    /** Releases all who wait, for ever. */
    void close() {
        closed = true;
        line.wakeAll();
    }

    /** Entries that release a waiter: AMB-04. */
    private int needed(long cond, int count) {
        if (!counts || cond == 0) {
            return 1;
        }
        int most = Math.max(1, Math.min(count, reader.capacity()));
        return cond < 0 || cond > most ? most : (int) cond;
    }

    private boolean isOver() {
        return closed || driver.isGone() || Thread.currentThread().isInterrupted();
    }

    private void round(int needed, int seenSignals, long waitedNs, long leftNs) {
        if (invoker != null) {
            if (invoker.cycle() == 0) {
                pause(waitedNs);
            }
        } else if (yields) {
            Thread.yield();
        } else if (waitedNs < spinNs) {
            Thread.onSpinWait();
        } else {
            sleep(needed, seenSignals, leftNs);
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

    private void sleep(int needed, int seenSignals, long leftNs) {
        int seen = line.signal();
        line.announce(reader.position() + needed);
        if (!reader.isReady(needed) && !isOver() && signals.get() == seenSignals) {
            line.sleep(seen, sliceNs < 0 ? leftNs : Math.min(sliceNs, leftNs));
        }
    }
}
