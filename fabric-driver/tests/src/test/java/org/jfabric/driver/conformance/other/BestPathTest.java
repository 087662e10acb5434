package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.kit.BestNodes;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.info.BestName;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.InfoResult;
import org.jfabric.info.PeerPath;
import org.jfabric.info.Protocol;
import org.jfabric.info.Reason;
import org.jfabric.info.Verdict;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Endpoints with one address and several links: each peer is reached by the best one that both have. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class BestPathTest {
    private static final int LENGTH = 64;
    private static final int LONG = 1 << 20;
    private static final long ANY = -1L;

    private BestNodes nodes;
    private FabricDriver alpha;
    private FabricNode a;

    @BeforeEach
    void open() {
        nodes = new BestNodes();
        alpha = nodes.launch("alpha");
        a = nodes.node(alpha);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    @Test
    void shouldReachEachPeerByTheBestLink() {
        Map<String, FabricNode> peers = new HashMap<>();
        peers.put("loopback", nodes.node(alpha));
        peers.put("shm", nodes.node(nodes.launch("beta")));
        peers.put("tcp", nodes.node(nodes.launchWithoutShm("gamma")));
        peers.forEach((link, peer) -> {
            long to = a.av.insert(peer.endpoint.name());
            PeerPath before = a.endpoint.path(to);
            assertEquals(link, before.linkName(), before::explain);
            assertEquals(PeerPath.State.DOWN, before.state(), "nothing was sent yet");

            exchange(peer, to);

            PeerPath path = a.endpoint.path(to);
            assertEquals(link, path.linkName(), path::explain);
            assertEquals(PeerPath.State.UP, path.state());
            assertEquals(a.endpoint.name(), path.localAddress());
            assertEquals(peer.endpoint.name(), path.remoteAddress());
            assertEquals(List.of(link),
                path.verdicts().stream().filter(Verdict::chosen).map(Verdict::linkName).toList(), path::explain);
        });
    }

    @Test
    void shouldSayWhyBetterLinksAreNotUsed() {
        FabricNode without = nodes.node(nodes.launchWithoutShm("beta"));
        FabricNode elsewhere = nodes.node(nodes.launch(nodes.newFolder(), "alpha"));
        PeerPath toWithout = a.endpoint.path(a.av.insert(without.endpoint.name()));
        PeerPath toElsewhere = a.endpoint.path(a.av.insert(elsewhere.endpoint.name()));
        assertEquals("links of the peer: seen tcp, needed shm", begin(toWithout, "shm"));
        // the driver has the same name, and is another one
        assertTrue(begin(toElsewhere, "loopback").startsWith("driver of the peer: seen "), toElsewhere::explain);
        assertEquals("folder of the peer's driver: seen " + BestName.parse(elsewhere.endpoint.name()).folder()
            + ", needed " + BestName.parse(a.endpoint.name()).folder(), begin(toElsewhere, "shm"));
        assertEquals("tcp", toElsewhere.linkName());
    }

    @Test
    void shouldRefuseAPeerWithoutACommonLink() {
        FabricNode peer = nodes.node(nodes.launch(nodes.newFolder(), "beta", "jfabric.link.enabled=loopback,shm"));
        FabricException refused = assertThrows(FabricException.class, () -> a.av.insert(peer.endpoint.name()));
        assertEquals(FabricErrno.EADDRNOTAVAIL, refused.errno());
        assertTrue(refused.getMessage().contains("tcp: rejected; links of the peer: seen shm, needed tcp"),
            refused::getMessage);
        assertTrue(refused.getMessage().contains("shm: rejected; folder of the peer's driver"), refused::getMessage);
    }

    /** Condition, value seen and value needed of a link's verdict. */
    private static String begin(PeerPath path, String link) {
        Verdict verdict =
            path.verdicts().stream().filter(each -> each.linkName().equals(link)).findFirst().orElseThrow();
        assertFalse(verdict.chosen(), path::explain);
        Reason reason = verdict.reasons().getFirst();
        return reason.condition() + ": seen " + reason.seen() + ", needed " + reason.needed();
    }

    /** A wildcard takes messages of all links; those of each sender come in its order, short and long ones alike. */
    @Test
    void shouldMatchMessagesOfAllLinksInOneOrder() {
        List<FabricNode> senders = List.of(nodes.node(alpha), nodes.node(nodes.launch("beta")),
            nodes.node(nodes.launchWithoutShm("gamma")), nodes.node(nodes.launch(nodes.newFolder(), "delta")));
        long[] sources = senders.stream().mapToLong(each -> a.av.insert(each.endpoint.name())).toArray();
        int each = 40;
        int total = each * senders.size();
        for (FabricNode sender : senders) {
            long toA = sender.av.insert(a.endpoint.name());
            for (int i = 0; i < each; i++) {
                // the bytes of a long one may be read later
                boolean isLong = i % 10 == 9;
                int length = isLong ? LONG / 8 : LENGTH;
                int offset = isLong ? LONG + i / 10 * length : i * LENGTH;
                sender.memory.buffer().putLong(offset, i);
                post(() -> sender.endpoint.tsend(sender.memory.address(offset), length, toA, 7, 5));
            }
        }
        Map<Long, Long> next = new HashMap<>();
        for (int i = 0; i < total; i++) {
            long buffer = a.memory.address();
            post(() -> a.endpoint.trecv(buffer, LONG, ANY, 7, 0, 3));
            FabricNode.Entry entry = a.await(3);
            long expected = next.merge(entry.source(), 1L, Long::sum) - 1;
            assertEquals(expected, a.memory.buffer().getLong(0), () -> "of " + entry);
        }
        for (long source : sources) {
            assertEquals(each, next.get(source));
        }
    }

    private void post(IntSupplier call) {
        int result = call.getAsInt();
        while (result == -FabricErrno.EAGAIN) {
            nodes.pump();
            result = call.getAsInt();
        }
        assertEquals(0, result);
    }

    @Test
    void shouldTakeTheNextLinkIfTheBestIsRefused() {
        FabricDriver beta = nodes.launch("beta");
        FabricNode b = nodes.node(beta);
        refuseShm("alpha");
        refuseShm("beta");
        long toB = a.av.insert(b.endpoint.name());
        long toA = b.av.insert(a.endpoint.name());
        assertEquals("shm", a.endpoint.path(toB).linkName());
        int count = 100;
        for (int i = 0; i < count; i++) {
            a.memory.buffer().putLong(i * LENGTH, i);
            assertEquals(0, a.endpoint.tsend(a.memory.address(i * LENGTH), LENGTH, toB, 7, 1));
        }
        // directed receives wait for the peer, whichever link it comes by
        for (int i = 0; i < count; i++) {
            assertEquals(0, b.endpoint.trecv(b.memory.address(i * LENGTH), LENGTH, toA, 7, 0, 2));
        }
        for (int i = 0; i < count; i++) {
            b.await(2);
            assertEquals(i, b.memory.buffer().getLong(i * LENGTH));
        }
        for (int i = 0; i < count; i++) {
            a.await(1);
        }
        PeerPath path = a.endpoint.path(toB);
        assertEquals("tcp", path.linkName(), path::explain);
        assertEquals(PeerPath.State.UP, path.state());
        assertEquals("connection to " + BestName.parse(b.endpoint.name()).fabricName()
            + ": seen FI_EHOSTUNREACH, needed one that the peer accepts", begin(path, "shm"));
        exchange(b, toB);
    }

    /** The link is refused in one direction only: each side sends by the link that it has. */
    @Test
    void shouldSendByDifferentLinksInTheTwoDirections() {
        FabricNode b = nodes.node(nodes.launch("beta"));
        refuseShm("beta");
        long toB = a.av.insert(b.endpoint.name());
        exchange(b, toB);
        long toA = b.av.insert(a.endpoint.name());
        assertEquals("tcp", a.endpoint.path(toB).linkName());
        assertEquals("shm", b.endpoint.path(toA).linkName());
        exchange(b, toB);
    }

    /** Two endpoints play one: each has the address by one link of a peer. */
    @Test
    void shouldKeepReceivesFromAPeerUntilItsLastLinkIsDown() {
        FabricDriver beta = nodes.launch("beta");
        FabricNode byShm = nodes.node(beta, "shm", FabricPair.usualHints());
        FabricNode byTcp = nodes.node(beta, "tcp", FabricPair.usualHints());
        long peer = a.av.insert(oneOf(byShm, byTcp).toString());
        BestName own = BestName.parse(a.endpoint.name());
        transfer(byShm, a, byShm.av.insert(own.way("shm")), LENGTH, peer);
        transfer(byTcp, a, byTcp.av.insert(own.way("tcp")), LENGTH, peer);
        assertEquals(0, a.endpoint.trecv(a.memory.address(), LENGTH, peer, 7, 0, 1));
        byTcp.fabric.close();
        a.assertQuiet(1000);
        assertEquals(0, byShm.endpoint.tsend(byShm.memory.address(), LENGTH, 0, 7, 2));
        a.await(1);
        byShm.await(2);
        assertEquals(0, a.endpoint.trecv(a.memory.address(), LENGTH, peer, 7, 0, 1));
        byShm.fabric.close();
        assertNotEquals(0, a.await().err(), "the last link is down");
    }

    /** The driver of the peer answers by shm, but the endpoint is not there. */
    @Test
    void shouldTakeTheNextLinkIfTheEndpointIsNotThere() {
        FabricDriver beta = nodes.launch("beta");
        FabricNode byShm = nodes.node(beta, "shm", FabricPair.usualHints());
        FabricNode byTcp = nodes.node(beta, "tcp", FabricPair.usualHints());
        long peer = a.av.insert(oneOf(byShm, byTcp).toString());
        byShm.fabric.close();
        transfer(a, byTcp, peer);
        assertEquals("tcp", a.endpoint.path(peer).linkName());
        assertTrue(begin(a.endpoint.path(peer), "shm").contains("seen FI_ECONNREFUSED"));
    }

    private BestName oneOf(FabricNode byShm, FabricNode byTcp) {
        String name = byShm.endpoint.name();
        return new BestName(BestName.parse(a.endpoint.name()).folder(), byShm.fabric.driverName(),
            name.substring(name.lastIndexOf('/') + 1), Map.of("shm", "", "tcp", byTcp.endpoint.name()));
    }

    @Test
    void shouldFailIfNoLinkConnects() {
        FabricDriver beta = nodes.launch("beta");
        FabricNode b = nodes.node(beta);
        long toB = a.av.insert(b.endpoint.name());
        b.fabric.close();
        nodes.end(beta);
        assertEquals(0, a.endpoint.trecv(a.memory.address(LONG), LENGTH, toB, 7, 0, 4));
        for (int i = 0; i < 2; i++) {
            // the second send begins with the best link again
            assertEquals(0, a.endpoint.tsend(a.memory.address(), LENGTH, toB, 7, 1));
            FabricNode.Entry first = a.await();
            assertEquals(FabricErrno.ECONNREFUSED, first.err(), first::toString);
            if (i == 0) {
                FabricNode.Entry second = a.await();
                assertEquals(FabricErrno.ECONNREFUSED, second.err(), second::toString);
                assertEquals(5, first.context() + second.context(), "the send, and the receive from that peer");
            }
        }
        assertEquals("tcp", a.endpoint.path(toB).linkName());
        assertEquals(PeerPath.State.DOWN, a.endpoint.path(toB).state());
    }

    /** A lost peer is connected anew: by shm as long as it has that, then by tcp, and by shm again. */
    @Test
    void shouldChooseAgainWhenThePeerIsLost() {
        FabricDriver beta = nodes.launch("beta");
        FabricNode b = nodes.node(beta);
        String name = b.endpoint.name();
        long toB = a.av.insert(name);
        exchange(b, toB);
        for (String link : List.of("tcp", "shm", "shm", "tcp")) {
            b.fabric.close();
            nodes.end(beta);
            beta = link.equals("shm") ? nodes.launch("beta") : nodes.launchWithoutShm("beta");
            b = nodes.node(beta, BestNodes.LINK, FabricPair.usualHints().srcAddr(name));
            assertEquals(BestName.parse(name).way("tcp"), BestName.parse(b.endpoint.name()).way("tcp"));
            awaitLoss(toB);
            exchange(b, toB);
            PeerPath path = a.endpoint.path(toB);
            assertEquals(link, path.linkName(), path::explain);
        }
    }

    private void awaitLoss(long to) {
        long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
        while (a.endpoint.path(to).state() != PeerPath.State.DOWN) {
            assertTrue(System.nanoTime() - deadline < 0, () -> a.endpoint.path(to).explain());
            nodes.pump();
        }
    }

    /** The three forms of an address that it can be asked for, before it is enabled. */
    @Test
    void shouldTakeAnAddressBySetname() {
        String first = named("jfabric://alpha/orders");
        assertEquals("jfabric://alpha/orders", BestName.parse(first).fabricName());
        assertEquals(first, named(first));
        String socket = BestName.parse(first).way("tcp");
        assertEquals(socket, BestName.parse(named(socket)).way("tcp"));
        for (String wrong : List.of("nonsense", "best://x", "fi_sockaddr_in://")) {
            FabricException refused = assertThrows(FabricException.class, () -> named(wrong));
            assertEquals(FabricErrno.EINVAL, refused.errno());
        }
        FabricException refused = assertThrows(FabricException.class,
            () -> named(first.replace("/alpha/", "/beta/")));
        assertEquals(FabricErrno.EADDRNOTAVAIL, refused.errno());
    }

    /** Name of an endpoint that was asked for one, and is closed again. */
    private String named(String asked) {
        try (Endpoint endpoint = a.domain.openEndpoint(a.info)) {
            endpoint.bind(a.cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(a.av);
            endpoint.setname(asked);
            endpoint.enable();
            return endpoint.name();
        }
    }

    @Test
    void shouldForgetARemovedPeer() {
        FabricNode b = nodes.node(nodes.launch("beta"));
        long toB = a.av.insert(b.endpoint.name());
        assertEquals(toB, a.av.insert(b.endpoint.name()));
        exchange(b, toB);
        a.av.remove(toB);
        long toA = b.av.insert(a.endpoint.name());
        assertEquals(0, b.endpoint.tsend(b.memory.address(), LENGTH, toA, 7, 1));
        b.await(1);
        assertEquals(0, a.endpoint.trecv(a.memory.address(), LENGTH, ANY, 7, 0, 2));
        assertEquals(ANY, a.await(2).source(), "the address vector does not have the sender");
        long again = a.av.insert(b.endpoint.name());
        assertEquals(0, b.endpoint.tsend(b.memory.address(), LENGTH, toA, 7, 1));
        b.await(1);
        assertEquals(0, a.endpoint.trecv(a.memory.address(), LENGTH, again, 7, 0, 2));
        assertEquals(again, a.await(2).source());
        exchange(b, again);
    }

    /** Peers with one link are reached by the address of that link, and reach the endpoint by its address there. */
    @Test
    void shouldReachEndpointsOfASingleLink() {
        FabricDriver beta = nodes.launch("beta");
        BestName name = BestName.parse(a.endpoint.name());
        for (String link : List.of("tcp", "shm")) {
            FabricNode plain = nodes.node(beta, link, FabricPair.usualHints());
            long toPlain = a.av.insert(plain.endpoint.name());
            long toA = plain.av.insert(name.way(link));
            transfer(plain, a, toA);
            transfer(a, plain, toPlain);
            assertEquals(link, a.endpoint.path(toPlain).linkName());
            FabricException refused =
                assertThrows(FabricException.class, () -> plain.av.insert(a.endpoint.name()));
            assertEquals(FabricErrno.EADDRNOTAVAIL, refused.errno());
        }
    }

    @Test
    void shouldReadAndWriteMemoryByEachLink() {
        Info hints = FabricPair.usualHints();
        hints.caps(hints.caps() | Flags.RMA);
        FabricNode own = nodes.node(alpha, BestNodes.LINK, hints);
        for (FabricDriver driver : List.of(nodes.launch("beta"), nodes.launchWithoutShm("gamma"))) {
            FabricNode peer = nodes.node(driver, BestNodes.LINK, hints);
            long to = own.av.insert(peer.endpoint.name());
            MemoryRegion region = peer.domain.allocate(LONG,
                new MemoryRegionAttr().access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(5));
            own.fill(0, LONG, 3);
            assertEquals(0, own.endpoint.remoteMemory().write(own.memory.address(), LONG, to, 0, region.key(), 1));
            assertEquals(0, own.endpoint.remoteMemory().read(own.memory.address(LONG), LONG, to, 0, region.key(), 2));
            own.await(1);
            own.await(2);
            own.assertFilled(LONG, LONG, 3);
            FabricNode.assertPattern(region.buffer(), 0, LONG, 3, 0);
            own.memory.buffer().setMemory(0, 2 * LONG, (byte) 0);
        }
    }

    @Test
    void shouldPassItsAddressAsBytesAndByAService() {
        FabricNode b = nodes.node(nodes.launch("beta"));
        byte[] bytes = b.endpoint.name().getBytes(StandardCharsets.US_ASCII);
        long toB = a.av.insert(new UnsafeBuffer(bytes));
        b.endpoint.publish("quotes");
        assertEquals(toB, a.av.insertService("beta", "quotes"));
        assertEquals(b.endpoint.name(), a.av.lookup(toB));
        exchange(b, toB);
    }

    @Test
    void shouldBeOfferedByNameOnly() {
        InfoResult unasked = a.fabric.info(new Info());
        assertTrue(unasked.matches().stream().noneMatch(each -> each.epAttr().protocol() == Protocol.JFABRIC_BEST));
        Verdict verdict = unasked.verdicts().getLast();
        assertTrue(verdict.toString().startsWith("best: rejected; link name: seen none, needed best"),
            verdict::toString);
        Info match = a.fabric.info(new Info().linkName("best")).best();
        assertEquals(Protocol.JFABRIC_BEST, match.epAttr().protocol());
        assertEquals("best", match.fabricAttr().provName());
        assertEquals(Flags.REMOTE_COMM | Flags.LOCAL_COMM, match.caps() & (Flags.REMOTE_COMM | Flags.LOCAL_COMM));
        assertEquals(0, match.caps() & Flags.ATOMIC, "tcp has none");
        assertEquals(Flags.INJECT_COMPLETE, match.txAttr().opFlags());
        Info byProvider = new Info();
        byProvider.fabricAttr().provName("best");
        assertEquals("best", a.fabric.info(byProvider).best().linkName());
    }

    @Test
    void shouldRefuseWhatNotAllLinksHave() {
        assertRefused(new Info().caps(Flags.MSG | Flags.ATOMIC), "caps");
        Info connected = new Info();
        connected.epAttr().type(EndpointType.MSG);
        assertRefused(connected, "ep_attr.type");
        Info matched = new Info();
        matched.txAttr().opFlags(Flags.MATCH_COMPLETE);
        assertRefused(matched, "tx_attr.op_flags");
        Info key = new Info();
        key.epAttr().authKey(new byte[] {1});
        assertRefused(key, "ep_attr.auth_key_size");
        assertRefused(new Info().caps(Flags.MSG | Flags.MULTICAST), "caps");
        assertRefused(new Info().srcAddr("jfabric://beta/other"), "source");
        for (String text : List.of("best://", "best://0123456789abcdef/alpha", "best://x/alpha/ep;shm",
            a.endpoint.name() + ";shm", a.endpoint.name() + ";tcp=")) {
            FabricException refused = assertThrows(FabricException.class, () -> a.av.insert(text));
            assertEquals(FabricErrno.EINVAL, refused.errno(), text);
        }
    }

    private void assertRefused(Info hints, String condition) {
        InfoResult result = a.fabric.info(hints.linkName("best"));
        assertTrue(result.matches().isEmpty());
        Verdict verdict = result.verdicts().getLast();
        assertTrue(
            verdict.reasons().stream().anyMatch(each -> each.condition().endsWith(condition)), verdict::toString);
    }

    @Test
    void shouldHaveAtomicsWhereAllLinksHaveThem() {
        Info hints = new Info().caps(Flags.MSG | Flags.ATOMIC).linkName("best");
        FabricDriver beta = nodes.launch(nodes.folder(), "beta", "jfabric.link.enabled=loopback,shm,tcp,rxm");
        FabricNode b = nodes.node(beta, "best", hints);
        assertNotEquals(null, BestName.parse(b.endpoint.name()).way("rxm"));
        assertNull(BestName.parse(b.endpoint.name()).way("tcp"));
        assertNotEquals(0, b.info.caps() & Flags.ATOMIC);
    }

    /** Lets no driver connect to this one by shared memory, as if it belonged to another user. */
    private void refuseShm(String driver) {
        BestNodes.refuseSharedMemory(nodes.folder().resolve(driver));
    }

    private void exchange(FabricNode peer, long toPeer) {
        long toA = peer.av.insert(a.endpoint.name());
        for (int length : new int[] {LENGTH, LONG}) {
            transfer(a, peer, toPeer, length, toA);
            transfer(peer, a, toA, length, toPeer);
        }
    }

    private static void transfer(FabricNode from, FabricNode to, long dest) {
        transfer(from, to, dest, LENGTH, ANY);
    }

    private static void transfer(FabricNode from, FabricNode to, long dest, int length, long source) {
        to.memory.buffer().setMemory(0, length, (byte) 0);
        from.fill(LONG, length, length);
        assertEquals(0, to.endpoint.trecv(to.memory.address(), length, source, 7, 0, 1));
        assertEquals(0, from.endpoint.tsend(from.memory.address(LONG), length, dest, 7, 2));
        FabricNode.Entry received = to.await(1);
        assertEquals(length, received.len());
        if (source != ANY) {
            assertEquals(source, received.source());
        }
        from.await(2);
        to.assertFilled(0, length, length);
    }
}
