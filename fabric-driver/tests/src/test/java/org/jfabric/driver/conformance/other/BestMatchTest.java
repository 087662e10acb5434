package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.jfabric.AddressVector;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventError;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two embedded drivers: which links the best match has, and which addresses an endpoint opened with it takes. */
@Tag("conformance")
@Timeout(120)
class BestMatchTest {
    private static final long DEADLINE_NS = Deadline.ns(20);
    private static final int LENGTH = 64;

    private Path base;
    private FabricDriver quotes;
    private FabricDriver desk;
    private Side a;

    /** An endpoint with one queue, one vector and some memory. */
    private record Side(
        Domain domain, CompletionQueue queue, AddressVector peers, MemoryRegion memory, Endpoint endpoint) {

        static Side open(Fabric fabric, Info info) {
            Domain domain = fabric.domain(info);
            Side side = new Side(domain, domain.openCompletionQueue(new CompletionQueueAttr()),
                domain.openAddressVector(new AddressVectorAttr()), domain.allocate(4096), domain.openEndpoint(info));
            side.enable(side.endpoint, side.peers);
            return side;
        }

        void enable(Endpoint opened, AddressVector vector) {
            opened.bind(queue, Flags.TRANSMIT | Flags.RECV);
            opened.bind(vector);
            opened.enable();
        }
    }

    @BeforeEach
    void launch() {
        base = TestDirectory.create();
        quotes = embed("quotes");
        desk = embed("desk");
    }

    @AfterEach
    void end() {
        desk.close();
        quotes.close();
        TestDirectory.delete(base);
    }

    @Test
    void shouldReachOtherDriversAndItsOwnWithTheBestMatch() {
        Fabric fabric = quotes.fabric();
        Info best = fabric.info(new Info().caps(Flags.TAGGED)).best();
        assertNull(best.linkName(), "the match is not of one link alone");
        a = Side.open(fabric, best);
        Fabric other = desk.fabric();
        Side b = Side.open(other, other.info(new Info()).best());

        long toB = a.peers.insert(b.endpoint.name());
        long toA = b.peers.insert(a.endpoint.name());
        long self = a.peers.insert(a.endpoint.name());

        assertEquals("shm", a.endpoint.path(toB).linkName(), () -> a.endpoint.path(toB).explain());
        assertEquals("loopback", a.endpoint.path(self).linkName(), () -> a.endpoint.path(self).explain());
        exchange(a, toB, b);
        exchange(b, toA, a);
        exchange(a, self, a);
    }

    /** The same with any other match, with one that is asked for again, and with a destination among the hints. */
    @Test
    void shouldHaveEveryLinkOfTheAddressFormatUnlessTheHintsNameOne() {
        Fabric fabric = quotes.fabric();
        String there = Side.open(desk.fabric(), desk.fabric().info(new Info()).best()).endpoint.name();
        List<Info> infos = List.of(
            match(fabric, "loopback"), match(fabric, "shm"),
            fabric.info(match(fabric, "loopback")).best(),
            fabric.info(new Info().destAddr(there)).best().destAddr(there),
            fabric.info(new Info().linkName("loopback")).best().linkName(null));
        for (Info info : infos) {
            Side side = Side.open(fabric, info);
            assertNull(side.endpoint.info().linkName(), info::toString);
            assertEquals("shm", side.endpoint.path(side.peers.insert(there)).linkName(), info::toString);
            long self = side.peers.insert(side.endpoint.name());
            assertEquals("loopback", side.endpoint.path(self).linkName(), info::toString);
        }
        for (String link : List.of("loopback", "shm", "tcp")) {
            Info named = fabric.info(new Info().linkName(link)).best();
            assertEquals(link, named.linkName());
            assertEquals(link, named.fabricAttr().provName());
        }
        Info connected = new Info();
        connected.epAttr().type(EndpointType.MSG);
        assertNull(fabric.info(connected).best().linkName(), "it listens by every link");
        assertEquals("tcp", match(fabric, "tcp").linkName(), "one link alone can listen at a socket");
    }

    @Test
    void shouldRefuseAddressesThatNoLinkOfTheEndpointReaches() {
        Fabric fabric = quotes.fabric();
        a = Side.open(fabric, fabric.info(new Info().linkName("loopback")).best());
        String own = a.endpoint.name();
        String other = "jfabric://desk/nobody";
        String socket = "fi_sockaddr_in://127.0.0.1:9";

        for (String address : List.of(other, socket)) {
            FabricException refused = assertThrows(FabricException.class, () -> a.peers.insert(address));
            assertEquals(FabricErrno.EADDRNOTAVAIL, refused.errno());
            String text = refused.getMessage();
            assertTrue(text.contains(own + " to " + address + " by no link"), text);
            assertTrue(text.contains("loopback: rejected; destination: seen " + address), text);
            for (String link : List.of("shm", "tcp")) {
                assertTrue(text.contains(link + ": rejected; links of the endpoint: seen loopback, needed " + link),
                    text);
            }
        }

        long[] fiAddrs = new long[4];
        assertEquals(2, a.peers.insert(new String[] {own, other, socket, own + "-2"}, fiAddrs, 0, 0));
        assertArrayEquals(new long[] {fiAddrs[0], FabricAddress.ADDR_NOTAVAIL, FabricAddress.ADDR_NOTAVAIL, fiAddrs[3]},
            fiAddrs);
        assertEquals(own, a.peers.lookup(fiAddrs[0]));
        assertEquals(own + "-2", a.peers.lookup(fiAddrs[3]));
        assertEquals(2, a.peers.size());

        // a second endpoint with that vector reaches what the first does not
        Endpoint second = a.domain.openEndpoint(fabric.info(new Info()).best());
        a.enable(second, a.peers);
        assertEquals(other, a.peers.lookup(a.peers.insert(other)));
        assertThrows(FabricException.class, () -> a.peers.insert(socket));
        second.close();
        assertThrows(FabricException.class, () -> a.peers.insert("jfabric://desk/other"));

        Side socketSide = Side.open(fabric, fabric.info(new Info().linkName("tcp")).best());
        assertEquals(FabricErrno.EADDRNOTAVAIL,
            assertThrows(FabricException.class, () -> socketSide.peers.insert(own)).errno());
        assertEquals(socket, socketSide.peers.lookup(socketSide.peers.insert(socket)));
    }

    /** A socket is of IPv4 or of IPv6, and the wildcard is an address to be bound to. */
    @ParameterizedTest(name = "{0} from {1}")
    @CsvSource({"tcp,127.0.0.1", "tcp,::1", "rxm,127.0.0.1", "udp,127.0.0.1", "udp,::1"})
    void shouldRefuseAddressesOfTheOtherFamilyAndTheWildcards(String link, String host) {
        DriverConfig config = DriverConfig.builder().directory(base.resolve("sockets"))
            .set("jfabric.link.enabled", link).threadingMode(ThreadingMode.INVOKER).build();
        try (FabricDriver sockets = FabricDriver.launchEmbedded(config); Fabric fabric = sockets.fabric()) {
            Info hints = new Info().linkName(link).srcAddr(SocketName.ofHost(host, "0"));
            hints.epAttr().type(link.equals("udp") ? EndpointType.DGRAM : EndpointType.RDM);
            a = Side.open(fabric, fabric.info(hints).best());
            boolean isIn6 = host.contains(":");
            String own = isIn6 ? "fi_sockaddr_in6://[::1]:9" : "fi_sockaddr_in://127.0.0.1:9";
            String other = isIn6 ? "fi_sockaddr_in://127.0.0.1:9" : "fi_sockaddr_in6://[::1]:9";
            List<String> wildcards = List.of("fi_sockaddr_in://0.0.0.0:9", "fi_sockaddr_in6://[::]:9");

            assertRefused(a.peers, other, link + ": rejected; address of the peer: seen " + other + ", needed one of "
                + (isIn6 ? "IPv6" : "IPv4") + ", as " + a.endpoint.name() + " is");
            AddressVector early = a.domain.openAddressVector(new AddressVectorAttr());
            for (String wildcard : wildcards) {
                assertRefused(a.peers, wildcard, wildcard + " is the wildcard address");
                assertRefused(early, wildcard, wildcard + " is the wildcard address");
            }

            long[] fiAddrs = new long[4];
            assertEquals(1, a.peers.insert(
                new String[] {other, wildcards.getFirst(), own, wildcards.getLast()}, fiAddrs, 0, 0));
            assertArrayEquals(new long[] {FabricAddress.ADDR_NOTAVAIL, FabricAddress.ADDR_NOTAVAIL, fiAddrs[2],
                FabricAddress.ADDR_NOTAVAIL}, fiAddrs);
            assertEquals(own, a.peers.lookup(fiAddrs[2]));
        }
    }

    private static void assertRefused(AddressVector vector, String address, String text) {
        FabricException refused = assertThrows(FabricException.class, () -> vector.insert(address));
        assertEquals(FabricErrno.EADDRNOTAVAIL, refused.errno());
        assertTrue(refused.getMessage().contains(text), refused.getMessage());
    }

    @Test
    void shouldReportARefusedAddressOfAnAsynchronousInsertion() {
        Fabric fabric = quotes.fabric();
        Domain domain = fabric.domain(fabric.info(new Info().linkName("loopback")).best());
        EventQueue events = fabric.openEventQueue(new EventQueueAttr());
        AddressVector vector = domain.openAddressVector(new AddressVectorAttr().flags(Flags.EVENT));
        vector.bind(events, 0);
        Endpoint endpoint = domain.openEndpoint(domain.info());
        endpoint.bind(domain.openCompletionQueue(new CompletionQueueAttr()), Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(vector);
        endpoint.enable();

        String other = "jfabric://desk/nobody";
        long[] fiAddrs = new long[2];
        assertEquals(0, vector.insert(new String[] {endpoint.name(), other}, fiAddrs, 77, 0));

        EventEntry entry = new EventEntry();
        EventError error = new EventError();
        awaitEvent(events, entry, -FabricErrno.EAVAIL);
        assertEquals(1, events.readErr(error, 0));
        assertEquals(FabricErrno.EADDRNOTAVAIL, error.err(), error::toString);
        assertEquals(1, error.data());
        assertEquals(other, error.errData().getStringWithoutLengthAscii(0, error.errDataSize()));
        awaitEvent(events, entry, 1);
        assertEquals(EventType.AV_COMPLETE, entry.type());
        assertEquals(1, entry.data());
        assertEquals(77, entry.context());
        assertEquals(FabricAddress.ADDR_NOTAVAIL, fiAddrs[1]);
        assertEquals(endpoint.name(), vector.lookup(fiAddrs[0]));
    }

    /** Who is there is found out by the first send: a peer may be inserted before its driver runs. */
    @Test
    void shouldTakeAddressesOfDriversThatDoNotRunAndAllBeforeAnEndpointIsEnabled() {
        Fabric fabric = quotes.fabric();
        a = Side.open(fabric, fabric.info(new Info()).best());
        assertEquals("shm", a.endpoint.path(a.peers.insert("jfabric://not-yet/ep")).linkName());

        AddressVector vector = a.domain.openAddressVector(new AddressVectorAttr());
        long toOther = vector.insert("jfabric://desk/nobody");
        Endpoint alone = a.domain.openEndpoint(fabric.info(new Info().linkName("loopback")).best());
        a.enable(alone, vector);
        assertEquals(0, alone.tsend(a.memory.address(), 8, toOther, 1, 5));
        CompletionError error = new CompletionError();
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (a.queue.readErr(error, 0) != 1) {
            assertTrue(System.nanoTime() - deadline < 0, "no error entry");
            quotes.cycle();
        }
        assertEquals(FabricErrno.EHOSTUNREACH, error.err());
    }

    private static Info match(Fabric fabric, String provider) {
        return fabric.info(new Info()).matches().stream()
            .filter(each -> each.fabricAttr().provName().equals(provider)).findFirst().orElseThrow();
    }

    private void exchange(Side from, long to, Side receiver) {
        from.memory.buffer().setMemory(0, LENGTH, (byte) 7);
        receiver.memory.buffer().setMemory(2048, LENGTH, (byte) 0);
        assertEquals(0, receiver.endpoint.trecv(
            receiver.memory.address(2048), LENGTH, FabricAddress.ADDR_UNSPEC, 9, 0, 1));
        assertEquals(0, from.endpoint.tsend(from.memory.address(), LENGTH, to, 9, 2));
        long[] contexts = {0};
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (contexts[0] != 3) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "contexts " + contexts[0]);
            for (Side side : List.of(from, receiver)) {
                int read = side.queue.poll(entry -> contexts[0] += entry.opContext(), 2);
                assertTrue(read >= 0 || read == -FabricErrno.EAGAIN, () -> FabricErrno.name(read));
            }
        }
        assertEquals(7, receiver.memory.buffer().getByte(2048 + LENGTH - 1));
    }

    private void awaitEvent(EventQueue events, EventEntry entry, int wanted) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        int read;
        while ((read = events.read(entry, 0)) == -FabricErrno.EAGAIN) {
            assertTrue(System.nanoTime() - deadline < 0, "no event");
        }
        assertEquals(wanted, read);
    }

    private FabricDriver embed(String name) {
        return FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve(name))
            .set("jfabric.tcp.interface", "127.0.0.1").threadingMode(ThreadingMode.INVOKER).build());
    }
}
