package org.jfabric.driver.engine;

import org.jfabric.FabricErrno;

/**
 * Where messages go: each into the buffer of its own receive ({@link OrdinaryReceives}), many into one buffer
 * ({@link MultiReceives}), or into the driver's slab ({@link BufferedReceives}).
 *
 * <p>The mode of an endpoint is chosen when it is enabled; it takes the receives and finds those for arriving messages.
 * The mode of a receive ({@link ReceiveOperation#mode}) says how it ends: that of the endpoint, or ordinary, because
 * every endpoint has ordinary receives too.
 *
 * <p>Owner: progress agent.
 */
abstract class ReceiveMode {
    /** Writes the entries of receives in their turn. */
    protected final EndedReceives ends;

    /**
     * A mode without receives.
     *
     * @param ends of the endpoint.
     */
    protected ReceiveMode(EndedReceives ends) {
        this.ends = ends;
    }

    /** Takes a receive: gives it a message that waits, or posts it, or ends it with an error. */
    abstract void post(ReceiveOperation receive, long srcAddr, long tag, long ignore);

    /** Does what a receive with one of {@link org.jfabric.client.PeekFlags#ANY} asks for; it is never posted. */
    abstract void peek(ReceiveOperation receive, long srcAddr, long tag, long ignore);

    /** Takes a receive, or a peek, that names pieces of memory that are not registered. */
    void postUnregistered(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        ends.fail(receive, 0, FabricErrno.EFAULT);
    }

    /** Takes back cells of the slab; contexts that mean none change nothing. */
    void giveBack(long[] contexts, int count) {
    }

    /** Takes a message that is here as a whole without a receive; false if it has to go the way of all messages. */
    boolean takeWhole(Peer peer, long flags, long data, long address, int length) {
        return false;
    }

    /** The receive for an arriving message; null if the message has to wait. */
    abstract ReceiveOperation arrive(Peer peer, long flags, long tag, long length);

    /** Writes the entry of a receive whose message is placed. */
    abstract void complete(ReceiveOperation receive);

    /** Writes the error entry of a receive. */
    abstract void fail(ReceiveOperation receive, long placed, int errno);

    /** Gives the record back; its entry is written. */
    abstract void release(ReceiveOperation receive);

    /** Ends a receive that has no message, and is in no matcher unless it is a buffer of many. */
    void cancel(ReceiveOperation receive, int errno) {
        ends.reportFailure(receive, 0, errno);
    }

    /**
     * Resumes with messages that wait for slots of the driver's share of the completion queue.
     *
     * @return messages that wait no more.
     */
    int retry() {
        return 0;
    }

    /** An access to shared memory failed, and the receives that were in hand have ended. */
    void recover() {
    }

    /** The endpoint is gone. */
    void close() {
    }
}
