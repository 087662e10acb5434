package org.jfabric.driver.engine;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.QueueSnapshot;
import org.jfabric.driver.link.scripted.Script;
import org.jfabric.layout.ViewDescriptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What a look at an endpoint's queues shows, and that it is bounded and keeps its place. */
class QueueViewTest {
    private static final long INTERVAL_NS = 100_000_000L;

    private final Script script = new Script(11);
    private final Engines rig = new Engines(script);
    private final QueueViews views = new QueueViews();
    private final long memory = UnsafeApi.allocateMemory(ViewDescriptor.FILE_LENGTH);
    private long nowNs = 1;

    @AfterEach
    void close() {
        rig.close();
        UnsafeApi.freeMemory(memory);
    }

    private void open(Engines.Node node) {
        UnsafeApi.setMemory(memory, ViewDescriptor.FILE_LENGTH, (byte) 0);
        views.add(new QueueView(node.endpoint, node.session, rig.settings.unexpectedBudgetBytes(), memory));
    }

    private long sequence() {
        return UnsafeApi.getLong(memory + ViewDescriptor.SEQUENCE_OFFSET);
    }

    private QueueSnapshot snapshot() {
        byte[] copy = new byte[ViewDescriptor.FILE_LENGTH];
        new UnsafeBuffer(memory, copy.length).getBytes(0, copy);
        return QueueSnapshot.decode(copy);
    }

    /** A whole new look. */
    private QueueSnapshot look() {
        nowNs += INTERVAL_NS;
        long before = sequence();
        for (int i = 0; sequence() == before || (sequence() & 1) != 0; i++) {
            assertEquals(1, views.poll(nowNs));
            assertTrue(i < 10_000);
        }
        return snapshot();
    }

    @Test
    void shouldShowReceivesAndMessagesByTagAndPeer() {
        rig.directed = true;
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        open(b);
        long toA = b.fiAddr(a);
        b.trecv(0, 100, 5, 1);
        long firstNs = b.engine.clock().nowNs();
        b.engine.clock().update();
        b.trecv(0, 200, 5, 2);
        b.receive(Engines.TAGGED, b.buf(0), 64, toA, 0x600, 0xFF, 3);
        b.receive(Engines.MSG, b.buf(0), 32, -1, 0, 0, 4);
        for (int i = 0; i < 3; i++) {
            a.tsend(b, 0, 1000, 7, 10 + i);
        }
        a.tsend(b, 0, 100_000, 8, 20);
        rig.settle();

        QueueSnapshot seen = look();

        assertEquals(4, seen.postedCount());
        assertEquals(
            List.of(
                new QueueSnapshot.PostedRow(true, 5, 0, -1, 2, 300, firstNs),
                new QueueSnapshot.PostedRow(true, 0x600, 0xFF, toA, 1, 64, b.engine.clock().nowNs()),
                new QueueSnapshot.PostedRow(false, 0, 0, -1, 1, 32, b.engine.clock().nowNs())),
            seen.posted());
        assertNull(seen.postedRest());
        assertEquals(3, seen.storedCount());
        assertEquals(3000, seen.storedBytes());
        assertEquals(1, seen.announcedCount());
        assertEquals(
            List.of(
                new QueueSnapshot.UnexpectedRow(
                    true, 7, toA, a.address, 3, 3000, 0, 0, b.engine.clock().nowNs()),
                new QueueSnapshot.UnexpectedRow(
                    true, 8, toA, a.address, 0, 0, 1, 100_000, b.engine.clock().nowNs())),
            seen.unexpected());
        QueueSnapshot.PeerRow peer = seen.peers().getFirst();
        assertEquals(a.address, peer.address());
        assertEquals(ViewDescriptor.PEER_UP, peer.state());
        assertEquals(3, peer.stored());
        assertEquals(1, peer.announced());
        assertEquals(3 * (1024 + 64), peer.heldBytes());
        assertEquals(1, peer.directed());
        assertEquals(b.endpoint.receiver().scan().unreservedBytes(), seen.unreservedBytes());
        assertEquals(rig.settings.unexpectedBudgetBytes(), seen.budgetBytes());
        assertEquals(b.address, seen.address());
    }

    @Test
    void shouldShowAtTheSenderWhoHoldsItBackAndForHowLong() {
        rig.txSize = 200;
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        Engines.Node c = rig.add("c");
        open(a);
        long beforeNs = a.engine.clock().nowNs();
        for (int i = 0; i < 100; i++) {
            assertEquals(0, a.tsend(b, 0, 1000, 1, 10 + i));
        }
        c.trecv(0, 100, 1, 1);
        a.tsend(c, 0, 100, 1, 500);
        rig.settle();
        int window = (1 << 14) / (1024 + 64);
        int announced = rig.settings.announcementLimit();

        QueueSnapshot seen = look();

        assertEquals(2, seen.peersCount());
        QueueSnapshot.PeerRow slow = peer(seen, b);
        assertTrue(slow.holdsBack());
        assertEquals(announced, slow.untaken());
        assertEquals(beforeNs, slow.untakenSinceNs());
        assertEquals(100 - window - announced, slow.waiting());
        assertEquals(beforeNs, slow.waitingSinceNs());
        assertTrue(slow.creditBytes() < 1024 + 64, seen::toString);
        QueueSnapshot.PeerRow quick = peer(seen, c);
        assertFalse(quick.holdsBack());
        assertEquals(0, quick.waiting());
        for (int i = 0; i < 100; i++) {
            b.trecv(0, 1024, 1, 1);
            rig.settle();
            b.completions.takeAll();
        }
        slow = peer(look(), b);
        assertFalse(slow.holdsBack());
        assertEquals(0, slow.waiting() + slow.untaken());
    }

    private static QueueSnapshot.PeerRow peer(QueueSnapshot seen, Engines.Node node) {
        return seen.peers().stream().filter(row -> row.address().equals(node.address)).findFirst().orElseThrow();
    }

    @Test
    void shouldKeepTheOldestRowsAndAddUpTheRest() {
        rig.rxSize = 512;
        Engines.Node b = rig.add("b");
        open(b);
        long[] sinceNs = new long[200];
        for (int i = 0; i < 200; i++) {
            b.trecv(0, 10, i, 1);
            b.trecv(0, 10, i, 1);
            sinceNs[i] = b.engine.clock().nowNs();
            b.engine.clock().update();
        }
        // their places in memory are used again, by the youngest
        for (int i = 0; i < 50; i++) {
            b.endpoint.receiver().cancel(1);
        }
        for (int i = 0; i < 20; i++) {
            b.trecv(0, 10, 1000 + i, 1);
        }

        QueueSnapshot seen = look();

        assertEquals(370, seen.postedCount());
        assertEquals(ViewDescriptor.ROWS, seen.posted().size());
        long shown = seen.posted().stream().mapToLong(QueueSnapshot.PostedRow::count).sum();
        assertEquals(370, shown + seen.postedRest().count());
        assertEquals(3700, seen.posted().stream().mapToLong(QueueSnapshot.PostedRow::bytes).sum()
            + seen.postedRest().bytes());
        for (int tag = 25; tag < 25 + ViewDescriptor.ROWS; tag++) {
            long wanted = tag;
            assertTrue(seen.posted().stream().anyMatch(row -> row.tag() == wanted && row.count() == 2
                && row.sinceNs() == sinceNs[(int) wanted]), () -> wanted + " in " + seen.posted());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldCountWhatStandsThereHoweverMuchWentMeanwhile(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        rig.rxSize = 200;
        rig.txSize = 200;
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        open(b);
        for (int i = 0; i < 3000; i++) {
            switch (random.nextInt(6)) {
                case 0, 1 -> a.tsend(b, 0, random.nextInt(20) == 0 ? 5000 : random.nextInt(900), random.nextInt(8), 1);
                case 2, 3 -> b.trecv(0, 8192, random.nextInt(8), 1 + random.nextInt(3));
                case 4 -> b.endpoint.cancel(1 + random.nextInt(3));
                default -> rig.step();
            }
            // in the middle of everything: it must only go on
            nowNs += INTERVAL_NS / 10;
            views.poll(nowNs);
            a.completions.takeAll();
            b.completions.takeAll();
        }
        rig.settle();
        look();

        QueueSnapshot seen = look();

        assertEquals(b.endpoint.receiver().unexpectedMessages(), seen.storedCount() + seen.announcedCount(),
            () -> "seed " + seed);
        assertEquals(b.endpoint.receiver().outstanding(), seen.postedCount() + seen.underWayCount());
        assertEquals(b.peer(a).receives().held().heldBytes(), peer(seen, a).heldBytes());
        assertEquals(a.endpoint.outstandingSends(), a.peer(b).outbox().waiting() + a.peer(b).outbox().announced());
    }

    @Test
    void shouldLookAtABoundedNumberOfRecordsInEachCycle() {
        rig.rxSize = 1600;
        Engines.Node b = rig.add("b");
        open(b);
        for (int i = 0; i < 1600; i++) {
            b.trecv(0, 10, i % 3, 1);
        }
        QueueSnapshot seen = look();

        assertEquals(1600, seen.postedCount());
        assertTrue(seen.cycles() >= 1600 / 16, "the look took " + seen.cycles() + " cycles");
        assertTrue(seen.cycles() < (1600 + rig.txSize) / 16 + 10, "the look took " + seen.cycles() + " cycles");
        assertEquals(0, views.poll(nowNs), "nothing is to be done before the next look is due");
    }

    @Test
    void shouldWriteNothingUnlessSomebodyAskedAndNothingAfterwards() {
        Engines.Node a = rig.add("a");
        Engines.Node b = rig.add("b");
        UnsafeApi.setMemory(memory, ViewDescriptor.FILE_LENGTH, (byte) 0);
        b.trecv(0, 10, 1, 1);
        assertEquals(0, views.poll(nowNs));
        QueueView view = new QueueView(b.endpoint, b.session, 1, memory);
        views.add(view);
        QueueView other = new QueueView(a.endpoint, a.session, 1, memory);
        views.add(other);
        views.removeAll(a.session);
        assertEquals(1, look().postedCount());
        views.remove(view);
        long last = sequence();
        for (int i = 0; i < 100; i++) {
            nowNs += INTERVAL_NS;
            assertEquals(0, views.poll(nowNs));
        }
        assertEquals(last, sequence());
    }

    /** Plain receives move into the queue of expected ones and back, where they get other places in memory. */
    @Test
    void shouldSeeEachReceiveOnceWhileOthersArePosted() {
        rig.rxSize = 256;
        Engines.Node b = rig.add("b");
        open(b);
        for (int i = 0; i < 24; i++) {
            b.trecv(0, 10, i, 1);
        }
        nowNs += INTERVAL_NS;
        int others = 0;
        while (sequence() != 2) {
            assertEquals(1, views.poll(nowNs));
            for (int i = 0; i < 17 && others < 200; i++, others++) {
                b.trecv(0, 10, 1000, 1);
            }
        }
        long before = snapshot().posted().stream().filter(row -> row.tag() < 24 && row.count() == 1).count();
        assertEquals(24, before, () -> snapshot().posted().toString());
        Engines.Node a = rig.add("a");
        assertEquals(0, a.tsend(b, 0, 10, 0, 1));
        rig.settle();
        for (int i = 0; i < 20; i++) {
            b.trecv(0, 10, 1000, 1);
        }
        long expected = b.endpoint.receiver().expectedMessages();
        assertEquals(0, a.tsend(b, 0, 10, 1, 1));
        rig.settle();
        assertEquals(expected + 1, b.endpoint.receiver().expectedMessages(), "the queue stays closed");
    }

    @Test
    void shouldSayThatTheEndpointHasEndedAndKeepWhatWasSeen() {
        Engines.Node b = rig.add("b");
        open(b);
        b.trecv(0, 10, 1, 1);
        look();
        nowNs += INTERVAL_NS;
        views.poll(nowNs);
        b.engine.removeEndpoint(b.endpoint);
        QueueSnapshot seen = look();
        assertTrue(seen.ended());
        assertEquals(1, seen.postedCount());
        assertEquals(0, views.poll(nowNs + INTERVAL_NS));
        assertNotNull(seen.address());
    }
}
