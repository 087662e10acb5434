package org.jfabric.driver.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.QueueSnapshot;
import org.jfabric.info.Flags;
import org.jfabric.layout.ViewDescriptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The remote accesses in a snapshot of an endpoint's queues. */
class RemoteViewTest {
    private static final long INTERVAL_NS = 100_000_000L;
    private static final long KEY = 0xABC;

    /** More accesses than there are rows. */
    private static final int MANY = ViewDescriptor.ROWS + 6;

    private final RemoteRig rig = new RemoteRig(true, 0, false, 2 * MANY);
    private final QueueViews views = new QueueViews();
    private final long memory = UnsafeApi.allocateMemory(ViewDescriptor.FILE_LENGTH);
    private RemoteRig.Node initiator;
    private RemoteRig.Node target;
    private long toTarget;
    private long nowNs = 1;

    @BeforeEach
    void start() {
        initiator = rig.add("i", MANY);
        target = rig.add("t");
        target.expose(KEY, RemoteRig.MEMORY);
        toTarget = initiator.to(target);
        UnsafeApi.setMemory(memory, ViewDescriptor.FILE_LENGTH, (byte) 0);
        views.add(new QueueView(initiator.endpoint, initiator.session, 1 << 20, memory));
        post(Flags.WRITE, 8, KEY, 1);
        for (int i = 0; i < 1000 && initiator.endpoint.outstandingSends() != 0; i++) {
            rig.steps(1);
        }
        initiator.completions.takeAll();
    }

    @AfterEach
    void close() {
        rig.close();
        UnsafeApi.freeMemory(memory);
    }

    private void post(long direction, long length, long key, long context) {
        assertEquals(0, initiator.access(direction, 0, length, toTarget, 0, key, 0, context));
    }

    private QueueSnapshot look() {
        nowNs += INTERVAL_NS;
        long before = sequence();
        for (int i = 0; sequence() == before || (sequence() & 1) != 0; i++) {
            assertEquals(1, views.poll(nowNs));
            assertTrue(i < 10_000);
        }
        byte[] copy = new byte[ViewDescriptor.FILE_LENGTH];
        new UnsafeBuffer(memory, copy.length).getBytes(0, copy);
        return QueueSnapshot.decode(copy);
    }

    private long sequence() {
        return UnsafeApi.getLong(memory + ViewDescriptor.SEQUENCE_OFFSET);
    }

    @Test
    void shouldShowAccessesByKindPeerAndKeyAndNotAsSends() {
        initiator.driver.engine.clock().update();
        long sinceNs = initiator.driver.engine.clock().nowNs();
        post(Flags.WRITE, 8, KEY, 2);
        post(Flags.WRITE, 100, KEY, 3);
        post(Flags.READ, 1000, KEY, 4);
        post(Flags.READ, 10, KEY + 1, 5);
        // waits for the reads
        post(Flags.WRITE, 50, KEY, 6);

        QueueSnapshot seen = look();

        assertEquals(5, seen.accessesCount());
        assertEquals(0, seen.sendsCount());
        assertEquals(List.of(
            row(ViewDescriptor.ACCESS_READ, KEY, 1, 0, 1000, sinceNs),
            row(ViewDescriptor.ACCESS_READ, KEY + 1, 1, 0, 10, sinceNs),
            row(ViewDescriptor.ACCESS_WRITE, KEY, 3, 1, 158, sinceNs)),
            seen.accesses().stream().sorted((x, y) -> x.kind() != y.kind() ? x.kind() - y.kind()
                : Long.compare(x.key(), y.key())).toList());
        assertNull(seen.accessesRest());
        QueueSnapshot.PeerRow peer = seen.peers().getFirst();
        assertEquals(0, peer.waiting(), "an access counts as a send");
        assertEquals(0, peer.waitingSinceNs());

        rig.steps(100);
        seen = look();
        assertEquals(0, seen.accessesCount());
        assertEquals(List.of(), seen.accesses());
    }

    private QueueSnapshot.AccessRow row(int kind, long key, long count, long waiting, long bytes, long sinceNs) {
        return new QueueSnapshot.AccessRow(kind, key, toTarget, target.address, count, waiting, bytes, sinceNs);
    }

    @Test
    void shouldCountASendBehindAccessesAsASend() {
        post(Flags.READ, 8, KEY, 2);
        post(Flags.WRITE, 8, KEY, 3);
        assertEquals(0, initiator.endpoint.send(
            Flags.TAGGED | Flags.COMPLETION, initiator.buf(0), 8, toTarget, 1, 0, 4));
        QueueSnapshot seen = look();
        assertEquals(2, seen.accessesCount());
        assertEquals(1, seen.sendsCount());
        assertEquals(1, seen.peers().getFirst().waiting());
        assertTrue(seen.peers().getFirst().waitingSinceNs() != 0);
    }

    /** One row for each key, as long as there are rows: what has none is added up, so that nothing is missing. */
    @Test
    void shouldAddUpTheAccessesThatHaveNoRow() {
        long bytes = 0;
        for (int i = 0; i < MANY; i++) {
            post(Flags.WRITE, 100 + i, KEY + i, i);
            bytes += 100 + i;
        }

        QueueSnapshot seen = look();

        assertEquals(MANY, seen.accessesCount());
        assertEquals(ViewDescriptor.ROWS, seen.accesses().size());
        QueueSnapshot.AccessRow rest = seen.accessesRest();
        assertEquals(MANY - ViewDescriptor.ROWS, rest.count());
        long inRows = seen.accesses().stream().mapToLong(QueueSnapshot.AccessRow::bytes).sum();
        assertEquals(bytes - inRows, rest.bytes());
        assertTrue(rest.sinceNs() != 0);
    }
}
