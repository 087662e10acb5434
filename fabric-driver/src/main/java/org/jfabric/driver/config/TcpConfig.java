package org.jfabric.driver.config;

import java.nio.file.Path;
import java.util.List;

/**
 * The tcp link: addresses of endpoints, and limits for connections. Immutable.
 */
public final class TcpConfig {

    /** Value of {@link #ACCESS_FILE} that admits every peer. */
    public static final String NO_ACCESS_FILE = "none";

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
        .why("Incoming connections, of the whole link, whose peer has not identified itself. One more closes the "
            + "oldest: one of the same host if that host has a quarter of them. This bounds the memory that silent "
            + "peers can take; connections that endpoints request themselves do not count.");

    /** {@code jfabric.tcp.unknownPeerLimit}. */
    public static final Option<Integer> UNKNOWN_PEER_LIMIT = Option.count("jfabric.tcp.unknownPeerLimit")
        .defaultsTo(1024)
        .range(0, 1 << 16)
        .why("Connections of one reliable-datagram endpoint (tcp, rxm) with unknown peers, which its address vector "
            + "does not contain; more are rejected. Each takes a descriptor and up to jfabric.tcp.readAheadBytes + "
            + "writeBehindBytes. 0 admits only peers that the application has inserted, for which there is no limit.");

    /** {@code jfabric.tcp.unknownPeersPerHost}. */
    public static final Option<Integer> UNKNOWN_PEERS_PER_HOST = Option.count("jfabric.tcp.unknownPeersPerHost")
        .defaultsTo(256)
        .range(0, 1 << 16)
        .why("Quota of jfabric.tcp.unknownPeerLimit for unknown peers with one IP address, so that one host cannot "
            + "keep all others out. Raise it where many processes of one host connect to an endpoint that has not "
            + "inserted them.");

    /** {@code jfabric.tcp.unknownPeerTimeoutNs}. */
    public static final Option<Long> UNKNOWN_PEER_TIMEOUT_NS = Option
        .durationNs("jfabric.tcp.unknownPeerTimeoutNs")
        .defaultsTo(10_000_000_000L)
        .range(0L, 3_600_000_000_000L)
        .why("Time of an unknown peer inside of a message (tcp, rxm): within it the rest of the message has to arrive, "
            + "or the next 16th of it, at least 16 KiB and at most 4 MiB, else its connection is closed and the "
            + "receive that the message had begun to fill ends with FI_ETIMEDOUT. It is detected a quarter of the time "
            + "later at most. 0 lets such a peer keep a receive without limit.");

    /** {@code jfabric.tcp.takeover}. */
    public static final Option<Takeover> TAKEOVER = Option.oneOf("jfabric.tcp.takeover", Takeover.class)
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

    /** {@code jfabric.tcp.peerTimeoutNs}. */
    public static final Option<Long> PEER_TIMEOUT_NS = Option.durationNs("jfabric.tcp.peerTimeoutNs")
        .defaultsTo(0L)
        .range(0L, 7_200_000_000_000L)
        .why("How long the host of a peer may be silent before the peer is lost, whether bytes are under way to it or "
            + "not (tcp, rxm): this value as jfabric.tcp.userTimeoutNs, and questions after a third of it and each "
            + "further third, at least 1 s, unless the options for them are shorter. The end is noticed a third, at "
            + "least 1 s, later at most. 0, the default, leaves it to the other options. As with userTimeoutNs, a peer "
            + "that is alive and does not read for so long, such as a stopped process, is lost too: set it where a "
            + "network that is cut in two must not make operations wait.");

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

    /** {@code jfabric.tcp.zeroCopyBytes}. */
    public static final Option<Long> ZERO_COPY_BYTES = Option.bytes("jfabric.tcp.zeroCopyBytes")
        .defaultsTo(0L)
        .range(0L, 1L << 30)
        .why("Shortest payload of a message or remote write that the system sends from where it is, without a copy of "
            + "its own (MSG_ZEROCOPY; tcp and rxm, not tls); 0 for none. Such an operation completes, and the next one "
            + "of its connection begins, when the peer's host has acknowledged the bytes. Worth it from about 64k on, "
            + "on networks with a short way. A connection whose bytes the system copies after all, as within one host, "
            + "stops it. Payloads up to jfabric.tcp.copyLimitBytes are always copied.");

    /** {@code jfabric.tcp.sockets}. */
    public static final Option<Sockets> SOCKETS = Option.oneOf("jfabric.tcp.sockets", Sockets.class)
        .defaultsTo(Sockets.NATIVE)
        .rule("NATIVE or NIO", sockets -> true)
        .why("NATIVE reads and writes where the bytes are and allocates nothing. NIO uses the JDK's channels, for "
            + "systems where the native calls do not work; the driver does not sleep then, and allocates.");

    /** {@code jfabric.tcp.accessFile}. */
    public static final Option<String> ACCESS_FILE = Option.name("jfabric.tcp.accessFile")
        .defaultsTo(NO_ACCESS_FILE)
        .rule("none, or the path of a file", name -> !name.isBlank())
        .why("Networks and keys of the peers that may connect (tcp, rxm, tls, tlsrxm); see docs/security.md. Over tls "
            + "it also limits the peers that are connected to. Read again when it has changed. none admits all.");

    /** {@code jfabric.tcp.peerRateBytes}. */
    public static final Option<Long> PEER_RATE_BYTES = Option.bytes("jfabric.tcp.peerRateBytes")
        .defaultsTo(0L)
        .range(0L, 1L << 40)
        .why("Bytes in each second that are read from all connections with one address (tcp, rxm, tls, tlsrxm), for "
            + "each progress thread; 0 for no limit. While a peer is above it its connections are not read: its sends "
            + "wait, nothing is lost. Set it where peers must not use up the thread or the memory of others.");

    /** {@code jfabric.tcp.peerRateMessages}. */
    public static final Option<Integer> PEER_RATE_MESSAGES = Option.count("jfabric.tcp.peerRateMessages")
        .defaultsTo(0)
        .range(0, Integer.MAX_VALUE)
        .why("The same for the number of messages in each second, of any length.");

    static final OptionGroup GROUP = new OptionGroup(
        "tcp", "The tcp link",
        List.of(INTERFACE, CONNECT_TIMEOUT_NS, BACKLOG, GREETING_LIMIT, UNKNOWN_PEER_LIMIT, UNKNOWN_PEERS_PER_HOST,
            UNKNOWN_PEER_TIMEOUT_NS, TAKEOVER, KEEPALIVE_IDLE_NS, KEEPALIVE_INTERVAL_NS, KEEPALIVE_PROBES,
            USER_TIMEOUT_NS, PEER_TIMEOUT_NS, READ_AHEAD_BYTES, WRITE_BEHIND_BYTES, COPY_LIMIT_BYTES,
            ZERO_COPY_BYTES, SOCKETS, ACCESS_FILE, PEER_RATE_BYTES, PEER_RATE_MESSAGES));

    /** The system counts the time between its questions in whole seconds. */
    private static final long SHORTEST_QUESTION_NS = 1_000_000_000L;
    /** Upper bound of a header. */
    static final int HEADER_BYTES = 48;

    private final String networkInterface;
    private final long connectTimeoutNs;
    private final int backlog;
    private final int greetingLimit;
    private final int unknownPeerLimit;
    private final int unknownPeersPerHost;
    private final long unknownPeerTimeoutNs;
    private final Takeover takeover;
    private final long keepaliveIdleNs;
    private final long keepaliveIntervalNs;
    private final int keepaliveProbes;
    private final long userTimeoutNs;
    private final int readAheadBytes;
    private final int writeBehindBytes;
    private final int copyLimitBytes;
    private final long zeroCopyBytes;
    private final Sockets sockets;
    private final String accessFile;
    private final long peerRateBytes;
    private final int peerRateMessages;

    TcpConfig(ConfigSource source) {
        networkInterface = source.value(INTERFACE);
        connectTimeoutNs = source.value(CONNECT_TIMEOUT_NS);
        backlog = source.value(BACKLOG);
        greetingLimit = source.value(GREETING_LIMIT);
        unknownPeerLimit = source.value(UNKNOWN_PEER_LIMIT);
        unknownPeersPerHost = source.value(UNKNOWN_PEERS_PER_HOST);
        unknownPeerTimeoutNs = source.value(UNKNOWN_PEER_TIMEOUT_NS);
        takeover = source.value(TAKEOVER);
        long peerTimeoutNs = source.value(PEER_TIMEOUT_NS);
        long questionNs = peerTimeoutNs == 0 ? Long.MAX_VALUE : Math.max(SHORTEST_QUESTION_NS, peerTimeoutNs / 3);
        long idleNs = source.value(KEEPALIVE_IDLE_NS);
        keepaliveIdleNs = idleNs == 0 && peerTimeoutNs > 0 ? questionNs : Math.min(idleNs, questionNs);
        keepaliveIntervalNs = Math.min(source.value(KEEPALIVE_INTERVAL_NS), questionNs);
        keepaliveProbes = source.value(KEEPALIVE_PROBES);
        long ownUserTimeoutNs = source.value(USER_TIMEOUT_NS);
        source.check(
            peerTimeoutNs == 0 || ownUserTimeoutNs == 0,
            "the first includes the second, so that only one of them can be set", PEER_TIMEOUT_NS, USER_TIMEOUT_NS);
        userTimeoutNs = Math.max(peerTimeoutNs, ownUserTimeoutNs);
        readAheadBytes = Math.toIntExact(source.value(READ_AHEAD_BYTES));
        writeBehindBytes = Math.toIntExact(source.value(WRITE_BEHIND_BYTES));
        copyLimitBytes = Math.toIntExact(source.value(COPY_LIMIT_BYTES));
        zeroCopyBytes = source.value(ZERO_COPY_BYTES);
        sockets = source.value(SOCKETS);
        accessFile = source.value(ACCESS_FILE);
        peerRateBytes = source.value(PEER_RATE_BYTES);
        peerRateMessages = source.value(PEER_RATE_MESSAGES);
        source.check(
            copyLimitBytes + HEADER_BYTES <= writeBehindBytes,
            "a message that is copied has to fit into what is put together", COPY_LIMIT_BYTES, WRITE_BEHIND_BYTES);
    }

    /**
     * Network interface or address of endpoints that name no source address.
     *
     * @return {@value #ANY_INTERFACE}, the name of an interface, or an address as a number.
     */
    public String networkInterface() {
        return networkInterface;
    }

    /**
     * Longest time for a connection to be established.
     *
     * @return nanoseconds, from 1 ms to 600 s.
     */
    public long connectTimeoutNs() {
        return connectTimeoutNs;
    }

    /**
     * Connections of one endpoint that the system queues until they are accepted.
     *
     * @return 1 or more.
     */
    public int backlog() {
        return backlog;
    }

    /**
     * Largest number of incoming connections whose peer has not identified itself.
     *
     * @return 1 or more, for the whole link.
     */
    public int greetingLimit() {
        return greetingLimit;
    }

    /**
     * Largest number of connections of one endpoint with unknown peers, which its address vector does not contain.
     *
     * @return 0 or more.
     */
    public int unknownPeerLimit() {
        return unknownPeerLimit;
    }

    /**
     * Largest number of them from one host.
     *
     * @return 0 or more.
     */
    public int unknownPeersPerHost() {
        return unknownPeersPerHost;
    }

    /**
     * Longest pause of an unknown peer inside of a message.
     *
     * @return nanoseconds, 0 for no limit.
     */
    public long unknownPeerTimeoutNs() {
        return unknownPeerTimeoutNs;
    }

    /**
     * Treatment of a connection request when the peer of that address has a connection from another process.
     *
     * @return the choice.
     */
    public Takeover takeover() {
        return takeover;
    }

    /**
     * Silence after which the system probes the peer's host; with {@link #PEER_TIMEOUT_NS} a third of it at most.
     *
     * @return nanoseconds, 0 for never.
     */
    public long keepaliveIdleNs() {
        return keepaliveIdleNs;
    }

    /**
     * Time between two probes; with {@link #PEER_TIMEOUT_NS} a third of it at most.
     *
     * @return nanoseconds, 1 s or more.
     */
    public long keepaliveIntervalNs() {
        return keepaliveIntervalNs;
    }

    /**
     * Probes without an answer after which the peer is lost.
     *
     * @return 1 or more.
     */
    public int keepaliveProbes() {
        return keepaliveProbes;
    }

    /**
     * Longest time for the peer's host to acknowledge sent bytes: {@link #USER_TIMEOUT_NS} or {@link #PEER_TIMEOUT_NS}.
     *
     * @return nanoseconds, 0 for the system's default.
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
     * Capacity for short messages of one connection that wait to be written, in bytes.
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
     * Shortest payload that is sent without a copy by the system.
     *
     * @return bytes, 0 for none.
     */
    public long zeroCopyBytes() {
        return zeroCopyBytes;
    }

    /**
     * The list of peers that may connect.
     *
     * @return absolute path, or null if all may.
     */
    public Path accessFile() {
        return NO_ACCESS_FILE.equals(accessFile) ? null : Path.of(accessFile).toAbsolutePath();
    }

    /**
     * Bytes in each second that are read from one address.
     *
     * @return 0 for no limit.
     */
    public long peerRateBytes() {
        return peerRateBytes;
    }

    /**
     * Messages in each second that are read from one address.
     *
     * @return 0 for no limit.
     */
    public int peerRateMessages() {
        return peerRateMessages;
    }

    /**
     * Interface to the operating system.
     *
     * @return the choice.
     */
    public Sockets sockets() {
        return sockets;
    }
}
