package org.jfabric.driver.link.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jfabric.info.FabricErrno;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One driver with many peers, of which most have nothing to say for long. One thread runs all. */
class ManyShmPeersTest {
    private static final int PEERS = 21;
    private static final int LENGTH = 64;
    /** Of a plain step that looks at a quarter of the peers. */
    private static final int STEPS = 4;

    @TempDir
    Path base;
    private ShmNode hub;
    private final List<ShmNode> peers = new ArrayList<>();
    private final List<Long> toHub = new ArrayList<>();

    @BeforeEach
    void connect() throws IOException {
        Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwx------"));
        hub = new ShmNode(base, "hub");
        for (int i = 0; i < PEERS; i++) {
            peers.add(new ShmNode(base, "peer-" + i));
            toHub.add(peers.get(i).addresses.insert(ShmNode.address("hub")));
            receive(i);
            send(i, i);
            ShmNode.Entry[] entry = new ShmNode.Entry[1];
            for (int step = 0; (entry[0] = hub.poll()) == null && step < 100_000; step++) {
                hub.step();
                peers.get(i).step();
            }
            assertArrived(entry[0], i);
        }
        quiet();
    }

    @AfterEach
    void stop() {
        peers.forEach(ShmNode::close);
        hub.close();
    }

    /** Until nothing is hot any more. */
    private void quiet() {
        for (int i = 0; i < ShmPollOrder.EMPTY_STEPS + 100; i++) {
            hub.step();
        }
        for (ShmNode peer : peers) {
            peer.step();
            while (peer.poll() != null) {
                // of a send
            }
        }
        hub.engine.findQuick();
        assertTrue(hub.engine.isQuick());
        assertTrue(peers.stream().allMatch(peer -> connection(peer).isCold));
    }

    private ShmConnection connection(ShmNode peer) {
        return ((ShmLink) hub.link).connection(ShmNode.address(peer.services.driverName()));
    }

    private void receive(int seed) {
        assertEquals(0, hub.endpoint.receive(ShmNode.TAGGED, hub.buf(0), LENGTH, -1, seed, 0, 1_000 + seed));
    }

    private void send(int peer, int seed) {
        peers.get(peer).fill(0, LENGTH, seed);
        assertEquals(0, peers.get(peer).endpoint.send(
            ShmNode.TAGGED, peers.get(peer).buf(0), LENGTH, toHub.get(peer), seed, 0, 0));
    }

    private void assertArrived(ShmNode.Entry entry, int seed) {
        assertNotNull(entry, () -> "seed " + seed + ", errors " + hub.services.errors);
        assertEquals(0, entry.err());
        assertEquals(1_000 + seed, entry.context());
        assertTrue(hub.isFilled(0, LENGTH, seed));
    }

    @Test
    void shouldTakeTheMessageOfAPeerThatWasQuietInAFewPlainSteps() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 200; round++) {
            int peer = random.nextInt(PEERS);
            receive(round);
            send(peer, round);
            assertTrue(hub.engine.isQuick());
            int step = 0;
            while (hub.engine.poll(16) == 0) {
                assertTrue(++step < STEPS, () -> "seed " + seed + ", peer " + peer);
            }
            assertFalse(connection(peers.get(peer)).isCold);
            assertArrived(hub.poll(), round);
            if (round % 40 == 0) {
                quiet();
            }
        }
    }

    /** As many as there are at once, each several messages: hot and cold are mixed all the time. */
    @Test
    void shouldLoseNothingWhilePeersBecomeQuietAndSpeakAgain() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int sent = 0;
        int received = 0;
        for (int round = 0; round < 3_000; round++) {
            if (sent - received < 100 && random.nextInt(4) == 0) {
                assertEquals(0, hub.endpoint.receive(ShmNode.TAGGED, hub.buf(0), LENGTH, -1, sent, 0, 1_000 + sent));
                send(random.nextInt(random.nextBoolean() ? PEERS : 3), sent++);
            }
            if (random.nextInt(50) == 0) {
                hub.engine.leaveQuick();
            }
            hub.engine.poll(1 + random.nextInt(3));
            while (hub.poll() != null) {
                received++;
            }
            if (random.nextInt(20) == 0) {
                hub.engine.findQuick();
            }
            if (random.nextInt(300) == 0) {
                quiet();
                while (hub.poll() != null) {
                    received++;
                }
            }
        }
        for (int i = 0; i < STEPS + 100 && received < sent; i++) {
            hub.engine.poll(16);
            // some of their messages wait for credit
            peers.forEach(ShmNode::step);
            while (hub.poll() != null) {
                received++;
            }
        }
        assertEquals(sent, received, "seed " + seed + ", errors " + hub.services.errors);
    }

    @Test
    void shouldSendToAPeerThatWasQuiet() {
        long toPeer = hub.addresses.insert(ShmNode.address("peer-7"));
        ShmNode peer = peers.get(7);
        for (int round = 0; round < 3; round++) {
            assertEquals(0, peer.endpoint.receive(ShmNode.TAGGED, peer.buf(0), LENGTH, -1, round, 0, 50 + round));
            assertEquals(0, hub.endpoint.send(ShmNode.TAGGED, hub.buf(0), LENGTH, toPeer, round, 0, 0));
            ShmNode.Entry[] entry = new ShmNode.Entry[1];
            for (int step = 0; (entry[0] = peer.poll()) == null && step < 10_000; step++) {
                peer.step();
                hub.step();
            }
            assertEquals(50 + round, entry[0].context());
            while (hub.poll() != null) {
                // of the send
            }
            quiet();
        }
    }

    @Test
    void shouldNoticeTheEndOfAQuietPeerAndTakeItsLastMessage() {
        ShmNode ending = peers.removeLast();
        receive(77);
        ending.fill(0, LENGTH, 77);
        assertEquals(0, ending.endpoint.send(
            ShmNode.TAGGED, ending.buf(0), LENGTH, toHub.getLast(), 77, 0, 0));
        ending.close();
        ShmNode.Entry entry = null;
        for (Deadline end = Deadline.usual(); !end.isOver() && (entry == null || hub.peersDown.isEmpty());) {
            hub.step();
            entry = entry == null ? hub.poll() : entry;
        }
        assertArrived(entry, 77);
        assertEquals(1, hub.peersDown.size(), hub.services.errors::toString);
        quiet();
        receive(78);
        send(3, 78);
        hub.engine.poll(16);
        for (int i = 1; i < STEPS; i++) {
            hub.engine.poll(16);
        }
        assertArrived(hub.poll(), 78);
    }

    @Test
    void shouldEndOnlyTheQuietPeerThatTruncatesItsRing() throws IOException {
        int cut = 5;
        try (Stream<Path> files = Files.list(base.resolve("peer-" + cut))) {
            for (Path file : files.filter(each -> each.toString().endsWith(".ring")).toList()) {
                try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                    channel.truncate(0);
                }
            }
        }
        ShmConnection connection = connection(peers.get(cut));
        for (Deadline end = Deadline.usual(); !end.isOver() && connection.state() == ShmConnection.UP;) {
            hub.step();
        }
        assertEquals(ShmConnection.DOWN, connection.state());
        assertTrue(hub.services.errors.getFirst().toString().contains("peer-" + cut), hub.services.errors::toString);
        assertEquals(1, hub.services.errors.size(), hub.services.errors::toString);
        assertEquals(List.of(), hub.peersDown.stream()
            .filter(each -> !each.endsWith(" " + FabricErrno.EIO)).toList());
        hub.services.errors.clear();
        for (int peer = 0; peer < PEERS; peer++) {
            if (peer != cut) {
                receive(100 + peer);
                send(peer, 100 + peer);
                ShmNode.Entry entry = null;
                for (int step = 0; step < 100 && (entry = hub.poll()) == null; step++) {
                    hub.step();
                }
                assertArrived(entry, 100 + peer);
            }
        }
    }
}
