package org.jfabric.driver.stream.net;

import org.jfabric.info.SocketName;

/**
 * A way of a stream: with two of them everything is sent twice, and the first arrival counts.
 *
 * @param node whose socket is used.
 * @param peer of a writer the multicast group, null to send to each reader; of a reader where the writer, or the
 *             multicast group, is asked to join.
 */
public record StreamPath(StreamNode node, SocketName peer) {
}
