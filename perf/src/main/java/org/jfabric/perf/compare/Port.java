package org.jfabric.perf.compare;

/**
 * Sends messages of the cell's size and takes those of the other side. A process uses one implementation only, so the
 * loops call it directly once compiled. Owner: one thread.
 */
interface Port extends AutoCloseable {
    /** Sends a message. Returns false if there is no room: poll and try again. */
    boolean trySend();

    /** Takes what has arrived, and makes progress. */
    void poll();

    /** Messages taken. */
    long received();

    /** Finds the other side, which is open. */
    default void connect() {
    }

    /** Makes progress while no pass runs. */
    default void cycle() {
    }

    /** Prepares the answering side before the first message arrives. */
    default void arm() {
    }

    /** Comes before the loop of a pass. In one that verifies, the port makes and compares the contents. */
    default void begin(Pass pass) {
        if (pass == Pass.VERIFY || pass == Pass.VERIFY_STREAM) {
            throw new IllegalArgumentException("Contents are compared on JFabric's side only.");
        }
    }

    /** Whether a stream waits for an answer after each burst, because messages without a receive may be lost. */
    default boolean sendsBursts() {
        return false;
    }

    /** Comes behind the loop of a pass, and is not timed. */
    default void end() {
    }

    @Override
    default void close() {
        // most ports have nothing to close
    }
}
