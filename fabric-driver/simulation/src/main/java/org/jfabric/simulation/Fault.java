package org.jfabric.simulation;

/**
 * Something that goes wrong at a time.
 *
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
        STOP,
        /** Some system calls of a node's sockets fail for a time, as they may for lack of memory or of ports. */
        CALLS,
        /** A node has no free descriptors for a time: sockets and files of other drivers cannot be opened. */
        DESCRIPTORS,
        /** The file system of a node's directory is full for a time: no files can be made. */
        DISK,
        /** The time of day of a node jumps, by a million times the duration; backwards if that is odd. */
        CLOCK,
        /**
         * One access of a node's driver to mapped memory fails, as if the file system could not supply the page: soon,
         * the more accesses later the longer the duration is.
         */
        MEMORY,
        /** A call of a driver to the files of a log fails: soon, the more calls later the longer the duration is. */
        LOG,
        /** The process of a node is killed in the middle of such a call; as {@link #KILL} otherwise. */
        TORN
    }

    /** Whether it has an end. */
    private boolean lasts() {
        return kind != Kind.RESET && kind.ordinal() < Kind.CLOCK.ordinal();
    }

    @Override
    public String toString() {
        return "%s at %.6f s, node %d%s%s".formatted(kind, timeNs / 1e9, node,
            kind == Kind.CUT ? " and " + other : "", !lasts() ? ", " + durationNs : " for %.6f s".formatted(
                durationNs / 1e9));
    }
}
