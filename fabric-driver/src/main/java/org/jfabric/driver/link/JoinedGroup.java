package org.jfabric.driver.link;

import org.jfabric.info.LogPosition;

/**
 * What an endpoint has joined.
 *
 * @param start      of a reader its first message, of a writer the next one.
 * @param log        folder in which the group is recorded; empty without.
 * @param ringNumber of a reader in place the number of the ring's file in this driver's directory, else 0.
 * @param ringOffset of the first record that it reads.
 * @param ringFlags  see {@link org.jfabric.layout.ReadPlaceDescriptor}.
 */
public record JoinedGroup(LogPosition start, String log, long ringNumber, long ringOffset, int ringFlags) {
}
