package org.jfabric;

import java.nio.channels.SelectableChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jfabric.client.Invoker;
import org.jfabric.client.SignalPipe;
import org.jfabric.client.Sleeper;
import org.jfabric.info.WaitObject;

/**
 * The waiting for what this process fills itself: an event queue. Threads sleep on the monitor of the queue.
 *
 * <p>The native objects need no arming: the channel is readable exactly while there is something, and the condition is
 * signalled for each change. Any thread.
 */
final class EventWait extends WaitLoop implements Sleeper {
    /** Protects the queue and the pipe. */
    private final Object monitor;
    private final SignalPipe pipe;
    private final MutexCond pair;
    /** Whether a thread may sleep at the channel although events come in cycles only; under the monitor. */
    private boolean armed;

    /** The waiting side of a queue; its source may be asked with or without the monitor. */
    EventWait(Waitable source, Object monitor, WaitObject waitObject, Invoker invoker) {
        // without spinning each round runs the whole cycle, and events come in no other way
        super(source, null, invoker, waitObject == WaitObject.YIELD, 0);
        this.monitor = monitor;
        pipe = waitObject == WaitObject.FD ? new SignalPipe() : null;
        ReentrantLock mutex = waitObject == WaitObject.MUTEX_COND ? new ReentrantLock() : null;
        pair = mutex == null ? null : new MutexCond(mutex, mutex.newCondition());
        if (sleepsInApplication()) {
            invoker.addSleeper(this);
        }
    }

    /**
     * Says that a thread is about to wait at the native object, after a cycle.
     *
     * @return false if it must not wait.
     */
    boolean prepare() {
        if (!sleepsInApplication()) {
            return true;
        }
        synchronized (monitor) {
            armed = true;
            onTaken();
        }
        return invoker().prepareSleep();
    }

    /** The thread does not wait after all. */
    void disarm() {
        if (sleepsInApplication()) {
            synchronized (monitor) {
                armed = false;
            }
            invoker().cancelSleep();
        }
    }

    @Override
    public boolean isArmed() {
        synchronized (monitor) {
            return armed;
        }
    }

    /** Wakes the thread that sleeps at the channel, so that it runs a cycle. */
    @Override
    public void wakeSleeper() {
        synchronized (monitor) {
            if (armed) {
                armed = false;
                pipe.set(true);
            }
        }
    }

    /** The pair of {@link WaitObject#MUTEX_COND}, else null. */
    MutexCond pair() {
        return pair;
    }

    /** The channel of {@link WaitObject#FD}, else null. */
    SelectableChannel channel() {
        if (pipe == null) {
            return null;
        }
        synchronized (monitor) {
            return pipe.channel();
        }
    }

    /** An entry was taken; under the monitor. */
    void onTaken() {
        if (pipe != null) {
            pipe.set(source().isReady());
        }
    }

    /** Wakes all who wait; the caller has the monitor neither of the queue nor of anything that a waiter may hold. */
    @Override
    void wake() {
        synchronized (monitor) {
            onTaken();
            monitor.notifyAll();
        }
        if (pair != null) {
            pair.lock().lock();
            try {
                pair.condition().signalAll();
            } finally {
                pair.lock().unlock();
            }
        }
    }

    /** Ends all waits, after the queue was closed. */
    void close() {
        markClosed();
        wake();
        if (sleepsInApplication()) {
            invoker().removeSleeper(this);
        }
        if (pipe != null) {
            synchronized (monitor) {
                pipe.close();
            }
        }
    }

    private boolean sleepsInApplication() {
        return pipe != null && invoker() != null;
    }

    @Override
    void sleep(long needed, long seenErrors, int seenSignals, long leftNs) {
        // a monitor's shortest time is a millisecond, and 0 would have no limit
        long mostMs = (leftNs - 1) / TimeUnit.MILLISECONDS.toNanos(1) + 1;
        synchronized (monitor) {
            try {
                if (!isDone(needed, seenErrors, seenSignals)) {
                    monitor.wait(mostMs);
                }
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
