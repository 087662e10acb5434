package org.jfabric.simulation;

/**
 * Something that goes wrong at a time.
 *
 * @param timeNs     virtual time since the begin of the simulation.
 * @param kind       what it is.
 * @param node       index of a node; ignored by {@link Kind#RESET}.
 * @param other      index of another node, for {@link Kind#CUT}.
 * @param durationNs how long it lasts; ignored by {@link Kind#RESET}.
 */
public record Fault(long timeNs, Kind kind, int node, int other, long durationNs) {
    /** Kinds of faults. */
    public enum Kind {
        /** A connection between two hosts is reset, whichever the seed chooses. */
        RESET,
        /** Nothing arrives between two hosts for a time. */
        CUT,
        /** The process of a node is killed; after a time it is started again. Its files stay. */
        KILL,
        /** The process of a node does not run for a time. */
        STOP
    }

    @Override
    public String toString() {
        return "%s at %.6f s, node %d%s%s".formatted(kind, timeNs / 1e9, node,
            kind == Kind.CUT ? " and " + other : "", kind == Kind.RESET ? "" : " for %.6f s".formatted(
                durationNs / 1e9));
    }
}
