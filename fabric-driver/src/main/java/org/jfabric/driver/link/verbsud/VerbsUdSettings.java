package org.jfabric.driver.link.verbsud;

import org.jfabric.driver.config.DriverConfig;

/**
 * What each endpoint has room for.
 *
 * @param receives       kept posted.
 * @param sends          on their way at most; a power of two.
 * @param inlineBytes    longest message that goes with its work request.
 * @param signalEvery    of so many sends one asks for a completion.
 * @param addressHandles kept.
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
