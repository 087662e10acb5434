package org.jfabric.driver.conformance.level;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a sender may conclude from a completion, at each level and over every link. */
@Tag("conformance")
@Tag("link")
@SeveralLinks
class CompletionLevelTest {
    private static final long[] LEVELS = {
        Flags.INJECT_COMPLETE, Flags.TRANSMIT_COMPLETE, Flags.DELIVERY_COMPLETE, Flags.MATCH_COMPLETE};
    /** An eager message of one cache line, one of several, and an announced one. */
    private static final int[] LENGTHS = {8, 3000, 100_000};
    private static final long ANY = -1L;
    private static final int RECEIVE = FabricNode.MEMORY / 2;
    private static final int QUIET_ROUNDS = 200;

    private static long[] levels(Setup setup) {
        return setup.offersMatchLevel() ? LEVELS : Arrays.copyOf(LEVELS, 3);
    }

    private static void receive(FabricPair pair, int length, long tag, long context) {
        pair.b.memory.buffer().setMemory(RECEIVE, Math.max(1, length), (byte) 0);
        assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), length, ANY, tag, 0, context));
    }

    private static void send(FabricPair pair, int length, long tag, long context, long flags) {
        pair.a.fill(0, length, (int) context);
        assertEquals(0, pair.a.endpoint.messages().tsendmsg(
            pair.a.memory.address(0), length, 0, pair.toB, tag, context, flags));
    }

    /** The levels that promise more than that the message is on its way. */
    private static void assertPlaced(FabricPair pair, long level, int length, int seed) {
        if (level == Flags.DELIVERY_COMPLETE || level == Flags.MATCH_COMPLETE) {
            pair.b.assertFilled(RECEIVE, length, seed);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-003", "CL-015", "TAG-043", "TAG-044", "TAG-045"})
    void shouldHavePlacedTheDataWhenACallAskedForDelivery(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int context = 10;
            for (long level : levels(setup)) {
                for (int length : LENGTHS) {
                    context++;
                    receive(pair, length, 5, context);
                    // a message that comes before its receive is delivered as well, by being kept
                    pair.b.awaitStep();
                    send(pair, length, 5, context, level);
                    pair.a.await(context);
                    assertPlaced(pair, level, length, context);
                    assertEquals(length, pair.b.await(context).len());
                    pair.b.assertFilled(RECEIVE, length, context);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CL-025")
    void shouldGiveTheStrongerOfTwoLevels(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            long[] levels = levels(setup);
            int context = 0;
            for (int stronger = 1; stronger < levels.length; stronger++) {
                for (int weaker = 0; weaker < stronger; weaker++) {
                    long both = levels[weaker] | levels[stronger];
                    for (int length : LENGTHS) {
                        context++;
                        receive(pair, length, 5, context);
                        pair.b.awaitStep();
                        send(pair, length, 5, context, both);
                        pair.a.await(context);
                        assertPlaced(pair, levels[stronger], length, context);
                        pair.b.await(context);
                        context++;
                        send(pair, length, 5, context, both);
                        assertStrongerOfTwo(pair, levels[stronger], length, context);
                    }
                    context++;
                    // the same where the two are the endpoint's default
                    pair.a.endpoint.setOpFlags(Flags.TRANSMIT | both);
                    int length = setup.isForeign() ? setup.heldLength() : LENGTHS[1];
                    pair.a.fill(0, length, context);
                    assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(0), length, pair.toB, 5, context));
                    assertStrongerOfTwo(pair, levels[stronger], length, context);
                }
            }
        }
    }

    /** Nothing waits yet for a message that was sent at two levels; afterwards a receive of any length does. */
    private static void assertStrongerOfTwo(FabricPair pair, long stronger, int length, int context) {
        boolean isHeld = pair.setup.confirmsMatches() || (pair.setup.isForeign() ? length == pair.setup.heldLength()
            : stronger == Flags.MATCH_COMPLETE || length == LENGTHS[2]);
        if (isHeld) {
            // over tcp embedded drivers move a little of it in each round
            pair.a.assertQuiet(pair.setup.isForeign() && !pair.setup.confirmsMatches() ? 5000 : QUIET_ROUNDS);
        } else {
            pair.a.await(context);
            // every level lets the source go
            pair.a.fill(0, length, -1);
        }
        receive(pair, length, 5, context);
        if (isHeld) {
            pair.a.await(context);
            assertPlaced(pair, stronger, length, context);
        }
        pair.b.await(context);
        pair.b.assertFilled(RECEIVE, length, context);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-004", "OPF-001", "OPF-006", "OPF-009", "OPF-017", "OPF-018"})
    void shouldHavePlacedTheDataWhenTheDefaultIsDelivery(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (long level : levels(setup)) {
                Info info = pair.a.info.copy();
                info.txAttr().opFlags(level);
                Endpoint endpoint = pair.a.domain.openEndpoint(info);
                endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
                endpoint.bind(pair.a.av);
                endpoint.enable();
                assertEquals(level, endpoint.getOpFlags(Flags.TRANSMIT));
                assertDefault(pair, endpoint, level, 1);
                endpoint.setOpFlags(Flags.TRANSMIT);
                assertDefault(pair, endpoint, Flags.TRANSMIT_COMPLETE, 2);
                endpoint.setOpFlags(Flags.TRANSMIT | level);
                assertDefault(pair, endpoint, level, 3);
                endpoint.close();
            }
        }
    }

    private static void assertDefault(FabricPair pair, Endpoint endpoint, long level, int context) {
        pair.a.fill(0, 3000, context);
        if (level == Flags.MATCH_COMPLETE) {
            assertEquals(0, endpoint.tsend(pair.a.memory.address(0), 3000, pair.toB, 5, context));
            pair.a.assertQuiet(QUIET_ROUNDS);
            receive(pair, 3000, 5, context);
        } else {
            receive(pair, 3000, 5, context);
            pair.b.awaitStep();
            assertEquals(0, endpoint.tsend(pair.a.memory.address(0), 3000, pair.toB, 5, context));
        }
        pair.a.await(context);
        assertPlaced(pair, level, 3000, context);
        pair.b.await(context);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-002", "CL-005", "CL-008"})
    void shouldLetTheSourceGoWhenInjectComplete(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int length = pair.a.endpoint.injectSize() * 10;
            for (int i = 0; i < 20; i++) {
                send(pair, length, 5, i, Flags.INJECT_COMPLETE);
                pair.a.await(i);
                pair.a.fill(0, length, 1000);
                receive(pair, length, 5, i);
                pair.b.await(i);
                pair.b.assertFilled(RECEIVE, length, i);
            }
            receive(pair, 1 << 20, 5, 50);
            send(pair, 1 << 20, 5, 50, Flags.INJECT_COMPLETE);
            pair.a.await(50);
            pair.a.fill(0, 1 << 20, 1000);
            pair.b.await(50);
            pair.b.assertFilled(RECEIVE, 1 << 20, 50);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-006"})
    void shouldKeepASuccessWhenThePeerGoesAfterwards(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            // what nobody has taken, and what was on its way for longer
            for (int i = 0; i < 3; i++) {
                send(pair, 64 + i, 6, i, Flags.INJECT_COMPLETE);
                pair.a.await(i);
            }
            receive(pair, 4 << 20, 5, 10);
            send(pair, 4 << 20, 5, 10, Flags.INJECT_COMPLETE);
            pair.a.await(10);
            pair.b.endpoint.close();
            pair.a.assertQuiet(QUIET_ROUNDS);
            // the next send finds out that the peer is gone, and those before it stay as they were
            send(pair, 64, 6, 11, Flags.DELIVERY_COMPLETE);
            FabricNode.Entry later = pair.a.await();
            assertEquals(11, later.context());
            assertTrue(later.err() != 0, later::toString);
            pair.a.assertQuiet(QUIET_ROUNDS);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-007", "TAG-027"})
    void shouldMakeNoEntryForInjectsWhateverTheDefaultLevelIs(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (long level : levels(setup)) {
                pair.a.endpoint.setOpFlags(Flags.TRANSMIT | level);
                for (int call = 0; call < 4; call++) {
                    assertEquals(0, switch (call) {
                        case 0 -> pair.a.endpoint.tinject(pair.a.memory.buffer(), 0, 8, pair.toB, 7);
                        case 1 -> pair.a.endpoint.messages().tinjectdata(pair.a.memory.buffer(), 0, 8, 1, pair.toB, 7);
                        case 2 -> pair.a.endpoint.inject(pair.a.memory.buffer(), 0, 8, pair.toB);
                        default -> pair.a.endpoint.messages().injectdata(pair.a.memory.buffer(), 0, 8, 1, pair.toB);
                    });
                    if (call < 2) {
                        receive(pair, 8, 7, 1);
                    } else {
                        assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(RECEIVE), 8, ANY, 1));
                    }
                    pair.b.await(1);
                }
                pair.a.assertQuiet(20);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-009", "CL-026"})
    void shouldNotCompleteTransmittedWhileThePayloadIsNotAtThePeer(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int length = setup.heldLength();
            // the default of each link is reported; over tcp more has to be asked for
            assertEquals(setup.hasAllOfOwn() ? Flags.TRANSMIT_COMPLETE : Flags.INJECT_COMPLETE,
                pair.a.info.txAttr().opFlags());
            if (!setup.hasAllOfOwn()) {
                pair.a.endpoint.setOpFlags(Flags.TRANSMIT | Flags.TRANSMIT_COMPLETE);
            }
            pair.a.fill(0, length, 1);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(0), length, pair.toB, 5, 1));
            pair.a.assertQuiet(QUIET_ROUNDS);
            receive(pair, length, 5, 2);
            pair.a.await(1);
            pair.b.await(2);
            pair.b.assertFilled(RECEIVE, length, 1);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = "NETWORK_.*", mode = EnumSource.Mode.MATCH_ALL)
    @Requirement({"CL-002", "CL-026"})
    void shouldLetTheSourceGoByDefaultWhereNoMoreIsReported(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (int length : LENGTHS) {
                pair.a.fill(0, length, 1);
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(0), length, pair.toB, 5, 1));
                pair.a.await(1);
                pair.a.fill(0, length, 1000);
                receive(pair, length, 5, 2);
                pair.b.await(2);
                pair.b.assertFilled(RECEIVE, length, 1);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-010"})
    void shouldKeepATransmittedMessageWhenItsSenderCloses(Setup setup) {
        setup.assumeDeliveryBeforeMatch();
        try (FabricPair pair = new FabricPair(setup)) {
            send(pair, 3000, 5, 1, Flags.TRANSMIT_COMPLETE);
            pair.a.await(1);
            pair.a.fill(0, 3000, 1000);
            pair.a.endpoint.close();
            receive(pair, 3000, 5, 2);
            pair.b.await(2);
            pair.b.assertFilled(RECEIVE, 3000, 1);
        }
    }

    /** The ring that the message is in belongs to the driver that dies. */
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = "SHM_DAEMON")
    @Requirement({"CL-010"})
    void shouldKeepATransmittedMessageWhenTheDriverOfItsSenderIsKilled(Setup setup) {
        try (FabricPair pair = FabricPair.withOwnDaemons(setup)) {
            int half = FabricNode.MEMORY / 2;
            assertEquals(0, pair.a.endpoint.trecv(pair.a.memory.address(half), LENGTHS[2], ANY, 9, 0, 9));
            for (int i = 0; i < LENGTHS.length; i++) {
                pair.b.fill(0, LENGTHS[i], i);
                assertEquals(0, pair.b.endpoint.messages().tsendmsg(pair.b.memory.address(0), LENGTHS[i], 0,
                    pair.toA, i == 2 ? 9 : i, i, Flags.TRANSMIT_COMPLETE));
                pair.b.await(i);
            }
            pair.killDriverOfB();
            pair.a.await(9);
            pair.a.assertFilled(half, LENGTHS[2], 2);
            for (int i = 0; i < 2; i++) {
                assertEquals(0, pair.a.endpoint.trecv(pair.a.memory.address(half), LENGTHS[i], ANY, i, 0, 20 + i));
                pair.a.await(20 + i);
                pair.a.assertFilled(half, LENGTHS[i], i);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-014"})
    void shouldDeliverAMessageThatNobodyWaitsFor(Setup setup) {
        setup.assumeDeliveryBeforeMatch();
        try (FabricPair pair = new FabricPair(setup)) {
            for (int i = 1; i < 20; i++) {
                send(pair, 100 * i, 5, i, Flags.DELIVERY_COMPLETE);
                pair.a.await(i);
                pair.a.fill(0, 100 * i, 1000);
                receive(pair, 100 * i, 5, i);
                assertEquals(i, pair.b.await().context());
                pair.b.assertFilled(RECEIVE, 100 * i, i);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-018", "CL-019"})
    void shouldNotCompleteMatchedWhileNobodyReceives(Setup setup) {
        setup.assumeMatchLevel();
        try (FabricPair pair = new FabricPair(setup)) {
            send(pair, 8, 5, 1, Flags.MATCH_COMPLETE);
            assertEquals(0, pair.a.endpoint.messages().sendmsg(
                pair.a.memory.address(0), 8, 0, pair.toB, 2, Flags.MATCH_COMPLETE | Flags.INJECT_COMPLETE));
            // both drivers have gone on to end each other message behind them
            for (int i = 0; i < 100; i++) {
                receive(pair, 8, 6, 21);
                send(pair, 8, 6, 22, Flags.MATCH_COMPLETE);
                pair.b.await(21);
                pair.a.await(22);
            }
            pair.a.assertQuiet(10);
            pair.b.assertQuiet(10);
            assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(RECEIVE), 8, ANY, 12));
            pair.a.await(2);
            pair.b.await(12);
            pair.a.assertQuiet(20);
            receive(pair, 8, 5, 11);
            pair.a.await(1);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-020"})
    void shouldHaveTheReceiversEntryWhenTheSenderKnowsOfTheMatch(Setup setup) {
        setup.assumeMatchLevel();
        try (FabricPair pair = new FabricPair(setup)) {
            int context = 0;
            for (int length : LENGTHS) {
                for (int i = 0; i < 20; i++) {
                    context++;
                    if (i % 2 == 0) {
                        receive(pair, length, 5, context);
                    }
                    send(pair, length, 5, context, Flags.MATCH_COMPLETE);
                    if (i % 2 != 0) {
                        receive(pair, length, 5, context);
                    }
                    pair.a.await(context);
                    FabricNode.Entry received = pair.b.poll();
                    assertNotNull(received, "sender's entry came first, length " + length);
                    assertEquals(context, received.context());
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CL-021"})
    void shouldOfferTheLevelsThatCanBeAskedFor(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (long level : levels(setup)) {
                Info hints = new Info().caps(Flags.TAGGED);
                hints.txAttr().opFlags(level);
                if (!setup.hasAllOfOwn()) {
                    hints.linkName(setup.link);
                }
                Info match = pair.a.fabric.info(hints).best();
                assertEquals(level, match.txAttr().opFlags() & level);
            }
            if (!setup.offersMatchLevel()) {
                assertMatchIsRefused(pair);
            }
        }
    }

    /** libfabric's wire cannot tell of a match: refused wherever it can be asked for, and not weakened. */
    private static void assertMatchIsRefused(FabricPair pair) {
        Info hints = new Info().caps(Flags.TAGGED).linkName(pair.setup.link);
        hints.txAttr().opFlags(Flags.MATCH_COMPLETE);
        assertEquals(FabricErrno.ENODATA, errno(() -> pair.a.fabric.info(hints).best()));
        assertTrue(pair.a.fabric.info(hints).explain().contains("op_flags"));
        Info edited = pair.a.info.copy();
        edited.txAttr().opFlags(Flags.MATCH_COMPLETE);
        Endpoint endpoint = pair.a.domain.openEndpoint(edited);
        endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(pair.a.av);
        assertEquals(FabricErrno.EBADFLAGS, errno(endpoint::enable));
        endpoint.close();
        assertEquals(FabricErrno.EBADFLAGS,
            errno(() -> pair.a.endpoint.setOpFlags(Flags.TRANSMIT | Flags.MATCH_COMPLETE)));
        assertEquals(-FabricErrno.EBADFLAGS, pair.a.endpoint.messages().tsendmsg(
            pair.a.memory.address(0), 8, 0, pair.toB, 1, 1, Flags.MATCH_COMPLETE));
        pair.a.assertQuiet(20);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement(value = {"CL-024", "OPF-004"}, refused = "CL-022")
    void shouldRefuseCommitOfMessages(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info hints = new Info().caps(Flags.TAGGED);
            hints.txAttr().opFlags(Flags.COMMIT_COMPLETE);
            assertEquals(FabricErrno.ENODATA, errno(() -> pair.a.fabric.info(hints).best()));
            assertTrue(pair.a.fabric.info(hints).explain().contains("op_flags"));
            Info edited = pair.a.info.copy();
            edited.txAttr().opFlags(Flags.COMMIT_COMPLETE | Flags.DELIVERY_COMPLETE);
            Endpoint endpoint = pair.a.domain.openEndpoint(edited);
            endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(pair.a.av);
            assertEquals(FabricErrno.EBADFLAGS, errno(endpoint::enable));
            assertEquals(-FabricErrno.EOPBADSTATE, endpoint.tsend(0, 0, 0, 0, 0));
            endpoint.close();
            assertEquals(-FabricErrno.EBADFLAGS, pair.a.endpoint.messages().tsendmsg(
                pair.a.memory.address(0), 8, 0, pair.toB, 1, 1, Flags.COMMIT_COMPLETE | Flags.MATCH_COMPLETE));
            pair.a.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldFailWhatWaitsForTheReceiverWhenThePeerCloses(Setup setup) {
        setup.assumeDeliveryBeforeMatch();
        try (FabricPair pair = new FabricPair(setup)) {
            if (!setup.hasAllOfOwn()) {
                send(pair, 8, 5, 2, Flags.DELIVERY_COMPLETE);
                pair.a.await(2);
                send(pair, setup.heldLength(), 5, 1, Flags.DELIVERY_COMPLETE);
            } else {
                send(pair, 8, 5, 1, Flags.MATCH_COMPLETE);
                send(pair, 8, 5, 2, Flags.DELIVERY_COMPLETE);
                pair.a.await(2);
            }
            send(pair, 8, 5, 3, Flags.DELIVERY_COMPLETE | Flags.FENCE);
            pair.b.endpoint.close();
            for (int context = 1; context <= 3; context += 2) {
                FabricNode.Entry failed = pair.a.await();
                assertEquals(context, failed.context());
                assertNotEquals(0, failed.err(), failed.toString());
            }
        }
    }

    private static int errno(Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }
}
