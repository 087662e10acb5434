package org.jfabric.driver.config;

/**
 * The shm link: rings to other drivers of this user on this host, and their regions.
 */
public final class ShmConfig {
    static final OptionGroup GROUP = new OptionGroup("shm", "The shm link", ShmConfig::check);

    /** {@code jfabric.shm.ringLengthBytes}. */
    public static final Option<Integer> RING_LENGTH_BYTES = GROUP.intBytes("jfabric.shm.ringLengthBytes")
        .defaultsTo(1 << 20)
        .range(64 << 10, 1 << 30)
        .powerOfTwo()
        .why("Longest ring of one direction to one peer driver. It begins with 12 KiB of memory and gets more with "
            + "what is sent. Raise it for bursts of many messages; lower it for many peers on a small tmpfs.");

    /** {@code jfabric.shm.connectTimeoutNs}. */
    public static final Option<Long> CONNECT_TIMEOUT_NS = GROUP.durationNs("jfabric.shm.connectTimeoutNs")
        .defaultsTo(5_000_000_000L)
        .range(1_000_000L, 600_000_000_000L)
        .why("How long a peer driver may take to answer before operations to it fail. Raise it where drivers "
            + "start slowly or are stopped for a while.");

    /** {@code jfabric.shm.segmentLengthBytes}. */
    public static final Option<Integer> SEGMENT_LENGTH_BYTES = GROUP.intBytes("jfabric.shm.segmentLengthBytes")
        .defaultsTo(32 << 10)
        .range(1 << 10, 8 << 20)
        .multipleOf(64)
        .why("Payload of one piece of a large message while single copy is not possible (region not yet mapped, "
            + "or not shared). Raise it for throughput, lower it so that small messages wait less behind large ones.");

    /** {@code jfabric.shm.regionCacheSize}. */
    public static final Option<Integer> REGION_CACHE_SIZE = GROUP.count("jfabric.shm.regionCacheSize")
        .defaultsTo(256)
        .range(1, 1 << 16)
        .why("Regions of other drivers' clients kept mapped for single copy. Raise it where more regions are in "
            + "use at a time; each takes address space and a mapping of the kernel's limit (vm.max_map_count).");

    /** {@code jfabric.shm.groupRingLengthBytes}. */
    public static final Option<Integer> GROUP_RING_LENGTH_BYTES = GROUP.intBytes("jfabric.shm.groupRingLengthBytes")
        .defaultsTo(1 << 20)
        .range(4096, 1 << 30)
        .powerOfTwo()
        .why("Ring of a group whose writer is in this driver, reserved in shared memory. The longest message is an "
            + "eighth of it less 32 bytes. Raise it for longer messages, or so that a slow reader holds the writer "
            + "back later, or loses less.");

    /** {@code jfabric.shm.groupStallTimeoutNs}. */
    public static final Option<Long> GROUP_STALL_TIMEOUT_NS = GROUP.durationNs("jfabric.shm.groupStallTimeoutNs")
        .defaultsTo(0L)
        .range(0L, 3_600_000_000_000L)
        .why("How long a reader may hold the writer of a group of this driver back without reading an eighth of its "
            + "ring; then it is removed from the group with FI_ETIMEDOUT. 0 waits for ever. A time costs readers one "
            + "more copy of each message.");

    /** Pieces that a ring has to hold, so that the reader does not run out of work while the next one is written. */
    private static final int RECORDS_PER_RING = 4;
    /** Upper bound of record word and header of a frame. */
    private static final int RECORD_HEADER_BYTES = 256;

    private ShmConfig() {
    }

    private static void check(DriverConfig config, ConfigSource source) {
        int recordBytes = config.get(RING_LENGTH_BYTES) / RECORDS_PER_RING - RECORD_HEADER_BYTES;
        source.check(
            recordBytes >= config.get(SEGMENT_LENGTH_BYTES),
            "the ring has to hold " + RECORDS_PER_RING + " segments with their headers",
            RING_LENGTH_BYTES, SEGMENT_LENGTH_BYTES);
        source.check(
            recordBytes >= config.get(EngineConfig.EAGER_LIMIT_BYTES),
            "the ring of the shm link has to hold " + RECORDS_PER_RING +
            " eager messages of full size with their headers",
            RING_LENGTH_BYTES, EngineConfig.EAGER_LIMIT_BYTES);
    }
}
