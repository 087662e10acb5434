package org.jfabric.driver.resource;

/**
 * A safepoint poll at which a pending memory fault is thrown.
 *
 * <p>In compiled code the virtual machine does not throw a fault of a mapped file at the access, but at the thread's
 * next safepoint poll. That may be the return of a method without a handler for it, and the agent's thread would end.
 * So a guarded block ends with a loop of unknown length, which polls in each iteration.
 */
public final class FaultPoint {
    private static final int TURNS = 2;

    /** Volatile, so that the loop is not unrolled; only simulations write it. */
    private static volatile int turns = TURNS;
    /** What simulations do at each point. */
    private static Runnable simulated;

    private FaultPoint() {
    }

    /**
     * Throws the pending fault; costs two loads otherwise.
     *
     * @throws InternalError of an access before.
     */
    public static void pass() {
        int turn = 0;
        do {
            turn++;
        } while (turn < turns);
        if (turn != TURNS) {
            simulated.run();
        }
    }

    /**
     * Has something called at each point from now on, by all threads; for simulations of faults.
     *
     * @param atEach may throw an {@link InternalError}; null for nothing.
     */
    public static void simulate(Runnable atEach) {
        if (atEach != null) {
            simulated = atEach;
        }
        turns = atEach == null ? TURNS : TURNS + 1;
    }
}
