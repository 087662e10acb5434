package org.jfabric.driver.link.rxm;

import org.jfabric.driver.link.Strangers;

/**
 * What both ends of the protocol have to know of this one.
 *
 * @param eagerLimitBytes     longest payload of one packet; equal at both ends.
 * @param segmentedLimitBytes longest message that is sent in segments; longer ones are read by the peer.
 * @param connectTimeoutNs    how long a connection, or a request that was promised, is waited for.
 * @param strangers           how many peers of one endpoint may be in no address vector.
 */
public record RxmSettings(
    int eagerLimitBytes, long segmentedLimitBytes, long connectTimeoutNs, Strangers.Limits strangers) {
}
