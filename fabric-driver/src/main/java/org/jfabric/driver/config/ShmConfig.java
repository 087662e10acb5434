package org.jfabric.driver.config;

import java.util.List;

/**
 * The shm link: rings to other drivers of this user on this host, and their regions. Immutable.
 */
public final class ShmConfig {

    /** {@code jfabric.shm.ringLengthBytes}. */
    public static final Option<Long> RING_LENGTH_BYTES = Option.bytes("jfabric.shm.ringLengthBytes")
        .defaultsTo(1L << 20)
        .range(64L << 10, 1L << 30)
        .powerOfTwo()
        .why("Ring of one direction to one peer driver, reserved in shared memory. Raise it for bursts of many "
            + "messages; lower it for many peers on a small tmpfs.");

    /** {@code jfabric.shm.connectTimeoutNs}. */
    public static final Option<Long> CONNECT_TIMEOUT_NS = Option.durationNs("jfabric.shm.connectTimeoutNs")
        .defaultsTo(5_000_000_000L)
        .range(1_000_000L, 600_000_000_000L)
        .why("How long a peer driver may take to answer before operations to it fail. Raise it where drivers "
            + "start slowly or are stopped for a while.");

    /** {@code jfabric.shm.segmentLengthBytes}. */
    public static final Option<Long> SEGMENT_LENGTH_BYTES = Option.bytes("jfabric.shm.segmentLengthBytes")
        .defaultsTo(32L << 10)
        .range(1L << 10, 8L << 20)
        .multipleOf(64)
        .why("Payload of one piece of a large message while single copy is not possible (region not yet mapped, "
            + "or not shared). Raise it for throughput, lower it so that small messages wait less behind large ones.");

    /** {@code jfabric.shm.regionCacheSize}. */
    public static final Option<Integer> REGION_CACHE_SIZE = Option.count("jfabric.shm.regionCacheSize")
        .defaultsTo(256)
        .range(1, 1 << 16)
        .why("Regions of other drivers' clients kept mapped for single copy. Raise it where more regions are in "
            + "use at a time; each takes address space and a mapping of the kernel's limit (vm.max_map_count).");

    static final OptionGroup GROUP = new OptionGroup(
        "shm", "The shm link",
        List.of(RING_LENGTH_BYTES, CONNECT_TIMEOUT_NS, SEGMENT_LENGTH_BYTES, REGION_CACHE_SIZE));

    /** Pieces that a ring has to hold, so that the reader does not run out of work while the next one is written. */
    static final int RECORDS_PER_RING = 4;
    /** Upper bound of record word and header of a frame. */
    static final int RECORD_HEADER_BYTES = 256;

    private final long ringLengthBytes;
    private final long connectTimeoutNs;
    private final int segmentLengthBytes;
    private final int regionCacheSize;

    ShmConfig(ConfigSource source) {
        ringLengthBytes = source.value(RING_LENGTH_BYTES);
        connectTimeoutNs = source.value(CONNECT_TIMEOUT_NS);
        segmentLengthBytes = Math.toIntExact(source.value(SEGMENT_LENGTH_BYTES));
        regionCacheSize = source.value(REGION_CACHE_SIZE);
        source.check(
            ringLengthBytes / RECORDS_PER_RING >= segmentLengthBytes + RECORD_HEADER_BYTES,
            "the ring has to hold " + RECORDS_PER_RING + " segments with their headers",
            RING_LENGTH_BYTES, SEGMENT_LENGTH_BYTES);
    }

    /**
     * Ring of one direction to one peer driver.
     *
     * @return bytes without the file's header, a power of two.
     */
    public long ringLengthBytes() {
        return ringLengthBytes;
    }

    /**
     * Longest time for a peer driver to answer a connect.
     *
     * @return nanoseconds, from 1 ms to 600 s.
     */
    public long connectTimeoutNs() {
        return connectTimeoutNs;
    }

    /**
     * Payload of one piece of a segmented message.
     *
     * @return bytes, a multiple of 64.
     */
    public int segmentLengthBytes() {
        return segmentLengthBytes;
    }

    /**
     * Regions of peers that stay mapped for single copy.
     *
     * @return 1 or more.
     */
    public int regionCacheSize() {
        return regionCacheSize;
    }
}
