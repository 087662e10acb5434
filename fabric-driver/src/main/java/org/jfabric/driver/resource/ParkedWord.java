package org.jfabric.driver.resource;

import org.agrona.UnsafeApi;
import org.jfabric.layout.CncDescriptor;

/**
 * The word of the {@code cnc} file by which clients and other drivers learn that they have to ring.
 *
 * <p>Protocol with all threads that commit to memory that the driver reads: the driver sets the word, polls everything
 * once more, then sleeps; the others commit, fence, load the word and ring if it is set. So either the driver sees the
 * commit, or the other side sees the word.
 *
 * <p>Owner: the thread that is about to sleep.
 */
public final class ParkedWord {
    private final long address;

    /**
     * The word of a driver.
     *
     * @param cncAddress native address of the {@code cnc} file.
     */
    public ParkedWord(long cncAddress) {
        address = cncAddress + CncDescriptor.PARKED_OFFSET;
    }

    /** The thread is about to sleep; the caller polls everything once more. */
    public void set() {
        UnsafeApi.putIntRelease(null, address, 1);
        // before the caller's last poll; the others fence between their commit and their load of this word
        UnsafeApi.fullFence();
    }

    /** The thread does not sleep any more. */
    public void clear() {
        UnsafeApi.putIntRelease(null, address, 0);
    }
}
