package org.jfabric.perf.compare;

/**
 * Sends messages of the cell's size and takes those of the other side. A process uses one implementation only, so the
 * loops call it directly once compiled. Owner: one thread.
 */
interface Port {
    /**
     * Sends a message.
     *
     * @return false if there is no room: poll and try again.
     */
    boolean trySend();

    /** Takes what has arrived, and makes progress. */
    void poll();

    /**
     * Messages taken.
     *
     * @return since the port was opened.
     */
    long received();
}
