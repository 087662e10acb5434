package org.jfabric.driver.progress;

/**
 * Decides how a driver's thread waits while it has no work, before it sleeps. The steps depend on time and not on the
 * number of polls, since a poll of sockets takes many times as long as a poll of memory.
 *
 * <pre>
 *   work | poll, poll, ... | yield, poll, yield, poll, ... | sleep
 *        0          KEEPS_CORE_NS                      length
 * </pre>
 *
 * <p>If no other thread needs the core, a yield returns at once. If the thread did not get the core back for long,
 * another thread computes there. A thread that sleeps gets the core as soon as it is woken; one that only yielded waits
 * for the end of the other's time slice. So the next idle periods go to sleep early.
 *
 * <p>Time is that of the duty cycle. An idle cycle reads the clock at its end, unless it did so when it began; busy
 * cycles share a time, except for the first one after a yield. Owner: the driver's thread.
 */
final class IdleWindow {
    /** Action after a cycle without work. */
    enum Step {
        /** Poll again at once. */
        POLL,
        /** Yield the core, then poll again. */
        YIELD,
        /** Sleep until there is work. */
        SLEEP
    }

    /** The next message of a peer that is awake comes sooner than this. */
    static final long KEEPS_CORE_NS = 2_000;
    /** Threads that only poll for messages yield sooner than this. */
    static final long LOST_CORE_NS = 200_000;
    /** Idle periods that go to sleep early after the core was lost. */
    static final int EARLY_SLEEPS = 64;

    private final long lengthNs;
    private boolean isIdle;
    private long idleSinceNs;
    private boolean hasYielded;
    private long yieldedNs;
    private int earlySleeps;

    /** Makes a window of this length in nanoseconds, after which the thread sleeps; 0 sleeps at once. */
    IdleWindow(long lengthNs) {
        this.lengthNs = lengthNs;
    }

    /** The cycle that began then had work. */
    void onWork(long cycleNs) {
        noteLoss(cycleNs);
        isIdle = false;
    }

    /** The thread slept and has something to do. */
    void onWoken() {
        isIdle = false;
    }

    /** Returns the action after a cycle without work that began at this time. */
    Step onIdle(long cycleNs) {
        noteLoss(cycleNs);
        if (!isIdle) {
            isIdle = true;
            idleSinceNs = cycleNs;
            earlySleeps = Math.max(0, earlySleeps - 1);
        }
        long idleNs = cycleNs - idleSinceNs;
        if (idleNs >= lengthNs || idleNs >= KEEPS_CORE_NS && earlySleeps > 0) {
            return Step.SLEEP;
        }
        if (idleNs < KEEPS_CORE_NS) {
            return Step.POLL;
        }
        hasYielded = true;
        yieldedNs = cycleNs;
        return Step.YIELD;
    }

    private void noteLoss(long cycleNs) {
        if (hasYielded) {
            hasYielded = false;
            if (cycleNs - yieldedNs > LOST_CORE_NS) {
                earlySleeps = EARLY_SLEEPS;
            }
        }
    }
}
