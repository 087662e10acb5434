package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;

/**
 * The number of operations of one queue of an endpoint whose slots are free again. A client in another process reads
 * this count, which is written before each completion entry: a client that sees the entry also sees the free slot
 * ({@code ReceivePool} describes the exception). The driver alone writes this cache line; the posting client reads it
 * only when it has used up the slots it knew of.
 *
 * <p>Owner: progress agent.
 */
final class CompletedCount {
    private long completed;
    /** 0 if the count is not published. */
    private long address;

    /** A count of 0 that is not published. */
    CompletedCount() {
    }

    /** Counts one more free slot. */
    void increment() {
        long count = completed + 1;
        completed = count;
        if (address != 0) {
            // before the release store of the entry
            UnsafeApi.putLongRelease(null, address, count);
        }
    }

    /**
     * Publishes the count in a word of shared memory from now on.
     *
     * @param wordAddress native address of the word, or 0 to stop publishing.
     */
    void tell(long wordAddress) {
        address = wordAddress;
    }

    /** The number of slots freed since the start. */
    long get() {
        return completed;
    }
}
