package org.jfabric.driver.config;

import java.util.List;

/**
 * The rxm link: values that both ends of its protocol have to agree on. Immutable.
 */
public final class RxmConfig {
    /** {@code jfabric.rxm.eagerLimitBytes}. */
    public static final Option<Long> EAGER_LIMIT_BYTES = Option.bytes("jfabric.rxm.eagerLimitBytes")
        .defaultsTo(16L << 10)
        .range(1L << 10, 63L << 10)
        .why("Longest payload of one packet. Has to be the same at both ends: a peer with another one is refused. C "
            + "programs use 16 KiB, or what FI_OFI_RXM_BUFFER_SIZE says. Atomic operations need 2144 bytes.");

    /** {@code jfabric.rxm.segmentedLimitBytes}. */
    public static final Option<Long> SEGMENTED_LIMIT_BYTES = Option.bytes("jfabric.rxm.segmentedLimitBytes")
        .defaultsTo(128L << 10)
        .range(0L, 1L << 40)
        .why("Longest message that is sent in packets; the peer reads longer ones straight from the sender's memory, "
            + "at the price of a round trip before. May differ from the peer's.");

    static final OptionGroup GROUP = new OptionGroup(
        "rxm", "The rxm link: reliable datagrams over connections, as in libfabric's ofi_rxm",
        List.of(EAGER_LIMIT_BYTES, SEGMENTED_LIMIT_BYTES));

    private static final int HEADER_BYTES = 64;

    private final int eagerLimitBytes;
    private final long segmentedLimitBytes;

    RxmConfig(ConfigSource source) {
        eagerLimitBytes = Math.toIntExact(source.value(EAGER_LIMIT_BYTES));
        segmentedLimitBytes = source.value(SEGMENTED_LIMIT_BYTES);
    }

    /**
     * Longest payload of one packet.
     *
     * @return bytes, at most 63 KiB.
     */
    public int eagerLimitBytes() {
        return eagerLimitBytes;
    }

    /**
     * Longest packet, with its header.
     *
     * @return bytes.
     */
    public int packetBytes() {
        return HEADER_BYTES + eagerLimitBytes;
    }

    /**
     * Longest message that is sent in packets.
     *
     * @return bytes.
     */
    public long segmentedLimitBytes() {
        return segmentedLimitBytes;
    }
}
