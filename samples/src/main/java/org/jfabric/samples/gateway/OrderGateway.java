package org.jfabric.samples.gateway;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.Completion;
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
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.RxAttr;
import org.jfabric.info.WaitObject;

/**
 * A gateway with a connection for each desk, and one shared receive context: four buffers serve all desks, whichever
 * sends next. The entry of a message is in the queue of the connection that it came by, so each desk has one here.
 */
public final class OrderGateway {
    private static final long WAIT_NS = 10_000_000_000L;
    private static final int DESKS = 3;
    private static final int ORDERS = 4;
    private static final int BUFFERS = 4;
    private static final int BUFFER_BYTES = 64;
    private static final long ORDER_TAG = 1;

    private final Fabric fabric;
    private final Info info;
    private final Domain domain;
    private final EventQueue events;
    private final EventEntry event = new EventEntry();
    private final MemoryRegion memory;
    private final CompletionQueue sent;
    private final Endpoint receives;
    private final List<CompletionQueue> received = new ArrayList<>();
    private final int[] orders = new int[DESKS];

    private OrderGateway(Fabric fabric) {
        this.fabric = fabric;
        Info hints = new Info().caps(Flags.TAGGED);
        hints.epAttr().type(EndpointType.MSG);
        info = fabric.info(hints).best();
        domain = fabric.domain(info);
        events = fabric.openEventQueue(new EventQueueAttr().waitObject(WaitObject.UNSPEC));
        memory = domain.allocate((BUFFERS + 1) * BUFFER_BYTES);
        sent = domain.openCompletionQueue(new CompletionQueueAttr());
        receives = domain.openSharedReceiveContext(new RxAttr().size(BUFFERS), 0);
    }

    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        DriverConfig config = DriverConfig.builder()
            .set("jfabric.dir.name", "gateway-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.INVOKER).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            new OrderGateway(fabric).run();
        }
    }

    private void run() {
        PassiveEndpoint passive = fabric.openPassiveEndpoint(info);
        passive.bind(events, 0);
        passive.listen();
        List<Endpoint> desks = new ArrayList<>();
        for (int desk = 0; desk < DESKS; desk++) {
            desks.add(connect(passive));
        }
        for (int buffer = 0; buffer < BUFFERS; buffer++) {
            post(buffer);
        }
        for (int order = 0; order < ORDERS; order++) {
            for (Endpoint desk : desks) {
                require(desk.tsend(memory.address(BUFFERS * BUFFER_BYTES), BUFFER_BYTES, 0, ORDER_TAG, 0));
            }
        }
        long deadlineNs = System.nanoTime() + WAIT_NS;
        for (int taken = 0; taken < DESKS * ORDERS;) {
            taken += take();
            if (System.nanoTime() - deadlineNs > 0) {
                throw new IllegalStateException(taken + " orders came in time");
            }
        }
        for (int desk = 0; desk < DESKS; desk++) {
            System.out.println("desk " + desk + " sent " + orders[desk] + " orders");
        }
        System.out.println("receives of the gateway: " + BUFFERS + ", for " + DESKS + " connections");
    }

    /** A desk asks for a connection, and the gateway accepts it by an endpoint without receives of its own. */
    private Endpoint connect(PassiveEndpoint passive) {
        Endpoint desk = domain.openEndpoint(info);
        desk.bind(sent, Flags.TRANSMIT | Flags.RECV);
        desk.bind(events, 0);
        desk.connect(passive.name());
        await(EventType.CONNREQ);

        Info accepted = event.info();
        accepted.epAttr().rxCtxCnt(FabricAddress.SHARED_CONTEXT);
        accepted.rxAttr().size(BUFFERS);
        Endpoint served = domain.openEndpoint(accepted);
        CompletionQueue queue = domain.openCompletionQueue(
            new CompletionQueueAttr().format(CompletionFormat.TAGGED));
        served.bind(queue, Flags.TRANSMIT | Flags.RECV);
        served.bind(events, 0);
        served.bind(receives, 0);
        served.accept();
        received.add(queue);
        await(EventType.CONNECTED);
        await(EventType.CONNECTED);
        return desk;
    }

    private int take() {
        int taken = 0;
        sent.poll(entry -> { }, BUFFERS);
        for (int desk = 0; desk < DESKS; desk++) {
            int from = desk;
            int count = received.get(desk).poll(entry -> onOrder(from, entry), BUFFERS);
            if (count < 0 && count != -FabricErrno.EAGAIN) {
                throw new IllegalStateException("cannot read the queue: " + FabricErrno.describe(count));
            }
            taken += Math.max(0, count);
        }
        return taken;
    }

    /** The context of a receive is its buffer, whichever desk has used it. */
    private void onOrder(int desk, Completion entry) {
        orders[desk]++;
        post((int) entry.opContext());
    }

    private void post(int buffer) {
        require(receives.trecv(memory.address((long) buffer * BUFFER_BYTES), BUFFER_BYTES,
            FabricAddress.ADDR_UNSPEC, ORDER_TAG, 0, buffer));
    }

    private void await(EventType type) {
        int result = events.sread(event, WAIT_NS, 0);
        if (result != 1 || event.type() != type) {
            throw new IllegalStateException("expected was the event " + type + ", the last one is " + event);
        }
    }

    private static void require(int result) {
        if (result != 0) {
            throw new IllegalStateException("not posted: " + FabricErrno.describe(result));
        }
    }
}
