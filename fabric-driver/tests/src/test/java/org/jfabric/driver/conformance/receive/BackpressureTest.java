package org.jfabric.driver.conformance.receive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.Map;
import org.jfabric.Endpoint;
import org.jfabric.client.QueueSnapshot;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.ResourceManagement;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Receivers that do not post: what it costs, who waits for whom, and that nothing of it is lost. Over tcp a receiver
 * that stores no more is not read any more, and the sender fills buffers of the system first, which have no end that a
 * test could wait for: RxmFaultTest and TcpMsgFaultTest have slow readers there.
 */
@Tag("conformance")
@Tag("link")
@Timeout(120)
@SeveralLinks
class BackpressureTest {
    private static final long ANY = -1L;
    private static final int RECEIVE = FabricNode.MEMORY / 2;
    private static final int LENGTH = 1000;
    private static final int SLOT = 1024;
    private static final int CQ_SIZE = 1024;

    private static Info hints() {
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV);
        hints.domainAttr().resourceManagement(ResourceManagement.ENABLED);
        hints.rxAttr().totalBufferedRecv(0);
        return hints;
    }

    /** Sends of one endpoint to another that does not post: each from a place and with bytes of its own. */
    private static final class Flood {
        private final FabricPair pair;
        private final FabricNode from;
        private final long to;
        private final long tag;
        private final BitSet completed = new BitSet();
        private int sent;

        Flood(FabricPair pair, long tag) {
            this.pair = pair;
            this.from = pair.a;
            this.to = pair.toB;
            this.tag = tag;
        }

        int send() {
            from.fill((long) sent * SLOT, LENGTH, sent);
            int result = from.endpoint.tsend(from.memory.address((long) sent * SLOT), LENGTH, to, tag, sent);
            if (result == 0) {
                sent++;
            }
            return result;
        }

        void drain() {
            for (FabricNode.Entry entry = from.poll(); entry != null; entry = from.poll()) {
                assertEquals(0, entry.err(), entry::toString);
                assertFalse(completed.get((int) entry.context()), () -> "twice: " + completed);
                completed.set((int) entry.context());
            }
        }

        /** Sends until as many sends are outstanding as can be, and waits for the peer to hold them back. */
        QueueSnapshot fill() {
            long deadlineNs = System.nanoTime() + Deadline.ns(40);
            for (;;) {
                int result = send();
                drain();
                if (result == 0) {
                    continue;
                }
                assertEquals(-FabricErrno.EAGAIN, result);
                QueueSnapshot seen = pair.look(from);
                QueueSnapshot.PeerRow peer = peer(seen, pair, pair.b);
                if (peer.waiting() + peer.untaken() == seen.txSize() && peer.holdsBack()) {
                    return seen;
                }
                assertTrue(System.nanoTime() - deadlineNs < 0, () -> sent + " sent, " + seen);
            }
        }

        /** Sends until no more to this peer are taken, although to others there could be. */
        QueueSnapshot.PeerRow fillShare() {
            long deadlineNs = System.nanoTime() + Deadline.ns(40);
            for (;;) {
                int result = send();
                drain();
                QueueSnapshot.PeerRow row = result == 0 ? null : peer(pair.look(from), pair, pair.b);
                if (row != null && row.isShareUsed()) {
                    return row;
                }
                assertTrue(System.nanoTime() - deadlineNs < 0, () -> sent + " sent, " + row);
            }
        }

        /** Posts a receive for each send, which gets that one's bytes. */
        void receiveAll() {
            FabricNode b = pair.b;
            for (int i = 0; i < sent; i++) {
                assertEquals(0, b.endpoint.trecv(
                    b.memory.address(RECEIVE + (long) i * SLOT), SLOT, ANY, tag, 0, i));
            }
            BitSet received = new BitSet();
            while (received.cardinality() < sent) {
                FabricNode.Entry entry = b.await();
                assertEquals(0, entry.err(), entry::toString);
                assertEquals(LENGTH, entry.len());
                assertFalse(received.get((int) entry.context()), entry::toString);
                received.set((int) entry.context());
                drain();
            }
            for (int i = 0; i < sent; i++) {
                b.assertFilled(RECEIVE + (long) i * SLOT, LENGTH, i);
            }
            long deadlineNs = System.nanoTime() + Deadline.ns(20);
            while (completed.cardinality() < sent) {
                drain();
                pair.pump();
                assertTrue(System.nanoTime() - deadlineNs < 0, () -> completed.cardinality() + " of " + sent);
            }
        }
    }

    private static QueueSnapshot.PeerRow peer(QueueSnapshot seen, FabricPair pair, FabricNode node) {
        String address = pair.setup.seen(node.endpoint);
        return seen.peers().stream().filter(row -> row.address().equals(address)).findFirst()
            .orElseThrow(() -> new AssertionError(address + " in " + seen));
    }

    private static Map<String, Long> counters(FabricPair pair, FabricNode node) {
        try (DriverView view = new DriverView(pair.directoryOf(node))) {
            return view.counters();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"RX-017", "TX-042"})
    void shouldHoldASenderAtTheBudgetSayWhoWaitsAndLoseNothing(Setup setup) {
        setup.assumeAnnouncements();
        try (FabricPair pair = new FabricPair(setup, hints(), CQ_SIZE)) {
            Flood flood = new Flood(pair, 1);
            QueueSnapshot sender = flood.fill();
            QueueSnapshot.PeerRow slow = peer(sender, pair, pair.b);
            // a daemon that was late reads what is on its way in several steps
            long deadlineNs = System.nanoTime() + Deadline.ns(40);
            QueueSnapshot seen = pair.look(pair.b);
            while (seen.storedCount() + seen.announcedCount() != flood.sent - slow.waiting()) {
                QueueSnapshot last = seen;
                assertTrue(System.nanoTime() - deadlineNs < 0, () -> flood.sent + " sent, " + last);
                seen = pair.look(pair.b);
            }
            QueueSnapshot receiver = seen;

            assertEquals(sender.txSize(), slow.waiting() + slow.untaken());
            assertTrue(slow.creditBytes() < LENGTH + 64, sender::toString);
            assertTrue(slow.waiting() > 0, sender::toString);
            QueueSnapshot.PeerRow quick = peer(receiver, pair, pair.a);
            assertEquals(flood.sent - sender.txSize(), quick.stored());
            assertEquals(slow.untaken(), quick.announced());
            assertEquals(quick.stored() * LENGTH, receiver.storedBytes());
            assertTrue(quick.heldBytes() <= receiver.budgetBytes() - receiver.unreservedBytes(), receiver::toString);
            assertEquals(1, receiver.unexpected().size());
            assertEquals(1, receiver.unexpected().getFirst().tag());
            String sends = "sends of " + pair.a.endpoint.name() + " held back by " + setup.seen(pair.b.endpoint);
            String messages =
                "messages of " + setup.seen(pair.a.endpoint) + " without a receive at " + pair.b.endpoint.name()
                    + " hold it back";
            assertEquals(slow.waiting(), counters(pair, pair.a).get(sends));
            assertEquals(quick.stored() + quick.announced(), counters(pair, pair.b).get(messages));

            flood.receiveAll();

            assertEquals(0, pair.look(pair.a).sendsCount());
            seen = pair.look(pair.b);
            assertEquals(0, seen.storedCount() + seen.announcedCount());
            assertFalse(counters(pair, pair.a).containsKey(sends));
            assertFalse(counters(pair, pair.b).containsKey(messages));
        }
    }

    /**
     * Buffering is never off: what was asked for is a hint, and a budget is granted. Beyond it nothing more than errors
     * would have to be given without resource management, but a sender is held back all the same.
     */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("RX-017")
    void shouldHoldASenderAtTheBudgetWithoutResourceManagementToo(Setup setup) {
        setup.assumeAnnouncements();
        Info hints = hints();
        hints.domainAttr().resourceManagement(ResourceManagement.DISABLED);
        try (FabricPair pair = new FabricPair(setup, hints, CQ_SIZE)) {
            assertEquals(ResourceManagement.DISABLED, pair.b.info.domainAttr().resourceManagement());
            assertTrue(pair.b.info.rxAttr().totalBufferedRecv() > 0, pair.b.info::toString);
            Flood flood = new Flood(pair, 1);
            QueueSnapshot.PeerRow slow = peer(flood.fill(), pair, pair.b);
            assertTrue(slow.waiting() > 0, slow::toString);
            QueueSnapshot receiver = pair.look(pair.b);
            assertTrue(receiver.storedBytes() <= pair.b.info.rxAttr().totalBufferedRecv(), receiver::toString);
            flood.receiveAll();
            assertEquals(0, pair.look(pair.a).sendsCount());
        }
    }

    /**
     * An endpoint whose info says that nothing is to be buffered. What the driver does not keep stays at its sender,
     * with and without resource management, and what comes behind it is received after it.
     */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("RX-017")
    void shouldHoldBackAMessageForWhichThereIsNoRoomUntilItIsReceived(Setup setup) {
        for (ResourceManagement managed : new ResourceManagement[] {
            ResourceManagement.ENABLED, ResourceManagement.DISABLED}) {
            Info hints = hints();
            hints.domainAttr().resourceManagement(managed);
            try (FabricPair pair = new FabricPair(setup, hints, CQ_SIZE)) {
                Info info = pair.b.info.copy();
                info.rxAttr().totalBufferedRecv(0);
                try (Endpoint receiver = pair.b.domain.openEndpoint(info)) {
                    receiver.bind(pair.b.cq, Flags.TRANSMIT | Flags.RECV);
                    receiver.bind(pair.b.av);
                    receiver.enable();
                    assertHoldsBack(pair, receiver);
                }
            }
        }
    }

    private static void assertHoldsBack(FabricPair pair, Endpoint receiver) {
        long to = pair.a.av.insert(receiver.name());
        int length = pair.setup.heldLength();
        pair.a.fill(0, length, 1);
        pair.a.fill(length, LENGTH, 2);
        assertEquals(0, pair.a.endpoint.messages().tsendmsg(
            pair.a.memory.address(), length, 0, to, 1, 11, pair.setup.heldFlags()));
        // embedded drivers move a little of it in each round
        pair.a.assertQuiet(5000);
        assertEquals(0, pair.a.endpoint.messages().tsendmsg(
            pair.a.memory.address(length), LENGTH, 0, to, 1, 12, pair.setup.heldFlags()));
        pair.b.assertQuiet(50);
        for (int i = 1; i <= 2; i++) {
            assertEquals(0, receiver.trecv(pair.b.memory.address(RECEIVE), length, ANY, 1, 0, i));
            assertEquals(i == 1 ? length : LENGTH, pair.b.await(i).len());
            pair.b.assertFilled(RECEIVE, i == 1 ? length : LENGTH, i);
        }
        long ended = pair.a.await().context() + pair.a.await().context();
        assertEquals(11 + 12, ended);
        pair.a.assertQuiet(20);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldStillDeliverATagThatIsAwaitedBehindMessagesThatAreNot(Setup setup) {
        setup.assumeAnnouncements();
        try (FabricPair pair = new FabricPair(setup, hints(), CQ_SIZE)) {
            Flood flood = new Flood(pair, 1);
            // nearly all that there is credit for, and then a little more, but not more than may be announced
            while (flood.sent < 230 || announced(pair) == 0) {
                assertEquals(0, flood.send());
                flood.drain();
            }
            pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE - SLOT), SLOT, ANY, 2, 0, 7000);
            pair.a.fill(RECEIVE - SLOT, 500, 99);
            assertEquals(0, pair.a.endpoint.tsend(
                pair.a.memory.address(RECEIVE - SLOT), 500, pair.toB, 2, flood.sent));
            assertEquals(500, pair.b.await(7000).len());
            pair.b.assertFilled(RECEIVE - SLOT, 500, 99);
            pair.b.assertQuiet(20);
            flood.receiveAll();
        }
    }

    private static long announced(FabricPair pair) {
        return pair.look(pair.a).peers().stream().mapToLong(QueueSnapshot.PeerRow::untaken).sum();
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TX-043")
    void shouldReachAllOthersWhileOnePeerIsHeldBack(Setup setup) {
        setup.assumeAnnouncements();
        try (FabricPair pair = new FabricPair(setup, hints(), CQ_SIZE)) {
            FabricNode c = pair.sibling(pair.a, hints(), 0);
            FabricNode d = pair.sibling(pair.b, hints(), 0);
            long fromCToB = c.av.insert(pair.b.endpoint.name());
            long fromCToD = c.av.insert(d.endpoint.name());
            long fromDToC = d.av.insert(c.endpoint.name());
            long fromAToD = pair.a.av.insert(d.endpoint.name());
            Flood flood = new Flood(pair, 1);
            flood.fill();
            assertEquals(-FabricErrno.EAGAIN, flood.send());
            for (int i = 0; i < 50; i++) {
                exchange(c, fromCToB, pair.b, i);
                exchange(pair.b, pair.toA, pair.a, i);
                exchange(c, fromCToD, d, i);
                exchange(d, fromDToC, c, i);
            }
            flood.receiveAll();
            exchange(pair.a, fromAToD, d, 1);
            exchange(pair.a, pair.toB, pair.b, 2);
        }
    }

    /** With one peer alone there is no share: a further one, to which the first endpoint has sent. */
    private static FabricNode secondPeer(FabricPair pair) {
        FabricNode second = pair.sibling(pair.b, hints(), 0);
        exchange(pair.a, pair.a.av.insert(second.endpoint.name()), second, 1);
        return second;
    }

    /** A publisher of which one subscriber takes nothing: it is named, and the others get what they would get. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldGiveASlowPeerAShareOfTheSendsAndOthersTheRest(Setup setup) {
        setup.assumeAnnouncements();
        try (FabricPair pair = new FabricPair(setup, hints(), CQ_SIZE)) {
            FabricNode d = secondPeer(pair);
            long toD = pair.a.av.insert(d.endpoint.name());
            Flood flood = new Flood(pair, 1);
            QueueSnapshot.PeerRow slow = flood.fillShare();
            for (int i = 0; i < 300; i++) {
                exchange(pair.a, toD, d, i);
                assertEquals(-FabricErrno.EAGAIN, flood.send());
            }
            assertTrue(slow.waiting() + slow.untaken() > pair.look(pair.a).txSize() / 2, slow::toString);
            assertTrue(slow.waiting() + slow.untaken() < pair.look(pair.a).txSize() * 3 / 4, slow::toString);
            assertFalse(peer(pair.look(pair.a), pair, d).isShareUsed());
            flood.receiveAll();
            assertFalse(peer(pair.look(pair.a), pair, pair.b).isShareUsed());
            exchange(pair.a, pair.toB, pair.b, 2);
        }
    }

    /** The application gives up a slow peer; the next address gets the number that it had. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldNotRefuseAPeerThatIsInsertedWhereASlowOneWas(Setup setup) {
        setup.assumeAnnouncements();
        try (FabricPair pair = new FabricPair(setup, hints(), CQ_SIZE)) {
            secondPeer(pair);
            new Flood(pair, 1).fillShare();
            FabricNode e = pair.sibling(pair.b, hints(), 0);
            pair.a.av.remove(pair.toB);
            assertEquals(pair.toB, pair.a.av.insert(e.endpoint.name()));
            FabricNode.awaitStep(pair.a.domain);
            exchange(pair.a, pair.toB, e, 2);
        }
    }

    private static void exchange(FabricNode from, long address, FabricNode to, int round) {
        int length = round % 10 == 0 ? 50_000 : 100;
        long place = RECEIVE - 65_536L;
        from.fill(place, length, round);
        assertEquals(0, to.endpoint.trecv(to.memory.address(FabricNode.MEMORY - 65_536L), length, ANY, 77, 0, 9001));
        assertEquals(0, from.endpoint.tsend(from.memory.address(place), length, address, 77, 9000));
        to.await(9001);
        to.assertFilled(FabricNode.MEMORY - 65_536L, length, round);
        from.await(9000);
    }
}
