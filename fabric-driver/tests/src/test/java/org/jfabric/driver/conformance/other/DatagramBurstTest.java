package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.jfabric.driver.kit.DatagramPair;
import org.jfabric.driver.kit.DatagramSetup;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.SocketName;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bursts of datagrams, which the kernel cuts and joins, are the same messages as single ones. */
@Tag("conformance")
@Timeout(120)
class DatagramBurstTest {
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    /** Of a burst, which both queues and the kernel's buffer hold. */
    private static final int MOST = 100;
    private static final int STRIDE = 2048;

    private static void postReceives(FabricNode node, int from, int to) {
        for (int i = from; i < to; i++) {
            assertEquals(0, node.endpoint.recv(node.memory.address() + (long) i * STRIDE, STRIDE, ANY, i));
        }
    }

    private static void send(DatagramPair pair, List<Integer> lengths, int seed) {
        for (int i = 0; i < lengths.size(); i++) {
            pair.a.fill((long) i * STRIDE, lengths.get(i), seed + i);
            assertEquals(0, pair.a.endpoint.send(
                pair.a.memory.address() + (long) i * STRIDE, lengths.get(i), pair.toB, i));
        }
    }

    private static void assertReceived(DatagramPair pair, List<Integer> lengths, int from, int to, int seed) {
        for (int i = from; i < to; i++) {
            FabricNode.Entry entry = pair.b.await(i);
            assertEquals(lengths.get(i), (int) entry.len(), "message " + i + " of " + lengths + ", seed " + seed);
            assertEquals(pair.toA, entry.source());
            pair.b.assertFilled((long) i * STRIDE, lengths.get(i), seed + i);
        }
    }

    private static void awaitSent(DatagramPair pair, int count) {
        for (int i = 0; i < count; i++) {
            pair.a.await(i);
        }
    }

    /** Runs of one length, perhaps with a shorter one at the end, between messages of other lengths. */
    private static List<Integer> lengths(SplittableRandom random, int longest) {
        List<Integer> lengths = new ArrayList<>();
        while (lengths.size() < MOST) {
            int length = random.nextInt(8) == 0 ? 0 : 1 + random.nextInt(longest);
            int run = 1 + random.nextInt(random.nextBoolean() ? 4 : 70);
            for (int i = 0; i < run; i++) {
                lengths.add(length);
            }
            lengths.add(random.nextInt(length + 1));
        }
        return lengths.subList(0, MOST);
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    void shouldDeliverEachMessageOfABurstInOrderWithItsOwnLength(DatagramSetup setup) {
        try (DatagramPair pair = new DatagramPair(setup)) {
            for (int seed = 1; seed <= 40; seed++) {
                List<Integer> lengths = lengths(new SplittableRandom(seed), setup.longest());
                postReceives(pair.b, 0, MOST);
                send(pair, lengths, seed);
                assertReceived(pair, lengths, 0, MOST, seed);
                awaitSent(pair, MOST);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    void shouldKeepTheRestOfABurstUntilReceivesArePosted(DatagramSetup setup) {
        try (DatagramPair pair = new DatagramPair(setup)) {
            List<Integer> lengths = new ArrayList<>(Collections.nCopies(MOST - 1, 600));
            lengths.add(599);
            for (int seed = 1; seed <= 10; seed++) {
                // the first burst has the receiver read bursts
                int before = seed == 1 ? MOST : seed;
                postReceives(pair.b, 0, before);
                send(pair, lengths, seed);
                assertReceived(pair, lengths, 0, before, seed);
                awaitSent(pair, MOST);
                for (int i = before; i < MOST; i++) {
                    postReceives(pair.b, i, i + 1);
                    assertReceived(pair, lengths, i, i + 1, seed);
                }
                assertNull(pair.b.poll());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = DatagramSetup.class, mode = EnumSource.Mode.MATCH_NONE, names = "DTLS_.*")
    void shouldExchangeBurstsWithPlainSockets(DatagramSetup setup) throws Exception {
        InetAddress host = InetAddress.getByName(setup.host);
        try (DatagramPair pair = new DatagramPair(setup); DatagramSocket socket = new DatagramSocket(0, host)) {
            socket.setSoTimeout((int) (Deadline.ns(20) / 1_000_000));
            socket.setReceiveBufferSize(1 << 20);
            long toSocket = pair.a.av.insert(
                SocketName.of((InetSocketAddress) socket.getLocalSocketAddress()).toString());
            byte[] bytes = new byte[STRIDE];
            for (int i = 0; i < MOST; i++) {
                pair.a.fill((long) i * STRIDE, 300, i);
                assertEquals(0, pair.a.endpoint.send(
                    pair.a.memory.address() + (long) i * STRIDE, i == MOST - 1 ? 299 : 300, toSocket, i));
            }
            awaitSent(pair, MOST);
            for (int i = 0; i < MOST; i++) {
                DatagramPacket packet = new DatagramPacket(bytes, bytes.length);
                socket.receive(packet);
                assertEquals(i == MOST - 1 ? 299 : 300, packet.getLength());
                assertEquals(0, Arrays.mismatch(bytes, 0, packet.getLength(),
                    FabricNode.pattern(i, 0, packet.getLength()), 0, packet.getLength()) + 1, "message " + i);
            }
            SocketName receiver = SocketName.parse(pair.b.endpoint.name());
            for (int round = 0; round < 3; round++) {
                postReceives(pair.b, 0, MOST);
                for (int i = 0; i < MOST; i++) {
                    socket.send(new DatagramPacket(
                        FabricNode.pattern(i, 0, 300), 300, receiver.inetAddress(), receiver.port()));
                }
                for (int i = 0; i < MOST; i++) {
                    assertEquals(300, pair.b.await(i).len());
                    pair.b.assertFilled((long) i * STRIDE, 300, i);
                }
            }
        }
    }
}
