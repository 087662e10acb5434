package org.jfabric.driver.link.verbs;

import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.QueueConfig;
import org.jfabric.driver.config.RxmConfig;
import org.jfabric.driver.config.VerbsConfig;
import org.jfabric.info.Reason;

/**
 * The sizes of each connection.
 *
 * @param receiveBytes    size of each receive, the longest message that can be received.
 * @param sends           sends in flight at most; a power of two.
 * @param sendBytes       longest message that is copied.
 * @param inlineBytes     longest message that is inlined in its work request.
 * @param exposes         whether peers may read regions, for the protocol above.
 * @param sharedReceives  receives that all connections of a device share, instead of receives of their own; 0 for none.
 * @param sharedHoldLimitNs how long few of these may be left, until the connection that occupies most is closed.
 */
record VerbsSettings(
    int receives, int receiveBytes, int sends, int sendBytes, int inlineBytes, int signalEvery,
    boolean exposes, int sharedReceives, long sharedHoldLimitNs) {

    /** For connected endpoints of applications. */
    static VerbsSettings ofMessages(DriverConfig config) {
        // injected data is in no region, so it has to be copied
        int copied = Math.max(config.get(VerbsConfig.COPY_LIMIT_BYTES), config.get(QueueConfig.INJECT_SIZE_BYTES));
        return new VerbsSettings(
            config.get(VerbsConfig.RECEIVES), config.get(VerbsConfig.MAX_MESSAGE_BYTES), config.get(VerbsConfig.SENDS),
            copied, config.get(VerbsConfig.INLINE_BYTES), config.get(VerbsConfig.SIGNAL_EVERY), false, 0, 0);
    }

    /** For connections that carry packets of reliable datagrams: each fits, and is copied when it is sent. */
    static VerbsSettings ofPackets(DriverConfig config) {
        int packet = RxmConfig.packetBytes(config);
        int copied = Math.max(packet, config.get(QueueConfig.INJECT_SIZE_BYTES));
        int shared = config.get(VerbsConfig.SHARED_RECEIVES);
        return new VerbsSettings(
            shared == 0 ? config.get(VerbsConfig.PACKET_RECEIVES) : 0, packet, config.get(VerbsConfig.SENDS), copied,
            config.get(VerbsConfig.INLINE_BYTES), config.get(VerbsConfig.SIGNAL_EVERY), true, shared,
            config.get(VerbsConfig.SHARED_HOLD_LIMIT_NS));
    }

    /** Memory that each connection pins. */
    long pinnedBytes() {
        return (long) receives * receiveBytes + (long) sends * sendBytes;
    }

    /** Memory that is pinned once for each device. */
    long sharedPinnedBytes() {
        return (long) sharedReceives * receiveBytes;
    }

    /**
     * The number of peers for which the memory that may be locked is enough.
     *
     * @param limitBytes limit of locked memory; {@link Long#MAX_VALUE} for no limit.
     */
    Reason lockedMemory(long limitBytes) {
        // each registration covers whole pages
        long each = PinnedMemory.pages(pinnedBytes());
        long shared = PinnedMemory.pages(sharedPinnedBytes());
        String who = exposes ? "peer" : "connection";
        String needed = each + " bytes for each " + who
            + (shared == 0 ? "" : ", and " + shared + " bytes that all of a device share");
        if (limitBytes == Long.MAX_VALUE) {
            return new Reason("locked memory", "no limit", needed, "");
        }
        return new Reason("locked memory",
            limitBytes + " bytes, enough for " + Math.max(0, limitBytes - shared) / each + " of them", needed,
            "For more raise the limit (ulimit -l, LimitMEMLOCK), or lower jfabric.verbs."
                + (!exposes ? "receives, maxMessageBytes or sends" : shared == 0
                ? "packetReceives or sends, or set sharedReceives" : "sends or sharedReceives"));
    }

    /** Completions that one connection can have unread, besides those of shared receives. */
    int completions() {
        return receives + sends;
    }
}
