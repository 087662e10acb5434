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
        .why("Longest ring of one direction to one peer driver. It begins with 12 KiB of memory and gets more with "
            + "what is sent. Raise it for bursts of many messages; lower it for many peers on a small tmpfs.");

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
    /** {@code jfabric.shm.groupRingLengthBytes}. */
    public static final Option<Long> GROUP_RING_LENGTH_BYTES = Option.bytes("jfabric.shm.groupRingLengthBytes")
        .defaultsTo(1L << 20)
        .range(4096L, 1L << 30)
        .powerOfTwo()
        .why("Ring of a group whose writer is in this driver, reserved in shared memory. The longest message is an "
            + "eighth of it less 32 bytes. Raise it for longer messages, or so that a slow reader holds the writer "
            + "back later, or loses less.");

    /** {@code jfabric.shm.groupStallTimeoutNs}. */
    public static final Option<Long> GROUP_STALL_TIMEOUT_NS = Option.durationNs("jfabric.shm.groupStallTimeoutNs")
        .defaultsTo(0L)
        .range(0L, 3_600_000_000_000L)
        .why("How long a reader may hold the writer of a group of this driver back without reading an eighth of its "
            + "ring; then it is removed from the group with FI_ETIMEDOUT. 0 waits for ever. A time costs readers one "
            + "more copy of each message.");

    static final OptionGroup GROUP = new OptionGroup(
        "shm", "The shm link",
        List.of(RING_LENGTH_BYTES, CONNECT_TIMEOUT_NS, SEGMENT_LENGTH_BYTES, REGION_CACHE_SIZE,
            GROUP_RING_LENGTH_BYTES, GROUP_STALL_TIMEOUT_NS));

    /** Pieces that a ring has to hold, so that the reader does not run out of work while the next one is written. */
    static final int RECORDS_PER_RING = 4;
    /** Upper bound of record word and header of a frame. */
    static final int RECORD_HEADER_BYTES = 256;

    private final long ringLengthBytes;
    private final long connectTimeoutNs;
    private final int segmentLengthBytes;
    private final int regionCacheSize;
    private final long groupRingLengthBytes;
    private final long groupStallTimeoutNs;

    ShmConfig(ConfigSource source) {
        ringLengthBytes = source.value(RING_LENGTH_BYTES);
        connectTimeoutNs = source.value(CONNECT_TIMEOUT_NS);
        segmentLengthBytes = Math.toIntExact(source.value(SEGMENT_LENGTH_BYTES));
        regionCacheSize = source.value(REGION_CACHE_SIZE);
        groupRingLengthBytes = source.value(GROUP_RING_LENGTH_BYTES);
        groupStallTimeoutNs = source.value(GROUP_STALL_TIMEOUT_NS);
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

    /**
     * Ring of a group.
     *
     * @return bytes without the file's header, a power of two.
     */
    public long groupRingLengthBytes() {
        return groupRingLengthBytes;
    }

    /**
     * How long a reader may hold a group's writer back.
     *
     * @return nanoseconds; 0 for ever.
     */
    public long groupStallTimeoutNs() {
        return groupStallTimeoutNs;
    }
}
