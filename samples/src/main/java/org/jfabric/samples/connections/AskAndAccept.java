package org.jfabric.samples.connections;

import java.nio.charset.StandardCharsets;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
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
import org.jfabric.info.WaitObject;

/**
 * Both sides of a connection. One side connects, and sends its name; the other accepts, and sends a greeting; a message
 * goes over the connection; one side ends it, and both get SHUTDOWN. An event queue reports all of it, in order.
 */
public final class AskAndAccept {
    private static final long WAIT_NS = 10_000_000_000L;

    private final Domain domain;
    private final Info info;
    private final CompletionQueue queue;
    private final EventQueue events;
    private final EventEntry event = new EventEntry();

    private AskAndAccept(Fabric fabric) {
        Info hints = new Info().caps(Flags.TAGGED);
        hints.epAttr().type(EndpointType.MSG);
        info = fabric.info(hints).best();
        domain = fabric.domain(info);
        queue = domain.openCompletionQueue(new CompletionQueueAttr());
        events = fabric.openEventQueue(new EventQueueAttr().waitObject(WaitObject.UNSPEC));
    }

    /**
     * Runs it.
     *
     * @param args not used.
     */
    public static void main(String[] args) {
        DriverConfig config = DriverConfig.builder()
            .set("jfabric.dir.name", "connections-" + ProcessHandle.current().pid())
            .threadingMode(ThreadingMode.INVOKER).build();
        try (FabricDriver driver = FabricDriver.launchEmbedded(config); Fabric fabric = driver.fabric()) {
            new AskAndAccept(fabric).run(fabric);
        }
    }

    private void run(Fabric fabric) {
        PassiveEndpoint passive = fabric.openPassiveEndpoint(info);
        passive.bind(events, 0);
        passive.listen();

        Endpoint asking = open(info);
        DirectBuffer who = bytes("desk 7");
        asking.connect(passive.name(), who, 0, who.capacity());

        await(EventType.CONNREQ);
        System.out.println("asked by " + text(event.bytes()));
        Endpoint accepting = open(event.info());
        DirectBuffer welcome = bytes("welcome");
        accepting.accept(welcome, 0, welcome.capacity());

        await(EventType.CONNECTED);
        await(EventType.CONNECTED);
        exchange(asking, accepting);

        asking.shutdown(0);
        // one event for each side, in any order
        await(EventType.SHUTDOWN);
        boolean isOfAccepting = event.fid() == accepting;
        await(EventType.SHUTDOWN);
        System.out.println("the accepting side got SHUTDOWN: " + (isOfAccepting || event.fid() == accepting));
        System.out.println("a send without connection: " + FabricErrno.name(asking.tsend(0, 0, 0, 1, 1)));
    }

    /** There is one peer, so a send needs no destination. */
    private void exchange(Endpoint asking, Endpoint accepting) {
        MemoryRegion memory = domain.allocate(4096);
        accepting.trecv(memory.address(0), 64, FabricAddress.ADDR_UNSPEC, 1, 0, 1);
        memory.buffer().putStringWithoutLengthAscii(1024, "over the connection");
        asking.tsend(memory.address(1024), 19, 0, 1, 2);
        for (int ended = 0; ended < 2;) {
            int count = queue.poll(entry -> { }, 2);
            if (count < 0 && count != -FabricErrno.EAGAIN) {
                throw new IllegalStateException("cannot read the queue: " + FabricErrno.describe(count));
            }
            ended += Math.max(0, count);
        }
        System.out.println("received: " + memory.buffer().getStringWithoutLengthAscii(0, 19));
    }

    private Endpoint open(Info with) {
        Endpoint endpoint = domain.openEndpoint(with);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(events, 0);
        return endpoint;
    }

    private void await(EventType type) {
        int result = events.sread(event, WAIT_NS, 0);
        if (result != 1 || event.type() != type) {
            throw new IllegalStateException("expected was the event " + type + ", the last one is " + event);
        }
    }

    private static DirectBuffer bytes(String text) {
        return new UnsafeBuffer(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String text(DirectBuffer bytes) {
        return bytes.getStringWithoutLengthAscii(0, bytes.capacity());
    }
}
