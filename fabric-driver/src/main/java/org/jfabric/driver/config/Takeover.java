package org.jfabric.driver.config;

/** Treatment of a connection request when the peer of that address has a connection from another process. */
public enum Takeover {
    /**
     * The kernel at the other end of the old connection is probed: the new connection replaces the old one if that has
     * ended or does not answer, else the new one is rejected.
     */
    PROBE,
    /** The new connection is rejected as long as the old one exists. */
    NEVER
}
