package org.jfabric.driver.config;

import java.util.List;

/**
 * Sizes of the driver's {@code cnc} file, which clients and tools map read-only. Immutable.
 */
public final class CncConfig {

    /** {@code jfabric.cnc.countersLengthBytes}. */
    public static final Option<Long> COUNTERS_LENGTH_BYTES = Option.bytes("jfabric.cnc.countersLengthBytes")
        .defaultsTo(256L << 10)
        .range(64L << 10, 128L << 20)
        .multipleOf(4096)
        .why("Values of the counters, 128 bytes each; their labels take more besides. Raise it "
            + "where there are more endpoints and peers than counters.");

    /** {@code jfabric.cnc.errorLogLengthBytes}. */
    public static final Option<Long> ERROR_LOG_LENGTH_BYTES = Option.bytes("jfabric.cnc.errorLogLengthBytes")
        .defaultsTo(256L << 10)
        .range(16L << 10, 64L << 20)
        .multipleOf(4096)
        .why("Log of distinct errors, each with count, first and last time. Raise it if it fills with different "
            + "errors before it is read.");

    static final OptionGroup GROUP = new OptionGroup(
        "cnc", "Counters and error log",
        List.of(COUNTERS_LENGTH_BYTES, ERROR_LOG_LENGTH_BYTES));

    private final int countersLengthBytes;
    private final int errorLogLengthBytes;

    CncConfig(ConfigSource source) {
        countersLengthBytes = Math.toIntExact(source.value(COUNTERS_LENGTH_BYTES));
        errorLogLengthBytes = Math.toIntExact(source.value(ERROR_LOG_LENGTH_BYTES));
    }

    /**
     * Length of the counters' values; their metadata takes more besides.
     *
     * @return bytes, a multiple of 4,096.
     */
    public int countersLengthBytes() {
        return countersLengthBytes;
    }

    /**
     * Length of the distinct error log.
     *
     * @return bytes, a multiple of 4,096.
     */
    public int errorLogLengthBytes() {
        return errorLogLengthBytes;
    }
}
