package org.jfabric.driver.config;

/**
 * The tcp link: addresses of endpoints, and limits for connections.
 */
public final class TcpConfig {
    /** Value of {@link #INTERFACE} that names none. */
    public static final String ANY_INTERFACE = "auto";

    static final OptionGroup GROUP = new OptionGroup("tcp", "The tcp link", TcpConfig::check);

    /** {@code jfabric.tcp.interface}. */
    public static final Option<String> INTERFACE = GROUP.name("jfabric.tcp.interface")
        .defaultsTo(ANY_INTERFACE)
        .rule("auto, the name of an interface such as eth0, or an address as a number", name -> !name.isBlank())
        .why("Where endpoints listen, and where their connections come from, if they name no source address. auto "
            + "takes the interface that leads to the destination if one is named, else the first that is up, the "
            + "loopback interface last, IPv4 first. Of an interface the primary address is taken. Set it on hosts with "
            + "several networks; lo keeps everything on this host.");

    /** {@code jfabric.tcp.connectTimeoutNs}. */
    public static final Option<Long> CONNECT_TIMEOUT_NS = GROUP.durationNs("jfabric.tcp.connectTimeoutNs")
        .defaultsTo(5_000_000_000L)
        .range(1_000_000L, 600_000_000_000L)
        .why("How long a connection may take to be made, in both directions, before operations that wait for it fail. "
            + "Raise it for far or slow peers.");

    /** {@code jfabric.tcp.backlog}. */
    public static final Option<Integer> BACKLOG = GROUP.count("jfabric.tcp.backlog")
        .defaultsTo(1024)
        .range(1, 1 << 16)
        .why("Connections of one endpoint that the system keeps until they are taken (bounded by net.core.somaxconn). "
            + "Raise it where very many peers connect at once.");

    /** {@code jfabric.tcp.greetingLimit}. */
    public static final Option<Integer> GREETING_LIMIT = GROUP.count("jfabric.tcp.greetingLimit")
        .defaultsTo(1024)
        .range(1, 1 << 16)
        .why("Incoming connections, of the whole link, whose peer has not identified itself. One more closes the "
            + "oldest of a host that has a quarter of them, or waits in the kernel until the oldest of all has had "
            + "0.3 s. This bounds the memory that silent peers can take; connections that "
            + "endpoints request themselves do not count.");

    /** {@code jfabric.tcp.unknownPeerLimit}. */
    public static final Option<Integer> UNKNOWN_PEER_LIMIT = GROUP.count("jfabric.tcp.unknownPeerLimit")
        .defaultsTo(1024)
        .range(0, 1 << 16)
        .why("Connections of one reliable-datagram endpoint (tcp, rxm) with unknown peers, which its address vector "
            + "does not contain; more are rejected. Each takes a descriptor and up to jfabric.tcp.readAheadBytes + "
            + "writeBehindBytes. 0 admits only peers that the application has inserted, for which there is no limit.");

    /** {@code jfabric.tcp.unknownPeersPerHost}. */
    public static final Option<Integer> UNKNOWN_PEERS_PER_HOST = GROUP.count("jfabric.tcp.unknownPeersPerHost")
        .defaultsTo(256)
        .range(0, 1 << 16)
        .why("Quota of jfabric.tcp.unknownPeerLimit for unknown peers with one IP address, so that one host cannot "
            + "keep all others out. Raise it where many processes of one host connect to an endpoint that has not "
            + "inserted them.");

    /** {@code jfabric.tcp.unknownPeerTimeoutNs}. */
    public static final Option<Long> UNKNOWN_PEER_TIMEOUT_NS = GROUP.durationNs("jfabric.tcp.unknownPeerTimeoutNs")
        .defaultsTo(10_000_000_000L)
        .range(0L, 3_600_000_000_000L)
        .why("Time of an unknown peer inside of a message (tcp, rxm): within it the rest of the message has to arrive, "
            + "or the next 16th of it, at least 16 KiB and at most 4 MiB, else its connection is closed and the "
            + "receive that the message had begun to fill ends with FI_ETIMEDOUT. It is detected a quarter of the time "
            + "later at most. 0 lets such a peer keep a receive without limit.");

    /** {@code jfabric.tcp.takeover}. */
    public static final Option<Takeover> TAKEOVER = GROUP.oneOf("jfabric.tcp.takeover", Takeover.class)
        .defaultsTo(Takeover.PROBE)
        .rule("PROBE or NEVER", takeover -> true)
        .why("Treatment of a connection request under the address of a peer that has a connection, from another "
            + "process (tcp, rxm): a restarted peer or a different one. PROBE asks the kernel at the other end of the "
            + "old connection, for up to 4 s; the new one is accepted if the old one has ended or does not answer, "
            + "else rejected. NEVER rejects it while the old one exists. An address proves only the host that a "
            + "connection comes from: the port is as the other side claims, so that every process there can use the "
            + "address of a peer without a connection. Users or programs of one host cannot be distinguished, nor "
            + "hosts behind one NAT.");

    /** {@code jfabric.tcp.keepaliveIdleNs}. */
    public static final Option<Long> KEEPALIVE_IDLE_NS = GROUP.durationNs("jfabric.tcp.keepaliveIdleNs")
        .defaultsTo(5_000_000_000L)
        .range(0L, 7_200_000_000_000L)
        .why("Silence of a connection after which the system asks whether the peer's host is still there "
            + "(TCP_KEEPIDLE, whole seconds, rounded up). 0 never asks: a host that vanishes is not noticed then while "
            + "nothing is sent to it.");

    /** {@code jfabric.tcp.keepaliveIntervalNs}. */
    public static final Option<Long> KEEPALIVE_INTERVAL_NS = GROUP.durationNs("jfabric.tcp.keepaliveIntervalNs")
        .defaultsTo(2_000_000_000L)
        .range(1_000_000_000L, 3_600_000_000_000L)
        .why("Time between two such questions without an answer (TCP_KEEPINTVL, whole seconds, rounded up).");

    /** {@code jfabric.tcp.keepaliveProbes}. */
    public static final Option<Integer> KEEPALIVE_PROBES = GROUP.count("jfabric.tcp.keepaliveProbes")
        .defaultsTo(3)
        .range(1, 127)
        .why("Questions without an answer after which the peer is lost (TCP_KEEPCNT). Raise it on networks that drop "
            + "packets for seconds.");

    /** {@code jfabric.tcp.userTimeoutNs}. */
    public static final Option<Long> USER_TIMEOUT_NS = GROUP.durationNs("jfabric.tcp.userTimeoutNs")
        .defaultsTo(0L)
        .range(0L, 7_200_000_000_000L)
        .why("How long sent bytes may wait for the peer's host before the peer is lost (TCP_USER_TIMEOUT, whole "
            + "milliseconds, rounded up). 0 leaves it to the system: some 15 minutes until a host that vanishes while "
            + "we send is noticed (net.ipv4.tcp_retries2). Set it only where every peer reads: the system also ends a "
            + "connection whose peer is alive and does not read for so long, and replaces the keepalive probes' count "
            + "by this time.");

    /** {@code jfabric.tcp.peerTimeoutNs}. */
    public static final Option<Long> PEER_TIMEOUT_NS = GROUP.durationNs("jfabric.tcp.peerTimeoutNs")
        .defaultsTo(0L)
        .range(0L, 7_200_000_000_000L)
        .why("How long the host of a peer may be silent before the peer is lost, whether bytes are under way to it or "
            + "not (tcp, rxm): this value as jfabric.tcp.userTimeoutNs, and questions after a third of it and each "
            + "further third, at least 1 s, unless the options for them are shorter. The end is noticed a third, at "
            + "least 1 s, later at most. 0, the default, leaves it to the other options. As with userTimeoutNs, a peer "
            + "that is alive and does not read for so long, such as a stopped process, is lost too: set it where a "
            + "network that is cut in two must not make operations wait.");

    /** {@code jfabric.tcp.readAheadBytes}. */
    public static final Option<Integer> READ_AHEAD_BYTES = GROUP.intBytes("jfabric.tcp.readAheadBytes")
        .defaultsTo(16 << 10)
        .range(4 << 10, 1 << 20)
        .multipleOf(64)
        .why("Bytes taken by one read while no long payload is under way; that of a connection in use. Raise it for "
            + "streams of many short messages; lower it so that more of a long message goes straight to its buffer.");

    /** {@code jfabric.tcp.writeBehindBytes}. */
    public static final Option<Integer> WRITE_BEHIND_BYTES = GROUP.intBytes("jfabric.tcp.writeBehindBytes")
        .defaultsTo(64 << 10)
        .range(8 << 10, 16 << 20)
        .multipleOf(64)
        .why("Short messages of one connection that are put together before they are written, and wait while the peer "
            + "does not read. Raise it for bursts of short messages.");

    /** {@code jfabric.tcp.copyLimitBytes}. */
    public static final Option<Integer> COPY_LIMIT_BYTES = GROUP.intBytes("jfabric.tcp.copyLimitBytes")
        .defaultsTo(4 << 10)
        .range(0, 1 << 20)
        .why("Longest payload that is copied to be put together with others; longer ones are written from where they "
            + "are, each by a system call of its own.");

    /** {@code jfabric.tcp.zeroCopyBytes}. */
    public static final Option<Long> ZERO_COPY_BYTES = GROUP.bytes("jfabric.tcp.zeroCopyBytes")
        .defaultsTo(0L)
        .range(0L, 1L << 30)
        .why("Shortest payload of a message or remote write that the system sends from where it is, without a copy of "
            + "its own (MSG_ZEROCOPY; tcp and rxm, not tls); 0 for none. Such an operation completes, and the next one "
            + "of its connection begins, when the peer's host has acknowledged the bytes. Worth it from about 64k on, "
            + "on networks with a short way. A connection whose bytes the system copies after all, as within one host, "
            + "stops it. Payloads up to jfabric.tcp.copyLimitBytes are always copied.");

    /** {@code jfabric.tcp.sockets}. */
    public static final Option<Sockets> SOCKETS = GROUP.oneOf("jfabric.tcp.sockets", Sockets.class)
        .defaultsTo(Sockets.NATIVE)
        .rule("NATIVE or NIO", sockets -> true)
        .why("NATIVE reads and writes where the bytes are and allocates nothing. NIO uses the JDK's channels, for "
            + "systems where the native calls do not work; the driver does not sleep then, and allocates.");

    /** {@code jfabric.tcp.accessFile}. */
    public static final Option<String> ACCESS_FILE = GROUP.name("jfabric.tcp.accessFile")
        .defaultsTo(DriverConfig.NO_FILE)
        .rule("none, or the path of a file", name -> !name.isBlank())
        .why("Networks and keys of the peers that may connect (tcp, rxm, tls, tlsrxm); see docs/security.md. Over tls "
            + "it also limits the peers that are connected to. Read again when it has changed. none admits all.");

    /** {@code jfabric.tcp.peerRateBytes}. */
    public static final Option<Long> PEER_RATE_BYTES = GROUP.bytes("jfabric.tcp.peerRateBytes")
        .defaultsTo(0L)
        .range(0L, 1L << 40)
        .why("Bytes in each second that are read from all connections with one address (tcp, rxm, tls, tlsrxm), for "
            + "each progress thread; 0 for no limit. While a peer is above it its connections are not read: its sends "
            + "wait, nothing is lost. Set it where peers must not use up the thread or the memory of others.");

    /** {@code jfabric.tcp.peerRateMessages}. */
    public static final Option<Integer> PEER_RATE_MESSAGES = GROUP.count("jfabric.tcp.peerRateMessages")
        .defaultsTo(0)
        .range(0, Integer.MAX_VALUE)
        .why("The same for the number of messages in each second, of any length.");

    /** Upper bound of a header: that of a write with data to four ranges. */
    private static final int HEADER_BYTES = 120;

    private TcpConfig() {
    }

    private static void check(DriverConfig config, ConfigSource source) {
        source.check(
            config.get(PEER_TIMEOUT_NS) == 0 || config.get(USER_TIMEOUT_NS) == 0,
            "the first includes the second, so that only one of them can be set", PEER_TIMEOUT_NS, USER_TIMEOUT_NS);
        source.check(
            config.get(COPY_LIMIT_BYTES) + HEADER_BYTES <= config.get(WRITE_BEHIND_BYTES),
            "a message that is copied has to fit into what is put together", COPY_LIMIT_BYTES, WRITE_BEHIND_BYTES);
    }
}
