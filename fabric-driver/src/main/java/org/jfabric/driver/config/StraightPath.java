package org.jfabric.driver.config;

/** Whether plain messages may take the straight path; see {@code docs/architecture.md}. */
public enum StraightPath {
    /** They may. */
    ON,
    /** Every message takes the general path. */
    OFF
}
