package org.jfabric.driver.engine.complete;

import org.agrona.UnsafeApi;

/**
 * How many operations of one queue of an endpoint have ended. A client in another process takes its room for further
 * ones from this count, so it is written in front of each entry: who sees the entry has room (CL-012). That is a store
 * into a line that nobody else writes, and that the client reads only when it has used up the room it knew of.
 *
 * <p>Owner: progress agent.
 */
public final class EndedCount {
    private long ended;
    /** 0 if nobody is told. */
    private long address;

    /** Nothing has ended, and nobody is told. */
    public EndedCount() {
    }

    /** One more operation has ended. */
    public void increment() {
        long count = ended + 1;
        ended = count;
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
    public void tell(long wordAddress) {
        address = wordAddress;
    }

    /**
     * Operations that have ended since the start.
     *
     * @return a count.
     */
    public long get() {
        return ended;
    }
}
