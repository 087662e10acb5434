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
        .why("Connections of the whole link that have not said who they are; more are closed at once. Bounds what "
            + "strangers can make the driver hold.");

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
        List.of(INTERFACE, CONNECT_TIMEOUT_NS, BACKLOG, GREETING_LIMIT, READ_AHEAD_BYTES, WRITE_BEHIND_BYTES,
            COPY_LIMIT_BYTES, SOCKETS));

    /** Upper bound of a header. */
    static final int HEADER_BYTES = 32;

    private final String networkInterface;
    private final long connectTimeoutNs;
    private final int backlog;
    private final int greetingLimit;
    private final int readAheadBytes;
    private final int writeBehindBytes;
    private final int copyLimitBytes;
    private final Sockets sockets;

    TcpConfig(ConfigSource source) {
        networkInterface = source.value(INTERFACE);
        connectTimeoutNs = source.value(CONNECT_TIMEOUT_NS);
        backlog = source.value(BACKLOG);
        greetingLimit = source.value(GREETING_LIMIT);
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
     * Connections that have not said who they are.
     *
     * @return 1 or more, for the whole link.
     */
    public int greetingLimit() {
        return greetingLimit;
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
