package org.jfabric.driver.config;

/**
 * The verbs link: sizes of the queues and buffers of each connection.
 */
public final class VerbsConfig {
    /** Value of {@link #INTERFACE} that leaves the choice to the destination. */
    public static final String ANY_INTERFACE = "any";

    static final OptionGroup GROUP = new OptionGroup("verbs", "The verbs link: RDMA devices", VerbsConfig::check);

    /** {@code jfabric.verbs.interface}. */
    public static final Option<String> INTERFACE = GROUP.name("jfabric.verbs.interface")
        .defaultsTo(ANY_INTERFACE)
        .rule("any, or the name or an address of a network interface", name -> !name.isEmpty())
        .why("Interface whose address is used by endpoints that name none. any takes the one that leads to the "
            + "destination, or else the first that belongs to an RDMA device.");

    /** {@code jfabric.verbs.maxMessageBytes}. */
    public static final Option<Integer> MAX_MESSAGE_BYTES = GROUP.intBytes("jfabric.verbs.maxMessageBytes")
        .defaultsTo(1 << 20)
        .range(4 << 10, 1 << 30)
        .why("Longest message of connected endpoints, in both directions: memory for so many bytes is pinned for each "
            + "receive of each connection. A longer message of a C program ends its connection.");

    /** {@code jfabric.verbs.receives}. */
    public static final Option<Integer> RECEIVES = GROUP.count("jfabric.verbs.receives")
        .defaultsTo(16)
        .range(2, 4096)
        .why("Receives that are kept posted for each connection of connected endpoints. A peer that is ahead by more "
            + "messages waits.");

    /** {@code jfabric.verbs.packetReceives}. */
    public static final Option<Integer> PACKET_RECEIVES = GROUP.count("jfabric.verbs.packetReceives")
        .defaultsTo(128)
        .range(8, 4096)
        .why("The same for each peer of reliable datagrams, whose packets are as long as "
            + "jfabric.rxm.eagerLimitBytes and a header. C programs have 128.");

    /** Value of {@link #OWN_CONNECTIONS} with which none share. */
    public static final int ALL_OWN = 1 << 16;

    /** {@code jfabric.verbs.ownConnections}. */
    public static final Option<Integer> OWN_CONNECTIONS = GROUP.count("jfabric.verbs.ownConnections")
        .defaultsTo(16)
        .range(0, ALL_OWN)
        .why("Connections, or peers of reliable datagrams, that have receives of their own. Further ones of a device "
            + "share 1024 of packets or 64 of messages, and have fewer sends, so that each pins about half a MiB. They "
            + "have no flow control. 65536: none share.");

    /** {@code jfabric.verbs.sharedReceives}. */
    public static final Option<Integer> SHARED_RECEIVES = GROUP.count("jfabric.verbs.sharedReceives")
        .defaultsTo(0)
        .range(0, 1 << 16)
        .rule("0, or 16 and more", value -> value == 0 || value >= 16)
        .why("If not 0: receives that all peers of reliable datagrams over one device share, the first ones too, "
            + "instead of jfabric.verbs.packetReceives for each: memory does not grow with them, but they have no flow "
            + "control, and their cards retry when no receive is posted.");

    /** {@code jfabric.verbs.sharedHoldLimitNs}. */
    public static final Option<Long> SHARED_HOLD_LIMIT_NS = GROUP.durationNs("jfabric.verbs.sharedHoldLimitNs")
        .defaultsTo(10_000_000_000L)
        .range(1_000_000L, 3_600_000_000_000L)
        .why("Longest time with at most an eighth of the shared receives posted, because messages in the others wait "
            + "for an endpoint. Then the connection with most waiting messages is ended with FI_ENOBUFS.");

    /** {@code jfabric.verbs.sends}. */
    public static final Option<Integer> SENDS = GROUP.count("jfabric.verbs.sends")
        .defaultsTo(128)
        .range(16, 4096)
        .rule("a power of two", value -> Integer.bitCount(value) == 1)
        .why("Sends of one connection that may be on their way; more wait in the engine.");

    /** {@code jfabric.verbs.copyLimitBytes}. */
    public static final Option<Integer> COPY_LIMIT_BYTES = GROUP.intBytes("jfabric.verbs.copyLimitBytes")
        .defaultsTo(4 << 10)
        .range(64, 1 << 20)
        .why("Messages of connected endpoints up to this length are copied into memory that is registered already; "
            + "longer ones are read by the card from the application's region, which is registered when it is first "
            + "used.");

    /** {@code jfabric.verbs.inlineBytes}. */
    public static final Option<Integer> INLINE_BYTES = GROUP.count("jfabric.verbs.inlineBytes")
        .defaultsTo(256)
        .range(0, 1024)
        .why("Messages up to this length are handed to the card with the work request, if it can take so many.");

    /** {@code jfabric.verbs.signalEvery}. */
    public static final Option<Integer> SIGNAL_EVERY = GROUP.count("jfabric.verbs.signalEvery")
        .defaultsTo(16)
        .range(1, 1024)
        .rule("at most a half of jfabric.verbs.sends", value -> true)
        .why("Sends without a completion of their own, such as the packets of reliable datagrams: one in this many "
            + "asks the card for a completion, and so does the last one of a batch.");

    /** {@code jfabric.verbs.datagramReceives}. */
    public static final Option<Integer> DATAGRAM_RECEIVES = GROUP.count("jfabric.verbs.datagramReceives")
        .defaultsTo(256)
        .range(8, 16384)
        .why("Receives that are kept posted for each endpoint of link verbsud, and for each group that it has joined; "
            + "each is as long as the port's packets. Datagrams wait in three quarters of them until the application "
            + "posts receives; what comes then is lost.");

    /** {@code jfabric.verbs.gidIndex}. */
    public static final Option<Integer> GID_INDEX = GROUP.count("jfabric.verbs.gidIndex")
        .defaultsTo(0)
        .range(0, 255)
        .why("Which of a port's GIDs endpoints of link verbsud are named after, where neither a source address nor "
            + "jfabric.verbs.interface says so. As FI_VERBS_GID_IDX of C programs.");

    /** {@code jfabric.verbs.addressHandles}. */
    public static final Option<Integer> ADDRESS_HANDLES = GROUP.count("jfabric.verbs.addressHandles")
        .defaultsTo(1024)
        .range(2, 65536)
        .why("Ports of peers that each endpoint of link verbsud keeps a way to. Sends to more of them wait until the "
            + "way to another one is given up.");

    private VerbsConfig() {
    }

    private static void check(DriverConfig config, ConfigSource source) {
        source.check(2 * config.get(SIGNAL_EVERY) <= config.get(SENDS), "too few of the sends ask for a completion",
            SIGNAL_EVERY, SENDS);
    }
}
