package org.jfabric.driver.config;

/** Interface to the operating system that links over sockets use. */
public enum Sockets {
    /** By native calls on memory that the driver knows by its address, without allocating. */
    NATIVE,
    /** By the JDK's own channels, which allocate for each call; the driver does not sleep. */
    NIO
}
