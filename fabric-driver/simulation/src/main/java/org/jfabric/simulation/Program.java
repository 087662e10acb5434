package org.jfabric.simulation;

/** What runs on a node: an application with an embedded driver. One thread runs all programs. */
public interface Program {
    /**
     * Makes a step: reads completions, posts operations. It must not wait for other nodes; control calls such as
     * opening an endpoint are allowed. Returns the work done; 0 lets virtual time pass.
     */
    int run();

    /** The node is closed in order. The kill of a node calls nothing. */
    default void close() {
        // the fabric closes what was opened through it
    }
}
