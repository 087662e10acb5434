package org.jfabric.client;

/**
 * An endpoint with buffered receives as the lender of one peer's messages.
 *
 * <p>Owner: the thread that runs the driver's cycles.
 */
public abstract class MessageLender {
    private final int endpointIndex;

    protected MessageLender(int endpointIndex) {
        this.endpointIndex = endpointIndex;
    }

    /** Which endpoint the messages came to. */
    public final int endpointIndex() {
        return endpointIndex;
    }

    /**
     * Copies a lent message into a cell of the receive slab, which is the client's from then on. Returns the context of
     * this use of the cell, as an entry would have it; 0 if no cell is free.
     */
    public abstract long keep(long address, int length);
}
