package org.jfabric.tool;

import java.nio.file.Path;
import java.util.List;
import org.jfabric.AddressVector;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.config.QueueConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * Objects that one process of a ping-pong has open: perhaps a driver, and for an application an endpoint with its
 * queues and memory. Owner: the application's thread.
 */
public final class PingPongFabric implements AutoCloseable {
    /** Operations in each direction; small queues stay in the cache. */
    public static final int QUEUE_SIZE = 64;
    private static final int LEAST_REGION_BYTES = 64;

    private final FabricDriver driver;
    private final Fabric fabric;
    private final CompletionQueue queue;
    private final AddressVector addresses;
    private final MemoryRegion receiveRegion;
    private final MemoryRegion sendRegion;
    private final Endpoint endpoint;

    private PingPongFabric(FabricDriver driver) {
        this.driver = driver;
        fabric = null;
        queue = null;
        addresses = null;
        receiveRegion = null;
        sendRegion = null;
        endpoint = null;
    }

    private PingPongFabric(
        FabricDriver driver,
        Fabric fabric,
        String link,
        long sizeBytes,
        String service,
        int receives,
        int receiveSlots) {
        this.driver = driver;
        this.fabric = fabric;
        Info hints = new Info().caps(Flags.TAGGED | Flags.SEND | Flags.RECV).linkName(link);
        hints.epAttr().type(EndpointType.RDM).maxMsgSize(sizeBytes);
        hints.txAttr().size(QUEUE_SIZE);
        hints.rxAttr().size(receives);
        Domain domain = fabric.domain(fabric.info(hints).best());
        queue = domain.openCompletionQueue(new CompletionQueueAttr().size(QUEUE_SIZE + receives));
        addresses = domain.openAddressVector(new AddressVectorAttr());
        receiveRegion = domain.allocate(Math.max(LEAST_REGION_BYTES, Math.max(1, receiveSlots) * sizeBytes));
        sendRegion = domain.allocate(Math.max(LEAST_REGION_BYTES, sizeBytes));
        endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(queue, Flags.RECV);
        endpoint.bind(queue, receiveSlots > 0 ? Flags.TRANSMIT : Flags.TRANSMIT | Flags.SELECTIVE_COMPLETION);
        endpoint.bind(addresses);
        endpoint.enable();
        endpoint.publish(service);
    }

    /** Starts a driver for others. */
    static PingPongFabric daemon(Path directory, ThreadingMode mode, String link) {
        return new PingPongFabric(FabricDriver.launch(builder(directory, mode, link).build()));
    }

    /**
     * Opens an endpoint.
     *
     * @param mode      of a driver of its own, or null to attach to one that runs.
     * @return open, to be closed by the caller.
     */
    public static PingPongFabric application(
        Path directory, ThreadingMode mode, String link, long sizeBytes, String service) {
        return open(directory, mode, link, sizeBytes, service, QUEUE_SIZE, 0);
    }

    /**
     * Opens an endpoint for messages that follow each other without waiting: each send has its entry.
     *
     * @param mode         of a driver of its own, or null to attach to one that runs.
     * @param receives     that may be posted at once; {@link #QUEUE_SIZE} is usual.
     * @param receiveSlots messages that the region for receiving has room for, at least 1.
     * @return open, to be closed by the caller.
     */
    public static PingPongFabric streaming(
        Path directory,
        ThreadingMode mode,
        String link,
        long sizeBytes,
        String service,
        int receives,
        int receiveSlots) {
        return open(directory, mode, link, sizeBytes, service, receives, Math.max(1, receiveSlots));
    }

    private static PingPongFabric open(
        Path directory,
        ThreadingMode mode,
        String link,
        long sizeBytes,
        String service,
        int receives,
        int receiveSlots) {
        FabricDriver driver = mode == null ? null
            : FabricDriver.launchEmbedded(config(directory, mode, link, receives));
        Fabric fabric = null;
        boolean open = false;
        try {
            fabric = driver != null ? driver.fabric()
                : Fabric.connect(new FabricConfig().directory(directory).clientName(service));
            PingPongFabric result = new PingPongFabric(
                driver, fabric, link, sizeBytes, service, receives, receiveSlots);
            open = true;
            return result;
        } finally {
            if (!open) {
                close(fabric, driver);
            }
        }
    }

    /** Inserts the address of the other side. */
    public long peer(String driverName, String service) {
        return addresses.insertService(driverName, service);
    }

    /** Sends and receives. */
    public Endpoint endpoint() {
        return endpoint;
    }

    /** Entries of both directions. */
    public CompletionQueue queue() {
        return queue;
    }

    /** Memory to receive into. Returns the region with room for the slots asked for, at least one. */
    public MemoryRegion receiveRegion() {
        return receiveRegion;
    }

    public MemoryRegion sendRegion() {
        return sendRegion;
    }

    /** Reads the error entry that a poll stopped at. */
    public String failure() {
        CompletionError error = new CompletionError();
        int result = queue.readErr(error, 0);
        if (result != 1) {
            return "A transfer failed, and its error entry cannot be read (" + FabricErrno.name(-result) + ").";
        }
        return "A transfer failed with " + FabricErrno.name(error.err()) + " (" + queue.strerror(error.provErrno())
            + ") after " + error.len() + " bytes.";
    }

    @Override
    public void close() {
        close(fabric, driver);
    }

    @Override
    public String toString() {
        return endpoint == null ? "driver alone" : endpoint.toString();
    }

    private static void close(Fabric fabric, FabricDriver driver) {
        try {
            if (fabric != null) {
                fabric.close();
            }
        } finally {
            if (driver != null) {
                driver.close();
            }
        }
    }

    private static DriverConfig config(Path directory, ThreadingMode mode, String link, int receives) {
        DriverConfig.Builder config = builder(directory, mode, link);
        if (receives > QueueConfig.RX_SIZE.defaultValue()) {
            config.set(QueueConfig.RX_SIZE, receives);
        }
        return config.build();
    }

    private static DriverConfig.Builder builder(Path directory, ThreadingMode mode, String link) {
        DriverConfig.Builder config = DriverConfig.builder().directory(directory).threadingMode(mode);
        if (!LinkConfig.ENABLED.defaultValue().contains(link) && !link.equals(PingPongPlan.BEST)) {
            config.set(LinkConfig.ENABLED, List.of(link));
        }
        return config;
    }
}
