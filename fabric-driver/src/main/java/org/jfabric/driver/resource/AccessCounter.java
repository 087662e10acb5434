package org.jfabric.driver.resource;

/** Counts accesses of peers to a region. Owner: progress agent. */
public interface AccessCounter {
    void success(long lengthBytes);
}
