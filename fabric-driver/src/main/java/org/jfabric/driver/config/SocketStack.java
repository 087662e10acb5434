package org.jfabric.driver.config;

/** The library whose functions are called for sockets of TCP and UDP. */
public enum SocketStack {
    /** One that was loaded in front of the C library if it has the functions of sockets, else the C library. */
    AUTO,
    /** The C library. */
    SYSTEM,
    /** One that was loaded in front of the C library. */
    PRELOADED
}
