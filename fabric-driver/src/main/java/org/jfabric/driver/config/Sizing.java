package org.jfabric.driver.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.agrona.concurrent.status.CountersReader;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.layout.EventRecordDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * Shared memory that a configuration takes, in bytes. Blocks are reserved when a file is made, so the sums have to be
 * free in the directory's file system. Each is a sum of named parts. Owner: any thread; all functions are pure except
 * {@link #availableBytes}.
 */
public final class Sizing {

    /** Files take whole pages of a tmpfs. */
    static final long PAGE_BYTES = 4096;
    /** The cnc file's own header in front of the counters. */
    static final long CNC_HEADER_BYTES = 4096;
    /** Activity bytes of a client's queues, one each. */
    static final long ACTIVITY_BYTES = 4096;

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
        long valuesBytes = config.cnc().countersLengthBytes();
        List<Part> parts = new ArrayList<>(List.of(
            new Part("cnc: header", CNC_HEADER_BYTES),
            new Part("cnc: counters' values", valuesBytes),
            new Part(
                "cnc: counters' metadata",
                valuesBytes / CountersReader.COUNTER_LENGTH * CountersReader.METADATA_LENGTH),
            new Part("cnc: error log", config.cnc().errorLogLengthBytes())));
        int events = config.log().recordEvents();
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
        return 2 * config.threading().progressThreads() + 3;
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
        QueueConfig queue = config.queue();
        long endpoints = (long) clients * shape.endpoints();
        List<Part> parts = new ArrayList<>();
        parts.add(part("ctl: control rings", clients, ctlFileBytes(queue)));
        parts.add(part("tq: transmit queues", endpoints, tqFileBytes(queue, queue.txSize())));
        parts.add(part("rq: receive queues", endpoints, rqFileBytes(queue, queue.rxSize())));
        parts.add(part(
            "cq: completion queues", (long) clients * shape.completionQueues(), cqFileBytes(queue, queue.cqSize())));
        if (shape.regionBytes() > 0) {
            parts.add(part("mr: registered memory", clients, mrFileBytes(shape.regionBytes())));
        }
        if (config.link().enabled().contains("shm")) {
            parts.add(part("ring: shm link", (long) clients * shape.shmPeers(), shmRingFileBytes(config.shm())));
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
     * @param queue the sizes.
     * @return bytes.
     */
    public static long ctlFileBytes(QueueConfig queue) {
        return pages(
            FileHeaderDescriptor.HEADER_LENGTH + 2 * ringBytes(queue.ctlRingBytes()) + ACTIVITY_BYTES);
    }

    /**
     * A {@code .tq} file.
     *
     * @param queue  the sizes.
     * @param txSize {@code tx_attr.size}.
     * @return bytes.
     */
    public static long tqFileBytes(QueueConfig queue, int txSize) {
        return pages(ringBytes(queue.tqLengthBytes(txSize)));
    }

    /**
     * A {@code .rq} file.
     *
     * @param queue  the sizes.
     * @param rxSize {@code rx_attr.size}.
     * @return bytes.
     */
    public static long rqFileBytes(QueueConfig queue, int rxSize) {
        return pages(ringBytes(queue.rqLengthBytes(rxSize)));
    }

    /**
     * A {@code .cq} file: entries of both reservations, and as many error cells.
     *
     * @param queue  the sizes.
     * @param cqSize {@code cq_attr.size}.
     * @return bytes.
     */
    public static long cqFileBytes(QueueConfig queue, int cqSize) {
        return pages(CompletionQueueDescriptor.fileLength(Math.toIntExact(queue.cqRingEntries(cqSize))));
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
     * @param shm the sizes.
     * @return bytes.
     */
    public static long shmRingFileBytes(ShmConfig shm) {
        return pages(ringBytes(shm.ringLengthBytes()));
    }

    /**
     * Bytes that have to stay free after the driver has reserved its own files.
     *
     * @param config the configuration.
     * @return {@code jfabric.dir.reserveFreeBytes}; if that is derived, the need of one default client.
     */
    public static long reserveFreeBytes(DriverConfig config) {
        long configured = config.directory().configuredReserveFreeBytes();
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
        boolean isDerived = config.directory().configuredReserveFreeBytes() == -1;
        Need named = isDerived
            ? driver.plus(forDefaultClients(config, 1))
            : driver.plus(new Need(List.of(new Part(DirectoryConfig.RESERVE_FREE_BYTES.name(), reserve))));
        StringBuilder text = new StringBuilder("this configuration needs ")
            .append(Quantity.describeBytes(needBytes)).append(isDerived ? " for driver and one default client, " : ", ")
            .append(Quantity.describeBytes(availableBytes)).append(" available in ")
            .append(config.directory().path()).append("; enlarge that file system by ")
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

    private static long ringBytes(long capacityBytes) {
        return RecordRingDescriptor.HEADER_LENGTH + capacityBytes;
    }

    private static long pages(long bytes) {
        return Math.addExact(bytes, PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    }
}
