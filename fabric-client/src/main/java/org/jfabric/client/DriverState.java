package org.jfabric.client;

import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/**
 * Whether the driver still lives, as the data path sees it.
 *
 * <p>The flag is a plain field on purpose: it is read in every call of the data path, written once in a driver's
 * lifetime, and a call that sees it a little late finds the same queues as before. Owner of the write: whoever first
 * learns of the end; any thread reads.
 */
public final class DriverState {
    private boolean gone;
    /** Gone, but the client is waiting for the next driver. */
    private volatile boolean away;
    /** Gone for good: set once. */
    private volatile boolean ended;
    private volatile FabricException reason;

    public DriverState() {
    }

    /**
     * Whether the driver is gone.
     *
     * @return true after its end was noticed; for ever, or until the client is connected to the next driver.
     */
    public boolean isGone() {
        return gone;
    }

    /** Whether the driver is gone and the client waits for the next one. */
    public boolean isAway() {
        return away;
    }

    /** Whether the driver is gone for good. A driver may leave and come back, several times, between two loads here. */
    public boolean isLost() {
        return gone && ended;
    }

    /** Why the driver is gone. Returns the reason, or null while it lives. */
    public FabricException reason() {
        return reason;
    }

    /** Notes the end, once. */
    public boolean end(FabricException why) {
        synchronized (this) {
            if (reason != null && !away) {
                return false;
            }
            reason = why;
            // in this order: a thread that sees that it is not away sees that it is gone
            gone = true;
            away = false;
            ended = true;
        }
        return true;
    }

    /** Notes the end of a driver whose successor the client awaits. */
    public boolean leave(FabricException why) {
        synchronized (this) {
            if (reason != null) {
                return false;
            }
            away = true;
            reason = why;
            gone = true;
        }
        return true;
    }

    /** Notes that the client is connected to the next driver. Returns false if the end was noted meanwhile. */
    public boolean comeBack() {
        synchronized (this) {
            if (!away) {
                return false;
            }
            gone = false;
            reason = null;
            away = false;
        }
        return true;
    }

    /**
     * Refuses a control call to a driver that is gone.
     *
     * @throws FabricException with the errno and the text of the end; with {@link FabricErrno#EAGAIN} while the client
     *     waits for the next one.
     */
    public void requireAlive() {
        FabricException why = reason;
        if (why != null && away) {
            throw new FabricException(FabricErrno.EAGAIN, "the driver is away: " + why.getMessage(),
                "Call again once the client is connected to the next one, which its listener reports.", why);
        }
        if (why != null) {
            throw new FabricException(why.errno(), "the driver is gone: " + why.getMessage(),
                "Close this fabric and connect again.", why);
        }
    }
}
