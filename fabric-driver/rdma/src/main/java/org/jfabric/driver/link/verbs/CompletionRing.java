package org.jfabric.driver.link.verbs;

/**
 * A completion queue of one device, shared by connections that each reserve their entries: it cannot overrun.
 *
 * <p>Reservations belong to the resource thread, everything else to the progress agent.
 */
final class CompletionRing {
    private final long pointer;
    private final int capacity;
    private int reserved;
    /** Domain whose shared receives complete in it, and have reserved their entries; null without any. */
    private ProtectionDomain sharing;
    /** The card reports the next completion to the completion channel. */
    boolean isArmed;
    /** The last poll filled its batch. */
    boolean mayHaveMore;
    /** The card no longer uses it; written by the progress agent, read when a connection is made. */
    volatile boolean isLost;

    CompletionRing(long pointer, int capacity) {
        this.pointer = pointer;
        this.capacity = capacity;
    }

    long pointer() {
        return pointer;
    }

    /**
     * Reserves entries; false if not as many are free, or the shared receives of another domain complete here.
     *
     * @param domain   whose shared receives may complete here from now on; null for none.
     * @param ofShared their number.
     */
    boolean reserve(int entries, ProtectionDomain domain, int ofShared) {
        if (domain != null && sharing != null && sharing != domain) {
            return false;
        }
        int needed = domain == null || sharing == domain ? entries : entries + ofShared;
        if (capacity - reserved < needed) {
            return false;
        }
        reserved += needed;
        sharing = domain == null ? sharing : domain;
        return true;
    }

    /** The shared receives of a domain are gone. */
    void releaseShared(ProtectionDomain domain, int ofShared) {
        if (sharing == domain) {
            sharing = null;
            reserved -= ofShared;
        }
    }

    void release(int entries) {
        reserved -= entries;
    }

    int reserved() {
        return reserved;
    }
}
