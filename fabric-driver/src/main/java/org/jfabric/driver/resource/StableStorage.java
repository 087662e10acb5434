package org.jfabric.driver.resource;

/** The storage of a persistent region, or of a segment of a log. */
public interface StableStorage {
    /**
     * Writes all bytes that were stored so far, and waits until they are on stable storage. Resource
     * thread, or that of the log's writer.
     *
     * @throws org.jfabric.ffi.NativeCallException if something could not be written. A later call does not show that
     *     again, so it must not count as a success of the same bytes.
     */
    void sync();
}
