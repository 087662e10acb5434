package org.jfabric.driver.link.rxm;

import org.jfabric.driver.config.Takeover;
import org.jfabric.driver.link.support.UnknownPeers;

/**
 * The settings of one end of the protocol.
 *
 * @param eagerLimitBytes     longest payload of one packet; must be the same at both ends.
 * @param segmentedLimitBytes longest message that is sent in segments; longer ones are read by the peer.
 * @param connectTimeoutNs    time limit for a connection, or for the request that a peer has promised.
 * @param unknownPeers        limit of the peers of one endpoint that are in no address vector.
 * @param unknownTimeoutNs    how long one of these may stall within a message; 0 for no limit.
 * @param takeover            whether another process may replace a peer that has a connection.
 */
public record RxmSettings(
    int eagerLimitBytes, long segmentedLimitBytes, long connectTimeoutNs, UnknownPeers.Limits unknownPeers,
    long unknownTimeoutNs, Takeover takeover) {
}
