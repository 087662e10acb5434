package org.jfabric.driver.config;

import java.util.List;

/**
 * The verbs link: sizes of the queues and buffers of each connection. Immutable.
 */
public final class VerbsConfig {
    /** Value of {@link #INTERFACE} that leaves the choice to the destination. */
    public static final String ANY_INTERFACE = "any";

    /** {@code jfabric.verbs.interface}. */
    public static final Option<String> INTERFACE = Option.name("jfabric.verbs.interface")
        .defaultsTo(ANY_INTERFACE)
        .rule("any, or the name or an address of a network interface", name -> !name.isEmpty())
        .why("Interface whose address is used by endpoints that name none. any takes the one that leads to the "
            + "destination, or else the first that belongs to an RDMA device.");

    /** {@code jfabric.verbs.maxMessageBytes}. */
    public static final Option<Long> MAX_MESSAGE_BYTES = Option.bytes("jfabric.verbs.maxMessageBytes")
        .defaultsTo(1L << 20)
        .range(4L << 10, 1L << 30)
        .why("Longest message of connected endpoints, in both directions: memory for so many bytes is pinned for each "
            + "receive of each connection. A longer message of a C program ends its connection.");

    /** {@code jfabric.verbs.receives}. */
    public static final Option<Integer> RECEIVES = Option.count("jfabric.verbs.receives")
        .defaultsTo(16)
        .range(2, 4096)
        .why("Receives that are kept posted for each connection of connected endpoints. A peer that is ahead by more "
            + "messages waits.");

    /** {@code jfabric.verbs.packetReceives}. */
    public static final Option<Integer> PACKET_RECEIVES = Option.count("jfabric.verbs.packetReceives")
        .defaultsTo(128)
        .range(8, 4096)
        .why("The same for each peer of reliable datagrams, whose packets are as long as "
            + "jfabric.rxm.eagerLimitBytes and a header. C programs have 128.");

    /** {@code jfabric.verbs.sharedReceives}. */
    public static final Option<Integer> SHARED_RECEIVES = Option.count("jfabric.verbs.sharedReceives")
        .defaultsTo(0)
        .range(0, 1 << 16)
        .rule("0, or 16 and more", value -> value == 0 || value >= 16)
        .why("If not 0: receives that all peers of reliable datagrams over one device share, instead of "
            + "jfabric.verbs.packetReceives for each. For many peers: memory does not grow with them, but they have no "
            + "flow control, and their cards retry when no receive is posted.");

    /** {@code jfabric.verbs.sharedHoldLimitNs}. */
    public static final Option<Long> SHARED_HOLD_LIMIT_NS = Option.durationNs("jfabric.verbs.sharedHoldLimitNs")
        .defaultsTo(10_000_000_000L)
        .range(1_000_000L, 3_600_000_000_000L)
        .why("Longest time with at most an eighth of the shared receives posted, because messages in the others wait "
            + "for an endpoint. Then the connection with most waiting messages is ended with FI_ENOBUFS.");

    /** {@code jfabric.verbs.sends}. */
    public static final Option<Integer> SENDS = Option.count("jfabric.verbs.sends")
        .defaultsTo(128)
        .range(16, 4096)
        .rule("a power of two", value -> Integer.bitCount(value) == 1)
        .why("Sends of one connection that may be on their way; more wait in the engine.");

    /** {@code jfabric.verbs.copyLimitBytes}. */
    public static final Option<Long> COPY_LIMIT_BYTES = Option.bytes("jfabric.verbs.copyLimitBytes")
        .defaultsTo(4L << 10)
        .range(64L, 1L << 20)
        .why("Messages of connected endpoints up to this length are copied into memory that is registered already; "
            + "longer ones are read by the card from the application's region, which is registered when it is first "
            + "used.");

    /** {@code jfabric.verbs.inlineBytes}. */
    public static final Option<Integer> INLINE_BYTES = Option.count("jfabric.verbs.inlineBytes")
        .defaultsTo(256)
        .range(0, 1024)
        .why("Messages up to this length are handed to the card with the work request, if it can take so many.");

    /** {@code jfabric.verbs.signalEvery}. */
    public static final Option<Integer> SIGNAL_EVERY = Option.count("jfabric.verbs.signalEvery")
        .defaultsTo(16)
        .range(1, 1024)
        .rule("at most a half of jfabric.verbs.sends", value -> true)
        .why("Sends without a completion of their own, such as the packets of reliable datagrams: one in this many "
            + "asks the card for a completion, and so does the last one of a batch.");

    /** {@code jfabric.verbs.datagramReceives}. */
    public static final Option<Integer> DATAGRAM_RECEIVES = Option.count("jfabric.verbs.datagramReceives")
        .defaultsTo(256)
        .range(8, 16384)
        .why("Receives that are kept posted for each endpoint of link verbsud, and for each group that it has joined; "
            + "each is as long as the port's packets. Datagrams wait in three quarters of them until the application "
            + "posts receives; what comes then is lost.");

    /** {@code jfabric.verbs.gidIndex}. */
    public static final Option<Integer> GID_INDEX = Option.count("jfabric.verbs.gidIndex")
        .defaultsTo(0)
        .range(0, 255)
        .why("Which of a port's GIDs endpoints of link verbsud are named after, where neither a source address nor "
            + "jfabric.verbs.interface says so. As FI_VERBS_GID_IDX of C programs.");

    /** {@code jfabric.verbs.addressHandles}. */
    public static final Option<Integer> ADDRESS_HANDLES = Option.count("jfabric.verbs.addressHandles")
        .defaultsTo(1024)
        .range(2, 65536)
        .why("Ports of peers that each endpoint of link verbsud keeps a way to. Sends to more of them wait until the "
            + "way to another one is given up.");

    static final OptionGroup GROUP = new OptionGroup(
        "verbs", "The verbs link: RDMA devices",
        List.of(INTERFACE, MAX_MESSAGE_BYTES, RECEIVES, PACKET_RECEIVES, SHARED_RECEIVES, SHARED_HOLD_LIMIT_NS,
            SENDS, COPY_LIMIT_BYTES, INLINE_BYTES, SIGNAL_EVERY, DATAGRAM_RECEIVES, GID_INDEX, ADDRESS_HANDLES));

    private final String networkInterface;
    private final int maxMessageBytes;
    private final int receives;
    private final int packetReceives;
    private final int sharedReceives;
    private final long sharedHoldLimitNs;
    private final int sends;
    private final int copyLimitBytes;
    private final int inlineBytes;
    private final int signalEvery;
    private final int datagramReceives;
    private final int gidIndex;
    private final int addressHandles;

    VerbsConfig(ConfigSource source) {
        networkInterface = source.value(INTERFACE);
        maxMessageBytes = Math.toIntExact(source.value(MAX_MESSAGE_BYTES));
        receives = source.value(RECEIVES);
        packetReceives = source.value(PACKET_RECEIVES);
        sharedReceives = source.value(SHARED_RECEIVES);
        sharedHoldLimitNs = source.value(SHARED_HOLD_LIMIT_NS);
        sends = source.value(SENDS);
        copyLimitBytes = Math.toIntExact(source.value(COPY_LIMIT_BYTES));
        inlineBytes = source.value(INLINE_BYTES);
        signalEvery = source.value(SIGNAL_EVERY);
        datagramReceives = source.value(DATAGRAM_RECEIVES);
        gidIndex = source.value(GID_INDEX);
        addressHandles = source.value(ADDRESS_HANDLES);
        source.check(2 * signalEvery <= sends, "too few of the sends ask for a completion", SIGNAL_EVERY, SENDS);
    }

    /**
     * The interface that endpoints are on.
     *
     * @return name, address, or {@value #ANY_INTERFACE}.
     */
    public String networkInterface() {
        return networkInterface;
    }

    /**
     * Longest message of connected endpoints.
     *
     * @return bytes.
     */
    public int maxMessageBytes() {
        return maxMessageBytes;
    }

    /**
     * Receives kept posted for each connection of connected endpoints.
     *
     * @return count.
     */
    public int receives() {
        return receives;
    }

    /**
     * Receives kept posted for each peer of reliable datagrams.
     *
     * @return count.
     */
    public int packetReceives() {
        return packetReceives;
    }

    /**
     * Receives that all peers of reliable datagrams over one device share.
     *
     * @return count; 0 if each has its own.
     */
    public int sharedReceives() {
        return sharedReceives;
    }

    /**
     * Longest time with hardly a shared receive posted.
     *
     * @return nanoseconds.
     */
    public long sharedHoldLimitNs() {
        return sharedHoldLimitNs;
    }

    /**
     * Largest number of outstanding sends of one connection.
     *
     * @return a power of two.
     */
    public int sends() {
        return sends;
    }

    /**
     * Longest message of connected endpoints that is copied by its sender.
     *
     * @return bytes.
     */
    public int copyLimitBytes() {
        return copyLimitBytes;
    }

    /**
     * Longest message that is sent inline, within its work request.
     *
     * @return bytes.
     */
    public int inlineBytes() {
        return inlineBytes;
    }

    /**
     * Number of sends of which one asks for a completion.
     *
     * @return count, at most a half of {@link #sends()}.
     */
    public int signalEvery() {
        return signalEvery;
    }

    /**
     * Receives kept posted for each endpoint of datagrams.
     *
     * @return count.
     */
    public int datagramReceives() {
        return datagramReceives;
    }

    /**
     * Index of the GID of a port that endpoints of datagrams use by default.
     *
     * @return index.
     */
    public int gidIndex() {
        return gidIndex;
    }

    /**
     * Largest number of address handles of each endpoint of datagrams.
     *
     * @return count.
     */
    public int addressHandles() {
        return addressHandles;
    }
}
