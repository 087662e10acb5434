package org.jfabric.driver.conductor;

import org.jfabric.driver.resource.WaitPoint;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.WaitObject;

/**
 * The wait object with which a completion queue or counter is opened: validates it and creates its wait point.
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

    /** Refuses a wait object that is not supported. */
    WaitObject check(String what) {
        WaitObject waitObject = WaitObject.of(waitObjectCode);
        switch (waitObject) {
            case NONE, SET -> {
            }
            case UNSPEC, MUTEX_COND, YIELD -> signals = true;
            case FD -> {
                signals = true;
                token = WaitResource.randomToken();
            }
            default -> throw new FabricException(FabricErrno.ENOSYS,
                "a " + what + " with wait object " + waitObject + " cannot be opened",
                "Use NONE, UNSPEC, SET, FD, MUTEX_COND or YIELD.");
        }
        return waitObject;
    }

    /** Binds the requested wait set, if any, so that it cannot be closed while files are created; the last check. */
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

    /** Reverses {@link #bind()}. */
    void undo() {
        if (waitSet != null) {
            waitSet.unbind();
        }
    }

    /**
     * The points at which the driver wakes waiting threads.
     *
     * @param line    native address of the object's own wait words.
     * @return by number of the thread; all null without a wait object.
     */
    WaitPoint[] points(int threads, long line) {
        if (waitSet != null) {
            return waitSet.waitResource().points();
        }
        if (!signals) {
            return new WaitPoint[threads];
        }
        waitResource = new WaitResource(WaitResource.points(threads, line), token);
        return waitResource.points();
    }

    /** The wait resource of threads that wait for this object alone, or null. */
    WaitResource waitResource() {
        return waitResource;
    }

    /** The bound wait set, or null. */
    WaitSetResource waitSet() {
        return waitSet;
    }
}
