package org.jfabric;

/** What {@link CompletionWait} looks at: a completion queue, a counter, or all that belongs to a wait set. */
interface WaitSource extends Waitable {
    /**
     * Whether the waiting thread has waited long enough. Owner: the waiting thread.
     *
     * @param needed     entries, 1 to {@link #capacity()}; of a counter the value.
     * @param seenErrors of a counter the error value before the wait, another one ends it; others have no use for it.
     */
    boolean isReady(long needed, long seenErrors);

    /** Entries written since the start from which on the waiting thread wants to be woken. */
    long wakeAt(long needed);

    /** Entries that can be waited for at most. */
    int capacity();
}
