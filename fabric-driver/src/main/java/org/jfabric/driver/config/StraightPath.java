package org.jfabric.driver.config;

/** Use of the straight path for plain messages; see {@code docs/architecture.md}. */
public enum StraightPath {
    /** They may. */
    ON,
    /** Every message takes the general path. */
    OFF
}
