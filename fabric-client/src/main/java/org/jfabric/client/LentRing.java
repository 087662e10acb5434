package org.jfabric.client;

/**
 * Memory of a peer in which messages lie that an embedding client may read before the peer writes there again.
 *
 * <p>Owner: the thread that runs the driver's cycles.
 */
public abstract class LentRing {
    protected LentRing() {
    }

    /** Keeps the message that the link is handing over where it is. Returns false if no more may be kept. */
    public abstract boolean keep(long address);

    /** Adds a user that keeps messages of this ring; each user calls {@link #giveBack()} once. */
    public abstract void retain();

    /**
     * Ends one use begun by {@link #retain()}; after the last one the peer may write there again.
     *
     * @throws InternalError pending, because the memory was cut; then nothing has changed.
     */
    public abstract void giveBack();

    /** Whether the memory is gone. If it is the link ends the connection in the next cycle. */
    public abstract boolean endIfCut();
}
