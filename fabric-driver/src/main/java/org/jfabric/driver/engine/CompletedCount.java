package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;

/**
 * How many operations of one queue of an endpoint have made room for others. A client in another process learns it from
 * this count, which is written in front of each entry: who sees the entry has room ({@code ReceivePool} has the
 * exception). That is a store into a line that nobody else writes; what posts reads it only when it has used up the
 * room it knew of.
 *
 * <p>Owner: progress agent.
 */
final class CompletedCount {
    private long completed;
    /** 0 if nobody is told. */
    private long address;

    /** Of no operation, and told to nobody. */
    CompletedCount() {
    }

    /** There is room for one more. */
    void increment() {
        long count = completed + 1;
        completed = count;
        if (address != 0) {
            // in front of the entry's own release
            UnsafeApi.putLongRelease(null, address, count);
        }
    }

    /**
     * Tells whoever reads that word from now on.
     *
     * @param wordAddress native address, or 0 to touch none any more.
     */
    void tell(long wordAddress) {
        address = wordAddress;
    }

    /**
     * Operations since the start.
     *
     * @return a count.
     */
    long get() {
        return completed;
    }
}
