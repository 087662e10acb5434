package org.jfabric.driver.torture;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that only sleeps, of the priority of the processes of a run, and how late it wakes: so long did the machine
 * let a thread wait that had nothing to do but to continue. No operation can be asked to be faster than that.
 */
final class Sleeper implements AutoCloseable {
    private static final long NAP_NS = TimeUnit.MILLISECONDS.toNanos(2);
    /** What is less is of no interest. */
    private static final long LEAST_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final int KEPT = 10_000;

    private final Deque<Delay> delays = new ArrayDeque<>();
    private volatile boolean isClosed;

    /** It was to continue at the begin, and did at the end. */
    private record Delay(long beginNs, long endNs) {
        /** The part of it in a period. */
        long within(long begin, long end) {
            long first = beginNs - begin > 0 ? beginNs : begin;
            return Math.max(0, (endNs - end < 0 ? endNs : end) - first);
        }
    }

    /** One that sleeps from now on. */
    static Sleeper start() {
        Sleeper sleeper = new Sleeper();
        Thread thread = new Thread(sleeper::sleep, "sleeper");
        thread.setDaemon(true);
        thread.start();
        return sleeper;
    }

    private void sleep() {
        while (!isClosed) {
            long due = System.nanoTime() + NAP_NS;
            LockSupport.parkNanos(NAP_NS);
            woke(due, System.nanoTime());
        }
    }

    synchronized void woke(long dueNs, long nowNs) {
        if (nowNs - dueNs > LEAST_NS) {
            delays.addLast(new Delay(dueNs, nowNs));
            if (delays.size() > KEPT) {
                delays.removeFirst();
            }
        }
    }

    /** The longest delay, as far as it is between two times. */
    synchronized long latest(long beginNs, long endNs) {
        return delays.stream().mapToLong(each -> each.within(beginNs, endNs)).max().orElse(0);
    }

    @Override
    public void close() {
        isClosed = true;
    }
}
