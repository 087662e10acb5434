package org.jfabric;

/** What {@link CompletionWait} looks at: a completion queue, or all that belongs to a wait set. */
interface WaitSource extends Waitable {
    /**
     * Whether the waiting thread has waited long enough. Owner: the waiting thread.
     *
     * @param needed entries, 1 to {@link #capacity()}.
     */
    boolean isReady(int needed);

    /** Entries written since the start from which on the waiting thread wants to be woken. */
    long wakeAt(int needed);

    /** Entries that can be waited for at most. */
    int capacity();
}
