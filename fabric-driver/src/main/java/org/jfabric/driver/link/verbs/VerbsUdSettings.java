package org.jfabric.driver.link.verbs;

import org.jfabric.driver.config.DriverConfig;

/**
 * The sizes of each endpoint.
 *
 * @param sends          sends in flight at most; a power of two.
 * @param inlineBytes    longest message that is inlined in its work request.
 */
record VerbsUdSettings(int receives, int sends, int inlineBytes, int signalEvery, int addressHandles) {
    static VerbsUdSettings of(DriverConfig config) {
        return new VerbsUdSettings(
            config.verbs().datagramReceives(), config.verbs().sends(), config.verbs().inlineBytes(),
            config.verbs().signalEvery(), config.verbs().addressHandles());
    }

    /** Memory that one endpoint pins. */
    long pinnedBytes(int packetBytes) {
        return VerbsUdQueuePair.memoryBytes(receives, sends, packetBytes);
    }
}
