package org.jfabric.driver.engine;

import org.jfabric.driver.link.RemotePayload;
import org.jfabric.info.FabricErrno;

/**
 * The mode of receiving: each message into the buffer of its own receive ({@link OrdinaryReceives}), many messages into
 * one buffer ({@link MultiReceives}), into the endpoint's slab ({@link BufferedReceives}), or into the buffers of a
 * context that several endpoints share ({@link SharedReceives}). Memory that is copied gives a receive a mode of its
 * own ({@link CopiedReceives}).
 *
 * <p>The mode of an endpoint is chosen when it is enabled; it posts the receives and matches arriving messages with
 * them. The mode of a receive ({@link ReceiveOperation#mode}) ends it: it is that of the endpoint, or the ordinary one,
 * because every endpoint has ordinary receives too.
 *
 * <p>Owner: progress agent.
 */
abstract class ReceiveMode implements QuotaMember {
    /** Writes the entries of receives in order. */
    protected final EndedReceives ends;
    /** Made with the first receive whose memory is copied. */
    private CopiedReceives copied;

    /** A mode without receives. */
    protected ReceiveMode(EndedReceives ends) {
        this.ends = ends;
    }

    /** The mode for a receive of this mode whose memory is copied. */
    final CopiedReceives copied() {
        if (copied == null) {
            copied = new CopiedReceives(ends, this);
        }
        return copied;
    }

    /** Matches a receive with a waiting message, or posts it, or ends it with an error. */
    abstract void post(ReceiveOperation receive, long srcAddr, long tag, long ignore);

    /** Executes a receive with one of {@link org.jfabric.client.PeekFlags#ANY}; it is never posted. */
    abstract void peek(ReceiveOperation receive, long srcAddr, long tag, long ignore);

    /** Ends a receive or a peek whose memory is not registered. */
    void postUnregistered(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        ends.fail(receive, 0, FabricErrno.EFAULT);
    }

    /** Frees cells of the slab; invalid contexts are ignored. */
    void giveBack(long[] contexts, int count) {
    }

    /** Takes a complete message without a receive; returns false if it must take the normal path. */
    boolean takeWhole(PeerReceives from, long flags, long data, long address, int length) {
        return false;
    }

    /**
     * Takes an announced message that may be shown to the client where it lies; returns false if it must take the
     * normal path.
     */
    boolean takeLent(PeerReceives from, long flags, long tag, long data, RemotePayload payload) {
        return false;
    }

    /** A peer is down. Its messages in matchers and receives have ended. */
    void failPeer(PeerReceives from, int errno) {
    }

    /** Whether the untagged messages of a peer that were taken without receives have their entries. */
    boolean hasShown(PeerReceives from) {
        return true;
    }

    /**
     * Whether a paused message has to be stored even beyond the budget, because nothing else could make room for it.
     */
    boolean mustStore(StoredMessage paused) {
        return false;
    }

    /** The receive for an arriving message; null if the message has to wait. */
    abstract ReceiveOperation arrive(PeerReceives from, long flags, long tag, long length);

    /** Writes the entry of a receive whose message is placed. */
    abstract void complete(ReceiveOperation receive);

    /**
     * The message of a receive is placed, and its entry has to wait for its turn. Returns 0, or the positive errno of
     * the error entry.
     */
    int delay(ReceiveOperation receive) {
        return 0;
    }

    /** Writes the entry of a peek that has found a message; with the buffer that it was copied to, or 0. */
    abstract void found(ReceiveOperation peek, long buf);

    /** Writes the error entry of a receive. */
    abstract void fail(ReceiveOperation receive, long placed, int errno);

    /** Releases the record after its entry was written. */
    abstract void release(ReceiveOperation receive);

    /** Ends a receive that has no message. It is in no matcher, except for a multi-receive buffer. */
    void cancel(ReceiveOperation receive, int errno) {
        ends.reportFailure(receive, 0, errno);
    }

    @Override
    public int retry() {
        return 0;
    }

    /** Recovers after an access to shared memory failed; the receives that were being processed have ended. */
    void recover() {
    }

    /** Releases the slots of the quota, because the endpoint closes. */
    void close() {
    }
}
