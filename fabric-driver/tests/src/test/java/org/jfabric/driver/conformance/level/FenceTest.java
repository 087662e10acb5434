package org.jfabric.driver.conformance.level;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.Flags;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;

/** FI_FENCE: what waits for what, and what a fenced operation's completion tells of earlier ones. */
@Tag("conformance")
@Tag("link")
@SeveralLinks
class FenceTest {
    private static final long ANY = -1L;
    private static final int RECEIVE = FabricNode.MEMORY / 2;
    private static final int SLOT = 1 << 17;
    private static final int LONG = 100_000;
    private static final int LONG_PLACE = 8 * SLOT;

    /** Of a message with that context, at either side. */
    private static long place(long context, int length) {
        return length > SLOT ? LONG_PLACE : context * SLOT;
    }

    private static long slot(FabricNode node, int index) {
        return node.memory.address(RECEIVE + (long) index * SLOT);
    }

    /** Sends the first message, which does not end before its receive is posted. */
    private static void sendHeld(FabricPair pair) {
        send(pair, pair.setup.heldLength(), 1, 1, pair.setup.heldFlags());
    }

    private static void receiveHeld(FabricPair pair) {
        int length = pair.setup.heldLength();
        assertEquals(0, pair.b.endpoint.trecv(
            pair.b.memory.address(RECEIVE + place(1, length)), length, ANY, 1, 0, 1));
    }

    /** Posts the receives of the messages behind the first one. */
    private static void receiveOthers(FabricPair pair) {
        for (int tag = 2; tag <= 4; tag++) {
            assertEquals(0, pair.b.endpoint.trecv(slot(pair.b, tag), 64, ANY, tag, 0, tag));
        }
    }

    private static void send(FabricPair pair, int length, long tag, long context, long flags) {
        pair.a.fill(place(context, length), length, (int) context);
        assertEquals(0, pair.a.endpoint.messages().tsendmsg(
            pair.a.memory.address(place(context, length)), length, 0, pair.toB, tag, context, flags));
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-027", "TAG-046"})
    void shouldHoldAFencedSendAndTheNextUntilEarlierOnesHaveCompleted(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            // a receive that may wait for the second message lets the first one be stored, if it comes with its bytes
            boolean mayBeStored = setup.heldFlags() != 0;
            if (!mayBeStored) {
                receiveOthers(pair);
            }
            sendHeld(pair);
            send(pair, 64, 2, 2, Flags.FENCE);
            send(pair, 64, 3, 3, 0);
            assertEquals(0, pair.a.endpoint.tinject(pair.a.memory.buffer(), 0, 8, pair.toB, 4));
            pair.a.assertQuiet(200);
            pair.b.assertQuiet(200);
            if (mayBeStored) {
                receiveOthers(pair);
            }
            receiveHeld(pair);
            for (int context = 1; context <= 4; context++) {
                pair.b.await(context);
            }
            for (int context = 1; context <= 3; context++) {
                pair.a.await(context);
                int length = context == 1 ? setup.heldLength() : 64;
                pair.b.assertFilled(RECEIVE + place(context, length), length, context);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-028"})
    void shouldNotHoldAFencedSendToAnotherPeer(Setup setup) {
        setup.assumeDeliveryBeforeMatch();
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint other = pair.b.domain.openEndpoint(pair.b.info);
            other.bind(pair.b.cq, Flags.TRANSMIT | Flags.RECV);
            other.bind(pair.b.av);
            other.enable();
            long toOther = pair.a.av.insert(other.name());
            sendHeld(pair);
            send(pair, 64, 2, 2, Flags.FENCE);
            assertEquals(0, pair.a.endpoint.messages().tsendmsg(
                pair.a.memory.address(0), 64, 0, toOther, 3, 3, Flags.FENCE | Flags.DELIVERY_COMPLETE));
            pair.a.await(3);
            assertEquals(0, other.trecv(slot(pair.b, 3), 64, ANY, 3, 0, 3));
            pair.b.await(3);
            pair.a.assertQuiet(50);
            receiveHeld(pair);
            pair.a.await(1);
            pair.a.await(2);
            other.close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-029", "CL-030"})
    void shouldHaveDeliveredEarlierMessagesWhenTheFencedOneIs(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < 3; i++) {
                    pair.b.memory.buffer().setMemory(RECEIVE + i * SLOT, LONG, (byte) 0);
                    assertEquals(0, pair.b.endpoint.trecv(slot(pair.b, i), LONG, ANY, i, 0, i));
                }
                // a message that comes before its receive is delivered as well, by being kept
                pair.b.awaitRead(3);
                int first = round % 2 == 0 ? 3000 : LONG;
                send(pair, first, 0, 0, Flags.INJECT_COMPLETE);
                send(pair, 64, 1, 1, Flags.TRANSMIT_COMPLETE);
                send(pair, 64, 2, 2, Flags.DELIVERY_COMPLETE | Flags.FENCE);
                long both = pair.a.await().context() + pair.a.await().context();
                assertEquals(1, both, "the earlier ones, in any order");
                pair.a.await(2);
                pair.b.assertFilled(RECEIVE, first, 0);
                pair.b.assertFilled(RECEIVE + SLOT, 64, 1);
                for (int i = 0; i < 3; i++) {
                    assertNotNull(pair.b.poll(), "entry of the receive");
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-029", "CL-030", "CL-031"})
    void shouldHaveMatchedEarlierMessagesWhenTheFencedOneIs(Setup setup) {
        setup.assumeFencedMatch();
        try (FabricPair pair = new FabricPair(setup)) {
            for (int length : new int[] {64, LONG}) {
                send(pair, 64, 1, 1, Flags.INJECT_COMPLETE);
                send(pair, 64, 2, 2, Flags.TRANSMIT_COMPLETE);
                pair.a.await(1);
                pair.a.await(2);
                send(pair, length, 3, 3, Flags.MATCH_COMPLETE | Flags.FENCE);
                assertEquals(0, pair.b.endpoint.trecv(slot(pair.b, 3), LONG, ANY, 3, 0, 3));
                pair.b.await(3);
                pair.a.assertQuiet(100);
                assertEquals(0, pair.b.endpoint.trecv(slot(pair.b, 2), 64, ANY, 2, 0, 2));
                pair.b.await(2);
                pair.a.assertQuiet(100);
                assertEquals(0, pair.b.endpoint.trecv(slot(pair.b, 1), 64, ANY, 1, 0, 1));
                pair.a.await(3);
                FabricNode.Entry entry = pair.b.poll();
                assertTrue(entry != null && entry.context() == 1, "the last match came first: " + entry);
            }
        }
    }
}
