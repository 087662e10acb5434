package org.jfabric.perf.compare;

import java.nio.file.Path;
import java.util.List;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.LinkConfig;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.tool.PingPongContents;
import org.jfabric.tool.ToolException;

/**
 * A driver in mode INVOKER with a datagram endpoint. Receives are posted ahead, all at one place unless contents are
 * compared, and only messages that are received have entries. A message that was lost would end the pass: on the
 * loopback interface none is as long as the receiver has room for a burst. Owner: one thread.
 */
final class DatagramPort implements Port, CompletionHandler {
    /** Longest message: what the link takes by default is one frame of an Ethernet. */
    static final int MOST_BYTES = 1472;

    /** Receives that are posted ahead of an exchange. */
    private static final int FEW = 64;
    /** Distance of places in memory, of which each has one message. */
    private static final int PLACE_BYTES = 1536;

    private static final long SEND = 1;
    private static final long RECEIVE = 2;

    private final String otherDriver;
    private final String otherService;
    private final int sizeBytes;
    private final int receives;
    /** Places that receives are posted at in turn, 1 for all at one place. */
    private final int places;
    private final InvokedEndpoint own;
    private final CompletionQueue queue;
    private final Endpoint endpoint;
    private final MemoryRegion sendRegion;
    private final MemoryRegion receiveRegion;
    private final long sendAddress;
    private final long receiveAddress;
    private long peer;
    private long posted;
    private long sent;
    private long received;
    private boolean comparing;

    /**
     * Starts the driver.
     *
     * @param link udp or packet.
     */
    DatagramPort(String link, SideSettings settings) {
        this(link, settings.ownDirectory(), settings.role().text(), settings.other().text(), settings.other().text(),
            settings.sizeBytes(), settings.pass());
    }

    /** Starts a driver that sends to a service of a named driver. */
    DatagramPort(String link, Path directory, String service, String otherDriver, String otherService, int sizeBytes,
        Pass pass) {
        this.otherDriver = otherDriver;
        this.otherService = otherService;
        this.sizeBytes = sizeBytes;
        receives = pass == Pass.EXCHANGE || pass == Pass.VERIFY ? FEW : 2 * PortLoops.CHUNK;
        places = pass == Pass.VERIFY_STREAM ? receives : 1;
        Info hints = new Info().caps(Flags.MSG | Flags.SEND | Flags.RECV).linkName(link);
        hints.epAttr().type(EndpointType.DGRAM);
        own = new InvokedEndpoint(
            DriverConfig.builder().directory(directory).set(LinkConfig.ENABLED, List.of(link)), hints, receives);
        queue = own.queue;
        sendRegion = own.domain.allocate((long) places * PLACE_BYTES);
        receiveRegion = own.domain.allocate((long) places * PLACE_BYTES);
        sendAddress = sendRegion.address(0);
        receiveAddress = receiveRegion.address(0);
        endpoint = own.endpoint;
        endpoint.bind(queue, Flags.RECV);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.SELECTIVE_COMPLETION);
        own.enable(service);
        postReceives();
    }

    @Override
    public void connect() {
        peer = own.peer(otherDriver, otherService);
    }

    @Override
    public void cycle() {
        poll();
    }

    @Override
    public void begin(Pass pass) {
        comparing = pass == Pass.VERIFY || pass == Pass.VERIFY_STREAM;
    }

    @Override
    public boolean sendsBursts() {
        return true;
    }

    /** Memory of the message with that number. */
    private long placeOf(long message) {
        return message % places * PLACE_BYTES;
    }

    @Override
    public boolean trySend() {
        long place = 0;
        if (comparing) {
            place = placeOf(sent);
            PingPongContents.fill(sendRegion.segment().asSlice(place, sizeBytes), sizeBytes, sent);
        }
        int result = endpoint.send(sendAddress + place, sizeBytes, peer, SEND);
        if (result == 0) {
            sent++;
            // while the message is on its way
            if (posted - received < receives) {
                postReceives();
            }
            return true;
        }
        Refusal.unlessAgain(queue, result);
        return false;
    }

    @Override
    public void poll() {
        Refusal.unlessAgain(queue, queue.poll(this, receives));
    }

    @Override
    public long received() {
        return received;
    }

    @Override
    public void onCompletion(Completion completion) {
        if (completion.opContext() == RECEIVE) {
            if (comparing) {
                compare(completion.len());
            }
            received++;
        }
    }

    private void compare(long length) {
        long position = length != sizeBytes ? length : PingPongContents.mismatch(
            receiveRegion.segment().asSlice(placeOf(received), sizeBytes), sizeBytes, received);
        if (position >= 0) {
            throw new ToolException("Datagram " + received + " arrived with " + length
                + " bytes and differs from what was sent at " + position
                + "; this is a defect of JFabric, please report it.");
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
        own.close();
    }
}
