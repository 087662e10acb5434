package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.PassiveEndpoint;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.ffi.LockedVerbs;
import org.jfabric.driver.link.verbs.VerbsLinkProvider;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.info.MrMode;
import org.jfabric.test.Deadline;

/**
 * An application with a driver of its own whose connected endpoints access each other's memory by a card: one of this
 * machine, or one in memory.
 */
final class VerbsMemoryNode implements AutoCloseable {
    static final long CARD_MR_MODE = MrMode.LOCAL | MrMode.VIRT_ADDR | MrMode.ALLOCATED | MrMode.PROV_KEY;
    static final long BOTH = Flags.REMOTE_READ | Flags.REMOTE_WRITE;

    /** A completion; err is 0 for success. */
    record Entry(long context, long flags, long len, long data, int err, int provErrno) {
    }

    /** Null with a card of this machine. */
    final FakeVerbs verbs;
    final LockedVerbs locked;
    final Fabric fabric;
    final Domain domain;
    final CompletionQueue queue;
    final EventQueue events;
    final MemoryRegion memory;
    private final FabricDriver driver;
    private final String host;
    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);
    private PassiveEndpoint passive;

    /** The network is null for a card of this machine that has the address. */
    VerbsMemoryNode(Path directory, FakeVerbs.Network network, String host, Info hints) {
        this(directory, network, host, hints, ThreadingMode.INVOKER);
    }

    VerbsMemoryNode(Path directory, FakeVerbs.Network network, String host, Info hints, ThreadingMode mode) {
        this.host = host;
        this.verbs = network == null ? null : new FakeVerbs(network, host);
        this.locked = network == null ? null : new LockedVerbs(verbs, network);
        DriverConfig config = DriverConfig.builder().directory(directory)
            .threadingMode(mode)
            .set("jfabric.link.enabled", "verbs")
            .set("jfabric.verbs.interface", host)
            .set("jfabric.verbs.maxMessageBytes", "64k")
            .set("jfabric.verbs.receives", "16")
            .set("jfabric.verbs.sends", "16")
            .set("jfabric.verbs.signalEvery", "4").build();
        driver = FabricDriver.launchEmbedded(config, List.of(verbs == null ? VerbsLinkProvider.ofMessages()
            : VerbsLinkProvider.ofMessages(locked::libraries)));
        fabric = driver.fabric();
        domain = fabric.domain(fabric.info(hints.copy().srcAddr("fi_sockaddr_in://" + host + ":0")).best());
        queue = domain.openCompletionQueue(new CompletionQueueAttr().size(256).format(CompletionFormat.TAGGED));
        events = fabric.openEventQueue(new EventQueueAttr());
        memory = domain.allocate(1 << 16);
    }

    /** All that the link has. */
    static Info hints() {
        Info hints = new Info().caps(Flags.MSG | Flags.RMA | Flags.ATOMIC).mode(Mode.RX_CQ_DATA).linkName("verbs");
        hints.epAttr().type(EndpointType.MSG);
        hints.domainAttr().mrMode(CARD_MR_MODE);
        return hints;
    }

    MemoryRegion expose(long access, int length) {
        return domain.allocate(length, new MemoryRegionAttr().access(access));
    }

    /** Connects an endpoint of this application with one of another: both, this one's first. */
    Endpoint[] connect(VerbsMemoryNode other) {
        if (other.passive == null) {
            Info info = other.domain.info().srcAddr("fi_sockaddr_in://" + other.host + ":0");
            other.passive = other.fabric.openPassiveEndpoint(info, 0);
            other.passive.bind(other.events, 0);
            other.passive.listen();
        }
        Endpoint mine = open(domain.info());
        mine.connect(other.passive.name());
        Endpoint theirs = other.open(other.next(EventType.CONNREQ, this).info());
        theirs.accept();
        next(EventType.CONNECTED, other);
        other.next(EventType.CONNECTED, this);
        return new Endpoint[] {mine, theirs};
    }

    private Endpoint open(Info info) {
        Endpoint endpoint = domain.openEndpoint(info, 0);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(events, 0);
        return endpoint;
    }

    EventEntry next(EventType type, VerbsMemoryNode other) {
        EventEntry event = new EventEntry();
        await(() -> {
            int read = events.read(event, 0);
            if (read < 0 && read != -FabricErrno.EAGAIN) {
                EventError error = new EventError();
                events.readErr(error, 0);
                throw new AssertionError("instead of " + type + ": " + error);
            }
            return read == 1;
        }, other);
        assertEquals(type, event.type());
        return event;
    }

    /** The next completion, while the other application runs too. */
    Entry next(VerbsMemoryNode other) {
        Entry[] found = new Entry[1];
        await(() -> (found[0] = poll()) != null, other);
        return found[0];
    }

    /** A completion that is there now, or null. */
    Entry poll() {
        int read = queue.read(entry, 0, 1);
        if (read == 1) {
            return new Entry(
                entry.getLong(0), entry.getLong(8), entry.getLong(16), entry.getLong(32), 0, 0);
        }
        CompletionError error = new CompletionError();
        if (queue.readErr(error, 0) == 1) {
            return new Entry(
                error.opContext(), error.flags(), error.len(), error.data(), error.err(), error.provErrno());
        }
        return null;
    }

    void await(BooleanSupplier condition, VerbsMemoryNode other) {
        Deadline deadline = Deadline.usual();
        while (!condition.getAsBoolean()) {
            deadline.check("something", () -> verbs == null ? host : verbs.calls.toString());
            // runs a cycle
            other.queue.read(entry, 0, 0);
            queue.read(entry, 0, 0);
            Thread.yield();
        }
    }

    void fill(int offset, int length, int seed) {
        UnsafeBuffer bytes = memory.buffer();
        for (int i = 0; i < length; i++) {
            bytes.putByte(offset + i, (byte) (seed + i * 7));
        }
    }

    static void assertFilled(MemoryRegion region, int offset, int length, int seed) {
        UnsafeBuffer bytes = region.buffer();
        for (int i = 0; i < length; i++) {
            assertEquals((byte) (seed + i * 7), bytes.getByte(offset + i), "byte " + (offset + i));
        }
    }

    static void assertZero(MemoryRegion region, int from, int to) {
        UnsafeBuffer bytes = region.buffer();
        for (int i = from; i < to; i++) {
            assertTrue(bytes.getByte(i) == 0, "byte " + i);
        }
    }

    @Override
    public void close() {
        driver.close();
    }
}
