package org.jfabric.client;

import java.util.concurrent.locks.LockSupport;

/**
 * The clock by which the control path of an attached client waits, and whether it has a thread. This class has those of
 * the system. A simulation replaces them, so that one thread runs drivers and their clients; production code makes no
 * subclass, so that each call has one target. Reads and posts do not come here.
 *
 * <p>Any thread.
 */
public class ClientThreads {
    /** That of the system: a thread for each client, which sleeps on the driver's socket. */
    public static final ClientThreads SYSTEM = new ClientThreads();

    /** For the one of the system, and for simulations. */
    protected ClientThreads() {
    }

    /** Reads the clock. Returns the nanoseconds since any moment, as of {@link System#nanoTime()}. */
    public long nanoTime() {
        return System.nanoTime();
    }

    /**
     * Whether a client has a thread that reads what the driver writes. Without one {@link ClientConductor#poll()} does
     * that, and calls that wait for an answer.
     *
     * @return the same for each call.
     */
    public boolean hasThreads() {
        return true;
    }

    /**
     * The calling thread waits for the driver.
     *
     * @param pauseNs how long it would sleep, in nanoseconds.
     */
    public void pause(long pauseNs) {
        LockSupport.parkNanos(pauseNs);
    }

    /**
     * A client without a thread is attached.
     *
     * @param conductor to be polled, or to be abandoned.
     */
    public void onAttached(ClientConductor conductor) {
        // clients with threads need no calls
    }
}
