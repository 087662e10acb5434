package org.jfabric;

import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;

/**
 * Receives the events of a whole fabric. Every method does nothing unless overridden.
 *
 * <pre>{@code
 * FabricConfig config = new FabricConfig().listener(new FabricListener() {
 *     public void onPeerDown(Endpoint endpoint, long fiAddr, int errno, String address) {
 *         System.err.println("lost " + address);
 *     }
 * });
 * }</pre>
 *
 * <p>The calling thread is the client's own, so return soon; control calls are refused in here with
 * {@link FabricErrno#EOPBADSTATE} while the driver lives. With an embedded driver in INVOKER mode the calling thread is
 * the one that uses the domain, inside a read or control call of its own, and nothing is refused.
 */
public interface FabricListener {
    /**
     * A peer is gone: each of its operations ends with an error entry, all others continue. Receives that name it
     * ({@link Flags#DIRECTED_RECV}) and that the driver reads after that moment wait for its return under the same
     * address, until {@link Endpoint#cancel(long)} or a send that does not reach it ends them.
     *
     * @param endpoint whose peer it was.
     * @param fiAddr   the peer in the endpoint's address vector, {@link FabricAddress#ADDR_NOTAVAIL} if it is not
     *                 there.
     * @param errno    why, a positive {@link FabricErrno}: {@link FabricErrno#ESHUTDOWN} if the peer's application has
     *                 closed in order and the link can tell (shm, loopback); {@link FabricErrno#ECONNRESET} if it died,
     *                 or over a link whose connections end in the same way for both (tcp, rxm, verbs and theirs);
     *                 others if it cannot be reached or broke the protocol. The error entries of its operations have
     *                 {@code FI_ECONNRESET} in the first two cases.
     * @param address  of the peer.
     */
    default void onPeerDown(Endpoint endpoint, long fiAddr, int errno, String address) {
    }

    /**
     * This process did not run for a while (stopped, or starved); called once for each pause.
     *
     * @param pauseNs how long at least, in nanoseconds.
     */
    default void onPaused(long pauseNs) {
    }

    /**
     * An operator has asked the driver to end ({@code ./fabric drain}). It opens no more endpoints, everything else
     * still works, and it ends as soon as no send of any client is outstanding. An application that keeps sending
     * delays the end until the operator's timeout; the right answer is to stop sending and to read what has completed.
     *
     * @param begins true when the driver begins to drain; false if the time was too short or the operator gave up, and
     *               the driver serves as before.
     */
    default void onDriverDraining(boolean begins) {
    }

    /**
     * The driver has ended, and the fabric waits for the next one; only with {@link FabricConfig#reconnectTimeoutNs()}.
     * Called by a thread of the fabric's own, which connects again when this method has returned.
     *
     * @param why what happened.
     */
    default void onDriverAway(FabricException why) {
    }

    /**
     * The fabric is connected to the next driver, and everything is open again; after {@link #onDriverAway}, by the
     * same thread. Control calls are not refused in here.
     */
    default void onReconnected() {
    }

    /**
     * A card has given a region another key and perhaps another remote address; peers must be notified. Called before
     * {@link #onReconnected}; keys that the application requested do not change.
     *
     * @param region whose key it is.
     * @param oldKey that is not valid any more.
     */
    default void onKeyChanged(MemoryRegion region, long oldKey) {
    }

    /**
     * The driver is gone for good; called once. Entries that it wrote before stay readable.
     *
     * @param why what happened and what to do.
     */
    default void onDriverGone(FabricException why) {
    }

    /**
     * Something failed that no call can report, for instance another method of this listener.
     *
     * @param error the failure.
     */
    default void onError(Throwable error) {
    }
}
