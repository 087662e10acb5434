package org.jfabric.driver.link.verbs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.agrona.UnsafeApi;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Flow control 1 of rxm, over devices in memory that count messages without a receive. */
@Timeout(120)
class RxmCreditTest {
    private static final int RECEIVES = 8;
    private static final int ON = 1;
    private static final int OFF = 2;
    private static final int CREDIT = 6;
    private static final long PEERS_NUMBER = 0x0000_0007_0000_0005L;
    private static final String[] OPTIONS = {"jfabric.verbs.packetReceives", Integer.toString(RECEIVES)};

    private final FakeVerbs.Network network = new FakeVerbs.Network();
    private final List<RxmNode> nodes = new ArrayList<>();
    /** A peer that writes its packets itself. */
    private VerbsNode raw;
    private Told told;
    private Channel channel;

    private RxmNode node(String host, String... options) {
        RxmNode node = new RxmNode(network, host, options);
        nodes.add(node);
        return node;
    }

    @AfterEach
    void close() {
        nodes.forEach(RxmNode::close);
        if (raw != null) {
            raw.close();
        }
        for (RxmNode node : nodes) {
            assertFalse(node.node.verbs.left().contains("registration"), node.node.verbs.left()::toString);
            assertEquals(0, node.node.verbs.dataPath.queuePairs());
        }
    }

    private void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(30);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, () -> what + " was not reached; " + state());
            int work = 0;
            for (RxmNode node : nodes) {
                work += node.step(true);
            }
            work += raw == null ? 0 : raw.step();
            if (work == 0) {
                Thread.yield();
            }
        }
    }

    private String state() {
        StringBuilder text = new StringBuilder();
        for (RxmNode node : nodes) {
            text.append(node.address).append(node.node.errors);
            node.peers.forEach((peer, side) -> text.append(' ').append(peer).append(": up ").append(side.isUp())
                .append(" down ").append(side.downErrno).append(" sent ").append(side.sent()).append(" waiting ")
                .append(side.waiting()).append(" received ").append(side.received.size()).append('\n'));
        }
        return text.toString();
    }

    private void settle() {
        int quiet = 0;
        while (quiet < 3) {
            int work = raw == null ? 0 : raw.step();
            for (RxmNode node : nodes) {
                work += node.step(true);
            }
            quiet = work == 0 ? quiet + 1 : 0;
        }
    }

    // ---- two of ours ----

    /** Whatever both do, no message comes without a receive, and none waits for ever. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void shouldNeverSendWithoutAReceiveNorRunDry(long seed) {
        Random random = new Random(seed);
        String receives = Integer.toString(RECEIVES + random.nextInt(12));
        RxmNode a = node("10.0.0.1", "jfabric.verbs.packetReceives", receives);
        RxmNode b = node("10.0.0.2", "jfabric.verbs.packetReceives", receives);
        RxmTold there = a.connect(b.address);
        await("connection", () -> there.isUp() && b.peers.containsKey(a.address) && b.peers.get(a.address).isUp());
        RxmTold back = b.peers.get(a.address);
        for (int i = 0; i < 3000; i++) {
            RxmTold side = random.nextBoolean() ? there : back;
            RxmNode node = random.nextBoolean() ? a : b;
            switch (random.nextInt(12)) {
                case 0, 1 -> side.send(random.nextInt(RxmNode.EAGER + 1));
                case 2 -> side.send(random.nextInt(RxmNode.SEGMENTED));
                case 3 -> side.send(random.nextInt(20) == 0 ? 4 * RxmNode.SEGMENTED : 10);
                case 4 -> side.pauses = random.nextInt(3) != 0;
                case 5 -> node.node.verbs.dataPath.holdsSends = true;
                case 6 -> node.node.verbs.dataPath.release();
                default -> node.step(random.nextInt(4) == 0);
            }
            assertEquals(0, a.node.verbs.dataPath.notReady + b.node.verbs.dataPath.notReady, () -> "seed " + seed);
        }
        there.pauses = false;
        back.pauses = false;
        a.node.verbs.dataPath.release();
        b.node.verbs.dataPath.release();
        await("all messages, seed " + seed, () -> there.received.size() == back.sent()
            && back.received.size() == there.sent());
        await("the ends of all sends, seed " + seed, () -> there.ended.size() == there.sent()
            && back.ended.size() == back.sent());
        assertEquals(0, a.node.verbs.dataPath.notReady + b.node.verbs.dataPath.notReady, () -> "seed " + seed);
        assertEquals(List.of(), a.node.errors);
        assertEquals(List.of(), b.node.errors);
    }

    /** Both send more than both have receives for, before either takes anything. */
    @Test
    void shouldGoOnWhenBothSidesAreOutOfCredit() {
        RxmNode a = node("10.0.0.1", OPTIONS);
        RxmNode b = node("10.0.0.2", OPTIONS);
        RxmTold there = a.connect(b.address);
        await("connection", () -> there.isUp() && b.peers.containsKey(a.address) && b.peers.get(a.address).isUp());
        RxmTold back = b.peers.get(a.address);
        settle();
        there.pauses = true;
        back.pauses = true;
        for (int i = 0; i < 10 * RECEIVES; i++) {
            there.send(100);
            back.send(100);
        }
        settle();
        assertTrue(there.waiting() > 5 * RECEIVES && back.waiting() > 5 * RECEIVES, this::state);
        // one side takes what has come, which it could not if its own credit waited behind the other's messages
        back.pauses = false;
        await("one direction", () -> back.received.size() == there.sent());
        there.pauses = false;
        await("the other one", () -> there.received.size() == back.sent());
        assertEquals(0, a.node.verbs.dataPath.notReady + b.node.verbs.dataPath.notReady);
    }

    /** Who takes no messages now is sent no more than it has receives for, but can send as much as it wants. */
    @Test
    void shouldSendWhileItTakesNothing() {
        RxmNode a = node("10.0.0.1", OPTIONS);
        RxmNode b = node("10.0.0.2", OPTIONS);
        RxmTold there = a.connect(b.address);
        await("connection", () -> there.isUp() && b.peers.containsKey(a.address) && b.peers.get(a.address).isUp());
        RxmTold back = b.peers.get(a.address);
        settle();
        there.pauses = true;
        for (int i = 0; i < 2 * RECEIVES; i++) {
            back.send(10);
        }
        settle();
        assertTrue(back.waiting() > 0 && there.received.isEmpty(), this::state);
        for (int i = 0; i < 20 * RECEIVES; i++) {
            there.send(10);
        }
        await("all of them", () -> back.received.size() == there.sent());
        assertEquals(0, b.node.verbs.dataPath.notReady + a.node.verbs.dataPath.notReady);
        there.pauses = false;
        await("what waited", () -> there.received.size() == back.sent());
    }

    /** Both take nothing and cannot send: whichever goes on first, all goes on. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldGoOnFromAStandstill(boolean isFirst) {
        RxmNode a = node("10.0.0.1", OPTIONS);
        RxmNode b = node("10.0.0.2", OPTIONS);
        RxmTold there = a.connect(b.address);
        await("connection", () -> there.isUp() && b.peers.containsKey(a.address) && b.peers.get(a.address).isUp());
        RxmTold back = b.peers.get(a.address);
        there.pauses = true;
        back.pauses = true;
        for (int i = 0; i < 200; i++) {
            there.send(10);
            back.send(10);
            a.step(false);
            b.step(false);
        }
        for (int i = 0; i < 2000; i++) {
            a.node.aheadNs += 100_000;
            b.node.aheadNs += 100_000;
            a.step(false);
            b.step(false);
        }
        RxmTold first = isFirst ? there : back;
        RxmTold second = isFirst ? back : there;
        first.pauses = false;
        await("what the first one takes", () -> first.received.size() == second.sent());
        second.pauses = false;
        await("what the second one takes", () -> second.received.size() == first.sent());
        assertEquals(0, a.node.verbs.dataPath.notReady + b.node.verbs.dataPath.notReady);
    }

    // ---- a peer whose packets the test writes ----

    private static byte[] request(int port, int flow) {
        return ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN).put(new byte[] {1, 2, 4, 3})
            .putShort((short) port).put((byte) flow).put((byte) 0).putInt(RxmNode.EAGER).putInt(128)
            .putLong(PEERS_NUMBER).array();
    }

    private static byte[] packet(long connection, int type, long credits, byte[] payload) {
        ByteBuffer packet = ByteBuffer.allocate(64 + payload.length).order(ByteOrder.LITTLE_ENDIAN);
        packet.put(0, (byte) 4).put(1, (byte) type).putLong(8, connection).putLong(24, credits);
        packet.put(32, (byte) 2).put(34, (byte) (type == CREDIT ? CREDIT : 0)).putLong(40, payload.length);
        packet.position(64).put(payload);
        return packet.array();
    }

    /** The peer asks for a connection; the endpoint's answer. */
    private ByteBuffer ask(RxmNode node, int flow) {
        raw = new VerbsNode(network, "10.0.0.9", VerbsSettings::ofPackets, "jfabric.verbs.packetReceives", "32");
        told = new Told();
        channel = raw.link.connections().connect(raw.endpoint, node.address, request(4711, flow), told.connecting);
        await("connection", () -> told.ups == 1 && node.peers.values().stream().anyMatch(RxmTold::isUp));
        settle();
        return ByteBuffer.wrap(told.cmData).order(ByteOrder.LITTLE_ENDIAN);
    }

    private void send(byte[] packet) {
        TransmitOperation operation = raw.operation(Flags.MSG, packet.length, 0);
        for (int i = 0; i < packet.length; i++) {
            UnsafeApi.putByte(operation.address + i, packet[i]);
        }
        assertEquals(Channel.DONE, channel.send(operation, 0));
        settle();
    }

    private void sendMessages(long connection, int count) {
        for (int i = 0; i < count; i++) {
            RxmTold side = nodes.getFirst().peers.values().iterator().next();
            byte[] packet = packet(connection, 0, 0, VerbsNode.payload(3, side.received.size()));
            ByteBuffer.wrap(packet).order(ByteOrder.LITTLE_ENDIAN).put(34, (byte) 1).putLong(56, side.received.size());
            send(packet);
        }
    }

    private void assertGranted(int index, int credits) {
        assertEquals(index + 1, told.messages.size(), "packets from the endpoint");
        assertArrayEquals(packet(5, CREDIT, credits, new byte[0]), told.messages.get(index),
            () -> Arrays.toString(told.messages.get(index)));
    }

    @Test
    void shouldGrantAllReceivesAtFirstAndThenHalfOfThemEachTime() {
        RxmNode node = node("10.0.0.1", OPTIONS);
        ByteBuffer answer = ask(node, ON);
        assertEquals(RECEIVES, answer.getInt(8));
        assertEquals(ON, answer.get(12));
        assertGranted(0, RECEIVES - 1);
        // so that there is one for the next grants
        send(packet(answer.getInt(0), CREDIT, 10, new byte[0]));
        sendMessages(answer.getInt(0), RECEIVES / 2 - 2);
        assertEquals(1, told.messages.size());
        sendMessages(answer.getInt(0), 1);
        assertGranted(1, RECEIVES / 2);
        sendMessages(answer.getInt(0), RECEIVES / 2);
        assertGranted(2, RECEIVES / 2);
    }

    @Test
    void shouldKeepTheLastCreditForAGrant() {
        RxmNode node = node("10.0.0.1", OPTIONS);
        int connection = ask(node, ON).getInt(0);
        RxmTold side = node.peers.values().iterator().next();
        // the one that was there without a grant has gone with the first one of the endpoint
        assertEquals(1, told.messages.size());
        side.send(5);
        settle();
        assertEquals(1, side.waiting());
        send(packet(connection, CREDIT, 3, new byte[0]));
        side.send(6);
        side.send(7);
        settle();
        assertEquals(1, side.waiting(), "the third one waits");
        assertEquals(3, told.messages.size());
        // one of the receives was the grant's
        sendMessages(connection, RECEIVES / 2 - 1);
        assertGranted(3, RECEIVES / 2);
        sendMessages(connection, RECEIVES / 2);
        assertEquals(4, told.messages.size(), "no credit for a grant");
        send(packet(connection, CREDIT, 1, new byte[0]));
        assertGranted(4, RECEIVES / 2);
        assertEquals(1, side.waiting());
        send(packet(connection, CREDIT, 2, new byte[0]));
        assertEquals(0, side.waiting());
        assertEquals(6, told.messages.size());
    }

    @Test
    void shouldTakeAPeerThatDoesNotSayAsOneThatDoes() {
        RxmNode node = node("10.0.0.1", OPTIONS);
        assertEquals(ON, ask(node, 0).get(12));
        assertGranted(0, RECEIVES - 1);
    }

    @Test
    void shouldSendWithoutCreditToAPeerThatHasNone() {
        RxmNode node = node("10.0.0.1", OPTIONS);
        assertEquals(ON, ask(node, OFF).get(12), "what this side could");
        assertEquals(List.of(), told.messages);
        RxmTold side = node.peers.values().iterator().next();
        for (int i = 0; i < 20; i++) {
            side.send(1);
        }
        settle();
        assertEquals(20, told.messages.size());
    }

    @Test
    void shouldEndAPeerThatGrantsWhatCannotBe() {
        RxmNode node = node("10.0.0.1", OPTIONS);
        int connection = ask(node, ON).getInt(0);
        send(packet(connection, CREDIT, -1, new byte[0]));
        await("its end", () -> told.downErrno != 0);
        assertTrue(node.node.errors.toString().contains("grants -1 packets"), node.node.errors::toString);
    }

    /** Answers wait for credit as all packets do. */
    @Test
    void shouldAnswerAtomicOperationsWhenThereIsCredit() {
        RxmNode node = node("10.0.0.1", OPTIONS);
        int connection = ask(node, ON).getInt(0);
        send(packet(connection, 4, 0, new byte[96]));
        assertEquals(1, told.messages.size());
        send(packet(connection, CREDIT, 2, new byte[0]));
        assertEquals(2, told.messages.size());
        assertEquals(5, told.messages.get(1)[1]);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldOfferFlowControlWhereReceivesAreNotShared(boolean isShared) {
        RxmNode node = isShared ? node("10.0.0.1", "jfabric.verbs.sharedReceives", "16")
            : node("10.0.0.1", OPTIONS);
        raw = new VerbsNode(network, "10.0.0.9", VerbsSettings::ofPackets);
        await("a listener", () -> raw.address != null);
        RxmTold side = node.connect(raw.address);
        await("a request", () -> raw.requests.size() == 1);
        ByteBuffer request = ByteBuffer.wrap(raw.requests.getFirst().cmData()).order(ByteOrder.LITTLE_ENDIAN);
        assertEquals(isShared ? OFF : ON, request.get(6));
        told = new Told();
        byte[] answer = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN).putLong(PEERS_NUMBER)
            .putInt(128).put((byte) OFF).array();
        channel = raw.requests.getFirst().accept(raw.endpoint, answer, told.connecting);
        await("connection", side::isUp);
        for (int i = 0; i < 20; i++) {
            side.send(1);
        }
        await("messages without credit", () -> told.messages.size() == 20);
    }
}
