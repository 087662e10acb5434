package org.jfabric;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.client.ClientConductor;
import org.jfabric.client.ClientThreads;
import org.jfabric.client.DriverConnection;
import org.jfabric.client.DriverUser;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Connects a fabric to the next driver in the same directory when its driver has ended.
 *
 * <pre>
 *   CONNECTED --end of the socket--&gt; AWAY --connected, all opened again--&gt; CONNECTED
 *                                     |
 *                                     +--time is over, or the driver is another one--&gt; GONE
 * </pre>
 *
 * <p>Owner: a thread of its own from the end of one driver until the fabric is connected to the next one.
 */
final class Reconnection {
    private static final long FIRST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long LONGEST_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(500);
    /** After so long an attempt is ended to see whether the fabric was closed. */
    private static final long ATTEMPT_NS = TimeUnit.SECONDS.toNanos(1);
    /** From this minor version on a driver gives regions the addresses that they have. */
    private static final int LEAST_MINOR_VERSION = 1;

    private final Fabric fabric;
    private final FabricEvents events;
    private final Path directory;
    private final String clientName;
    private final long timeoutNs;
    private ClientConductor conductor;

    /** Of a fabric that is being opened. */
    Reconnection(Fabric fabric, FabricEvents events, FabricConfig config) {
        this.fabric = fabric;
        this.events = events;
        this.directory = config.directory();
        this.clientName = config.clientName();
        this.timeoutNs = config.reconnectTimeoutNs();
    }

    /** Before the first end of a driver. */
    void conductor(ClientConductor of) {
        conductor = of;
    }

    /** Begins to wait for the next driver. The client's own thread, which ends with its driver. */
    void begin(FabricException why) {
        Thread thread = new Thread(() -> run(why), "jfabric-reconnect");
        thread.setDaemon(true);
        thread.start();
    }

    private void run(FabricException why) {
        long deadlineNs = System.nanoTime() + timeoutNs;
        fabric.suspend();
        events.onAway(why);
        long pauseNs = FIRST_PAUSE_NS;
        FabricException last = why;
        while (fabric.isOpen()) {
            long leftNs = deadlineNs - System.nanoTime();
            if (isFinal(last)) {
                conductor.giveUp(new FabricException(last.errno(),
                    "the client cannot continue with the next driver in " + directory + ": " + last.getMessage(),
                    "Close this fabric, and connect again.", last));
                return;
            }
            if (leftNs <= 0) {
                conductor.giveUp(new FabricException(last == why ? FabricErrno.ENODEV : last.errno(),
                    "the client did not get back to a driver within "
                        + TimeUnit.NANOSECONDS.toMillis(timeoutNs) + " ms: " + last.getMessage(),
                    "Close this fabric, and connect again once a driver runs in " + directory + ".", last));
                return;
            }
            try {
                if (attempt(Math.min(leftNs, ATTEMPT_NS))) {
                    events.onReturned(fabric.takeKeyChanges());
                }
                return;
            } catch (FabricException failed) {
                last = failed;
            } catch (InternalError cut) {
                last = new FabricException(FabricErrno.EIO, "a file of the driver was cut: " + cut.getMessage());
            }
            LockSupport.parkNanos(pauseNs);
            pauseNs = Math.min(2 * pauseNs, LONGEST_PAUSE_NS);
        }
    }

    /** False if the fabric was closed. */
    private boolean attempt(long leftNs) {
        DriverConnection next = DriverConnection.connect(
            directory, DriverUser.own(), leftNs, clientName, ClientThreads.SYSTEM);
        boolean taken = false;
        try {
            requireSame(next);
            taken = true;
            return fabric.resume(next);
        } finally {
            if (!taken) {
                next.close();
            }
        }
    }

    private void requireSame(DriverConnection next) {
        if (next.attachment().minorVersion() < LEAST_MINOR_VERSION) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "the driver in " + directory + " speaks minor version "
                + next.attachment().minorVersion() + ", a client that comes back needs " + LEAST_MINOR_VERSION,
                "Restart with a driver that is not older than the one before.");
        }
        if (!next.attachment().driverName().equals(fabric.driverName())) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL, "the driver in " + directory + " is "
                + next.attachment().driverName() + ", the one before was " + fabric.driverName(),
                "Start it with the name of the one before, which stands in all addresses.");
        }
    }

    /** Whether another attempt would end in the same way. */
    private static boolean isFinal(FabricException failed) {
        return failed.errno() == FabricErrno.EOPNOTSUPP || failed.errno() == FabricErrno.EACCES
            || failed.errno() == FabricErrno.EADDRNOTAVAIL;
    }
}
