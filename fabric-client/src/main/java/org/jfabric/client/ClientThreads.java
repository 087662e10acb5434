package org.jfabric.client;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

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

    private static final ScopedValue<ClientThreads> CONNECTING = ScopedValue.newInstance();

    /** For the one of the system, and for simulations. */
    protected ClientThreads() {
    }

    /** Those of the client that the calling thread connects: the system's outside of {@link #connect}. */
    public static ClientThreads connecting() {
        return CONNECTING.orElse(SYSTEM);
    }

    /**
     * Opens a fabric whose client has this clock and these threads. They are bound to the call, because no signature of
     * the API may have a type of this package.
     *
     * @param open opens the fabric.
     * @return what it returns.
     */
    public final <T> T connect(Supplier<T> open) {
        return ScopedValue.where(CONNECTING, this).call(open::get);
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
