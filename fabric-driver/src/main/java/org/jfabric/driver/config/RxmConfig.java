package org.jfabric.driver.config;

/**
 * The rxm link: values that both ends of its protocol have to agree on.
 */
public final class RxmConfig {
    static final OptionGroup GROUP = new OptionGroup(
        "rxm", "The rxm link: reliable datagrams over connections, as in libfabric's ofi_rxm");

    /** {@code jfabric.rxm.eagerLimitBytes}. */
    public static final Option<Integer> EAGER_LIMIT_BYTES = GROUP.intBytes("jfabric.rxm.eagerLimitBytes")
        .defaultsTo(16 << 10)
        .range(1 << 10, 63 << 10)
        .why("Longest payload of one packet. Has to be the same at both ends: a peer with another one is refused. C "
            + "programs use 16 KiB, or what FI_OFI_RXM_BUFFER_SIZE says. Atomic operations need 2144 bytes.");

    /** {@code jfabric.rxm.segmentedLimitBytes}. */
    public static final Option<Long> SEGMENTED_LIMIT_BYTES = GROUP.bytes("jfabric.rxm.segmentedLimitBytes")
        .defaultsTo(128L << 10)
        .range(0L, 1L << 40)
        .why("Longest message that is sent in packets; the peer reads longer ones straight from the sender's memory, "
            + "at the price of a round trip before. May differ from the peer's.");

    private static final int HEADER_BYTES = 64;

    private RxmConfig() {
    }

    /**
     * Longest packet, with its header.
     *
     * @param config the options.
     * @return bytes.
     */
    public static int packetBytes(DriverConfig config) {
        return HEADER_BYTES + config.get(EAGER_LIMIT_BYTES);
    }
}
