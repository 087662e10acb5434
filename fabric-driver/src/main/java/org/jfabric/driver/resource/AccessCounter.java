package org.jfabric.driver.resource;

/** Counts accesses of peers to a region. Owner: progress agent. */
public interface AccessCounter {
    /**
     * An access has succeeded.
     *
     * @param lengthBytes its bytes in the region.
     */
    void success(long lengthBytes);
}
