package org.jfabric.driver.engine;

/**
 * Takes slots of a {@link DriverQuota}. Owner: progress agent.
 */
interface QuotaMember {
    /** Tries again what found no slot; called in each cycle while a member waits. */
    int retry();
}
