package org.jfabric.driver.conductor.command;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.WaitObject;
import org.jfabric.driver.conductor.ClientSession;
import org.jfabric.driver.conductor.WaitResource;
import org.jfabric.driver.conductor.WaitSetResource;
import org.jfabric.driver.engine.WaitPoint;

/**
 * The wait object with which a completion queue or counter is opened: checks it, and makes where the driver wakes.
 *
 * <p>Owner: conductor.
 */
final class RequestedWait {
    private final ClientSession session;
    private final int waitObjectCode;
    private final long waitSetId;
    private boolean signals;
    private long token = WaitResource.NO_CHANNEL;
    private WaitSetResource waitSet;
    private WaitResource waitResource;

    RequestedWait(ClientSession session, int waitObjectCode, long waitSetId) {
        this.session = session;
        this.waitObjectCode = waitObjectCode;
        this.waitSetId = waitSetId;
    }

    /**
     * Refuses what cannot be.
     *
     * @param what is opened, for the message.
     * @return what was asked for.
     */
    WaitObject check(String what) {
        WaitObject waitObject = WaitObject.of(waitObjectCode);
        switch (waitObject) {
            case NONE, SET -> {
            }
            case UNSPEC, MUTEX_COND, YIELD -> signals = true;
            case FD -> {
                requireThreads(session);
                signals = true;
                token = WaitResource.randomToken();
            }
            default -> throw new FabricException(FabricErrno.ENOSYS,
                "a " + what + " with wait object " + waitObject + " cannot be opened",
                "Use NONE, UNSPEC, SET, FD, MUTEX_COND or YIELD.");
        }
        return waitObject;
    }

    /**
     * Refuses a descriptor to wait at where nobody could signal it.
     *
     * @param session who asks.
     * @throws FabricException {@code FI_ENOSYS} in mode INVOKER.
     */
    static void requireThreads(ClientSession session) {
        if (session.isEmbedded()) {
            throw new FabricException(FabricErrno.ENOSYS,
                "wait object FD with a driver in mode INVOKER, which has no thread to signal it while the application "
                    + "sleeps", "Use UNSPEC, whose waiting calls run the cycles, or launch the driver in mode SHARED.");
        }
    }

    /** Binds the wait set if one was asked for, so that it cannot be closed while files are made; the last check. */
    void bind() {
        if (waitObjectCode != WaitObject.SET.code()) {
            return;
        }
        WaitSetResource found = session.waitSets().get(waitSetId);
        if (found == null) {
            throw new FabricException(FabricErrno.EINVAL,
                "wait set " + waitSetId + " is not open", "Open the wait set first, and name it in wait_set.");
        }
        found.bind();
        waitSet = found;
    }

    /** Takes back what {@link #bind()} did. */
    void undo() {
        if (waitSet != null) {
            waitSet.unbind();
        }
    }

    /**
     * Where the driver wakes.
     *
     * @param line native address of the object's own wait words.
     * @return null if nobody may wait.
     */
    WaitPoint point(long line) {
        if (waitSet != null) {
            return waitSet.waitResource().point();
        }
        if (!signals) {
            return null;
        }
        waitResource = new WaitResource(new WaitPoint(line), token);
        return waitResource.point();
    }

    /** Where those are woken who wait for this object alone, or null. */
    WaitResource waitResource() {
        return waitResource;
    }

    /** The bound wait set, or null. */
    WaitSetResource waitSet() {
        return waitSet;
    }
}
