package org.jfabric.driver.resource;

/**
 * The objects that a region is bound to (fi_mr_bind): counters of the accesses of peers, and the endpoints whose peers
 * may access the region. Immutable.
 *
 * <p>Owner: progress agent.
 */
public final class RegionBinding {
    /** Of a region that is registered for binding and not enabled yet: peers cannot access it. */
    public static final RegionBinding DISABLED = new RegionBinding(null, null, new long[0]);

    private final AccessCounter reads;
    private final AccessCounter writes;
    /** Ids that are never used again, so that a closed endpoint needs not be removed. Null: all of the domain. */
    private final long[] endpoints;

    /**
     * The binding of an enabled region.
     *
     * @param reads     counts reads, or null.
     * @param writes    counts writes, or null.
     * @param endpoints ids of the endpoints whose peers may access the region; null for all of its domain. Not copied.
     */
    public RegionBinding(AccessCounter reads, AccessCounter writes, long[] endpoints) {
        this.reads = reads;
        this.writes = writes;
        this.endpoints = endpoints;
    }

    /** The same binding without a counter that is closed. */
    RegionBinding without(AccessCounter counter) {
        return reads != counter && writes != counter ? this
            : new RegionBinding(reads == counter ? null : reads, writes == counter ? null : writes, endpoints);
    }

    public void onRead(long lengthBytes) {
        if (reads != null) {
            reads.success(lengthBytes);
        }
    }

    /** A peer has written the region. */
    public void onWrite(long lengthBytes) {
        if (writes != null) {
            writes.success(lengthBytes);
        }
    }

    boolean admits(long endpoint) {
        if (endpoints == null) {
            return true;
        }
        for (long each : endpoints) {
            if (each == endpoint) {
                return true;
            }
        }
        return false;
    }
}
