package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.ffi.LockedVerbs;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.link.rxm.RxmLinkProvider;
import org.jfabric.driver.link.verbs.VerbsLinkProvider;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.VerbsErrno;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What an application is told when an RDMA device fails: whole drivers over devices in memory. */
@Timeout(60)
class VerbsErrorTest {
    private static final String LINK = "verbsrxm";
    /** Announced, so that it has not ended when the link has it. */
    private static final int LONG = 300_000;

    private final FakeVerbs.Network network = new FakeVerbs.Network();
    private final List<Node> nodes = new ArrayList<>();
    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[64]);
    private final CompletionError error = new CompletionError();
    private final EventError event = new EventError();
    @TempDir
    private Path directory;
    private Node a;
    private Node b;
    private Node c;

    private final class Node {
        private final FakeVerbs verbs;
        private final LockedVerbs locked;
        private final FabricDriver driver;
        private final CompletionQueue queue;
        private final EventQueue events;
        private final AddressVector addresses;
        private final MemoryRegion region;
        private final Endpoint endpoint;

        Node(String host) {
            verbs = new FakeVerbs(network, host);
            locked = new LockedVerbs(verbs, network);
            DriverConfig config = DriverConfig.builder().directory(directory.resolve(host))
                .threadingMode(ThreadingMode.INVOKER)
                .set("jfabric.verbs.packetReceives", "16")
                .set("jfabric.verbs.sends", "16")
                .set("jfabric.verbs.signalEvery", "4")
                .set("jfabric.verbs.interface", host).build();
            driver = FabricDriver.launchEmbedded(
                config, List.of(new RxmLinkProvider(LINK, VerbsLinkProvider.ofPackets(locked::libraries))));
            nodes.add(this);
            Info hints = new Info().caps(Flags.TAGGED | Flags.SEND | Flags.RECV).linkName(LINK);
            hints.epAttr().type(EndpointType.RDM);
            Fabric fabric = driver.fabric();
            Domain domain = fabric.domain(fabric.info(hints).best());
            queue = domain.openCompletionQueue(new CompletionQueueAttr().size(64));
            events = fabric.openEventQueue(new EventQueueAttr());
            addresses = domain.openAddressVector(new AddressVectorAttr());
            region = domain.allocate(LONG);
            endpoint = domain.openEndpoint(domain.info());
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(addresses);
            endpoint.bind(events, 0);
            endpoint.enable();
        }

        long to(Node other) {
            return addresses.insert(other.endpoint.name());
        }

        void exchange(long to, Node other) {
            assertEquals(0, other.endpoint.trecv(other.region.address(), 64, -1, 1, 0, 1));
            assertEquals(0, endpoint.tsend(region.address(), 64, to, 1, 2));
            await(() -> queue.read(entry, 0, 1) == 1);
            await(() -> other.queue.read(entry, 0, 1) == 1);
        }
    }

    @BeforeEach
    void open() {
        a = new Node("10.0.0.1");
        b = new Node("10.0.0.2");
        c = new Node("10.0.0.3");
    }

    @AfterEach
    void close() {
        nodes.forEach(node -> node.driver.close());
    }

    private void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "not reached; " + a.verbs.calls);
            // runs a cycle of each
            nodes.forEach(node -> node.queue.read(entry, 0, 0));
            Thread.yield();
        }
    }

    @Test
    @Requirement({"CQ-123", "CQ-104"})
    void shouldSayInTheEntriesWhatTheCardSaysAndGoOnWithOtherPeers() {
        long toB = a.to(b);
        long toC = a.to(c);
        a.exchange(toB, b);
        a.exchange(toC, c);
        a.locked.change(() -> {
            a.verbs.dataPath.nextStatus = VerbsConstants.WC_RETRY_EXC_ERR;
            a.verbs.dataPath.nextVendorError = 0x81;
        });
        int code = VerbsErrno.ofCompletion(VerbsConstants.WC_RETRY_EXC_ERR, 0x81);
        assertEquals(0, a.endpoint.tsend(a.region.address(), LONG, toB, 1, 77));
        await(() -> a.queue.readErr(error, 0) == 1);
        assertEquals(77, error.opContext());
        assertEquals(FabricErrno.ECONNRESET, error.err());
        assertEquals(code, error.provErrno());
        String text = a.queue.strerror(error.provErrno(), error.errData(), null, 0, 0);
        assertTrue(text.contains("IBV_WC_RETRY_EXC_ERR (12)") && text.contains("0x81"), text);

        await(() -> a.events.readErr(event, 0) == 1);
        assertEquals(FabricErrno.ECONNRESET, event.err());
        assertEquals(code, event.provErrno());
        assertEquals(toB, event.data());
        assertEquals(text, a.events.strerror(event.provErrno()));

        a.exchange(toC, c);
        // it connects again
        a.exchange(toB, b);
    }

    @Test
    void shouldSayWhichEventEndedWhatWasUnderWay() {
        long toB = a.to(b);
        a.exchange(toB, b);
        a.locked.change(() -> {
            a.verbs.dataPath.holdsSends = true;
        });
        assertEquals(0, a.endpoint.tsend(a.region.address(), LONG, toB, 1, 78));
        a.locked.change(() -> a.verbs.happen(VerbsConstants.EVENT_DEVICE_FATAL, 0));
        await(() -> a.queue.readErr(error, 0) == 1);
        assertEquals(78, error.opContext());
        assertEquals(FabricErrno.ENODEV, error.err());
        await(() -> a.events.readErr(event, 0) == 1);
        assertEquals(FabricErrno.ENODEV, event.err());
        assertEquals(event.provErrno(), error.provErrno());
        assertEquals(VerbsErrno.ofEvent(VerbsConstants.EVENT_DEVICE_FATAL), event.provErrno());
        String text = a.events.strerror(event.provErrno());
        assertTrue(text.contains("IBV_EVENT_DEVICE_FATAL"), text);
    }

    @Test
    void shouldNameTheErrnoWhereThePeerJustLeaves() {
        long toB = a.to(b);
        a.exchange(toB, b);
        b.endpoint.close();
        await(() -> a.events.readErr(event, 0) == 1);
        assertEquals(event.err(), event.provErrno());
    }
}
