package org.jfabric.driver.config;

/** Destination of a driver's log. */
public enum LogTarget {
    /** {@link #STDERR} for a daemon, {@link #NONE} for an embedded driver. */
    AUTO,
    /** There is no log; errors still stand in the distinct error log. */
    NONE,
    /** The standard error of the process, which a manager of services or of containers collects. */
    STDERR,
    /** Files that are rotated by size. */
    FILE,
    /** The logger {@code org.jfabric.driver} of the process, by {@link System.Logger}. */
    LOGGER
}
