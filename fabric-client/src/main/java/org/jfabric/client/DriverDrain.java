package org.jfabric.client;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/** Ends a driver from another process without cutting off sends, for tools. */
public final class DriverDrain {
    /** The driver checks at least that often; its answer is awaited for longer than it waits itself. */
    private static final long MARGIN_NS = TimeUnit.SECONDS.toNanos(10);

    private DriverDrain() {
    }

    /**
     * Has a daemon take no new endpoints, wait until no send of any client is outstanding, and end. Returns when the
     * last send has ended; the process of the driver ends soon after. If the calling process ends meanwhile the driver
     * goes on as before.
     *
     * @param directory of the driver.
     * @param timeoutNs how long the driver waits for the sends, in nanoseconds.
     * @param force     whether it ends behind that time too.
     * @throws FabricException {@link FabricErrno#ETIMEDOUT} naming the endpoints whose sends have not ended in time,
     *     {@link FabricErrno#EALREADY} if another process drains the driver, {@link FabricErrno#EOPNOTSUPP} if the
     *     driver belongs to an application, {@link FabricErrno#ENODEV} if no driver runs there.
     */
    public static void drain(Path directory, long timeoutNs, boolean force) {
        try (ClientConductor conductor = ToolClient.connect(directory, "drain", timeoutNs + MARGIN_NS)) {
            conductor.commands().drain(timeoutNs, force);
        }
    }
}
