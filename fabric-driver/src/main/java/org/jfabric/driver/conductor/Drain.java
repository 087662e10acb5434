package org.jfabric.driver.conductor;

import java.nio.file.Path;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Whether the driver is to end as soon as no send is outstanding. Owner: conductor, except for {@link #allow} and
 * {@link #isActive}.
 */
public final class Drain {
    /** Written once, by the thread that runs the daemon. */
    private volatile Runnable end;
    /** Written by the conductor. */
    private volatile boolean active;

    /** Of a driver that an application ends. */
    public Drain() {
    }

    /**
     * Allows tools to end the driver; any thread.
     *
     * @param whenDrained called by the conductor, must return at once.
     */
    public void allow(Runnable whenDrained) {
        end = whenDrained;
    }

    /** Whether {@link #allow} was called. */
    boolean isAllowed() {
        return end != null;
    }

    /** Whether the driver is being drained; any thread. */
    public boolean isActive() {
        return active;
    }

    /** The driver is drained from now on, or no more. */
    void active(boolean isActive) {
        active = isActive;
    }

    /** Ends the driver. */
    void finish() {
        end.run();
    }

    /** Refuses a new endpoint while the driver is being drained. */
    void requireInactive(Path directory) {
        if (active) {
            throw new FabricException(FabricErrno.ESHUTDOWN,
                "the driver in " + directory + " is being drained: it opens no more endpoints and ends soon",
                "Use another driver, or try again when it was restarted.");
        }
    }
}
