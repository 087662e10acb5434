package org.jfabric.driver.config;

/**
 * Tables of newest values, whose memory is the driver's.
 */
public final class TableConfig {
    static final OptionGroup GROUP = new OptionGroup("table", "Tables of newest values");

    /** {@code jfabric.table.limit}. */
    public static final Option<Integer> LIMIT = GROUP.count("jfabric.table.limit")
        .defaultsTo(256)
        .range(0, 1 << 16)
        .why("Tables that the clients may have at the same time, those of dead writers included. Lower it to bound "
            + "the memory of clients that make tables; 0 refuses all.");

    /** {@code jfabric.table.lengthBytes}. */
    public static final Option<Long> LENGTH_BYTES = GROUP.bytes("jfabric.table.lengthBytes")
        .defaultsTo(64L << 20)
        .range(4096L, 1L << 40)
        .why("Most memory of one table: for each slot 64 bytes and two values, each in whole cache lines. It is "
            + "reserved when the table is made. Raise it for more keys or longer values.");

    private TableConfig() {
    }
}
