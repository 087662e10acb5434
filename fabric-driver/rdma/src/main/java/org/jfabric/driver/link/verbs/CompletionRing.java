package org.jfabric.driver.link.verbs;

/**
 * A completion queue of one device, shared by connections that each reserve their entries: it cannot overrun.
 *
 * <p>Reservations belong to the resource thread, everything else to the progress agent.
 */
final class CompletionRing {
    private final long pointer;
    private final int capacity;
    private int reserved;
    /** Domain whose shared receives complete in it; null without any. Resource thread. */
    ProtectionDomain sharing;
    /** The card reports the next completion to the completion channel. */
    boolean isArmed;
    /** The last poll filled its batch. */
    boolean mayHaveMore;
    /** The card no longer uses it; written by the progress agent, read when a connection is made. */
    volatile boolean isLost;

    CompletionRing(long pointer, int capacity) {
        this.pointer = pointer;
        this.capacity = capacity;
    }

    long pointer() {
        return pointer;
    }

    /** Reserves entries; false if not as many are free. */
    boolean reserve(int entries) {
        if (capacity - reserved < entries) {
            return false;
        }
        reserved += entries;
        return true;
    }

    void release(int entries) {
        reserved -= entries;
    }

    int reserved() {
        return reserved;
    }
}
