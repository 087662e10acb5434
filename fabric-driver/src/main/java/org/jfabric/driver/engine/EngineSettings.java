package org.jfabric.driver.engine;

/**
 * The engine's limits, from the driver's options.
 *
 * @param unexpectedBudgetBytes  bytes that unexpected messages of one endpoint may occupy.
 * @param creditWindowBytes      most byte credit given to one peer of an endpoint, as far as the budget allows.
 * @param announcementLimit      announced messages that one peer may have outstanding.
 */
public record EngineSettings(
    int unexpectedBudgetBytes,
    int creditWindowBytes,
    int announcementLimit,
    int segmentBurst) {
}
