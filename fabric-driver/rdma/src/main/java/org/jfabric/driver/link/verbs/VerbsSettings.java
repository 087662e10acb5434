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
 * @param ownConnections  connections that have receives of their own, if they have any; further ones share.
 * @param sharedReceives  receives that other connections of a device share; 0 for none.
 * @param sharedHoldLimitNs how long few of these may be left, until the connection that occupies most is closed.
 */
record VerbsSettings(
    int receives, int receiveBytes, int sends, int sendBytes, int inlineBytes, int signalEvery,
    boolean exposes, int ownConnections, int sharedReceives, long sharedHoldLimitNs) {
    /** Receives that connections share behind those with receives of their own. */
    private static final int LATER_PACKETS = 1024;
    private static final int LATER_MESSAGES = 64;
    /** Sends of a connection that shares receives with many others. */
    private static final int LATER_SENDS = 32;

    /** For connected endpoints of applications. */
    static VerbsSettings ofMessages(DriverConfig config) {
        // injected data is in no region, so it has to be copied
        int copied = Math.max(config.get(VerbsConfig.COPY_LIMIT_BYTES), config.get(QueueConfig.INJECT_SIZE_BYTES));
        return new VerbsSettings(
            config.get(VerbsConfig.RECEIVES), config.get(VerbsConfig.MAX_MESSAGE_BYTES), config.get(VerbsConfig.SENDS),
            copied, config.get(VerbsConfig.INLINE_BYTES), config.get(VerbsConfig.SIGNAL_EVERY), false,
            config.get(VerbsConfig.OWN_CONNECTIONS), later(config, LATER_MESSAGES),
            config.get(VerbsConfig.SHARED_HOLD_LIMIT_NS));
    }

    /** For connections that carry packets of reliable datagrams: each fits, and is copied when it is sent. */
    static VerbsSettings ofPackets(DriverConfig config) {
        int packet = RxmConfig.packetBytes(config);
        int copied = Math.max(packet, config.get(QueueConfig.INJECT_SIZE_BYTES));
        int shared = config.get(VerbsConfig.SHARED_RECEIVES);
        return new VerbsSettings(
            shared == 0 ? config.get(VerbsConfig.PACKET_RECEIVES) : 0, packet, config.get(VerbsConfig.SENDS), copied,
            config.get(VerbsConfig.INLINE_BYTES), config.get(VerbsConfig.SIGNAL_EVERY), true,
            config.get(VerbsConfig.OWN_CONNECTIONS), shared != 0 ? shared : later(config, LATER_PACKETS),
            config.get(VerbsConfig.SHARED_HOLD_LIMIT_NS));
    }

    private static int later(DriverConfig config, int receives) {
        return config.get(VerbsConfig.OWN_CONNECTIONS) == VerbsConfig.ALL_OWN ? 0 : receives;
    }

    /** Whether connections share receives from the first one on. */
    boolean allShare() {
        return receives == 0;
    }

    /** The sizes of a connection that is made when so many others have receives of their own. */
    VerbsSettings next(int own) {
        return allShare() || sharedReceives == 0 || own < ownConnections ? this : ofLater();
    }

    private VerbsSettings ofLater() {
        int fewer = sends;
        while (fewer > LATER_SENDS && fewer >= 4 * signalEvery) {
            fewer /= 2;
        }
        return new VerbsSettings(0, receiveBytes, fewer, sendBytes, inlineBytes, signalEvery, exposes, 0,
            sharedReceives, sharedHoldLimitNs);
    }

    /** Memory that each connection pins. */
    long pinnedBytes() {
        return (long) receives * receiveBytes + (long) sends * sendBytes;
    }

    /** Memory that the first connection pins. */
    long firstPinnedBytes() {
        return pinnedBytes() + (allShare() ? sharedPinnedBytes() : 0);
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
        if (!allShare() && sharedReceives != 0) {
            return lockedMemoryOfBoth(limitBytes);
        }
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

    private Reason lockedMemoryOfBoth(long limitBytes) {
        long each = PinnedMemory.pages(pinnedBytes());
        long later = PinnedMemory.pages(ofLater().pinnedBytes());
        long shared = PinnedMemory.pages(sharedPinnedBytes());
        String who = exposes ? "peers" : "connections";
        String needed = each + " bytes for each of the first " + ownConnections + ' ' + who + ", " + later
            + " for each further one, and " + shared + " that these share";
        if (limitBytes == Long.MAX_VALUE) {
            return new Reason("locked memory", "no limit", needed, "");
        }
        long ofLater = Math.max(0, limitBytes - ownConnections * each - shared) / later;
        return new Reason("locked memory", limitBytes + " bytes, enough for "
            + (Math.min(ownConnections, limitBytes / each) + ofLater) + " of them", needed,
            "For more raise the limit (ulimit -l, LimitMEMLOCK), or lower jfabric.verbs.ownConnections"
                + (exposes ? ", packetReceives or sends" : ", receives, maxMessageBytes or sends"));
    }

    /** Completions that one connection can have unread, besides those of shared receives. */
    int completions() {
        return receives + sends;
    }
}
