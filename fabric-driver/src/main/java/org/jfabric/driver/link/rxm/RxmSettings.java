package org.jfabric.driver.link.rxm;

/**
 * What both ends of the protocol have to know of this one.
 *
 * @param eagerLimitBytes     longest payload of one packet; equal at both ends.
 * @param segmentedLimitBytes longest message that is sent in segments; longer ones are read by the peer.
 * @param connectTimeoutNs    how long a connection, or a request that was promised, is waited for.
 */
public record RxmSettings(int eagerLimitBytes, long segmentedLimitBytes, long connectTimeoutNs) {
}
