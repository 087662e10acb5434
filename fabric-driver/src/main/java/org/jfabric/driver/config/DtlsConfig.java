package org.jfabric.driver.config;

/**
 * The dtls link: limits of handshakes and sessions, and the peers that are admitted.
 */
public final class DtlsConfig {
    static final OptionGroup GROUP = new OptionGroup("dtls", "The dtls link");

    /** {@code jfabric.dtls.accessFile}. */
    public static final Option<String> ACCESS_FILE = GROUP.name("jfabric.dtls.accessFile")
        .defaultsTo(DriverConfig.NO_FILE)
        .rule("none, or the path of a file", name -> !name.isBlank())
        .why("Networks and keys of the peers that messages are exchanged with over dtls, in the form of "
            + "jfabric.tcp.accessFile; see docs/security.md. Read again when it has changed. none admits all whose "
            + "certificate is trusted.");

    /** {@code jfabric.dtls.handshakeTimeoutNs}. */
    public static final Option<Long> HANDSHAKE_TIMEOUT_NS = GROUP.durationNs("jfabric.dtls.handshakeTimeoutNs")
        .defaultsTo(10_000_000_000L)
        .range(100_000_000L, 600_000_000_000L)
        .why("Longest time for a handshake; then the sends that wait for it fail. Its datagrams are repeated after "
            + "200 ms, 400 ms and so on. Raise it on networks that lose many datagrams.");

    /** {@code jfabric.dtls.handshakeLimit}. */
    public static final Option<Integer> HANDSHAKE_LIMIT = GROUP.count("jfabric.dtls.handshakeLimit")
        .defaultsTo(256)
        .range(1, 65_536)
        .why("Handshakes under way that peers have begun, for each progress thread. A further one replaces the oldest "
            + "whose peer has not shown yet that it receives at its address; without such a one it is refused.");

    /** {@code jfabric.dtls.handshakesPerHost}. */
    public static final Option<Integer> HANDSHAKES_PER_HOST = GROUP.count("jfabric.dtls.handshakesPerHost")
        .defaultsTo(32)
        .range(1, 65_536)
        .why("Of these, handshakes from one source address at most.");

    /** {@code jfabric.dtls.sessionLimit}. */
    public static final Option<Integer> SESSION_LIMIT = GROUP.count("jfabric.dtls.sessionLimit")
        .defaultsTo(4096)
        .range(1, 1 << 20)
        .why("Peers with a session, for each progress thread. A further one ends the session that was used least "
            + "recently, whose peers begin a new one with their next message.");

    /** {@code jfabric.dtls.idleTimeoutNs}. */
    public static final Option<Long> IDLE_TIMEOUT_NS = GROUP.durationNs("jfabric.dtls.idleTimeoutNs")
        .defaultsTo(600_000_000_000L)
        .range(100_000_000L, 86_400_000_000_000L)
        .why("Time without a message in either direction after which a session ends. The next message begins a new "
            + "one.");

    /** {@code jfabric.dtls.silenceNs}. */
    public static final Option<Long> SILENCE_NS = GROUP.durationNs("jfabric.dtls.silenceNs")
        .defaultsTo(10_000_000_000L)
        .range(100_000_000L, 600_000_000_000L)
        .why("Time in which messages are sent to a peer and nothing comes back after which a new handshake begins: "
            + "the peer may have been restarted, and have no session. Half of that time after the first such message "
            + "the peer is asked for an answer. A peer that does not answer the handshake either has no session then.");

    private DtlsConfig() {
    }
}
