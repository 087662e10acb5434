package org.jfabric.driver.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.status.CountersReader;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.EventRecordDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.RecordRingDescriptor;
import org.jfabric.layout.WorkRequestDescriptor;

/**
 * Shared memory that a configuration takes, in bytes. Blocks are reserved when a file is made, so the sums have to be
 * free in the directory's file system. Each is a sum of named parts. Owner: any thread; all functions are pure except
 * {@link #availableBytes}.
 */
public final class Sizing {

    /** Files take whole pages of a tmpfs: 4 KiB, on some aarch64 kernels 16 or 64. */
    static final long PAGE_BYTES = UnsafeApi.pageSize();
    /** The cnc file's own header in front of the counters. */
    static final long CNC_HEADER_BYTES = 4096;
    /** Activity bytes of a client's queues, one each. */
    static final long ACTIVITY_BYTES = 4096;
    /** Least number of cells of a slab, whatever the limit. */
    static final int MIN_SLAB_CELLS = 16;

    /** Record word and body of a send request: one cache line; injected bytes follow. */
    private static final int SEND_RECORD_BYTES = 64;
    /** Record word and body of a request with a list of buffers: two cache lines. */
    private static final int VECTOR_RECORD_BYTES = 128;
    /** The longest head of an operation: with a condition, and an access to as many ranges as there may be. */
    private static final int WORK_RECORD_BYTES = WorkRequestDescriptor.TRIGGERED_HEAD_LENGTH
        + WorkRequestDescriptor.MAX_PIECES * WorkRequestDescriptor.RANGE_LENGTH;
    private static final long MIN_RING_BYTES = 4L << 10;

    /** One endpoint, one completion queue, 4 MiB of registered memory, one peer driver. */
    public static final ClientShape DEFAULT_CLIENT = new ClientShape(1, 1, 4L << 20, 1);

    private Sizing() {
    }

    /**
     * A file, or several of one kind.
     *
     * @param name  its contents, for people.
     * @param bytes its length.
     */
    public record Part(String name, long bytes) {
    }

    /**
     * A sum of parts.
     *
     * @param parts in the order shown.
     */
    public record Need(List<Part> parts) {

        /**
         * Copies the list.
         */
        public Need {
            parts = List.copyOf(parts);
        }

        /**
         * The sum.
         *
         * @return bytes.
         */
        public long totalBytes() {
            long sum = 0;
            for (Part part : parts) {
                sum = Math.addExact(sum, part.bytes());
            }
            return sum;
        }

        /**
         * Both needs together.
         *
         * @param other another need.
         * @return the parts of both.
         */
        public Need plus(Need other) {
            List<Part> both = new ArrayList<>(parts);
            both.addAll(other.parts);
            return new Need(both);
        }
    }

    /**
     * Objects that a client opens.
     *
     * @param endpoints        with a transmit and a receive queue of default size each.
     * @param completionQueues of default size.
     * @param regionBytes      registered memory in one mapped region; 0 for none.
     * @param shmPeers         other drivers that its endpoints talk to over the shm link.
     */
    public record ClientShape(int endpoints, int completionQueues, long regionBytes, int shmPeers) {

        /**
         * The shape in words.
         *
         * @return such as {@code 1 endpoint(s), 1 completion queue(s), 4 MiB of registered memory, 1 shm peer(s)}.
         */
        public String describe() {
            return endpoints + " endpoint(s), " + completionQueues + " completion queue(s), " +
                Quantity.formatBytes(regionBytes) + " of registered memory, " + shmPeers + " shm peer(s)";
        }
    }

    /**
     * Bytes that the driver takes before any client connects.
     *
     * @param config the configuration.
     * @return the parts of the {@code cnc} file, and the {@code record} file.
     */
    public static Need forDriver(DriverConfig config) {
        long valuesBytes = config.get(CncConfig.COUNTERS_LENGTH_BYTES);
        long metadataBytes = valuesBytes / CountersReader.COUNTER_LENGTH * CountersReader.METADATA_LENGTH;
        long errorsBytes = config.get(CncConfig.ERROR_LOG_LENGTH_BYTES);
        long restBytes = valuesBytes + metadataBytes + errorsBytes;
        List<Part> parts = new ArrayList<>(List.of(
            new Part("cnc: header", pages(CNC_HEADER_BYTES + restBytes) - restBytes),
            new Part("cnc: counters' values", valuesBytes),
            new Part("cnc: counters' metadata", metadataBytes),
            new Part("cnc: error log", errorsBytes)));
        int events = config.get(LogConfig.RECORD_EVENTS);
        if (events > 0) {
            parts.add(new Part("record: last events", pages(
                EventRecordDescriptor.fileLength(recordRings(config), events))));
        }
        return new Need(parts);
    }

    /**
     * Rings of the {@code record} file.
     *
     * @param config the configuration.
     * @return two for each progress thread, one for conductor, resource threads and the driver itself.
     */
    public static int recordRings(DriverConfig config) {
        return 2 * config.get(ThreadingConfig.PROGRESS_THREADS) + 3;
    }

    /**
     * Bytes that clients take.
     *
     * @param config  the configuration.
     * @param shape   objects that each of them opens.
     * @param clients number of clients, 0 or more.
     * @return one part per kind of file.
     */
    public static Need forClients(DriverConfig config, ClientShape shape, int clients) {
        long endpoints = (long) clients * shape.endpoints();
        List<Part> parts = new ArrayList<>();
        parts.add(part("ctl: control rings", clients, ctlFileBytes(config)));
        parts.add(part("tq: transmit queues", endpoints, tqFileBytes(config, config.get(QueueConfig.TX_SIZE))));
        parts.add(part("rq: receive queues", endpoints, rqFileBytes(config, config.get(QueueConfig.RX_SIZE))));
        parts.add(part("cq: completion queues", (long) clients * shape.completionQueues(),
            cqFileBytes(config, config.get(QueueConfig.CQ_SIZE))));
        if (shape.regionBytes() > 0) {
            parts.add(part("mr: registered memory", clients, mrFileBytes(shape.regionBytes())));
        }
        if (config.get(LinkConfig.ENABLED).contains("shm")) {
            parts.add(part("ring: shm link", (long) clients * shape.shmPeers(), shmRingFileBytes(config)));
        }
        return new Need(parts);
    }

    /**
     * Bytes that default clients take.
     *
     * @param config  the configuration.
     * @param clients number of clients, 0 or more.
     * @return one part per kind of file.
     */
    public static Need forDefaultClients(DriverConfig config, int clients) {
        return forClients(config, DEFAULT_CLIENT, clients);
    }

    /**
     * A client's {@code .ctl} file: commands, events, activity bytes.
     *
     * @param config the configuration.
     * @return bytes.
     */
    public static long ctlFileBytes(DriverConfig config) {
        return pages(FileHeaderDescriptor.HEADER_LENGTH + 2 * ringFileBytes(config.get(QueueConfig.CTL_RING_BYTES))
            + ACTIVITY_BYTES);
    }

    /**
     * A {@code .tq} file.
     *
     * @param config the configuration.
     * @param txSize {@code tx_attr.size}.
     * @return bytes.
     */
    public static long tqFileBytes(DriverConfig config, int txSize) {
        return pages(ringFileBytes(tqLengthBytes(config, txSize)));
    }

    /**
     * A {@code .rq} file.
     *
     * @param config the configuration.
     * @param rxSize {@code rx_attr.size}.
     * @return bytes.
     */
    public static long rqFileBytes(DriverConfig config, int rxSize) {
        return pages(ringFileBytes(rqLengthBytes(config, rxSize)));
    }

    /**
     * A {@code .cq} file: entries of both reservations, and as many error cells.
     *
     * @param config the configuration.
     * @param cqSize {@code cq_attr.size}.
     * @return bytes.
     */
    public static long cqFileBytes(DriverConfig config, int cqSize) {
        return pages(CompletionQueueDescriptor.fileLength(Math.toIntExact(cqRingEntries(config, cqSize))));
    }

    /**
     * Ring length of a transmit queue, as set or derived.
     *
     * @param config the configuration.
     * @param txSize {@code tx_attr.size} of the endpoint or context, 1 or more.
     * @return bytes without the file's header, a power of two.
     */
    public static long tqLengthBytes(DriverConfig config, int txSize) {
        return tqLengthBytes(config, txSize, config.get(QueueConfig.INJECT_SIZE_BYTES));
    }

    /** As {@link #tqLengthBytes(DriverConfig, int)}, for an endpoint with that {@code tx_attr.inject_size}. */
    public static long tqLengthBytes(DriverConfig config, int txSize, int injectSizeBytes) {
        long set = config.get(QueueConfig.TQ_LENGTH_BYTES);
        int recordBytes = Math.max(VECTOR_RECORD_BYTES, SEND_RECORD_BYTES + injectSizeBytes);
        // operations that counters start have longer records; all of them at once need not find room
        return set != -1 ? set
            : Math.max(ringBytes(txSize, recordBytes), nextPowerOfTwo(twoWorkRecordsBytes(injectSizeBytes)));
    }

    /**
     * The greatest {@code tx_attr.inject_size} that an endpoint may ask for: what the option allows, if such a message
     * fits the eager limit, and two such records a queue whose length was set.
     */
    public static int maxInjectSizeBytes(DriverConfig config) {
        long set = config.get(QueueConfig.TQ_LENGTH_BYTES);
        long ofQueue = set == -1 ? Integer.MAX_VALUE : set / 2 - WORK_RECORD_BYTES;
        long most = Math.min(QueueConfig.INJECT_SIZE_BYTES.max(),
            Math.min(ofQueue, config.get(EngineConfig.EAGER_LIMIT_BYTES)));
        return (int) Math.max(config.get(QueueConfig.INJECT_SIZE_BYTES), most);
    }

    /**
     * Ring length of a receive queue, as set or derived.
     *
     * @param config the configuration.
     * @param rxSize {@code rx_attr.size} of the endpoint or context, 1 or more.
     * @return bytes without the file's header, a power of two.
     */
    public static long rqLengthBytes(DriverConfig config, int rxSize) {
        long set = config.get(QueueConfig.RQ_LENGTH_BYTES);
        return set != -1 ? set : ringBytes(rxSize, VECTOR_RECORD_BYTES);
    }

    /**
     * The driver's reservation in a completion queue, as set or derived.
     *
     * @param config the configuration.
     * @param cqSize the client's share, 1 or more.
     * @return entries, 1 or more.
     */
    public static int cqDriverShare(DriverConfig config, int cqSize) {
        int set = config.get(QueueConfig.CQ_DRIVER_SHARE);
        return set != -1 ? set : Math.max(16, cqSize / 4);
    }

    /**
     * Entries in the ring of a completion queue: the next power of two of the sum of both reservations.
     *
     * @param config the configuration.
     * @param cqSize the client's reservation, 1 or more.
     * @return entries, a power of two.
     */
    public static long cqRingEntries(DriverConfig config, int cqSize) {
        return nextPowerOfTwo((long) cqSize + cqDriverShare(config, cqSize));
    }

    /**
     * Greatest {@code FI_OPT_BUFFERED_LIMIT} and {@code FI_OPT_BUFFERED_MIN}.
     *
     * @param config the configuration.
     * @return bytes.
     */
    public static int maxBufferedLimitBytes(DriverConfig config) {
        return config.get(QueueConfig.SLAB_LENGTH_BYTES) / MIN_SLAB_CELLS;
    }

    /** Two records of operations that counters start: the least that a transmit queue has to hold. */
    static int twoWorkRecordsBytes(int injectSizeBytes) {
        return 2 * (WORK_RECORD_BYTES + injectSizeBytes);
    }

    /**
     * A {@code .mr} file.
     *
     * @param regionBytes registered memory.
     * @return bytes.
     */
    public static long mrFileBytes(long regionBytes) {
        return pages(Math.addExact(MemoryRegionDescriptor.DATA_OFFSET, regionBytes));
    }

    /**
     * A {@code .ring} file: one direction to one peer driver.
     *
     * @param config the configuration.
     * @return bytes.
     */
    public static long shmRingFileBytes(DriverConfig config) {
        return pages(ringFileBytes(config.get(ShmConfig.RING_LENGTH_BYTES)));
    }

    /**
     * Bytes that have to stay free after the driver has reserved its own files.
     *
     * @param config the configuration.
     * @return {@code jfabric.dir.reserveFreeBytes}; if that is derived, the need of one default client.
     */
    public static long reserveFreeBytes(DriverConfig config) {
        long configured = config.get(DirectoryConfig.RESERVE_FREE_BYTES);
        return configured != -1 ? configured : forDefaultClients(config, 1).totalBytes();
    }

    /**
     * Describes the remedy if a driver cannot start because its file system is too full.
     *
     * @param config         the configuration.
     * @param availableBytes free bytes in the driver's directory, before it reserves anything.
     * @return null if there is enough, else what is needed, what is there, and the remedies.
     */
    public static String shortage(DriverConfig config, long availableBytes) {
        Need driver = forDriver(config);
        long reserve = reserveFreeBytes(config);
        // Both are checked to be far from the end of the range: cnc at most 1 GiB, reserve at most 1 TiB.
        long needBytes = driver.totalBytes() + reserve;
        if (availableBytes >= needBytes) {
            return null;
        }
        boolean isDerived = config.get(DirectoryConfig.RESERVE_FREE_BYTES) == -1;
        Need named = isDerived
            ? driver.plus(forDefaultClients(config, 1))
            : driver.plus(new Need(List.of(new Part(DirectoryConfig.RESERVE_FREE_BYTES.name(), reserve))));
        StringBuilder text = new StringBuilder("this configuration needs ")
            .append(Quantity.describeBytes(needBytes)).append(isDerived ? " for driver and one default client, " : ", ")
            .append(Quantity.describeBytes(availableBytes)).append(" available in ")
            .append(config.directory()).append("; enlarge that file system by ")
            .append(Quantity.describeBytes(needBytes - availableBytes))
            .append(" (a tmpfs: mount -o remount,size=..., a container: --shm-size), choose another with ")
            .append(DirectoryConfig.BASE.name()).append(", or lower what is largest here:");
        List<Part> largestFirst = new ArrayList<>(named.parts());
        largestFirst.sort((left, right) -> Long.compare(right.bytes(), left.bytes()));
        for (Part part : largestFirst) {
            text.append("\n  ").append(part.name()).append(": ").append(Quantity.describeBytes(part.bytes()));
        }
        return text.toString();
    }

    /**
     * Free bytes where a directory is, or will be made.
     *
     * @param directory a directory, which need not exist yet.
     * @return bytes that this user may still take.
     * @throws IOException if the file system does not answer.
     */
    public static long availableBytes(Path directory) throws IOException {
        Path existing = directory.toAbsolutePath().normalize();
        while (!Files.exists(existing) && existing.getParent() != null) {
            existing = existing.getParent();
        }
        return Files.getFileStore(existing).getUsableSpace();
    }

    private static Part part(String name, long count, long eachBytes) {
        return new Part(
            count == 1 ? name : name + " (" + count + " x " + Quantity.formatBytes(eachBytes) + ")",
            Math.multiplyExact(count, eachBytes));
    }

    private static long ringFileBytes(long capacityBytes) {
        return RecordRingDescriptor.HEADER_LENGTH + capacityBytes;
    }

    private static long ringBytes(long records, long recordBytes) {
        long bytes = nextPowerOfTwo(records * recordBytes);
        return Math.clamp(bytes, MIN_RING_BYTES, RecordRingDescriptor.MAX_CAPACITY);
    }

    private static long nextPowerOfTwo(long value) {
        return value <= 1 ? 1 : Long.highestOneBit(value - 1) << 1;
    }

    private static long pages(long bytes) {
        return Math.addExact(bytes, PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    }
}
