package org.jfabric.driver.conductor;

/**
 * How the conductor is run in a threading mode.
 *
 * @param ownClock       whether it reads the clock itself, because no progress agent does on its thread.
 * @param pollIntervalNs least time between two polls of the descriptors while the thread is busy; -1: another thread's.
 * @param cpu            processor for its thread, -1 for any.
 */
public record ConductorSettings(boolean ownClock, long pollIntervalNs, int cpu) {
}
