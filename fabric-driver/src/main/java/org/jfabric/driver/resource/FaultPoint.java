package org.jfabric.driver.resource;

/**
 * A point that a pending memory fault does not pass.
 *
 * <p>In compiled code the virtual machine does not throw a fault of a mapped file at the access, but at the thread's
 * next safepoint poll: that may be the return of a method that has no handler for it, and the agent's thread would end.
 * So the last thing in a guarded block is a loop whose end the compiler cannot know; such a loop polls each time round.
 */
public final class FaultPoint {
    /** Volatile, so that the loop is not unrolled; nobody writes it. */
    private static volatile int turns = 2;

    private FaultPoint() {
    }

    /**
     * Throws what is pending; costs two loads otherwise.
     *
     * @throws InternalError of an access before.
     */
    public static void pass() {
        int turn = 0;
        do {
            turn++;
        } while (turn < turns);
    }
}
