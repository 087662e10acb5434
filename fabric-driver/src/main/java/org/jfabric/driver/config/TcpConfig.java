package org.jfabric.driver.config;

import java.util.List;

/**
 * The tcp link: where endpoints listen, and what one connection may hold. Immutable.
 */
public final class TcpConfig {

    /** Value of {@link #INTERFACE} that names none. */
    public static final String ANY_INTERFACE = "auto";

    /** {@code jfabric.tcp.interface}. */
    public static final Option<String> INTERFACE = Option.name("jfabric.tcp.interface")
        .defaultsTo(ANY_INTERFACE)
        .rule("auto, the name of an interface such as eth0, or an address as a number", name -> !name.isBlank())
        .why("Where endpoints listen, and where their connections come from, if they name no source address. auto "
            + "takes the interface that leads to the destination if one is named, else one that is not loopback, IPv4 "
            + "first. Set it on hosts with several networks; lo keeps everything on this host.");

    /** {@code jfabric.tcp.connectTimeoutNs}. */
    public static final Option<Long> CONNECT_TIMEOUT_NS = Option.durationNs("jfabric.tcp.connectTimeoutNs")
        .defaultsTo(5_000_000_000L)
        .range(1_000_000L, 600_000_000_000L)
        .why("How long a connection may take to be made, in both directions, before operations that wait for it fail. "
            + "Raise it for far or slow peers.");

    /** {@code jfabric.tcp.backlog}. */
    public static final Option<Integer> BACKLOG = Option.count("jfabric.tcp.backlog")
        .defaultsTo(1024)
        .range(1, 1 << 16)
        .why("Connections of one endpoint that the system keeps until they are taken (bounded by net.core.somaxconn). "
            + "Raise it where very many peers connect at once.");

    /** {@code jfabric.tcp.greetingLimit}. */
    public static final Option<Integer> GREETING_LIMIT = Option.count("jfabric.tcp.greetingLimit")
        .defaultsTo(1024)
        .range(1, 1 << 16)
        .why("Connections from outside, of the whole link, that have not said who they are. For one more the oldest "
            + "is closed: of the same host if that has a quarter of them. Bounds what silent strangers can make the "
            + "driver hold; connections that endpoints ask for themselves do not count.");

    /** {@code jfabric.tcp.strangerLimit}. */
    public static final Option<Integer> STRANGER_LIMIT = Option.count("jfabric.tcp.strangerLimit")
        .defaultsTo(1024)
        .range(0, 1 << 16)
        .why("Connections of one reliable-datagram endpoint (tcp, rxm) with peers that its address vector does not "
            + "hold; more are rejected. Each takes a descriptor and up to jfabric.tcp.readAheadBytes + "
            + "writeBehindBytes. 0 admits only peers that the application has inserted, for which there is no limit.");

    /** {@code jfabric.tcp.strangersPerHost}. */
    public static final Option<Integer> STRANGERS_PER_HOST = Option.count("jfabric.tcp.strangersPerHost")
        .defaultsTo(256)
        .range(0, 1 << 16)
        .why("Part of jfabric.tcp.strangerLimit that peers with one IP address may take, so that one host cannot "
            + "keep all others out. Raise it where many processes of one host come to an endpoint that has not "
            + "inserted them.");

    /** {@code jfabric.tcp.unknownPeerTimeoutNs}. */
    public static final Option<Long> UNKNOWN_PEER_TIMEOUT_NS = Option
        .durationNs("jfabric.tcp.unknownPeerTimeoutNs")
        .defaultsTo(10_000_000_000L)
        .range(0L, 3_600_000_000_000L)
        .why("How long a peer that the address vector does not hold may stop inside of a message (tcp, rxm): within "
            + "that time the rest of it has to come, or 16 KiB of it, else its connection is closed and the receive "
            + "that the message had begun to fill ends with FI_ETIMEDOUT. It is noticed a quarter of the time later "
            + "at most. 0 lets such a peer hold a receive for ever.");

    /** {@code jfabric.tcp.takeover}. */
    public static final Option<Takeover> TAKEOVER = Option.oneOf("jfabric.tcp.takeover", Takeover.class)
        .defaultsTo(Takeover.PROBE)
        .rule("PROBE or NEVER", takeover -> true)
        .why("What happens when a connection comes in the name of a peer that has one, from another process (tcp, "
            + "rxm): a restarted peer or somebody else. PROBE asks the kernel at the other end of the old connection, "
            + "for up to 4 s; the new one is accepted if the old one has ended or nothing answers, else rejected. "
            + "NEVER rejects it while the old one is there. An address proves only the host that a connection comes "
            + "from: the port is what the other side says, so that every process there can use the address of a peer "
            + "that has no connection, and nothing tells users or programs of one host apart, nor hosts behind one "
            + "NAT.");

    /** {@code jfabric.tcp.keepaliveIdleNs}. */
    public static final Option<Long> KEEPALIVE_IDLE_NS = Option.durationNs("jfabric.tcp.keepaliveIdleNs")
        .defaultsTo(5_000_000_000L)
        .range(0L, 7_200_000_000_000L)
        .why("Silence of a connection after which the system asks whether the peer's host is still there "
            + "(TCP_KEEPIDLE, whole seconds, rounded up). 0 never asks: a host that vanishes is not noticed then while "
            + "nothing is sent to it.");

    /** {@code jfabric.tcp.keepaliveIntervalNs}. */
    public static final Option<Long> KEEPALIVE_INTERVAL_NS = Option.durationNs("jfabric.tcp.keepaliveIntervalNs")
        .defaultsTo(2_000_000_000L)
        .range(1_000_000_000L, 3_600_000_000_000L)
        .why("Time between two such questions without an answer (TCP_KEEPINTVL, whole seconds, rounded up).");

    /** {@code jfabric.tcp.keepaliveProbes}. */
    public static final Option<Integer> KEEPALIVE_PROBES = Option.count("jfabric.tcp.keepaliveProbes")
        .defaultsTo(3)
        .range(1, 127)
        .why("Questions without an answer after which the peer is lost (TCP_KEEPCNT). Raise it on networks that drop "
            + "packets for seconds.");

    /** {@code jfabric.tcp.userTimeoutNs}. */
    public static final Option<Long> USER_TIMEOUT_NS = Option.durationNs("jfabric.tcp.userTimeoutNs")
        .defaultsTo(0L)
        .range(0L, 7_200_000_000_000L)
        .why("How long sent bytes may wait for the peer's host before the peer is lost (TCP_USER_TIMEOUT, whole "
            + "milliseconds, rounded up). 0 leaves it to the system: some 15 minutes until a host that vanishes while "
            + "we send is noticed (net.ipv4.tcp_retries2). Set it only where every peer reads: the system also ends a "
            + "connection whose peer is alive and does not read for so long, and replaces the keepalive probes' count "
            + "by this time.");

    /** {@code jfabric.tcp.readAheadBytes}. */
    public static final Option<Long> READ_AHEAD_BYTES = Option.bytes("jfabric.tcp.readAheadBytes")
        .defaultsTo(16L << 10)
        .range(4L << 10, 1L << 20)
        .multipleOf(64)
        .why("Bytes taken by one read while no long payload is under way; that of a connection in use. Raise it for "
            + "streams of many short messages; lower it so that more of a long message goes straight to its buffer.");

    /** {@code jfabric.tcp.writeBehindBytes}. */
    public static final Option<Long> WRITE_BEHIND_BYTES = Option.bytes("jfabric.tcp.writeBehindBytes")
        .defaultsTo(64L << 10)
        .range(8L << 10, 16L << 20)
        .multipleOf(64)
        .why("Short messages of one connection that are put together before they are written, and wait while the peer "
            + "does not read. Raise it for bursts of short messages.");

    /** {@code jfabric.tcp.copyLimitBytes}. */
    public static final Option<Long> COPY_LIMIT_BYTES = Option.bytes("jfabric.tcp.copyLimitBytes")
        .defaultsTo(4L << 10)
        .range(0L, 1L << 20)
        .why("Longest payload that is copied to be put together with others; longer ones are written from where they "
            + "are, each by a system call of its own.");

    /** {@code jfabric.tcp.sockets}. */
    public static final Option<Sockets> SOCKETS = Option.oneOf("jfabric.tcp.sockets", Sockets.class)
        .defaultsTo(Sockets.NATIVE)
        .rule("NATIVE or NIO", sockets -> true)
        .why("NATIVE reads and writes where the bytes are and allocates nothing. NIO uses the JDK's channels, for "
            + "systems where the native calls do not work; the driver does not sleep then, and allocates.");

    static final OptionGroup GROUP = new OptionGroup(
        "tcp", "The tcp link",
        List.of(INTERFACE, CONNECT_TIMEOUT_NS, BACKLOG, GREETING_LIMIT, STRANGER_LIMIT, STRANGERS_PER_HOST,
            UNKNOWN_PEER_TIMEOUT_NS, TAKEOVER, KEEPALIVE_IDLE_NS, KEEPALIVE_INTERVAL_NS, KEEPALIVE_PROBES,
            USER_TIMEOUT_NS, READ_AHEAD_BYTES, WRITE_BEHIND_BYTES, COPY_LIMIT_BYTES, SOCKETS));

    /** Upper bound of a header. */
    static final int HEADER_BYTES = 32;

    private final String networkInterface;
    private final long connectTimeoutNs;
    private final int backlog;
    private final int greetingLimit;
    private final int strangerLimit;
    private final int strangersPerHost;
    private final long unknownPeerTimeoutNs;
    private final Takeover takeover;
    private final long keepaliveIdleNs;
    private final long keepaliveIntervalNs;
    private final int keepaliveProbes;
    private final long userTimeoutNs;
    private final int readAheadBytes;
    private final int writeBehindBytes;
    private final int copyLimitBytes;
    private final Sockets sockets;

    TcpConfig(ConfigSource source) {
        networkInterface = source.value(INTERFACE);
        connectTimeoutNs = source.value(CONNECT_TIMEOUT_NS);
        backlog = source.value(BACKLOG);
        greetingLimit = source.value(GREETING_LIMIT);
        strangerLimit = source.value(STRANGER_LIMIT);
        strangersPerHost = source.value(STRANGERS_PER_HOST);
        unknownPeerTimeoutNs = source.value(UNKNOWN_PEER_TIMEOUT_NS);
        takeover = source.value(TAKEOVER);
        keepaliveIdleNs = source.value(KEEPALIVE_IDLE_NS);
        keepaliveIntervalNs = source.value(KEEPALIVE_INTERVAL_NS);
        keepaliveProbes = source.value(KEEPALIVE_PROBES);
        userTimeoutNs = source.value(USER_TIMEOUT_NS);
        readAheadBytes = Math.toIntExact(source.value(READ_AHEAD_BYTES));
        writeBehindBytes = Math.toIntExact(source.value(WRITE_BEHIND_BYTES));
        copyLimitBytes = Math.toIntExact(source.value(COPY_LIMIT_BYTES));
        sockets = source.value(SOCKETS);
        source.check(
            copyLimitBytes + HEADER_BYTES <= writeBehindBytes,
            "a message that is copied has to fit into what is put together", COPY_LIMIT_BYTES, WRITE_BEHIND_BYTES);
    }

    /**
     * Where endpoints listen that name no source address.
     *
     * @return {@value #ANY_INTERFACE}, the name of an interface, or an address as a number.
     */
    public String networkInterface() {
        return networkInterface;
    }

    /**
     * How long a connection may take to be made.
     *
     * @return nanoseconds, from 1 ms to 600 s.
     */
    public long connectTimeoutNs() {
        return connectTimeoutNs;
    }

    /**
     * Connections of one endpoint that the system keeps until they are taken.
     *
     * @return 1 or more.
     */
    public int backlog() {
        return backlog;
    }

    /**
     * Connections from outside that have not said who they are.
     *
     * @return 1 or more, for the whole link.
     */
    public int greetingLimit() {
        return greetingLimit;
    }

    /**
     * Connections of one endpoint with peers that its address vector does not hold.
     *
     * @return 0 or more.
     */
    public int strangerLimit() {
        return strangerLimit;
    }

    /**
     * Those of them that may come from one host.
     *
     * @return 0 or more.
     */
    public int strangersPerHost() {
        return strangersPerHost;
    }

    /**
     * How long a peer that the address vector does not hold may stop inside of a message.
     *
     * @return nanoseconds, 0 for as long as it likes.
     */
    public long unknownPeerTimeoutNs() {
        return unknownPeerTimeoutNs;
    }

    /**
     * What becomes of a peer's connection when another process asks for one under the same address.
     *
     * @return the choice.
     */
    public Takeover takeover() {
        return takeover;
    }

    /**
     * Silence after which the system asks whether the peer's host is still there.
     *
     * @return nanoseconds, 0 for never.
     */
    public long keepaliveIdleNs() {
        return keepaliveIdleNs;
    }

    /**
     * Time between two questions.
     *
     * @return nanoseconds, 1 s or more.
     */
    public long keepaliveIntervalNs() {
        return keepaliveIntervalNs;
    }

    /**
     * Questions without an answer after which the peer is lost.
     *
     * @return 1 or more.
     */
    public int keepaliveProbes() {
        return keepaliveProbes;
    }

    /**
     * How long sent bytes may wait for the peer's host.
     *
     * @return nanoseconds, 0 for as long as the system likes.
     */
    public long userTimeoutNs() {
        return userTimeoutNs;
    }

    /**
     * Bytes taken by one read.
     *
     * @return a multiple of 64.
     */
    public int readAheadBytes() {
        return readAheadBytes;
    }

    /**
     * Bytes of short messages of one connection that wait to be written.
     *
     * @return a multiple of 64.
     */
    public int writeBehindBytes() {
        return writeBehindBytes;
    }

    /**
     * Longest payload that is copied to be written together with others.
     *
     * @return bytes, 0 for none.
     */
    public int copyLimitBytes() {
        return copyLimitBytes;
    }

    /**
     * How bytes get to and from the system.
     *
     * @return the choice.
     */
    public Sockets sockets() {
        return sockets;
    }
}
