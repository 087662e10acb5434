package org.jfabric.client;

/**
 * An object of an application at whose descriptor a thread may sleep although no other thread runs the cycles of the
 * embedded driver. Any thread calls the methods, with the lock of all sleepers of the driver.
 */
public interface Sleeper {
    /** Whether a thread sleeps, or is about to. */
    boolean isArmed();

    /** Makes the descriptor readable if a thread sleeps there: the driver has something to do in a cycle. */
    void wakeSleeper();
}
