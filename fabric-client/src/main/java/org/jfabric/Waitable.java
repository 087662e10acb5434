package org.jfabric;

/** Something that can be waited for: a completion queue, a counter, an event queue, or all members of a wait set. */
interface Waitable {
    /**
     * Whether a read would find something. Any thread; may be wrong in favour of true.
     *
     * @return the state at one moment.
     */
    boolean isReady();

    /**
     * Whether the waiting thread has waited long enough. Owner: the waiting thread.
     *
     * @param needed     entries, 1 to {@link #capacity()}; of a counter the value.
     * @param seenErrors of a counter the error value before the wait, another one ends it; others ignore it.
     */
    default boolean isReady(long needed, long seenErrors) {
        return isReady();
    }

    /** Entries written since the start from which on the waiting thread wants to be woken; 0 for every one. */
    default long wakeAt(long needed) {
        return 0;
    }

    /** Entries that can be waited for at most. */
    default int capacity() {
        return 1;
    }
}
