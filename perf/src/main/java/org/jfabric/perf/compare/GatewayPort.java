package org.jfabric.perf.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jfabric.Completion;
import org.jfabric.CompletionError;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.PassiveEndpoint;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.tool.ToolException;

/**
 * Connections over tcp, of which one has traffic. The answering side accepts them; if there are several they share one
 * receive context, as in a gateway. Both sides drive a driver of their own in mode INVOKER.
 */
final class GatewayPort implements Port, CompletionHandler {
    private static final int QUEUE_SIZE = 64;
    private static final int POLL_LIMIT = 16;
    /** Connections that are asked for at the same time. */
    private static final int BATCH = 50;
    private static final long TAG = 0x676174L;
    private static final long SEND = -1;
    private static final long RECEIVE = 1;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

    private final SideSettings settings;
    private final int connections;
    private final FabricDriver driver;
    private final Fabric fabric;
    private final Info info;
    private final Domain domain;
    private final EventQueue events;
    private final EventEntry event = new EventEntry();
    private final CompletionQueue queue;
    private final MemoryRegion region;
    private final List<Endpoint> endpoints = new ArrayList<>();
    /** Where receives are posted: the shared context, or null for the endpoint's own. */
    private final Endpoint shared;
    private Endpoint active;
    private Endpoint receives;
    private int connected;
    private final CompletionError error = new CompletionError();
    /** A connection has ended: the other side closes. */
    private boolean isOver;
    private long posted;
    private long received;

    /**
     * Starts the driver, and listens where connections are accepted.
     *
     * @param connections to open; with more than one they share their receives.
     */
    GatewayPort(SideSettings settings, int connections) {
        this.settings = settings;
        this.connections = connections;
        driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(settings.ownDirectory())
            .threadingMode(ThreadingMode.INVOKER).build());
        fabric = driver.fabric();
        Info hints = new Info().caps(Flags.TAGGED).linkName("tcp");
        hints.epAttr().type(EndpointType.MSG);
        hints.txAttr().size(QUEUE_SIZE);
        hints.rxAttr().size(QUEUE_SIZE);
        info = fabric.info(hints).best();
        domain = fabric.domain(info);
        events = fabric.openEventQueue(new EventQueueAttr().size(2L * connections + QUEUE_SIZE));
        queue = domain.openCompletionQueue(new CompletionQueueAttr().size(4L * QUEUE_SIZE));
        region = domain.allocate(2L * Math.max(settings.sizeBytes(), QUEUE_SIZE));
        boolean accepts = settings.role() == SideRole.PONG;
        shared = accepts && connections > 1 ? domain.openSharedReceiveContext(info.rxAttr(), 0) : null;
        if (accepts) {
            PassiveEndpoint passive = fabric.openPassiveEndpoint(info);
            passive.bind(events, 0);
            passive.setBacklog(2 * BATCH);
            passive.listen();
            publish(passive.name());
        }
    }

    @Override
    public void connect() {
        if (settings.role() != SideRole.PING) {
            return;
        }
        String gateway = gateway();
        long begin = System.nanoTime();
        while (connected < connections) {
            // the first one alone: it is the first at the other side, too, and has the traffic
            int wanted = connected == 0 ? 1 : Math.min(connections, connected + BATCH);
            while (endpoints.size() < wanted) {
                Endpoint endpoint = open(info);
                endpoint.connect(gateway);
                endpoints.add(endpoint);
            }
            while (connected < wanted) {
                cycle();
                if (System.nanoTime() - begin > TIMEOUT_NS) {
                    throw new ToolException(connected + " of " + connections + " connections were made in time.");
                }
            }
        }
        use(endpoints.getFirst());
    }

    /** Takes what the event queue has: requests are accepted. */
    @Override
    public void cycle() {
        poll();
        int result = events.read(event, 0);
        if (result == 1 && event.type() == EventType.CONNREQ) {
            accept(event.info());
        } else if (result == 1 && event.type() == EventType.CONNECTED) {
            connected++;
        } else if (result == 1 && event.type() == EventType.SHUTDOWN) {
            isOver = true;
        } else if (result != -FabricErrno.EAGAIN) {
            throw new ToolException("A connection failed (" + (result == 1 ? event : FabricErrno.name(-result)) + ").");
        }
    }

    private void accept(Info request) {
        if (shared != null) {
            request.epAttr().rxCtxCnt(FabricAddress.SHARED_CONTEXT);
        }
        Endpoint endpoint = open(request);
        if (shared != null) {
            endpoint.bind(shared, 0);
        }
        endpoint.accept();
        endpoints.add(endpoint);
        if (active == null) {
            use(endpoint);
        }
    }

    private Endpoint open(Info of) {
        Endpoint endpoint = domain.openEndpoint(of);
        endpoint.bind(queue, Flags.RECV);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.SELECTIVE_COMPLETION);
        endpoint.bind(events, 0);
        return endpoint;
    }

    private void use(Endpoint endpoint) {
        active = endpoint;
        receives = shared != null ? shared : endpoint;
    }

    @Override
    public boolean trySend() {
        int result = active.tsend(region.address(0), settings.sizeBytes(), 0, TAG, SEND);
        if (result == -FabricErrno.ENOTCONN && !isOver) {
            // the first message may come before the event that the connection is made
            cycle();
            return false;
        }
        if (result != 0 && result != -FabricErrno.EAGAIN) {
            throw refused(result);
        }
        return result == 0;
    }

    @Override
    public void poll() {
        if (receives == null) {
            // a queue can be read when an endpoint is enabled that reports to it
            return;
        }
        int result = queue.poll(this, POLL_LIMIT);
        if (result == -FabricErrno.EAVAIL && queue.readErr(error, 0) == 1
            && (isOver || error.err() == FabricErrno.ECANCELED)) {
            // the other side has closed its end of the connection
            isOver = true;
            receives = null;
            return;
        }
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw refused(result);
        }
        while (posted - received < QUEUE_SIZE / 2) {
            int answer = receives.trecv(region.address(region.lengthBytes() / 2), settings.sizeBytes(),
                FabricAddress.ADDR_UNSPEC, TAG, 0, RECEIVE);
            if (answer != 0) {
                // before the connection is made nothing is posted
                return;
            }
            posted++;
        }
    }

    @Override
    public long received() {
        return received;
    }

    @Override
    public void onCompletion(Completion completion) {
        received++;
    }

    private void publish(String name) {
        try {
            Files.createDirectories(settings.directory());
            Files.writeString(file(), name, StandardCharsets.US_ASCII);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private String gateway() {
        try {
            return Files.readString(file(), StandardCharsets.US_ASCII);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private Path file() {
        return settings.directory().resolve("gateway");
    }

    private static ToolException refused(int result) {
        return new ToolException("A transfer over a connection was refused with " + FabricErrno.name(-result) + " ("
            + FabricErrno.describe(-result) + ").");
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
