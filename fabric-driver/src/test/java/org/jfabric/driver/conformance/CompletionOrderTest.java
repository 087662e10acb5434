package org.jfabric.driver.conformance;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.Order;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Completions come as operations end; no link promises more, and none is believed to. */
@Tag("conformance")
@Tag("link")
@Timeout(240)
class CompletionOrderTest {
    private static final long ANY = -1L;
    private static final int LONG = 1 << 20;
    private static final int COUNT = 64;
    private static final int SLOT = FabricNode.MEMORY / 2 / COUNT;
    private static final int RECEIVE = FabricNode.MEMORY / 2;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-037", "TX-039", "RX-012", "RX-013"})
    void shouldOfferNoOrderOfCompletionsAndRefuseWhoeverNeedsOne(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info none = new Info().caps(Flags.TAGGED);
            none.txAttr().compOrder(Order.NONE);
            none.rxAttr().compOrder(Order.NONE);
            List<Info> offers = pair.a.fabric.info(none).matches();
            assertFalse(offers.isEmpty());
            for (Info offer : offers) {
                assertEquals(Order.NONE, offer.txAttr().compOrder());
                assertEquals(Order.NONE, offer.rxAttr().compOrder());
            }
            assertEquals(0x1ff, Order.STRICT, "AMB-86");
            long[] orders = {Order.STRICT, Order.DATA, Order.STRICT | Order.DATA, Order.SAS, Order.RMA_WAW};
            for (long order : orders) {
                Info hints = new Info().caps(Flags.TAGGED);
                hints.txAttr().compOrder(order);
                assertNotOffered(pair, hints, "tx_attr.comp_order");
                hints.txAttr().compOrder(Order.NONE);
                hints.rxAttr().compOrder(order);
                assertNotOffered(pair, hints, "rx_attr.comp_order");
            }
        }
    }

    /** This is why STRICT is not offered. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-034", "TX-038", "TX-039"})
    void shouldReportAFastSendBeforeAnEarlierSlowOne(Setup setup) {
        setup.assumeAnnouncements();
        try (FabricPair pair = new FabricPair(setup)) {
            pair.a.fill(0, LONG, 1);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), LONG, pair.toB, 1, 1));
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(LONG), 64, pair.toB, 2, 2));
            pair.a.await(2);
            pair.a.assertQuiet(100);
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LONG, ANY, 1, 0, 11));
            pair.a.await(1);
            pair.b.await(11);
            pair.b.assertFilled(0, LONG, 1);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TX-036")
    void shouldNotOrderCompletionsOfDifferentDestinations(Setup setup) {
        setup.assumeDeliveryLevel();
        long level = setup.strongestLevel();
        try (FabricPair pair = new FabricPair(setup); FabricNode other = pair.sibling(
            pair.b, new Info().caps(Flags.TAGGED), 0xCC)) {
            long toOther = pair.a.av.insert(other.endpoint.name());
            for (int i = 0; i < 20; i++) {
                // delivered is what the receiver keeps: there the first one must be more than that
                int length = setup.isForeign() && i == 0 ? setup.heldLength() : 64;
                assertEquals(0, pair.a.endpoint.tsendmsg(
                    pair.a.memory.address(), length, toOther, i, 0, i, level));
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, i, 0, i));
                assertEquals(0, pair.a.endpoint.tsendmsg(
                    pair.a.memory.address(), 64, pair.toB, i, 0, 100 + i, level));
                pair.a.await(100 + i);
                pair.b.await(i);
            }
            pair.a.assertQuiet(50);
            for (int i = 0; i < 20; i++) {
                // a stream keeps the order of what goes the same way
                int next = setup.isForeign() ? i : 19 - i;
                assertEquals(0, other.endpoint.trecv(
                    other.memory.address(), setup.heldLength(), ANY, next, 0, next));
                other.await(next);
                pair.a.await(next);
            }
        }
    }

    /** Whatever the order of posting, sending and lengths: each operation ends once, with its own message. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-038", "RX-011", "RX-014"})
    void shouldEndEveryOperationOnceInSomeOrder(Setup setup) {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        try (FabricPair pair = new FabricPair(setup)) {
            for (int round = 0; round < 8; round++) {
                int[] tags = shuffled(random);
                int[] lengths = new int[COUNT];
                for (int i = 0; i < COUNT; i++) {
                    lengths[i] = random.nextInt(4) == 0 ? random.nextInt(SLOT) : random.nextInt(300);
                    pair.a.fill((long) i * SLOT, lengths[i], i);
                }
                for (int i = 0; i < COUNT; i++) {
                    assertEquals(0, pair.b.endpoint.trecv(
                        pair.b.memory.address(RECEIVE + (long) tags[i] * SLOT), SLOT, ANY, tags[i], 0, tags[i]));
                    assertEquals(0, pair.a.endpoint.tsend(
                        pair.a.memory.address((long) i * SLOT), lengths[i], pair.toB, i, i));
                }
                BitSet sent = new BitSet();
                BitSet received = new BitSet();
                for (int i = 0; i < COUNT; i++) {
                    note(received, pair.b.await(), seed);
                    note(sent, pair.a.await(), seed);
                }
                for (int i = 0; i < COUNT; i++) {
                    pair.b.assertFilled(RECEIVE + (long) i * SLOT, lengths[i], i);
                }
            }
        }
    }

    private static void note(BitSet seen, FabricNode.Entry entry, long seed) {
        assertTrue(entry.err() == 0 && !seen.get((int) entry.context()), () -> entry + " seed " + seed);
        seen.set((int) entry.context());
    }

    private static int[] shuffled(SplittableRandom random) {
        int[] values = new int[COUNT];
        for (int i = 0; i < COUNT; i++) {
            int other = random.nextInt(i + 1);
            values[i] = values[other];
            values[other] = i;
        }
        return values;
    }

    private static void assertNotOffered(FabricPair pair, Info hints, String reason) {
        assertEquals(FabricErrno.ENODATA,
            assertThrows(FabricException.class, () -> pair.a.fabric.info(hints).best()).errno(), hints::toString);
        String why = pair.a.fabric.info(hints).explain();
        assertTrue(why.contains(reason), why);
    }
}
