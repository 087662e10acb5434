package org.jfabric.perf.compare;

/**
 * Sends messages of the cell's size and takes those of the other side. A process uses one implementation only, so the
 * loops call it directly once compiled. Owner: one thread.
 */
interface Port {
    /** Sends a message. Returns false if there is no room: poll and try again. */
    boolean trySend();

    /** Takes what has arrived, and makes progress. */
    void poll();

    /** Messages taken. */
    long received();
}
