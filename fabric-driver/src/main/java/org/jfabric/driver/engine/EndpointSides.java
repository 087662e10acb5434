package org.jfabric.driver.engine;

/**
 * What serves the peers of one endpoint.
 *
 * @param receiver its own, or that of the shared receive context that it uses.
 * @param bound    its place there, or null.
 * @param target   its memory, for the peers' remote accesses.
 */
record EndpointSides(
    Sender sender, Receiver receiver, SharedReceives.Bound bound, RemoteTarget target, PeerSchedule schedule,
    OwedCredit owedCredit) {
}
