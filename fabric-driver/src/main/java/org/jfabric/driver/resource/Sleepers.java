package org.jfabric.driver.resource;

import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.client.Sleeper;

/**
 * Where threads of the application sleep while no thread runs the cycles of a driver in mode INVOKER.
 *
 * <p>Protocol, as that of a driver's thread that parks: a thread arms its own object, calls {@link #arm}, polls
 * everything once more and only then sleeps; all others post or commit, fence, and wake if the word is set. A wake-up
 * ends the sleep of all threads, because each of them can run the cycle that is due.
 *
 * <p>Any thread.
 */
public final class Sleepers {
    private final ParkedWord parked;
    private final DescriptorWatcher watcher;
    private final long timerNs;
    private final Runnable onFirst;
    /** Guards the list and the change of both words. */
    private final Object lock = new Object();
    private final List<Sleeper> sleepers = new ArrayList<>();
    private volatile boolean armed;
    /** Whether the sleep ends at {@link #deadlineNs}. */
    private boolean timed;
    private long deadlineNs;
    private boolean begun;
    private boolean closed;

    /**
     * Without sleepers.
     *
     * @param cncAddress native address of the {@code cnc} file.
     * @param timerNs    longest sleep in nanoseconds while a deadline is awaited.
     * @param onFirst    called before the first object is added; under the lock of this object.
     */
    public Sleepers(long cncAddress, DescriptorWatcher watcher, long timerNs, Runnable onFirst) {
        this.parked = new ParkedWord(cncAddress);
        this.watcher = watcher;
        this.timerNs = timerNs;
        this.onFirst = onFirst;
    }

    /** Wakes an object's threads from now on. */
    public void add(Sleeper sleeper) {
        synchronized (lock) {
            if (!begun) {
                begun = true;
                onFirst.run();
            }
            sleepers.add(sleeper);
        }
    }

    /**
     * Wakes an object's threads no more; it is not used after the return.
     *
     * @param sleeper added before, or not.
     */
    public void remove(Sleeper sleeper) {
        synchronized (lock) {
            sleepers.remove(sleeper);
        }
    }

    /** A thread is about to sleep, whose object is armed. The caller polls everything once more. */
    public void arm() {
        synchronized (lock) {
            armed = true;
            timed = false;
            // an application may ask and signal after it has closed the driver
            if (!closed) {
                parked.set();
            }
        }
    }

    /** A deadline passes while the threads sleep: they are woken in time to run a cycle. */
    public void limit() {
        synchronized (lock) {
            if (armed && !timed) {
                timed = true;
                deadlineNs = System.nanoTime() + timerNs;
            }
        }
        watcher.wake();
    }

    /** A thread does not sleep after all; its object is not armed any more. */
    public void disarm() {
        synchronized (lock) {
            for (Sleeper sleeper : sleepers) {
                if (sleeper.isArmed()) {
                    return;
                }
            }
            clear();
        }
    }

    /** Whether a thread sleeps, or is about to. */
    public boolean isArmed() {
        return armed;
    }

    /** Wakes all threads, after something was stored for which a cycle has to run. */
    public void wake() {
        // behind what the caller has posted, a command perhaps by a release store
        UnsafeApi.fullFence();
        if (armed) {
            wakeAll();
        }
    }

    /** Wakes all threads for the last time, before the memory of the word is unmapped. */
    public void close() {
        synchronized (lock) {
            wakeAll();
            closed = true;
        }
    }

    /**
     * How long the watching thread may sleep.
     *
     * @param mostMs longest sleep in milliseconds.
     * @return milliseconds, 0 to {@code mostMs}.
     */
    int timeoutMs(int mostMs) {
        synchronized (lock) {
            return timed ? Math.clamp((deadlineNs - System.nanoTime()) / 1_000_000 + 1, 0, mostMs) : mostMs;
        }
    }

    /** Wakes all threads if the deadline has passed. */
    void onTime() {
        synchronized (lock) {
            if (timed && System.nanoTime() - deadlineNs >= 0) {
                wakeAll();
            }
        }
    }

    private void wakeAll() {
        synchronized (lock) {
            clear();
            for (Sleeper sleeper : sleepers) {
                try {
                    sleeper.wakeSleeper();
                } catch (InternalError cut) {
                    // the application has cut the file of one object; the others still have to be woken
                    continue;
                }
            }
        }
    }

    private void clear() {
        armed = false;
        timed = false;
        if (!closed) {
            parked.clear();
        }
    }
}
