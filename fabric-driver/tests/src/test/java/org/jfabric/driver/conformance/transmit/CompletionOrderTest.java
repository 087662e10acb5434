package org.jfabric.driver.conformance.transmit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.jfabric.Completion;
import org.jfabric.CompletionError;
import org.jfabric.CompletionHandler;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.MemoryRegion;
import org.jfabric.SendClaim;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Network;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Order;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * The order of entries: short messages of one sender in that of matching, all in strict order where that is asked for,
 * the others as operations end.
 */
@Tag("conformance")
@Tag("link")
@Timeout(240)
@SeveralLinks
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
    @Requirement({"TX-037", "TX-039", "RX-012"})
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

    /** Bytes are copied in no order, so nobody may wait for the last one: refused wherever it can be asked for. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement(refused = "RX-013")
    void shouldPromiseNobodyThatBytesArePlacedInOrder(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (Info hints : new Info[] {new Info(), hints(Order.NONE, Order.STRICT), hints(Order.NONE, Order.SAS)}) {
                for (Info offer : pair.b.fabric.info(hints).matches()) {
                    assertEquals(0, offer.rxAttr().compOrder() & Order.DATA, offer::toString);
                }
            }
            for (long order : new long[] {Order.DATA, Order.SAS | Order.DATA, Order.STRICT | Order.DATA}) {
                assertNotOffered(pair, hints(Order.NONE, order), "rx_attr.comp_order");
                // an info that was changed after it was offered
                Info edited = pair.b.info.copy();
                edited.rxAttr().compOrder(order);
                FabricException refused = assertThrows(FabricException.class, () -> openWith(pair.b, edited));
                assertTrue(refused.getMessage().contains("comp_order"), refused.getMessage());
            }
            pair.assertTransfers(pair.a.endpoint);
        }
    }

    private static void openWith(FabricNode node, Info info) {
        try (Endpoint endpoint = node.domain.openEndpoint(info)) {
            endpoint.bind(node.cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(node.av);
            endpoint.enable();
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

    /** Sends of all lengths and kinds, some of which fail or are waited for: entries of both sides in order. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-039", "RX-012"})
    void shouldKeepTheStrictOrderWhateverIsSent(Setup setup) {
        int total = Network.IS_CHOSEN ? 2_000 : 100_000;
        try (FabricPair pair = new FabricPair(setup, hints(Order.STRICT, Order.STRICT), 512)) {
            Mixture mixture = new Mixture(pair);
            int maxBurst = 64;
            Deadline progress = new Deadline(mixture::toString);
            while (mixture.sent < total || !mixture.hasEnded()) {
                for (int burst = mixture.random.nextInt(maxBurst); burst > 0 && mixture.sent < total; burst--) {
                    if (mixture.send() != 0) {
                        break;
                    }
                }
                for (int burst = mixture.random.nextInt(maxBurst); burst > 0 && mixture.receive() == 0; burst--) {
                    continue;
                }
                boolean sentSome = mixture.pollSender() > 0;
                progress.check(pair.b.cq.poll(mixture, maxBurst) > 0 || sentSome);
            }
        }
    }

    /** Sends of one endpoint, and what both sides have to report next. */
    private static final class Mixture implements CompletionHandler {
        private final long seed = System.nanoTime();
        private final SplittableRandom random = new SplittableRandom(seed);
        private final FabricPair pair;
        private final long[] levels;
        /** In a region that is closed. */
        private final long nowhere;
        private final BitSet failing = new BitSet();
        private final SendClaim claim = new SendClaim();
        private final CompletionError error = new CompletionError();
        /** Sends that will have an entry. */
        private int sent;
        private int reported;
        /** Messages that are matched by tag, and others: sent, posted for, received. */
        private final int[] tagged = new int[3];
        private final int[] untagged = new int[3];

        Mixture(FabricPair pair) {
            this.pair = pair;
            levels = !pair.setup.hasAllOfOwn() ? new long[] {Flags.INJECT_COMPLETE, pair.setup.strongestLevel()}
                : new long[] {Flags.INJECT_COMPLETE, Flags.TRANSMIT_COMPLETE, Flags.DELIVERY_COMPLETE,
                    Flags.MATCH_COMPLETE};
            MemoryRegion region = pair.a.domain.allocate(64);
            nowhere = region.address();
            region.close();
        }

        boolean hasEnded() {
            return reported == sent && tagged[2] == tagged[0] && untagged[2] == untagged[0];
        }

        int send() {
            Endpoint a = pair.a.endpoint;
            int length = random.nextInt(16) == 0 ? random.nextInt(SLOT) : random.nextInt(200);
            long buf = pair.a.memory.address(random.nextInt(SLOT));
            long level = levels[random.nextInt(levels.length)];
            int kind = random.nextInt(11);
            int[] family = kind < 6 ? tagged : untagged;
            long tag = tagged[0];
            long to = pair.toB;
            int result = switch (kind) {
                case 0 -> a.tsend(buf, length, to, tag, sent);
                case 1 -> a.messages().tsenddata(buf, length, 7, to, tag, sent);
                case 2 -> a.messages().tsendv(pieces(buf, length), to, tag, sent);
                case 3 -> a.messages().tsendmsg(buf, length, 0, to, tag, sent, level);
                case 4 -> claimed(tag);
                case 5 -> a.tinject(pair.a.memory.buffer(), 0, 8, to, tag);
                case 6 -> a.send(buf, length, to, sent);
                case 7 -> a.messages().senddata(buf, length, 7, to, sent);
                case 8 -> a.messages().sendv(pieces(buf, length), to, sent);
                case 9 -> a.messages().sendmsg(buf, length, 0, to, sent, level);
                default -> a.send(nowhere, 8, to, sent);
            };
            if (result == 0) {
                family[0] += kind < 10 ? 1 : 0;
                failing.set(sent, kind == 10);
                // an inject has no entry
                sent += kind == 5 ? 0 : 1;
            }
            return result;
        }

        private static IoVec pieces(long buf, int length) {
            return length < 2 ? new IoVec().add(buf, length)
                : new IoVec().add(buf, length / 2).add(buf + length / 2, length - length / 2);
        }

        private int claimed(long tag) {
            int result = pair.a.endpoint.tryClaim(QUOTE, claim);
            return result != 0 ? result : claim.commit(QUOTE, pair.toB, tag, sent);
        }

        int receive() {
            boolean isTagged = tagged[1] - tagged[2] <= untagged[1] - untagged[2];
            int[] family = isTagged ? tagged : untagged;
            Endpoint b = pair.b.endpoint;
            int result = family[1] - family[2] == POSTED ? -FabricErrno.EAGAIN
                : isTagged ? b.trecv(pair.b.memory.address(), SLOT, ANY, 0, -1L, family[1])
                : b.recv(pair.b.memory.address(), SLOT, ANY, family[1]);
            family[1] += result == 0 ? 1 : 0;
            return result;
        }

        /** The receiver's entries: those of a family are in the order of sending. */
        @Override
        public void onCompletion(Completion entry) {
            boolean isTagged = (entry.flags() & Flags.TAGGED) != 0;
            int[] family = isTagged ? tagged : untagged;
            assertEquals(family[2], entry.opContext(), this::toString);
            assertTrue(!isTagged || entry.tag() == family[2], this::toString);
            family[2]++;
        }

        int pollSender() {
            int read = pair.a.cq.poll(entry -> ended(entry.opContext(), false), 64);
            if (read == -FabricErrno.EAVAIL) {
                assertEquals(1, pair.a.cq.readErr(error, 0));
                ended(error.opContext(), true);
                return 1;
            }
            return read;
        }

        private void ended(long context, boolean hasFailed) {
            assertEquals(reported, context, this::toString);
            assertEquals(failing.get(reported), hasFailed, this::toString);
            reported++;
        }

        @Override
        public String toString() {
            return reported + " reported of " + sent + ", tagged " + Arrays.toString(tagged) + ", others "
                + Arrays.toString(untagged) + ", seed " + seed;
        }
    }

    /** A short, a long and a short one, for whose receives another order was chosen than that of sending. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("RX-012")
    void shouldReportReceivesInTheOrderInWhichTheyWereProcessed(Setup setup) {
        int[][] orders = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
        int[] lengths = {64, LONG, 8};
        try (FabricPair pair = new FabricPair(setup, hints(Order.NONE, Order.STRICT), 512)) {
            for (int round = 0; round < 5; round++) {
                for (int[] order : orders) {
                    for (boolean early : new boolean[] {true, false}) {
                        if (early) {
                            receive(pair, order, lengths);
                            pair.b.awaitRead(order.length);
                        }
                        for (int i = 0; i < 3; i++) {
                            pair.a.fill((long) i * LONG, lengths[i], i);
                            assertEquals(0, pair.a.endpoint.tsend(
                                pair.a.memory.address((long) i * LONG), lengths[i], pair.toB, i, i));
                        }
                        if (!early) {
                            awaitBehind(pair);
                            receive(pair, order, lengths);
                        }
                        for (int i = 0; i < 3; i++) {
                            // receives that wait are processed as messages come, others as they are posted
                            int next = early ? i : order[i];
                            pair.b.await(next);
                            pair.b.assertFilled((long) next * LONG, lengths[next], next);
                        }
                        pair.b.assertQuiet(5);
                        for (int i = 0; i < 3; i++) {
                            pair.a.await();
                        }
                    }
                }
            }
        }
    }

    private static void receive(FabricPair pair, int[] order, int[] lengths) {
        for (int next : order) {
            assertEquals(0, pair.b.endpoint.trecv(
                pair.b.memory.address((long) next * LONG), lengths[next], ANY, next, 0, next));
        }
    }

    /** Until all that was sent before has come. */
    private static void awaitBehind(FabricPair pair) {
        assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 8, ANY, 99, 0, 99));
        assertEquals(0, pair.a.endpoint.tinject(pair.a.memory.buffer(), 0, 8, pair.toB, 99));
        pair.b.await(99);
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
        setup.assumeDeliveryBeforeMatch();
        long level = setup.strongestLevel();
        try (FabricPair pair = new FabricPair(setup); FabricNode other = pair.sibling(
            pair.b, new Info().caps(Flags.TAGGED), 0xCC)) {
            long toOther = pair.a.av.insert(other.endpoint.name());
            for (int i = 0; i < 20; i++) {
                // delivered is what the receiver keeps: there the first one must be more than that
                boolean isLong = setup.isForeign() ? i == 0 : !setup.hasAllOfOwn();
                int length = isLong ? setup.heldLength() : 64;
                assertEquals(0, pair.a.endpoint.messages().tsendmsg(
                    pair.a.memory.address(), length, 0, toOther, i, i, level));
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, i, 0, i));
                assertEquals(0, pair.a.endpoint.messages().tsendmsg(
                    pair.a.memory.address(), 64, 0, pair.toB, i, 100 + i, level));
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
