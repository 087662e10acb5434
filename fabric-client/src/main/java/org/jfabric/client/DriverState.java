package org.jfabric.client;

import org.jfabric.info.FabricException;

/**
 * Whether the driver still lives, as the data path sees it.
 *
 * <p>The flag is a plain field on purpose: it is read in every call of the data path, written once in a lifetime, and a
 * call that sees it a little late finds the same queues as before. Owner of the write: whoever first learns of the end;
 * any thread reads.
 */
public final class DriverState {
    private boolean gone;
    private volatile FabricException reason;

    /** A driver that lives. */
    public DriverState() {
    }

    /**
     * Whether the driver is gone.
     *
     * @return true for ever after its end was noticed.
     */
    public boolean isGone() {
        return gone;
    }

    /**
     * Why the driver is gone.
     *
     * @return the reason, or null while it lives.
     */
    public FabricException reason() {
        return reason;
    }

    /**
     * Notes the end, once.
     *
     * @param why what happened and what to do.
     * @return true for the one call that noted it.
     */
    public boolean end(FabricException why) {
        synchronized (this) {
            if (reason != null) {
                return false;
            }
            reason = why;
        }
        gone = true;
        return true;
    }

    /**
     * Refuses a control call to a driver that is gone.
     *
     * @throws FabricException with the errno and the text of the end.
     */
    public void requireAlive() {
        FabricException why = reason;
        if (why != null) {
            throw new FabricException(why.errno(), "the driver is gone: " + why.getMessage(),
                "Close this fabric and connect again.", why);
        }
    }
}
