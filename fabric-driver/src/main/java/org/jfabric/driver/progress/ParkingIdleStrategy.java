package org.jfabric.driver.progress;

import org.agrona.concurrent.IdleStrategy;
import org.jfabric.driver.resource.CycleClock;
import org.jfabric.driver.resource.DescriptorWatcher;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.Inbox;
import org.jfabric.driver.resource.ParkedWord;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.driver.resource.SystemCounters;

/**
 * Puts a SHARED driver's thread to sleep in the native epoll when it was idle for a moment.
 *
 * <p>{@link ParkedWord} describes the protocol with all threads that commit to memory that the driver reads.
 *
 * <p>Owner: the driver's thread.
 */
public final class ParkingIdleStrategy implements IdleStrategy {
    private static final int NANOS_PER_MS = 1_000_000;

    private final ProgressAgent progress;
    private final DescriptorWatcher watcher;
    private final Inbox inbox;
    private final SystemCounters counters;
    private final CycleClock clock;
    private final IdleWindow window;
    private final ParkedWord parked;
    private final int timeoutMs;

    /**
     * A strategy for one thread.
     *
     * @param progress      polled once more before each sleep.
     * @param inbox         of the thread; its events are handled at the end of the sleep.
     * @param cncAddress    native address of the {@code cnc} file.
     * @param spinNs        longest time without work before sleep.
     * @param parkTimeoutNs longest sleep in nanoseconds.
     */
    public ParkingIdleStrategy(
        ProgressAgent progress,
        DescriptorWatcher watcher,
        Inbox inbox,
        SystemCounters counters,
        CycleClock clock,
        long cncAddress,
        long spinNs,
        long parkTimeoutNs) {
        this.progress = progress;
        this.watcher = watcher;
        this.inbox = inbox;
        this.counters = counters;
        this.clock = clock;
        this.window = new IdleWindow(spinNs);
        this.parked = new ParkedWord(cncAddress);
        this.timeoutMs = (int) Math.max(1, parkTimeoutNs / NANOS_PER_MS);
    }

    @Override
    public void idle(int workCount) {
        if (workCount > 0) {
            window.onWork(clock.nowNs());
        } else {
            idle();
        }
    }

    @Override
    public void idle() {
        switch (window.onIdle(progress.timeNs())) {
            case POLL -> Thread.onSpinWait();
            case YIELD -> {
                Thread.yield();
                progress.onPaused();
            }
            default -> {
                if (progress.hasScheduled()) {
                    Thread.yield();
                } else {
                    park();
                }
            }
        }
    }

    @Override
    public void reset() {
        window.onWoken();
    }

    private void park() {
        int work;
        try {
            work = sleep();
            FaultPoint.pass();
        } catch (InternalError ex) {
            // in a descriptor's handler, which may write to other clients when it ends one, or in our own file
            progress.onFault(ex);
            work = 1;
        }
        progress.onWoken();
        // after a mere timeout one cycle is enough: an idle driver must not spin for each of them
        if (work > 0) {
            window.onWoken();
        }
    }

    private int sleep() {
        parked.set();
        try {
            int work = progress.pollBeforeSleep();
            if (work == 0 && inbox.isEmpty()) {
                counters.add(SystemCounter.PARKED, 1);
                work = watcher.poll(timeoutMs, inbox);
            }
            return work;
        } finally {
            // also after a fault, or all others would ring for ever
            parked.clear();
        }
    }
}
