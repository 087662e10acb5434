package org.jfabric.driver.link.verbs;

/**
 * A queue of one device, shared by the connections that have reserved their share of it: it cannot overrun.
 *
 * <p>Reservations belong to the resource thread, all else to the progress agent.
 */
final class CompletionQueue {
    private final long pointer;
    private final int capacity;
    private int reserved;
    /** The card tells of the next completion. */
    boolean isArmed;
    /** The last poll took as many as it could. */
    boolean mayHaveMore;
    /** The card uses it no more; written by the progress agent, read when a connection is made. */
    volatile boolean isLost;

    CompletionQueue(long pointer, int capacity) {
        this.pointer = pointer;
        this.capacity = capacity;
    }

    long pointer() {
        return pointer;
    }

    /** Takes a share; false if there is not as much. */
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
