package org.jfabric.driver.config;

/**
 * Limits for connections to the driver's socket whose client has not identified itself. There is no client time-out:
 * only the end of file of a client's socket means that it is dead.
 */
public final class LivenessConfig {
    static final OptionGroup GROUP = new OptionGroup("liveness", "Connections");

    /** {@code jfabric.liveness.helloTimeoutNs}. */
    public static final Option<Long> HELLO_TIMEOUT_NS = GROUP.durationNs("jfabric.liveness.helloTimeoutNs")
        .defaultsTo(5_000_000_000L)
        .range(1_000_000L, 600_000_000_000L)
        .why("Longest time from a connection to the driver's socket to the client's hello; then the connection is "
            + "closed, so that programs that only connect do not use up the descriptors. A client that has said hello "
            + "may be silent without limit. Raise it where processes are stopped for long just while they connect.");

    /** {@code jfabric.liveness.silentLimit}. */
    public static final Option<Integer> SILENT_LIMIT = GROUP.count("jfabric.liveness.silentLimit")
        .defaultsTo(256)
        .range(1, 1 << 16)
        .why("Connections to the driver's socket that may be open without having said hello. Beyond it the oldest one "
            + "is closed for the newest; each takes a descriptor and at most 8 KiB of heap. Raise it where more "
            + "clients than that start in the same moment.");

    private LivenessConfig() {
    }
}
