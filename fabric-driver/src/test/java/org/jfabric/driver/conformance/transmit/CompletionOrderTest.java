package org.jfabric.driver.conformance.transmit;

import org.jfabric.CompletionHandler;
import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.Flags;
import org.jfabric.Info;
import org.jfabric.Order;
import org.jfabric.SendClaim;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Network;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The order of entries: short messages of one sender in that of matching, all in strict order where that is asked for,
 * the others as operations end.
 */
@Tag("conformance")
@Tag("link")
@Timeout(240)
class CompletionOrderTest {
    private static final long ANY = -1L;
    private static final int LONG = 1 << 20;
    private static final int COUNT = 64;
    private static final int SLOT = FabricNode.MEMORY / 2 / COUNT;
    private static final int RECEIVE = FabricNode.MEMORY / 2;
    private static final int QUOTE = 56;
    private static final int POSTED = 128;
    /** More than the credit of an endpoint covers, so that it ends in backpressure. */
    private static final int BURST = 300;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-037", "TX-039", "RX-012", "RX-013"})
    void shouldOfferTheStrictOrderToWhomAsksForItAndNoOrderOfData(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            assertEquals(0x1ff, Order.STRICT, "AMB-86");
            assertOffered(pair, Order.NONE, Order.NONE, Order.NONE, Order.NONE);
            assertOffered(pair, Order.STRICT, Order.NONE, Order.STRICT, Order.NONE);
            assertOffered(pair, Order.NONE, Order.STRICT, Order.NONE, Order.STRICT);
            // what is asked for is a part of it
            assertOffered(pair, Order.SAS, Order.SAS, Order.STRICT, Order.STRICT);
            for (long order : new long[] {Order.DATA, Order.STRICT | Order.DATA, Order.RMA_WAW}) {
                assertNotOffered(pair, hints(order, Order.NONE), "tx_attr.comp_order");
                assertNotOffered(pair, hints(Order.NONE, order), "rx_attr.comp_order");
            }
        }
    }

    /** Without a requested order a send ends as soon as it can. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-034", "TX-038"})
    void shouldReportAFastSendBeforeAnEarlierSlowOne(Setup setup) {
        setup.assumeAnnouncements();
        try (FabricPair pair = new FabricPair(setup)) {
            postSlowAndFast(pair);
            pair.a.await(2);
            pair.a.assertQuiet(100);
            receiveSlow(pair);
            pair.a.await(1);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-034", "TX-039"})
    void shouldReportAFastSendBehindAnEarlierSlowOneInStrictOrder(Setup setup) {
        setup.assumeAnnouncements();
        try (FabricPair pair = new FabricPair(setup, hints(Order.STRICT, Order.NONE), 512)) {
            postSlowAndFast(pair);
            pair.a.assertQuiet(100);
            receiveSlow(pair);
            pair.a.await(1);
            pair.a.await(2);
        }
    }

    private static void postSlowAndFast(FabricPair pair) {
        pair.a.fill(0, LONG, 1);
        assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), LONG, pair.toB, 1, 1));
        assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(LONG), 64, pair.toB, 2, 2));
    }

    private static void receiveSlow(FabricPair pair) {
        assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LONG, ANY, 1, 0, 11));
        pair.b.await(11);
        pair.b.assertFilled(0, LONG, 1);
    }

    /** Sends of all lengths and kinds, some of which the receiver lets wait: entries of both sides in order. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-039", "RX-012"})
    void shouldKeepTheStrictOrderWhateverIsSent(Setup setup) {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        int total = Network.IS_CHOSEN ? 2_000 : Effort.rounds(20_000, 100_000);
        try (FabricPair pair = new FabricPair(setup, hints(Order.STRICT, Order.STRICT), 512)) {
            int maxBurst = 64;
            long[] next = new long[2];
            CompletionHandler sends = entry -> assertEquals(next[0]++, entry.opContext(), () -> "seed " + seed);
            CompletionHandler receives = entry -> assertEquals(next[1]++, entry.opContext(), () -> "seed " + seed);
            int sent = 0;
            int posted = 0;
            Deadline progress = new Deadline(() -> next[0] + " sent, " + next[1] + " received, seed " + seed);
            while (next[0] < total || next[1] < total) {
                for (int burst = random.nextInt(maxBurst); burst > 0 && sent < total; burst--) {
                    int length = random.nextInt(16) == 0 ? random.nextInt(SLOT) : random.nextInt(200);
                    if (pair.a.endpoint.tsend(pair.a.memory.address(), length, pair.toB, sent, sent) != 0) {
                        break;
                    }
                    sent++;
                }
                for (int burst = random.nextInt(maxBurst); burst > 0 && posted < total; burst--) {
                    if (pair.b.endpoint.trecv(pair.b.memory.address(), SLOT, ANY, 0, -1L, posted) != 0) {
                        break;
                    }
                    posted++;
                }
                boolean sentSome = pair.a.cq.poll(sends, maxBurst) > 0;
                progress.check(pair.b.cq.poll(receives, maxBurst) > 0 || sentSome);
            }
        }
    }

    /**
     * Short messages that are encoded in place, faster than they are received: most wait for credit, and some of them
     * are announced. The entries come in the order of matching without being asked for.
     */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldReportShortMessagesInTheOrderOfMatchingThroughBackpressure(Setup setup) {
        // without the wait for older messages one in ten is out of order over shm
        int total = Network.IS_CHOSEN ? 20_000 : Effort.rounds(50_000, 1_000_000);
        try (FabricPair pair = new FabricPair(setup)) {
            int posted = 0;
            int sent = 0;
            long[] counts = new long[2];
            CompletionHandler receives = entry -> {
                if (entry.tag() != counts[0]++) {
                    counts[1]++;
                }
            };
            CompletionHandler sends = entry -> { };
            SendClaim claim = new SendClaim();
            Deadline progress = new Deadline(() -> counts[0] + " received, " + counts[1] + " out of order");
            while (counts[0] < total) {
                while (posted < total && posted - counts[0] < POSTED
                    && pair.b.endpoint.trecv(pair.b.memory.address(), QUOTE, ANY, 0, -1L, posted) == 0) {
                    posted++;
                }
                for (int burst = 0; burst < BURST && sent < total; burst++) {
                    if (pair.a.endpoint.tryClaim(QUOTE, claim) != 0) {
                        break;
                    }
                    claim.buffer().putLong(0, sent);
                    assertEquals(0, claim.commit(QUOTE, pair.toB, sent, sent));
                    sent++;
                }
                pair.a.cq.poll(sends, BURST);
                progress.check(pair.b.cq.poll(receives, POSTED) > 0);
            }
            assertEquals(0, counts[1], "entries out of order");
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

    private static Info hints(long transmitOrder, long receiveOrder) {
        Info hints = new Info().caps(Flags.TAGGED);
        hints.txAttr().compOrder(transmitOrder);
        hints.rxAttr().compOrder(receiveOrder);
        return hints;
    }

    private static void assertOffered(
        FabricPair pair, long transmitOrder, long receiveOrder, long transmitOffer, long receiveOffer) {
        List<Info> offers = pair.a.fabric.info(hints(transmitOrder, receiveOrder)).matches();
        assertFalse(offers.isEmpty());
        for (Info offer : offers) {
            assertEquals(transmitOffer, offer.txAttr().compOrder(), offer::toString);
            assertEquals(receiveOffer, offer.rxAttr().compOrder(), offer::toString);
        }
    }

    /** Fails where no operation ends for long. */
    private static final class Deadline {
        private final Supplier<String> state;
        private long lastNs = System.nanoTime();
        private int idle;

        Deadline(Supplier<String> state) {
            this.state = state;
        }

        void check(boolean progressed) {
            if (progressed) {
                idle = 0;
            } else if (++idle == 1) {
                lastNs = System.nanoTime();
            } else {
                Thread.yield();
                assertTrue(System.nanoTime() - lastNs < FabricNode.DEADLINE_NS, state);
            }
        }
    }

    private static void assertNotOffered(FabricPair pair, Info hints, String reason) {
        assertEquals(FabricErrno.ENODATA,
            assertThrows(FabricException.class, () -> pair.a.fabric.info(hints).best()).errno(), hints::toString);
        String why = pair.a.fabric.info(hints).explain();
        assertTrue(why.contains(reason), why);
    }
}
