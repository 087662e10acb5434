package org.jfabric.driver.engine;

import java.util.PriorityQueue;

/**
 * The work that waits for one counter, in the order of the thresholds, then of submission. Triggered operations wait
 * for the counter's value, deferred work for the sum of value and error value; where both are due, the same order
 * holds among them.
 *
 * <p>Owner: progress agent.
 */
final class WorkQueue {
    /** Work that is started at once, so that a long queue does not delay other clients. */
    private static final int BURST = 64;

    private final CounterWriter counter;
    private final PriorityQueue<WaitingWork> operations = new PriorityQueue<>();
    private final PriorityQueue<WaitingWork> deferred = new PriorityQueue<>();
    private long lastNumber;

    WorkQueue(CounterWriter counter) {
        this.counter = counter;
    }

    boolean isEmpty() {
        return operations.isEmpty() && deferred.isEmpty();
    }

    /** Adds work; the caller starts what is due. */
    void add(WaitingWork work) {
        work.number = ++lastNumber;
        queueOf(work).add(work);
    }

    void remove(WaitingWork work) {
        queueOf(work).remove(work);
    }

    /** Starts the work whose threshold is reached, at most a burst of it. */
    int startDue() {
        int started = 0;
        while (started < BURST && !isEmpty()) {
            WaitingWork next = due(counter.value(), counter.errorValue());
            if (next == null) {
                break;
            }
            queueOf(next).poll();
            next.start();
            started++;
        }
        return started;
    }

    private WaitingWork due(long value, long errorValue) {
        WaitingWork operation = dueOf(operations, value);
        WaitingWork work = dueOf(deferred, value + errorValue & Long.MAX_VALUE);
        return operation == null || work != null && work.compareTo(operation) < 0 ? work : operation;
    }

    private static WaitingWork dueOf(PriorityQueue<WaitingWork> queue, long value) {
        WaitingWork first = queue.peek();
        return first != null && value >= first.threshold ? first : null;
    }

    private PriorityQueue<WaitingWork> queueOf(WaitingWork work) {
        return work.countsErrors() ? deferred : operations;
    }
}
