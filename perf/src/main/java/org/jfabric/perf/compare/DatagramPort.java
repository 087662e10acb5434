package org.jfabric.perf.compare;

import java.nio.file.Path;
import java.util.List;
import org.jfabric.AddressVector;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * A driver in mode INVOKER with a datagram endpoint. Receives are posted ahead, all at one place, and
 * only messages that are received have entries. Owner: one thread.
 */
final class DatagramPort implements Port, CompletionHandler, AutoCloseable {
    /** Longest message: what the link takes by default is one frame of an Ethernet. */
    static final int MOST_BYTES = 1472;

    /** Receives that are posted ahead of an exchange. */
    static final int FEW = 64;
    /** Distance of places in memory, of which each has one message. */
    static final int PLACE_BYTES = 1536;

    private static final long SEND = 1;
    private static final long RECEIVE = 2;

    private final int sizeBytes;
    private final int receives;
    /** Places that receives are posted at in turn, 1 for all at one place. */
    private final int places;
    private final FabricDriver driver;
    private final Fabric fabric;
    private final CompletionQueue queue;
    private final AddressVector addresses;
    private final Endpoint endpoint;
    private final MemoryRegion sendRegion;
    private final MemoryRegion receiveRegion;
    private final long sendAddress;
    private final long receiveAddress;
    private long peer;
    private long posted;
    private long received;
    private long lastLength;

    /**
     * Starts the driver and posts receives.
     *
     * @param link      udp or packet.
     * @param receives  that are posted ahead.
     * @param places    in the memory of either direction, 1 or as many as receives.
     */
    DatagramPort(String link, Path directory, String service, int sizeBytes, int receives, int places) {
        this.sizeBytes = sizeBytes;
        this.receives = receives;
        this.places = places;
        driver = FabricDriver.launchEmbedded(DriverConfig.builder()
            .directory(directory)
            .threadingMode(ThreadingMode.INVOKER)
            .set(LinkConfig.ENABLED, List.of(link))
            .build());
        fabric = driver.fabric();
        Info hints = new Info().caps(Flags.MSG | Flags.SEND | Flags.RECV).linkName(link);
        hints.epAttr().type(EndpointType.DGRAM);
        hints.txAttr().size(receives);
        hints.rxAttr().size(receives);
        Domain domain = fabric.domain(fabric.info(hints).best());
        queue = domain.openCompletionQueue(new CompletionQueueAttr().size(2 * receives));
        addresses = domain.openAddressVector(new AddressVectorAttr());
        sendRegion = domain.allocate((long) places * PLACE_BYTES);
        receiveRegion = domain.allocate((long) places * PLACE_BYTES);
        sendAddress = sendRegion.address(0);
        receiveAddress = receiveRegion.address(0);
        endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(queue, Flags.RECV);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.SELECTIVE_COMPLETION);
        endpoint.bind(addresses);
        endpoint.enable();
        endpoint.publish(service);
        postReceives();
    }

    /** Finds the other side. */
    void connect(String driverName, String service) {
        peer = addresses.insertService(driverName, service);
    }

    /** Memory that messages are sent from. */
    MemoryRegion sendRegion() {
        return sendRegion;
    }

    /** Memory that messages are received into. */
    MemoryRegion receiveRegion() {
        return receiveRegion;
    }

    /** Memory of the message with that number. */
    long placeOf(long message) {
        return message % places * PLACE_BYTES;
    }

    /** Bytes of the message received last. */
    long lastLength() {
        return lastLength;
    }

    @Override
    public boolean trySend() {
        return trySend(0);
    }

    /** As {@link #trySend()}, from that place in the memory. */
    boolean trySend(long place) {
        int result = endpoint.send(sendAddress + place, sizeBytes, peer, SEND);
        if (result == 0) {
            // while the message is on its way
            if (posted - received < receives) {
                postReceives();
            }
            return true;
        }
        if (result != -FabricErrno.EAGAIN) {
            throw Refusal.of(queue, result);
        }
        return false;
    }

    @Override
    public void poll() {
        int result = queue.poll(this, receives);
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw Refusal.of(queue, result);
        }
    }

    @Override
    public long received() {
        return received;
    }

    @Override
    public void onCompletion(Completion completion) {
        if (completion.opContext() == RECEIVE) {
            lastLength = completion.len();
            received++;
        }
    }

    private void postReceives() {
        while (posted - received < receives) {
            int result = endpoint.recv(receiveAddress + placeOf(posted), sizeBytes, FabricAddress.ADDR_UNSPEC, RECEIVE);
            if (result == -FabricErrno.EAGAIN) {
                return;
            }
            if (result != 0) {
                throw Refusal.of(queue, result);
            }
            posted++;
        }
    }

    @Override
    public void close() {
        try {
            fabric.close();
        } finally {
            driver.close();
        }
    }
}
