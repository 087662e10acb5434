package org.jfabric.driver.link.verbs;

import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.VerbsConfig;

/**
 * The sizes of each endpoint.
 *
 * @param sends          sends in flight at most; a power of two.
 * @param inlineBytes    longest message that is inlined in its work request.
 */
record VerbsUdSettings(int receives, int sends, int inlineBytes, int signalEvery, int addressHandles) {
    static VerbsUdSettings of(DriverConfig config) {
        return new VerbsUdSettings(
            config.get(VerbsConfig.DATAGRAM_RECEIVES), config.get(VerbsConfig.SENDS),
            config.get(VerbsConfig.INLINE_BYTES), config.get(VerbsConfig.SIGNAL_EVERY),
            config.get(VerbsConfig.ADDRESS_HANDLES));
    }

    /** Memory that one endpoint pins. */
    long pinnedBytes(int packetBytes) {
        return VerbsUdQueuePair.memoryBytes(receives, sends, packetBytes);
    }
}
