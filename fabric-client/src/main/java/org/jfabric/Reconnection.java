package org.jfabric;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.client.ClientConductor;
import org.jfabric.client.ClientThreads;
import org.jfabric.client.DriverConnection;
import org.jfabric.client.DriverUser;
import org.jfabric.ffi.NativeCallException;
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

    private final Fabric fabric;
    private final FabricEvents events;
    private final Path directory;
    private final String clientName;
    private final long timeoutNs;
    private ClientConductor conductor;
    /** Why no attempt can succeed with the driver that is there, or null. */
    private FabricException refusal;

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
        FabricException last = why;
        try {
            fabric.suspend();
        } catch (RuntimeException | Error failed) {
            // each attempt begins with the same
            last = reason(failed);
        }
        events.onAway(why);
        long pauseNs = FIRST_PAUSE_NS;
        while (fabric.isOpen()) {
            long leftNs = deadlineNs - System.nanoTime();
            if (refusal != null) {
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
            boolean isBack;
            try {
                isBack = attempt(Math.min(leftNs, ATTEMPT_NS));
            } catch (RuntimeException | Error failed) {
                // whatever it is: without this thread the fabric would neither come back nor give up
                last = reason(failed);
                LockSupport.parkNanos(pauseNs);
                pauseNs = Math.min(2 * pauseNs, LONGEST_PAUSE_NS);
                continue;
            }
            if (isBack) {
                events.onReturned(fabric.takeKeyChanges());
            }
            return;
        }
    }

    private static FabricException reason(Throwable failed) {
        return switch (failed) {
            case FabricException refused -> refused;
            case NativeCallException call ->
                new FabricException(call.errno(), call.getMessage(), "Correct that, the fabric tries again.", call);
            case InternalError cut -> new FabricException(
                FabricErrno.EIO, "a file of the driver was cut: " + cut.getMessage(), null, cut);
            default -> new FabricException(FabricErrno.EOTHER, "an attempt to connect failed: " + failed, null, failed);
        };
    }

    /** False if the fabric was closed. */
    private boolean attempt(long leftNs) {
        DriverConnection next;
        try {
            next = connectToSame(leftNs);
        } catch (FabricException failed) {
            refusal = isFinal(failed) ? failed : null;
            throw failed;
        }
        // what fails in here may succeed with a driver that has other options, or once an interface is up
        return fabric.resume(next);
    }

    private DriverConnection connectToSame(long leftNs) {
        DriverConnection next = DriverConnection.connect(
            directory, DriverUser.own(), leftNs, clientName, ClientThreads.SYSTEM);
        boolean isSame = false;
        try {
            requireSame(next);
            isSame = true;
            return next;
        } finally {
            if (!isSame) {
                next.close();
            }
        }
    }

    private void requireSame(DriverConnection next) {
        if (!next.attachment().driverName().equals(fabric.driverName())) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL, "the driver in " + directory + " is "
                + next.attachment().driverName() + ", the one before was " + fabric.driverName(),
                "Start it with the name of the one before, which stands in all addresses.");
        }
    }

    /** Whether another attempt to connect would end in the same way. */
    private static boolean isFinal(FabricException failed) {
        return failed.errno() == FabricErrno.EOPNOTSUPP || failed.errno() == FabricErrno.EACCES
            || failed.errno() == FabricErrno.EADDRNOTAVAIL;
    }
}
