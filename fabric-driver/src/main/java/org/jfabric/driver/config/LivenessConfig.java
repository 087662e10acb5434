package org.jfabric.driver.config;

import java.util.List;

/**
 * Limits for connections to the driver's socket whose client has not identified itself. There is no client time-out:
 * only the end of file of a client's socket means that it is dead. Immutable.
 */
public final class LivenessConfig {

    /** {@code jfabric.liveness.helloTimeoutNs}. */
    public static final Option<Long> HELLO_TIMEOUT_NS = Option.durationNs("jfabric.liveness.helloTimeoutNs")
        .defaultsTo(5_000_000_000L)
        .range(1_000_000L, 600_000_000_000L)
        .why("Longest time from a connection to the driver's socket to the client's hello; then the connection is "
            + "closed, so that programs that only connect do not use up the descriptors. A client that has said hello "
            + "may be silent without limit. Raise it where processes are stopped for long just while they connect.");

    /** {@code jfabric.liveness.silentLimit}. */
    public static final Option<Integer> SILENT_LIMIT = Option.count("jfabric.liveness.silentLimit")
        .defaultsTo(256)
        .range(1, 1 << 16)
        .why("Connections to the driver's socket that may be open without having said hello. Beyond it the oldest one "
            + "is closed for the newest; each takes a descriptor and at most 8 KiB of heap. Raise it where more "
            + "clients than that start in the same moment.");

    static final OptionGroup GROUP = new OptionGroup(
        "liveness", "Connections", List.of(HELLO_TIMEOUT_NS, SILENT_LIMIT));

    private final long helloTimeoutNs;
    private final int silentLimit;

    LivenessConfig(ConfigSource source) {
        helloTimeoutNs = source.value(HELLO_TIMEOUT_NS);
        silentLimit = source.value(SILENT_LIMIT);
    }

    /**
     * Longest time from the connection to the client's hello.
     *
     * @return nanoseconds, from 1 ms to 600 s.
     */
    public long helloTimeoutNs() {
        return helloTimeoutNs;
    }

    /**
     * Largest number of open connections without a hello.
     *
     * @return 1 to 65536.
     */
    public int silentLimit() {
        return silentLimit;
    }
}
