package org.jfabric;

import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jfabric.client.WaitLine;
import org.jfabric.info.WaitObject;

/**
 * Waiting at a lock and condition, {@link WaitObject#MUTEX_COND}.
 *
 * <p>The driver never takes an application's lock: a thread of the client sleeps where the driver wakes, and signals
 * the condition. It is parked while no thread waits.
 */
final class MutexCondWait extends NativeWait {
    private final MutexCond pair;
    private final WaitLine line;
    private final BooleanSupplier due;
    private final long sliceNs;
    private final Thread bridge;
    private volatile boolean armed;
    private volatile boolean closed;

    /**
     * A pair without waiting threads.
     *
     * @param line    slept on.
     * @param due     whether a waiter has to be woken; any thread.
     * @param sliceNs longest single sleep; negative for no limit.
     */
    MutexCondWait(WaitLine line, BooleanSupplier due, long sliceNs) {
        ReentrantLock lock = new ReentrantLock();
        this.pair = new MutexCond(lock, lock.newCondition());
        this.line = line;
        this.due = due;
        this.sliceNs = sliceNs;
        this.bridge = new Thread(this::run, "jfabric-mutex-cond");
        bridge.setDaemon(true);
    }

    /** Starts the thread that signals. */
    void start() {
        bridge.start();
    }

    @Override
    boolean arm() {
        armed = true;
        LockSupport.unpark(bridge);
        return true;
    }

    @Override
    void disarm() {
        armed = false;
    }

    @Override
    void signal() {
        // the caller has woken the line, where the bridge sleeps while a thread waits
    }

    @Override
    void close() {
        closed = true;
        LockSupport.unpark(bridge);
    }

    @Override
    void describe(WaitObjectHandle handle) {
        handle.mutexCond(pair);
    }

    private void run() {
        while (!closed) {
            if (armed) {
                sleep();
            } else {
                LockSupport.park(this);
            }
        }
        signalAll();
    }

    private void sleep() {
        int seen = line.signal();
        line.announce(0);
        if (!due.getAsBoolean()) {
            line.sleep(seen, sliceNs);
        }
        if (due.getAsBoolean()) {
            // before the signal: who arms meanwhile is woken without need, but never left asleep
            armed = false;
            signalAll();
        }
    }

    private void signalAll() {
        pair.lock().lock();
        try {
            pair.condition().signalAll();
        } finally {
            pair.lock().unlock();
        }
    }
}
