package org.jfabric.driver.config;

/**
 * Sizes of the driver's {@code cnc} file, which clients and tools map read-only.
 */
public final class CncConfig {
    static final OptionGroup GROUP = new OptionGroup("cnc", "Counters and error log");

    /** {@code jfabric.cnc.countersLengthBytes}. */
    public static final Option<Integer> COUNTERS_LENGTH_BYTES = GROUP.intBytes("jfabric.cnc.countersLengthBytes")
        .defaultsTo(384 << 10)
        .range(64 << 10, 128 << 20)
        .multipleOf(4096)
        .why("Values of the counters, 128 bytes each; their labels take more besides. Raise it "
            + "where there are more endpoints and peers than counters.");

    /** {@code jfabric.cnc.errorLogLengthBytes}. */
    public static final Option<Integer> ERROR_LOG_LENGTH_BYTES = GROUP.intBytes("jfabric.cnc.errorLogLengthBytes")
        .defaultsTo(256 << 10)
        .range(16 << 10, 64 << 20)
        .multipleOf(4096)
        .why("Log of distinct errors, each with count, first and last time. Raise it if it fills with different "
            + "errors before it is read.");

    private CncConfig() {
    }
}
