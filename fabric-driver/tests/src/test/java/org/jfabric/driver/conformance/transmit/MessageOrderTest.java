package org.jfabric.driver.conformance.transmit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Order;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** FI_ORDER_SAS: the messages of one endpoint to another are processed in the order in which they were sent. */
@Tag("conformance")
@Tag("link")
@Timeout(240)
@SeveralLinks
class MessageOrderTest {
    private static final long ANY = -1L;
    private static final int COUNT = 64;
    private static final int SLOT = FabricNode.MEMORY / 2 / COUNT;
    private static final int RECEIVE = FabricNode.MEMORY / 2;
    /** Injected, eager of one line and of several, announced, and such that need several segments. */
    private static final int[] LENGTHS = {0, 8, 40, 41, 1000, 8192, 8193, 20_000, 100_000};
    private static final int ROUNDS = 12;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-010", "TX-023", "RX-008", "TX-014"})
    void shouldMatchMessagesOfAllLengthsInTheOrderOfSending(Setup setup) {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        try (FabricPair pair = new FabricPair(setup)) {
            assertEquals(Order.SAS, pair.a.info.txAttr().msgOrder() & Order.SAS);
            assertEquals(Order.SAS, pair.b.info.rxAttr().msgOrder() & Order.SAS, "the receiving side keeps it too");
            for (int round = 0; round < ROUNDS; round++) {
                boolean[] tagged = new boolean[COUNT];
                int[] lengths = new int[COUNT];
                for (int i = 0; i < COUNT; i++) {
                    tagged[i] = random.nextBoolean();
                    lengths[i] = LENGTHS[random.nextInt(LENGTHS.length)];
                }
                // so many receives before the messages come; the others find them unexpected or announced
                exchange(pair, tagged, lengths, random.nextInt(COUNT + 1), random, "seed " + seed + " round " + round);
            }
        }
    }

    private static void exchange(
        FabricPair pair, boolean[] tagged, int[] lengths, int early, SplittableRandom random, String where) {
        for (int i = 0; i < early; i++) {
            receive(pair, tagged[i], i);
        }
        int taken = 0;
        for (int i = 0; i < COUNT; i++) {
            pair.a.fill((long) i * SLOT, lengths[i], i);
            send(pair, tagged[i], lengths[i], i);
            if (random.nextInt(4) == 0) {
                taken += check(pair, lengths, pair.b.poll(), where);
            }
        }
        for (int i = early; i < COUNT; i++) {
            receive(pair, tagged[i], i);
        }
        while (taken < COUNT) {
            taken += check(pair, lengths, pair.b.await(), where);
        }
        for (int i = 0; i < COUNT; i++) {
            FabricNode.Entry entry = pair.a.await();
            assertEquals(0, entry.err(), () -> where + ": " + entry);
        }
    }

    /** The n-th receive of a kind takes the n-th message of that kind, whatever its tag and length. */
    private static int check(FabricPair pair, int[] lengths, FabricNode.Entry entry, String where) {
        if (entry == null) {
            return 0;
        }
        assertEquals(0, entry.err(), () -> where + ": " + entry);
        assertEquals(entry.context(), entry.data(), () -> where + ": " + entry);
        int index = (int) entry.context();
        assertEquals(lengths[index], entry.len(), where);
        pair.b.assertFilled(RECEIVE + (long) index * SLOT, lengths[index], index);
        return 1;
    }

    private static void receive(FabricPair pair, boolean tagged, int index) {
        long buf = pair.b.memory.address(RECEIVE + (long) index * SLOT);
        assertEquals(0, tagged ? pair.b.endpoint.trecv(buf, SLOT, ANY, 0, -1L, index)
            : pair.b.endpoint.recv(buf, SLOT, ANY, index));
    }

    private static void send(FabricPair pair, boolean tagged, int length, int index) {
        long buf = pair.a.memory.address((long) index * SLOT);
        assertEquals(0, tagged ? pair.a.endpoint.messages().tsenddata(buf, length, index, pair.toB, index * 77L, index)
            : pair.a.endpoint.messages().senddata(buf, length, index, pair.toB, index));
    }

    /** Tagged and untagged messages are matched apart, so the order of their entries shows that of processing. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TX-023")
    void shouldKeepTaggedUntaggedAndInjectedMessagesInOneOrder(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < COUNT; i++) {
                    receive(pair, i % 3 != 0, i);
                }
                for (int i = 0; i < COUNT; i++) {
                    switch (i % 3) {
                        case 0 -> assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 64, pair.toB, i));
                        case 1 -> assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, i, i));
                        default -> assertEquals(0,
                            pair.a.endpoint.tinject(pair.a.memory.buffer(), 0, 16, pair.toB, i));
                    }
                }
                for (int i = 0; i < COUNT; i++) {
                    pair.b.await(i);
                }
                for (int i = 0; i < COUNT; i++) {
                    if (i % 3 != 2) {
                        pair.a.await(i);
                    }
                }
            }
        }
    }

    /** A peer that takes nothing is full; the others get theirs in order, and later so does it. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TX-011", "TX-023"})
    void shouldKeepTheOrderOfEachPeerWhileAnotherOneIsBlocked(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); FabricNode blocked = pair.sibling(
            pair.b, new Info().caps(Flags.TAGGED | Flags.MSG), 0xCC)) {
            long toBlocked = pair.a.av.insert(blocked.endpoint.name());
            int held = 120;
            for (int i = 0; i < held; i++) {
                assertEquals(0, pair.a.endpoint.messages().tsenddata(
                    pair.a.memory.address(), i % 5 == 4 ? 20_000 : 8192, i, toBlocked, i % 3, 5000 + i));
            }
            for (int i = 0; i < COUNT; i++) {
                receive(pair, true, i);
                send(pair, true, LENGTHS[i % LENGTHS.length], i);
                FabricNode.Entry entry = pair.b.await();
                assertEquals(i, entry.context());
                assertEquals(i, entry.data(), "sent after what is held, and not held");
            }
            for (int tag = 0; tag < 3; tag++) {
                for (int i = tag; i < held; i += 3) {
                    assertEquals(0, blocked.endpoint.trecv(blocked.memory.address(), 20_000, ANY, tag, 0, i));
                    assertEquals(i, blocked.await(i).data());
                }
            }
            for (int i = 0; i < held + COUNT; i++) {
                assertEquals(0, pair.a.await().err());
            }
        }
    }

    /** The order is that of headers: what belongs to the first may well be placed after what belongs to the second. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TX-013")
    void shouldOrderHeadersAndNotThePlacingOfData(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            pair.a.fill(0, 1 << 20, 1);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 1 << 20, pair.toB, 1, 1));
            pair.a.fill(2 << 20, 64, 2);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(2 << 20), 64, pair.toB, 2, 2));
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(2 << 20), 64, ANY, 2, 0, 12));
            pair.b.await(12);
            pair.b.assertFilled(2 << 20, 64, 2);
            assertEquals(0, pair.b.memory.buffer().getByte(0), "the first is not placed");
            // and still it is the first for whoever takes both
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(2 << 20), 64, pair.toB, 3, 3));
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 1 << 20, ANY, 0, -1L, 11));
            assertEquals(1, pair.b.await(11).tag());
            pair.b.assertFilled(0, 1 << 20, 1);
        }
    }

    /** Without the bit on the receiving side nothing is said of the order, and nothing is lost. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TX-014")
    void shouldDeliverEverythingToAReceiverThatAsksForNoOrder(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info unordered = pair.b.info.copy();
            unordered.rxAttr().msgOrder(Order.NONE);
            try (Endpoint endpoint = pair.b.domain.openEndpoint(unordered)) {
                endpoint.bind(pair.b.cq, Flags.TRANSMIT | Flags.RECV);
                endpoint.bind(pair.b.av);
                endpoint.enable();
                long to = pair.a.av.insert(endpoint.name());
                boolean[] seen = new boolean[COUNT];
                for (int i = 0; i < COUNT; i++) {
                    assertEquals(0, endpoint.trecv(pair.b.memory.address((long) i * 64), 64, ANY, 0, -1L, i));
                    assertEquals(0, pair.a.endpoint.messages().tsenddata(pair.a.memory.address(), 64, i, to, i, i));
                }
                for (int i = 0; i < COUNT; i++) {
                    FabricNode.Entry entry = pair.b.await();
                    assertTrue(entry.err() == 0 && !seen[(int) entry.data()], entry::toString);
                    seen[(int) entry.data()] = true;
                }
            }
        }
    }
}
