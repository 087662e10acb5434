package org.jfabric.driver.resource;

/** The storage of a persistent region. */
public interface StableStorage {
    /**
     * Writes all bytes that were stored so far, and waits until they are on stable storage. Resource thread.
     *
     * @throws org.jfabric.ffi.NativeCallException if something could not be written. A later call does not show that
     *     again, so it must not count as a success of the same bytes.
     */
    void sync();
}
