package org.jfabric.driver.qualify;

import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.PassiveEndpoint;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.QueueReader;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.InfoResult;
import org.jfabric.info.Mode;
import org.jfabric.info.MrMode;
import org.jfabric.test.Deadline;

/**
 * An application with a driver of its own and one endpoint: connected over verbs, where the cards access memory, and of
 * reliable datagrams over other links. It has all of remote memory access that the link has.
 */
final class PeerNode implements AutoCloseable {
    /** Longest message, and length of the region for the peer. */
    static final int LONGEST = 4096;
    /** Sends that are under way at most, each with a place in the memory. */
    static final int WINDOW = 32;
    /** Contexts of sends are those of their places, that of an access is this; those of receives follow. */
    static final int ACCESS = WINDOW;
    private static final int RECEIVES = 64;
    private static final int POLLS = 256;
    private static final int FIRST_RECEIVE = WINDOW + 1;
    private static final int PLACES = FIRST_RECEIVE + RECEIVES;

    final Info info;
    final MemoryRegion memory;
    final MemoryRegion shared;
    Endpoint endpoint;
    long peer;
    private final FabricDriver driver;
    private final Fabric fabric;
    private final Domain domain;
    private final AddressVector vector;
    private final EventQueue events;
    private final QueueReader queue;
    private final String address;
    private PassiveEndpoint passive;
    private int emptyPolls;

    PeerNode(String link, String address, Path directory) {
        this.address = "fi_sockaddr_in://" + address + ":0";
        DriverConfig config = DriverConfig.builder().directory(directory).threadingMode(ThreadingMode.INVOKER)
            .set("jfabric.link.enabled", switch (link) {
                case "rxm" -> "rxm,tcp";
                case "verbsrxm" -> "verbsrxm,verbs";
                default -> link;
            })
            .set("jfabric.tcp.interface", address).set("jfabric.verbs.interface", address).build();
        driver = FabricDriver.launchEmbedded(config);
        fabric = driver.fabric();
        info = info(link);
        domain = fabric.domain(info);
        queue = new QueueReader(domain.openCompletionQueue(
            new CompletionQueueAttr().size(4 * PLACES).format(CompletionFormat.TAGGED)), driver::cycle);
        vector = isConnected() ? null : domain.openAddressVector(new AddressVectorAttr());
        events = isConnected() ? fabric.openEventQueue(new EventQueueAttr()) : null;
        memory = domain.allocate((long) PLACES * LONGEST);
        shared = has(Flags.RMA | Flags.ATOMIC)
            ? domain.allocate(LONGEST, new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE)) : null;
    }

    /** With the most that the link has. */
    private Info info(String link) {
        InfoResult result = null;
        for (long more : new long[] {Flags.RMA | Flags.ATOMIC, Flags.RMA, Flags.ATOMIC, 0}) {
            Info hints = new Info().caps(Flags.MSG | more).linkName(link);
            if (link.equals("verbs")) {
                hints.mode(Mode.RX_CQ_DATA).srcAddr(address);
                hints.epAttr().type(EndpointType.MSG);
                hints.domainAttr().mrMode(MrMode.LOCAL | MrMode.VIRT_ADDR | MrMode.ALLOCATED | MrMode.PROV_KEY);
            } else {
                hints.epAttr().type(EndpointType.RDM);
            }
            result = fabric.info(hints);
            if (!result.matches().isEmpty()) {
                break;
            }
        }
        return result.best();
    }

    private boolean isConnected() {
        return info.epAttr().type() == EndpointType.MSG;
    }

    /** Whether it has one of them. */
    boolean has(long caps) {
        return (info.caps() & caps) != 0;
    }

    /** Returns the name by which a peer calls it. */
    String listen() {
        if (!isConnected()) {
            open(info);
            return endpoint.name();
        }
        passive = fabric.openPassiveEndpoint(info.copy().srcAddr(address), 0);
        passive.bind(events, 0);
        passive.listen();
        return passive.name();
    }

    /** Waits for a peer, if it has to connect. */
    void accept() {
        if (isConnected()) {
            open(next(EventType.CONNREQ).info());
            endpoint.accept();
            next(EventType.CONNECTED);
            postAll();
        }
    }

    void connect(String name) {
        open(info);
        if (isConnected()) {
            endpoint.connect(name);
            next(EventType.CONNECTED);
            postAll();
        } else {
            peer(name);
        }
    }

    /** Messages go there from now on. */
    void peer(String name) {
        peer = isConnected() ? 0 : vector.insert(name);
    }

    private void open(Info chosen) {
        endpoint = domain.openEndpoint(chosen, 0);
        endpoint.bind(queue.cq(), Flags.TRANSMIT | Flags.RECV);
        if (isConnected()) {
            endpoint.bind(events, 0);
        } else {
            endpoint.bind(vector);
            endpoint.enable();
            postAll();
        }
    }

    private void postAll() {
        for (int place = FIRST_RECEIVE; place < PLACES; place++) {
            post(place);
        }
    }

    private void post(int place) {
        int result = endpoint.recv(memory.address((long) place * LONGEST), LONGEST, -1L, place);
        if (result != 0) {
            throw new FabricException(-result, "a receive was refused", "");
        }
    }

    private EventEntry next(EventType type) {
        EventEntry event = new EventEntry();
        Deadline deadline = Deadline.usual();
        while (events.read(event, 0) != 1) {
            EventError error = new EventError();
            if (events.readErr(error, 0) == 1) {
                throw new AssertionError("instead of " + type + ": " + error);
            }
            deadline.check(type.toString(), () -> "nothing came");
            driver.cycle();
        }
        if (event.type() != type) {
            throw new AssertionError(event.type() + " instead of " + type);
        }
        return event;
    }

    /** A completion, or null. */
    FabricNode.Entry poll() {
        FabricNode.Entry entry = queue.poll();
        if (entry == null) {
            driver.cycle();
            // now and then: the other side may wait for this processor
            if (++emptyPolls % POLLS == 0) {
                Thread.yield();
            }
        }
        return entry;
    }

    /** Returns 0, or the errno of a refusal; in between there may be no room, and completions wait to be read. */
    int trySend(int place, int length) {
        return -endpoint.send(memory.address((long) place * LONGEST), length, peer, place);
    }

    /** Sends a short message of numbers and waits until it is sent; only receives may complete meanwhile. */
    void sendNumbers(long... numbers) {
        UnsafeBuffer bytes = bytes(0);
        for (int i = 0; i < numbers.length; i++) {
            bytes.putLong(i * Long.BYTES, numbers[i]);
        }
        send(numbers.length * Long.BYTES);
    }

    /** The same with what is in the first place already. */
    void send(int length) {
        Deadline deadline = Deadline.usual();
        int refused = trySend(0, length);
        while (refused == FabricErrno.EAGAIN) {
            deadline.check("room for a message", () -> "none");
            driver.cycle();
            refused = trySend(0, length);
        }
        if (refused != 0) {
            throw new FabricException(refused, "a message was refused", "");
        }
        await(0);
    }

    /** Waits for the completion of a send or access. */
    void await(long context) {
        FabricNode.Entry entry = await("operation " + context);
        if (entry.context() != context || entry.err() != 0) {
            throw new AssertionError("operation " + context + ", but " + FabricErrno.name(entry.err()) + ": " + entry);
        }
    }

    private FabricNode.Entry await(String what) {
        Deadline deadline = Deadline.usual();
        FabricNode.Entry entry = poll();
        while (entry == null) {
            deadline.check(what, () -> "no completion");
            entry = poll();
        }
        return entry;
    }

    /** The place of the next message; {@link #release} is to follow. */
    int receive() {
        FabricNode.Entry entry = await("a message");
        if (entry.err() != 0 || !isReceive(entry)) {
            throw new AssertionError("a message was expected: " + entry);
        }
        return (int) entry.context();
    }

    static boolean isReceive(FabricNode.Entry entry) {
        return entry.context() >= FIRST_RECEIVE;
    }

    void release(int place) {
        post(place);
    }

    UnsafeBuffer bytes(int place) {
        return memory.buffer((long) place * LONGEST, LONGEST);
    }

    @Override
    public void close() {
        driver.close();
    }
}
