package org.jfabric.driver.progress;

/**
 * How a driver's thread waits while it has no work, before it sleeps: counted in time, since a look at sockets takes
 * many times as long as a look at memory.
 *
 * <pre>
 *   work | look, look, ... | let others run, look, let others run, look, ... | sleep
 *        0          KEEPS_CORE_NS                                     length
 * </pre>
 *
 * <p>Where nobody else wants the core letting others run returns at once. If the thread did not get the core back for
 * long, somebody computes there. A thread that sleeps is given the core as soon as it is woken, one that only let
 * others run waits for the end of their turn; so the next periods go to sleep early.
 *
 * <p>Time is that of the duty cycle. An idle cycle reads the clock at its end, unless it did so when it began; busy
 * cycles share a time, except for the first one after the thread let others run. Owner: the driver's thread.
 */
final class IdleWindow {
    /** What to do after a cycle without work. */
    enum Step {
        /** Look again at once. */
        LOOK,
        /** Let others run, then look again. */
        YIELD,
        /** Sleep until there is work. */
        SLEEP
    }

    /** The next message of a peer that is awake comes sooner than this. */
    static final long KEEPS_CORE_NS = 2_000;
    /** Threads that only look for messages let others run sooner than this. */
    static final long LOST_CORE_NS = 200_000;
    /** Idle periods that go to sleep early after the core was lost. */
    static final int EARLY_SLEEPS = 64;

    private final long lengthNs;
    private boolean isIdle;
    private long idleSinceNs;
    private boolean hasYielded;
    private long yieldedNs;
    private int earlySleeps;

    /** At most that long without work before sleep; 0 for none. */
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

    /** What to do after a cycle without work that began then. */
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
            return Step.LOOK;
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
