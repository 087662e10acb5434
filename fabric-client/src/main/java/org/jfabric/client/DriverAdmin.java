package org.jfabric.client;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jfabric.codec.control.DrainDriver;
import org.jfabric.codec.control.ResetCycleTimes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.OwnerId;

/** What tools ask of a driver that runs in another process. Any thread; each call connects anew. */
public final class DriverAdmin {
    /** The driver checks at least that often; its answer is awaited for longer than it waits itself. */
    private static final long MARGIN_NS = TimeUnit.SECONDS.toNanos(10);

    private DriverAdmin() {
    }

    /**
     * Has a daemon take no new endpoints, wait until no send of any client is outstanding, and end. Returns when the
     * last send has ended; the process of the driver ends soon after. If the calling process ends meanwhile the driver
     * continues to serve.
     *
     * @param timeoutNs how long the driver waits for the sends, in nanoseconds.
     * @param force     whether it ends behind that time too.
     * @throws FabricException {@link FabricErrno#ETIMEDOUT} naming the endpoints whose sends have not ended in time,
     *     {@link FabricErrno#EALREADY} if another process drains the driver, {@link FabricErrno#EOPNOTSUPP} if the
     *     driver belongs to an application, {@link FabricErrno#ENODEV} if no driver runs there.
     */
    public static void drain(Path directory, long timeoutNs, boolean force) {
        try (ClientConductor conductor = ToolClient.connect(directory, "drain", timeoutNs + MARGIN_NS)) {
            // its own id, so that bytes that are no command cannot end it
            OwnerId owner = conductor.connection().attachment().driverOwner();
            conductor.commands().call("draining the driver",
                new DrainDriver(owner.high(), owner.low(), timeoutNs, force ? 1 : 0));
        }
    }

    /**
     * Begins the histogram of the driver's duty cycles anew, and with it the longest time and the number of slow ones.
     *
     * @param timeoutNs how long to wait for the driver, in nanoseconds.
     * @throws FabricException {@link FabricErrno#ENODEV} if no driver runs there, {@link FabricErrno#ETIMEDOUT} if it
     *     does not answer: in mode INVOKER it does so only while its application runs its cycles.
     */
    public static void resetCycleTimes(Path directory, long timeoutNs) {
        try (ClientConductor conductor = ToolClient.connect(directory, "reset", timeoutNs)) {
            conductor.commands().call("resetting the times of cycles", new ResetCycleTimes());
        }
    }
}
