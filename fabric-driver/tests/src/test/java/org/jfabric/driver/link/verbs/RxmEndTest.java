package org.jfabric.driver.link.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.UnsafeApi;
import org.jfabric.driver.ffi.FakeVerbs;
import org.jfabric.info.FabricErrno;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How peers of reliable datagrams end: with their device, and with payloads that are being read. */
@Timeout(60)
class RxmEndTest {
    private static final int RECEIVES = 8;
    private static final int LONG = 16384;

    private final FakeVerbs.Network network = new FakeVerbs.Network();
    private RxmNode a;
    private RxmNode b;
    private RxmTold there;
    private RxmTold back;

    @BeforeEach
    void connect() {
        open("jfabric.verbs.packetReceives", Integer.toString(RECEIVES));
    }

    private void open(String... options) {
        a = new RxmNode(network, "10.0.0.1", options);
        b = new RxmNode(network, "10.0.0.2", options);
        there = a.connect(b.address);
        await("connection", () -> there.isUp() && b.peers.containsKey(a.address) && b.peers.get(a.address).isUp());
        back = b.peers.get(a.address);
    }

    @AfterEach
    void close() {
        for (RxmNode node : List.of(a, b)) {
            node.close();
            assertEquals(List.of(), node.node.verbs.leftAtEnd());
            assertEquals(0, node.node.verbs.dataPath.queuePairs());
        }
    }

    private void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + Deadline.ns(30);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0,
                () -> what + " was not reached; errors " + a.node.errors + b.node.errors);
            if (a.step(true) + b.step(true) == 0) {
                Thread.yield();
            }
        }
    }

    private void settle() {
        for (int quiet = 0; quiet < 3;) {
            quiet = a.step(true) + b.step(true) == 0 ? quiet + 1 : 0;
        }
    }

    @Test
    void shouldEndPeersWhenTheirDeviceIsTakenAway() {
        // messages that have come and wait, and one under way
        there.pauses = true;
        for (int i = 0; i < RECEIVES - 2; i++) {
            back.send(10);
        }
        a.node.verbs.dataPath.holdsSends = true;
        there.send(10);
        await("messages", () -> back.waiting() == 0);
        settle();
        a.node.verbs.replaceUntold();
        await("end", () -> there.downErrno != 0);
        assertEquals(FabricErrno.ENODEV, there.downErrno);
        int posted = a.node.verbs.dataPath.sendBatches.size();
        there.pauses = false;
        a.node.verbs.dataPath.release();
        await("rest", () -> a.node.verbs.dataPath.queuePairs() == 0);
        settle();
        assertEquals(posted, a.node.verbs.dataPath.sendBatches.size(), "nothing more is posted");
        assertEquals(0, there.received.size());
    }

    /** Also where a peer is reached by then, the endpoint has nothing that it could be answered at. */
    @Test
    void shouldReachNobodyOnceItsDeviceWasTakenAway() {
        a.node.verbs.replaceUntold();
        await("end", () -> there.downErrno != 0 && back.downErrno != 0);
        RxmTold again = a.connect(b.address);
        await("answer", () -> again.downErrno != 0);
        settle();
        assertEquals(FabricErrno.ENODEV, again.downErrno);
        assertFalse(again.isUp());
        assertEquals(0, a.node.verbs.dataPath.queuePairs());
    }

    /** Also where messages wait for room: the application may wait for the send before it makes some. */
    @Test
    void shouldEndSendsThatThePeerWillNeverRead() {
        there.pauses = true;
        b.node.verbs.dataPath.holdsSends = true;
        there.send(LONG);
        await("announcement", () -> back.announced == 1);
        b.node.verbs.dataPath.release();
        // the first one waits in a place of its own, the second one where the card has put it
        for (int i = 0; i < 3; i++) {
            back.send(10);
        }
        await("messages", () -> back.waiting() == 0);
        settle();
        back.channel.close(FabricErrno.ECONNABORTED);
        await("end", () -> there.downErrno != 0);
        assertEquals(FabricErrno.ECONNRESET, there.downErrno);
    }

    /** As soon as the engine has told the end of a send its memory is used for something else. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldLetNobodyReadPayloadsBehindTheEnd(boolean isAnnouncementUnderWay) {
        b.node.verbs.dataPath.holdsSends = true;
        there.send(LONG);
        if (!isAnnouncementUnderWay) {
            await("announcement", () -> back.announced == 1);
        }
        a.node.verbs.dataPath.holdsSends = isAnnouncementUnderWay;
        await("registration", () -> there.waiting() == 0);
        a.node.holdsTasks = true;
        there.channel.close(FabricErrno.ECONNABORTED);
        UnsafeApi.setMemory(there.memory, LONG, (byte) 0);
        a.node.verbs.dataPath.release();
        b.node.verbs.dataPath.release();
        settle();
        a.node.holdsTasks = false;
        await("end", () -> back.downErrno != 0);
        assertEquals(0, back.received.size());
        assertEquals(isAnnouncementUnderWay ? 0 : 1, back.announced);
    }
}
