package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.CompletionError;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.ffi.LockedVerbs;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.link.LinkProvider;
import org.jfabric.driver.link.best.BestLinkProvider;
import org.jfabric.driver.link.loopback.LoopbackLinkProvider;
import org.jfabric.driver.link.rxm.RxmLinkProvider;
import org.jfabric.driver.link.tcp.TcpLinkProvider;
import org.jfabric.driver.link.verbs.VerbsLinkProvider;
import org.jfabric.info.BestName;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.PeerPath;
import org.jfabric.info.Verdict;
import org.jfabric.test.Deadline;
import org.jfabric.tool.ToolRun;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Endpoints of several links, one of which is that of RDMA devices, here devices in memory. */
@Timeout(60)
@Isolated("its network of software delivers while threads of two drivers connect, and is delayed by other tests")
class BestDeviceTest {
    private static final String DEVICE = "verbsrxm";
    private static final int LENGTH = 64;
    private static final int LONG = 300_000;
    private static final long ANY = -1L;

    private final FakeVerbs.Network network = new FakeVerbs.Network();
    private final List<Host> hosts = new ArrayList<>();
    @TempDir
    private Path directory;

    /** A driver with a device, and an endpoint. */
    private final class Host {
        private final FakeVerbs verbs;
        private final LockedVerbs locked;
        private final FabricDriver driver;

        Host(FakeVerbs.Network reached, String address) {
            verbs = new FakeVerbs(reached, address);
            locked = new LockedVerbs(verbs, network);
            DriverConfig config = DriverConfig.builder().directory(directory.resolve(address))
                .threadingMode(ThreadingMode.INVOKER)
                .set("jfabric.tcp.interface", "lo")
                .set("jfabric.verbs.packetReceives", "16")
                .set("jfabric.verbs.sends", "16")
                .set("jfabric.verbs.signalEvery", "4")
                .set("jfabric.verbs.interface", address).build();
            List<LinkProvider> links = new ArrayList<>(List.of(new LoopbackLinkProvider(),
                new RxmLinkProvider(DEVICE, VerbsLinkProvider.ofPackets(locked::libraries)),
                new TcpLinkProvider()));
            links.add(new BestLinkProvider(links));
            driver = FabricDriver.launchEmbedded(config, links);
            hosts.add(this);
        }

        FabricNode open(Info hints) {
            return new FabricNode(driver.fabric(), BestLinkProvider.NAME, hints, 512, 0, BestDeviceTest.this::pump);
        }

        FabricNode open() {
            return open(messages());
        }
    }

    private static Info messages() {
        Info hints = new Info().caps(Flags.MSG | Flags.TAGGED | Flags.SOURCE | Flags.DIRECTED_RECV);
        hints.epAttr().type(EndpointType.RDM);
        return hints;
    }

    private void pump() {
        hosts.forEach(host -> host.driver.cycle());
    }

    @AfterEach
    void close() {
        hosts.forEach(host -> host.driver.close());
    }

    private static void exchange(FabricNode from, long to, FabricNode at, long source, int length) {
        from.fill(0, length, 7);
        assertEquals(0, at.endpoint.trecv(at.memory.address(), length, source, 1, 0, 2));
        assertEquals(0, from.endpoint.tsend(from.memory.address(), length, to, 1, 3));
        from.await(3);
        FabricNode.Entry entry = at.await(2);
        assertEquals(source, entry.source());
        at.assertFilled(0, length, 7);
    }

    private static void assertPath(String link, FabricNode from, long to) {
        PeerPath path = from.endpoint.path(to);
        assertEquals(link, path.linkName(), path::explain);
        assertEquals(PeerPath.State.UP, path.state(), path::explain);
    }

    @Test
    void shouldReachAPeerByItsDevice() {
        FabricNode a = new Host(network, "10.0.0.1").open();
        FabricNode b = new Host(network, "10.0.0.2").open();
        BestName name = BestName.parse(b.endpoint.name());
        assertTrue(name.way(DEVICE).startsWith("fi_sockaddr_in://10.0.0.2:"), name::toString);
        assertTrue(name.way("tcp").startsWith("fi_sockaddr_in://127.0.0.1:"), name::toString);
        long toB = a.av.insert(b.endpoint.name());
        long toA = b.av.insert(a.endpoint.name());
        for (int length : new int[] {LENGTH, LONG}) {
            exchange(a, toB, b, toA, length);
            exchange(b, toA, a, toB, length);
        }
        assertPath(DEVICE, a, toB);
        assertPath(DEVICE, b, toA);
    }

    /** The connection manager of devices has ports of its own, so that one text can be the address of both links. */
    @Test
    void shouldDistinguishEqualAddressesOfTwoLinks() {
        int port = 23_451;
        FabricNode a = new Host(network, "127.0.0.1").open(
            messages().srcAddr("fi_sockaddr_in://127.0.0.1:" + port));
        Host other = new Host(new FakeVerbs.Network(), "10.0.0.2");
        FabricNode b = new Host(network, "10.0.0.3").open();
        FabricNode c = other.open();
        BestName name = BestName.parse(a.endpoint.name());
        assertEquals("fi_sockaddr_in://127.0.0.1:" + port, name.way(DEVICE));
        assertEquals(name.way(DEVICE), name.way("tcp"));
        long toA = b.av.insert(a.endpoint.name());
        exchange(b, toA, a, a.av.insert(b.endpoint.name()), LENGTH);
        assertPath(DEVICE, b, toA);
        // its device reaches no other one
        long fromC = c.av.insert(a.endpoint.name());
        exchange(c, fromC, a, a.av.insert(c.endpoint.name()), LENGTH);
        assertPath("tcp", c, fromC);
        Verdict refused = c.endpoint.path(fromC).verdicts().stream()
            .filter(each -> each.linkName().equals(DEVICE)).findFirst().orElseThrow();
        assertTrue(refused.toString().contains("connection to"), refused::toString);
    }

    @Test
    void shouldSendByTcpWhatTheDeviceCannotConnect() {
        FabricNode a = new Host(network, "10.0.0.1").open();
        FabricNode b = new Host(new FakeVerbs.Network(), "10.0.0.2").open();
        long toB = a.av.insert(b.endpoint.name());
        long toA = b.av.insert(a.endpoint.name());
        int count = 50;
        for (int i = 0; i < count; i++) {
            a.memory.buffer().putLong(i * LENGTH, i);
            assertEquals(0, a.endpoint.tsend(a.memory.address(i * LENGTH), LENGTH, toB, 1, 3));
            assertEquals(0, b.endpoint.trecv(b.memory.address(i * LENGTH), LENGTH, toA, 1, 0, 2));
        }
        for (int i = 0; i < count; i++) {
            b.await(2);
            assertEquals(i, b.memory.buffer().getLong(i * LENGTH));
            a.await(3);
        }
        assertPath("tcp", a, toB);
        String record = ToolRun.of("record", "--dir", directory.resolve("10.0.0.1").toString()).out();
        assertTrue(record.lines().anyMatch(line -> line.contains("peer-by-next-link")
            && line.endsWith(BestName.parse(b.endpoint.name()).way("tcp"))), record);
    }

    @Test
    void shouldReachPeersByTcpAfterTheLossOfItsDevice() {
        Host first = new Host(network, "10.0.0.1");
        FabricNode a = first.open();
        FabricNode b = new Host(network, "10.0.0.2").open();
        long toB = a.av.insert(b.endpoint.name());
        long toA = b.av.insert(a.endpoint.name());
        exchange(a, toB, b, toA, LENGTH);
        assertPath(DEVICE, a, toB);
        first.locked.change(() -> {
            first.verbs.happen(VerbsConstants.EVENT_DEVICE_FATAL, 0);
            // no connection of it can be made
            first.verbs.refusedIds = Integer.MAX_VALUE;
        });
        long deadlineNs = System.nanoTime() + Deadline.ns(20);
        // each side notices it by itself
        while (a.endpoint.path(toB).state() == PeerPath.State.UP
            || b.endpoint.path(toA).state() == PeerPath.State.UP) {
            pump();
            assertTrue(System.nanoTime() < deadlineNs,
                () -> a.endpoint.path(toB).explain() + b.endpoint.path(toA).explain());
        }
        exchange(a, toB, b, toA, LENGTH);
        assertPath("tcp", a, toB);
    }

    /** The address in the error is one that can be inserted: of that link, and no other. */
    @Test
    void shouldNameTheLinkInTheAddressOfAnUnknownSender() {
        Info hints = messages();
        hints.caps(hints.caps() | Flags.SOURCE_ERR);
        FabricNode a = new Host(network, "10.0.0.1").open();
        FabricNode b = new Host(network, "10.0.0.2").open(hints);
        long toB = a.av.insert(b.endpoint.name());
        assertEquals(0, b.endpoint.trecv(b.memory.address(), LENGTH, ANY, 1, 0, 2));
        assertEquals(0, a.endpoint.tsend(a.memory.address(), LENGTH, toB, 1, 3));
        a.await(3);
        CompletionError error = new CompletionError();
        long deadlineNs = System.nanoTime() + Deadline.ns(20);
        while (b.cq.readErr(error, 0) != 1) {
            pump();
            assertTrue(System.nanoTime() < deadlineNs);
        }
        assertEquals(FabricErrno.EADDRNOTAVAIL, error.err());
        String sender = error.errData().getStringWithoutLengthAscii(0, error.errData().capacity());
        assertEquals(DEVICE + '=' + BestName.parse(a.endpoint.name()).way(DEVICE), sender);
        FabricException everywhere = assertThrows(FabricException.class,
            () -> b.av.insert(DEVICE + "=fi_sockaddr_in://0.0.0.0:20000"));
        assertEquals(FabricErrno.EADDRNOTAVAIL, everywhere.errno());
        long toA = b.av.insert(sender);
        exchange(b, toA, a, toB, LENGTH);
        assertPath(DEVICE, b, toA);
    }

    @Test
    void shouldLeaveTheDeviceOutWhereItWouldOfferLess() {
        Host host = new Host(network, "10.0.0.1");
        Info all = new Info();
        all.epAttr().type(EndpointType.RDM);
        assertLeftOut(host.open(all), host, all, "without verbsrxm, caps");
        Info remote = messages();
        remote.caps(remote.caps() | Flags.RMA);
        assertLeftOut(host.open(remote), host, remote, "without verbsrxm, ");
    }

    private static void assertLeftOut(FabricNode node, Host host, Info hints, String reason) {
        BestName name = BestName.parse(node.endpoint.name());
        assertEquals(List.of("tcp"), List.copyOf(name.ways().keySet()));
        Verdict verdict = host.driver.fabric().info(hints.copy().linkName(BestLinkProvider.NAME)).verdicts().stream()
            .filter(Verdict::chosen).findFirst().orElseThrow();
        assertTrue(verdict.toString().contains(reason), verdict::toString);
    }

    /** The address that is asked for is none of a device. */
    @Test
    void shouldDoWithoutADeviceThatHasNoSuchAddress() {
        FabricNode a = new Host(network, "10.0.0.1").open(messages().srcAddr("fi_sockaddr_in://127.0.0.1:0"));
        assertEquals(List.of("tcp"), List.copyOf(BestName.parse(a.endpoint.name()).ways().keySet()));
        FabricNode b = new Host(network, "10.0.0.2").open();
        long toB = a.av.insert(b.endpoint.name());
        exchange(a, toB, b, b.av.insert(a.endpoint.name()), LENGTH);
        assertPath("tcp", a, toB);
        assertFalse(a.endpoint.path(toB).explain().contains(DEVICE + ": chosen"));
    }

    @Test
    void shouldHaveItsAddressesAgainAfterARestart() {
        Host first = new Host(network, "10.0.0.1");
        FabricNode a = first.open();
        String name = a.endpoint.name();
        FabricNode b = new Host(network, "10.0.0.2").open();
        long toA = b.av.insert(name);
        exchange(b, toA, a, a.av.insert(b.endpoint.name()), LENGTH);
        a.endpoint.close();
        FabricNode again = first.open(messages().srcAddr(name));
        assertEquals(BestName.parse(name).ways(), BestName.parse(again.endpoint.name()).ways());
    }
}
