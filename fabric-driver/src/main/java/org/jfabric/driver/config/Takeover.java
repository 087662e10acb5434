package org.jfabric.driver.config;

/** What becomes of the connection with a peer when another process asks for one under the same address. */
public enum Takeover {
    /**
     * The kernel at the other end of the old connection is asked: the new one replaces it if that has ended or does not
     * answer, else the new one is rejected.
     */
    PROBE,
    /** The new one is rejected as long as the old one is there. */
    NEVER
}
