package org.jfabric.driver.conformance.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.EventEntry;
import org.jfabric.EventQueue;
import org.jfabric.Fabric;
import org.jfabric.PassiveEndpoint;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.AddressFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EndpointType;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.PeerPath;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Addresses of links over tcp: both families, names of hosts, the interface by option, both kinds of sockets. */
@Tag("conformance")
class SocketAddressTest {
    private Path base;
    private FabricDriver driver;

    @BeforeEach
    void makeBase() {
        base = TestDirectory.create();
    }

    @AfterEach
    void close() {
        if (driver != null) {
            driver.close();
        }
        TestDirectory.delete(base);
    }

    private Fabric launch(String link, String networkInterface, String sockets) {
        driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve("alpha"))
            .threadingMode(ThreadingMode.INVOKER).set("jfabric.link.enabled", link)
            .set("jfabric.tcp.interface", networkInterface).set("jfabric.tcp.sockets", sockets).build());
        return driver.fabric();
    }

    private void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "not reached");
            driver.cycle();
            Thread.yield();
        }
    }

    @ParameterizedTest(name = "link={0} interface={1} sockets={2}")
    @CsvSource({
        "tcp,127.0.0.1,NATIVE", "tcp,lo,NIO", "tcp,::1,NATIVE", "tcp,::1,NIO", "rxm,127.0.0.1,NIO", "rxm,::1,NATIVE"})
    void shouldReachEndpointsOfBothFamiliesByAddressAndByHost(String link, String networkInterface, String sockets) {
        Fabric fabric = launch(link, networkInterface, sockets);
        boolean isIn6 = networkInterface.equals("::1");
        Info hints = new Info().caps(Flags.TAGGED | Flags.SOURCE).linkName(link)
            .addrFormat(isIn6 ? AddressFormat.SOCKADDR_IN6 : AddressFormat.SOCKADDR_IN);
        FabricNode a = new FabricNode(fabric, link, hints, 64, 0, driver::cycle);
        FabricNode b = new FabricNode(fabric, link, hints, 64, 0, driver::cycle);
        SocketName name = SocketName.parse(b.endpoint.name());
        assertEquals(isIn6, name.isIn6(), name::toString);
        assertTrue(name.inetAddress().isLoopbackAddress(), name::toString);
        assertEquals(name, SocketName.ofBytes(name.toBytes()));

        long toB = a.av.insert(b.endpoint.name());
        long byHost = a.av.insertService(isIn6 ? "::1" : "localhost", Integer.toString(name.port()));
        long toA = b.av.insert(a.endpoint.name());
        for (int i = 0; i < 20; i++) {
            int length = i % 2 == 0 ? 64 : 100_000;
            assertEquals(0, b.endpoint.trecv(b.memory.address(), length, -1L, 7, 0, i));
            a.fill(0, length, i);
            assertEquals(0, a.endpoint.tsend(a.memory.address(), length, i < 10 ? toB : byHost, 7, 100 + i));
            FabricNode.Entry received = b.await(i);
            assertEquals(length, received.len());
            assertEquals(toA, received.source());
            b.assertFilled(0, length, i);
            a.await(100 + i);
        }
        PeerPath path = a.endpoint.path(toB);
        assertEquals(link, path.linkName(), path::explain);
        assertEquals(b.endpoint.name(), path.remoteAddress());
        assertEquals(PeerPath.State.UP, path.state());
    }

    @ParameterizedTest
    @ValueSource(strings = {"NATIVE", "NIO"})
    void shouldConnectToAHostByItsName(String sockets) {
        Fabric fabric = launch("tcp", "127.0.0.1", sockets);
        Info hints = new Info().caps(Flags.MSG).linkName("tcp");
        hints.epAttr().type(EndpointType.MSG);
        Info info = fabric.info(hints).best();
        EventQueue events = fabric.openEventQueue(new EventQueueAttr());
        Domain domain = fabric.domain(info);
        CompletionQueue queue = domain.openCompletionQueue(new CompletionQueueAttr());
        PassiveEndpoint passive = fabric.openPassiveEndpoint(info);
        passive.bind(events, 0);
        passive.listen();
        SocketName listening = SocketName.parse(passive.name());
        Endpoint endpoint = open(domain, info, queue, events);

        endpoint.connect(SocketName.ofHost("localhost", Integer.toString(listening.port())));

        EventEntry event = new EventEntry();
        await(() -> events.read(event, 0) == 1);
        assertEquals(EventType.CONNREQ, event.type());
        Endpoint accepted = open(domain, event.info(), queue, events);
        accepted.accept();
        for (int i = 0; i < 2; i++) {
            await(() -> events.read(event, 0) == 1);
            assertEquals(EventType.CONNECTED, event.type());
        }
        assertEquals(passive.name(), endpoint.peer());
        PeerPath path = endpoint.path(0);
        assertEquals("tcp", path.linkName(), path::explain);
        assertEquals(endpoint.name(), path.localAddress());
        assertEquals(PeerPath.State.UP, path.state());

        Endpoint other = open(domain, info, queue, events);
        assertEquals(FabricErrno.ENODATA, assertThrows(FabricException.class,
            () -> other.connect(SocketName.ofHost("no.such.host.invalid", "7"))).errno());
        other.enable();
        assertEquals(FabricErrno.ENOTCONN,
            assertThrows(FabricException.class, () -> other.path(0)).errno());
    }

    private static Endpoint open(Domain domain, Info info, CompletionQueue queue, EventQueue events) {
        Endpoint endpoint = domain.openEndpoint(info);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(events, 0);
        return endpoint;
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "rxm"})
    void shouldBindAnEndpointOfAnOfferToTheSourceThatWasAskedFor(String link) {
        Fabric fabric = launch(link, "any", "NATIVE");
        Info hints = new Info().linkName(link).srcAddr(SocketName.ofHost("127.0.0.9", "0"))
            .destAddr(SocketName.ofHost("127.0.0.7", "4711"));

        Info offer = fabric.info(hints).best();

        FabricNode node = new FabricNode(fabric, link, offer, 64, 0, driver::cycle);
        assertEquals("127.0.0.9", SocketName.parse(node.endpoint.name()).inetAddress().getHostAddress());
        assertEquals(hints.destAddr(), offer.destAddr());
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp", "rxm"})
    void shouldSayWhichInterfaceIsMissing(String link) {
        Fabric fabric = launch(link, "eth77", "NATIVE");
        Info info = fabric.info(new Info().linkName(link)).best();
        FabricException refusal = assertThrows(FabricException.class,
            () -> new FabricNode(fabric, link, info, 64, 0, driver::cycle));
        assertEquals(FabricErrno.EADDRNOTAVAIL, refusal.errno());
        assertTrue(refusal.getMessage().contains("no interface called eth77")
            && refusal.getMessage().contains("jfabric.tcp.interface"), refusal.getMessage());
    }
}
