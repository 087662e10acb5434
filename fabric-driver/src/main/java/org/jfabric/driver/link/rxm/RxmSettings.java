package org.jfabric.driver.link.rxm;

import org.jfabric.driver.config.Takeover;
import org.jfabric.driver.link.support.Strangers;

/**
 * What both ends of the protocol have to know of this one.
 *
 * @param eagerLimitBytes     longest payload of one packet; equal at both ends.
 * @param segmentedLimitBytes longest message that is sent in segments; longer ones are read by the peer.
 * @param connectTimeoutNs    how long a connection, or a request that was promised, is waited for.
 * @param strangers           how many peers of one endpoint may be in no address vector.
 * @param unknownTimeoutNs    how long one of these may stop inside of a message, 0 for as long as it likes.
 * @param takeover            whether another process may have the place of a peer that has a connection.
 */
public record RxmSettings(
    int eagerLimitBytes, long segmentedLimitBytes, long connectTimeoutNs, Strangers.Limits strangers,
    long unknownTimeoutNs, Takeover takeover) {
}
