package org.jfabric.driver.conformance.tagged;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import org.jfabric.Endpoint;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.PeekNode;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Messages that are claimed, fetched and discarded, over every link, embedded and with a daemon. */
@Tag("conformance")
@Tag("link")
@Timeout(180)
@SeveralLinks
class ClaimTest {
    private static final long ANY = PeekNode.ANY;
    private static final long DROP = Flags.CLAIM | Flags.DISCARD;
    private static final int PLACE = 1 << 20;
    private static final int SMALL = 100;
    private static final int EAGER = 8000;
    /** More than a peer's credit covers. */
    private static final int MESSAGES = 600;
    /** Beyond the eager limit: the payload waits at the sender. */
    private static final int LARGE = 200_000;
    /** More than a receiver keeps of a peer whose wire has no announcements. */
    private static final int BEYOND_BUDGET = 8 << 20;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-061", "TAG-062", "REF-039"})
    void shouldKeepAClaimedMessageForItsOwner(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            for (boolean tagged : new boolean[] {true, false}) {
                for (int length : new int[] {0, SMALL, LARGE}) {
                    long tag = tagged ? 5 : 0;
                    node.send(tagged, tag, length, 1);
                    PeekNode.Entry claimed = node.find(tagged, tag, 90, Flags.CLAIM);
                    assertEquals(length, claimed.len());
                    // neither another peek nor an ordinary receive finds it
                    assertEquals(0, fetch(node, tagged, 0, 0, 91, Flags.PEEK));
                    node.awaitError(91, FabricErrno.ENOMSG);
                    long other = node.place(2 * PLACE, LARGE);
                    assertEquals(0, fetch(node, tagged, other, LARGE, 92, 0));
                    node.assertQuiet(20);
                    long buf = node.place(PLACE, LARGE);
                    // nor does a call of the other family fetch it
                    assertEquals(0, fetch(node, !tagged, buf, LARGE, 90, Flags.CLAIM));
                    node.awaitError(90, FabricErrno.EINVAL);
                    // tag, ignore and source of the fetching call do not matter (AMB-49)
                    assertEquals(0, tagged
                        ? node.endpoint.messages().trecvmsg(buf, LARGE, node.address + 999, 77, 0, 90, Flags.CLAIM)
                        : node.endpoint.messages().recvmsg(buf, LARGE, node.address + 999, 90, Flags.CLAIM));
                    PeekNode.Entry fetched = node.await(90);
                    assertEquals(claimed, fetched);
                    pair.b.assertFilled(PLACE, length, 1);
                    pair.a.await(PeekNode.SENT);
                    // the receive still waits for the next one
                    node.send(tagged, tag, SMALL, 2);
                    assertEquals(2, node.await(92).data());
                    pair.b.assertFilled(2 * PLACE, SMALL, 2);
                    pair.a.await(PeekNode.SENT);
                }
            }
            node.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TAG-063")
    void shouldKnowAClaimByItsContext(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            node.send(5, SMALL, 1);
            node.send(5, SMALL, 2);
            node.find(true, 5, 90, Flags.CLAIM);
            long buf = node.place(PLACE, SMALL);
            // no context: the client knows at once; another one: the answer of the driver, in every mode alike
            assertEquals(-FabricErrno.EINVAL, node.endpoint.messages().trecvmsg(buf, SMALL, ANY, 5, 0, 0, Flags.CLAIM));
            assertEquals(-FabricErrno.EINVAL, node.endpoint.messages().trecvmsg(0, 0, ANY, 5, 0, 0, DROP));
            assertEquals(-FabricErrno.EINVAL, node.peek(0, 0, 5, 0, Flags.CLAIM));
            assertEquals(-FabricErrno.EINVAL, node.endpoint.messages().recvmsg(0, 0, ANY, 0, Flags.PEEK | Flags.CLAIM));
            for (long flags : new long[] {Flags.CLAIM, DROP}) {
                assertEquals(0, node.endpoint.messages().trecvmsg(buf, SMALL, ANY, 5, 0, 91, flags));
                node.awaitError(91, FabricErrno.EINVAL);
                // claimed by a tagged call
                assertEquals(0, node.endpoint.messages().recvmsg(buf, SMALL, ANY, 90, flags));
                node.awaitError(90, FabricErrno.EINVAL);
            }
            node.assertUntouched(PLACE, SMALL);
            // a context is bound to one claim at a time
            assertEquals(0, node.peek(0, 0, 5, 90, Flags.CLAIM));
            node.awaitError(90, FabricErrno.EBUSY);
            assertEquals(0, node.endpoint.messages().trecvmsg(buf, SMALL, ANY, 5, 0, 90, Flags.CLAIM));
            assertEquals(1, node.await(90).data());
            pair.b.assertFilled(PLACE, SMALL, 1);
            // once, and then the context is free again
            assertEquals(0, node.endpoint.messages().trecvmsg(buf, SMALL, ANY, 5, 0, 90, Flags.CLAIM));
            node.awaitError(90, FabricErrno.EINVAL);
            assertEquals(2, node.find(true, 5, 90, Flags.CLAIM).data());
            assertEquals(0, node.endpoint.messages().trecvmsg(buf, SMALL, ANY, 5, 0, 90, Flags.CLAIM));
            assertEquals(2, node.await(90).data());
        }
    }

    /** Two messages are claimed: only the context says which is fetched or dropped, at the endpoint that claimed it. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TAG-063")
    void shouldFetchNoClaimWithTheContextOfAnother(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair);
             PeekNode other = new PeekNode(pair)) {
            for (int length : new int[] {SMALL, LARGE}) {
                long buf = node.place(PLACE, LARGE);
                send(node, 5, length, 1);
                send(node, 6, length, 2);
                send(other, 5, length, 3);
                node.find(true, 5, 90, Flags.CLAIM);
                node.find(true, 6, 91, Flags.CLAIM);
                other.find(true, 5, 92, Flags.CLAIM);
                for (long flags : new long[] {Flags.CLAIM, DROP}) {
                    // neither by the tag, nor by what its sender or another endpoint calls it
                    for (long context : new long[] {92, 89, PeekNode.SENT, -90, 90 | 1L << 32}) {
                        assertEquals(0, node.endpoint.messages().trecvmsg(buf, LARGE, ANY, 5, 0, context, flags));
                        node.awaitError(context, FabricErrno.EINVAL);
                    }
                    assertEquals(0, other.endpoint.messages().trecvmsg(buf, LARGE, ANY, 5, 0, 90, flags));
                    other.awaitError(90, FabricErrno.EINVAL);
                }
                node.assertUntouched(PLACE, LARGE);
                // the tag of the one, the context of the other
                assertEquals(0, node.endpoint.messages().trecvmsg(buf, LARGE, ANY, 5, 0, 91, Flags.CLAIM));
                PeekNode.Entry second = node.await(91);
                assertEquals(6, second.tag());
                assertEquals(2, second.data());
                pair.b.assertFilled(PLACE, length, 2);
                assertEquals(0, node.endpoint.messages().trecvmsg(buf, LARGE, ANY, 6, 0, 91, Flags.CLAIM));
                node.awaitError(91, FabricErrno.EINVAL);
                // an ordinary receive with the context of the claim takes another message
                assertEquals(0, node.endpoint.trecv(buf, LARGE, ANY, 5, 0, 90));
                send(node, 5, length, 4);
                assertEquals(4, node.await(90).data());
                assertEquals(0, node.endpoint.messages().trecvmsg(buf, LARGE, ANY, 6, 0, 90, Flags.CLAIM));
                assertEquals(1, node.await(90).data());
                pair.b.assertFilled(PLACE, length, 1);
                assertEquals(0, other.endpoint.messages().trecvmsg(buf, LARGE, ANY, 6, 0, 92, Flags.CLAIM));
                assertEquals(3, other.await(92).data());
                pair.b.assertFilled(PLACE, length, 3);
                for (int i = 0; i < 4; i++) {
                    pair.a.await(PeekNode.SENT);
                }
            }
            node.assertQuiet(20);
            other.assertQuiet(20);
        }
    }

    /** From a place that no other message of the test has, so that several can wait at the sender. */
    private static void send(PeekNode node, long tag, int length, int seed) {
        long place = (long) seed * LARGE;
        node.sender.fill(place, length, seed);
        assertEquals(0, node.sender.endpoint.messages().tsenddata(
            node.sender.memory.address(place), length, seed, node.address, tag, PeekNode.SENT));
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-064", "TAG-067"})
    void shouldClaimAndDiscardNothingWhenNothingMatches(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            node.send(5, SMALL, 1);
            node.find(5);
            assertEquals(0, node.peek(0, 0, 6, 90, Flags.CLAIM));
            assertEquals(42, node.awaitError(90, FabricErrno.ENOMSG).err());
            assertEquals(0, node.endpoint.messages().trecvmsg(
                node.place(PLACE, SMALL), SMALL, ANY, 6, 0, 90, Flags.CLAIM));
            node.awaitError(90, FabricErrno.EINVAL);
            node.assertUntouched(PLACE, SMALL);
            assertEquals(0, node.peek(0, 0, 6, 91, Flags.DISCARD));
            assertEquals(42, node.awaitError(91, FabricErrno.ENOMSG).err());
            assertEquals(1, node.find(5).data());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TAG-065")
    void shouldRefuseDiscardAlone(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            node.send(5, SMALL, 1);
            node.find(5);
            assertEquals(-FabricErrno.EINVAL, node.endpoint.messages().trecvmsg(0, 0, ANY, 5, 0, 1, Flags.DISCARD));
            assertEquals(-FabricErrno.EINVAL, node.endpoint.messages().recvmsg(0, 0, ANY, 1, Flags.DISCARD));
            assertEquals(-FabricErrno.EINVAL, node.peek(0, 0, 5, 1, DROP));
            node.assertQuiet(20);
            node.find(5);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-066", "TAG-069"})
    void shouldDropWhatIsDiscarded(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            for (boolean tagged : new boolean[] {true, false}) {
                for (int length : new int[] {0, SMALL, LARGE}) {
                    long tag = tagged ? 5 : 0;
                    long buf = node.place(PLACE, SMALL);
                    node.send(tagged, tag, length, 1);
                    // no buffer, and a length that no buffer has
                    PeekNode.Entry dropped = node.find(tagged, tag, 0, -8, 90, Flags.DISCARD);
                    assertEquals(length, dropped.len());
                    assertEquals(1, dropped.data());
                    assertEquals(0, dropped.buf());
                    assertEquals(0, fetch(node, tagged, 0, 0, 91, Flags.PEEK));
                    node.awaitError(91, FabricErrno.ENOMSG);
                    pair.a.await(PeekNode.SENT);

                    node.send(tagged, tag, length, 2);
                    PeekNode.Entry claimed = node.find(tagged, tag, 90, Flags.CLAIM);
                    assertEquals(0, fetch(node, tagged, buf, SMALL, 90, DROP));
                    assertEquals(claimed, node.await(90));
                    assertEquals(0, fetch(node, tagged, 0, Long.MAX_VALUE, 90, DROP));
                    node.awaitError(90, FabricErrno.EINVAL);
                    pair.a.await(PeekNode.SENT);
                    node.assertUntouched(PLACE, SMALL);
                }
            }
            node.assertQuiet(20);
        }
    }

    /** A message that is here is sent at once; without credit it would wait at its sender. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TAG-068")
    void shouldGiveTheMemoryOfDiscardedClaimsBack(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            long buf = node.place(PLACE, EAGER);
            for (int i = 0; i < MESSAGES; i++) {
                node.send(5, EAGER, i);
                assertEquals(EAGER, node.find(true, 5, 90, Flags.CLAIM).len());
                assertEquals(0, fetch(node, true, buf, EAGER, 90, DROP));
                assertEquals(i, node.await(90).data());
            }
            node.assertUntouched(PLACE, EAGER);
            // whereas claims that are kept use the credit up
            int kept = setup.isForeign() ? keepClaimsUntilThePeerIsHeldBack(node) : keepClaimsUntilOneIsNotSent(node);
            for (int i = 1; i <= kept; i++) {
                assertEquals(0, fetch(node, true, 0, 0, i, DROP));
                node.await(i);
            }
            pair.a.await(PeekNode.SENT);
            node.send(5, EAGER, 1);
        }
    }

    private static int keepClaimsUntilOneIsNotSent(PeekNode node) {
        int kept = 0;
        boolean sent = true;
        while (sent) {
            assertNotEquals(MESSAGES, kept, "messages are kept, and more are taken");
            node.send(true, 5, EAGER, kept);
            node.find(true, 5, ++kept, Flags.CLAIM);
            sent = isSent(node.pair.a);
        }
        return kept;
    }

    /** The peer's sends end when they are written, so that the receiver's driver is asked, which does not read on. */
    private static int keepClaimsUntilThePeerIsHeldBack(PeekNode node) {
        FabricPair pair = node.pair;
        String held = "messages of " + pair.setup.seen(pair.a.endpoint) + " without a receive at "
            + node.endpoint.name() + " hold it back";
        int kept = 0;
        try (DriverView view = new DriverView(pair.directoryOf(pair.b))) {
            while (view.counters().getOrDefault(held, 0L) == 0) {
                assertNotEquals(MESSAGES, kept, () -> "messages are kept, and more are taken: " + view.counters());
                if (kept > 0) {
                    pair.a.await(PeekNode.SENT);
                }
                node.send(true, 5, EAGER, kept);
                node.find(true, 5, ++kept, Flags.CLAIM);
            }
        }
        return kept;
    }

    private static boolean isSent(FabricNode sender) {
        for (int i = 0; i < 50; i++) {
            if (sender.poll() != null) {
                return true;
            }
            Thread.yield();
        }
        return false;
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TAG-070")
    void shouldLeaveTheOthersInOrder(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            int[] lengths = {SMALL, LARGE, SMALL};
            for (int dropped = 0; dropped < 3; dropped++) {
                for (int i = 0; i < 3; i++) {
                    pair.a.fill(i * LARGE, lengths[i], i);
                    assertEquals(0, pair.a.endpoint.messages().tsenddata(
                        pair.a.memory.address(i * LARGE), lengths[i], i, node.address, 5, PeekNode.SENT));
                }
                // claimed up to the one that goes; the others come back by their claims, in any order
                for (int i = 0; i < dropped; i++) {
                    assertEquals(i, node.find(true, 5, 80 + i, Flags.CLAIM).data());
                }
                assertEquals(dropped, node.find(true, 5, 90, Flags.DISCARD).data());
                for (int i = dropped + 1; i < 3; i++) {
                    // all three came in order, so the younger ones are there once they are found
                    node.find(5);
                    assertEquals(0, node.endpoint.trecv(node.place(PLACE, LARGE), LARGE, ANY, 5, 0, 70 + i));
                    assertEquals(i, node.await(70 + i).data());
                    pair.b.assertFilled(PLACE, lengths[i], i);
                }
                for (int i = dropped - 1; i >= 0; i--) {
                    assertEquals(0, fetch(node, true, node.place(PLACE, LARGE), LARGE, 80 + i, Flags.CLAIM));
                    assertEquals(i, node.await(80 + i).data());
                    pair.b.assertFilled(PLACE, lengths[i], i);
                }
                for (int i = 0; i < 3; i++) {
                    pair.a.await(PeekNode.SENT);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldCompleteWhatWaitsForAMatchWhenItIsDiscarded(Setup setup) {
        setup.assumeDeliveryBeforeMatch();
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            for (long level : !setup.hasAllOfOwn() ? new long[] {Flags.DELIVERY_COMPLETE}
                : new long[] {Flags.DELIVERY_COMPLETE, Flags.MATCH_COMPLETE}) {
                for (int length : new int[] {SMALL, LARGE}) {
                    for (boolean claim : new boolean[] {false, true}) {
                        assertEquals(0, pair.a.endpoint.messages().tsendmsg(
                            pair.a.memory.address(0), length, 0, node.address, 5, 3, level));
                        node.find(true, 5, 90, claim ? Flags.CLAIM : 0);
                        if (level == Flags.MATCH_COMPLETE) {
                            // to be known or claimed is not to be matched
                            pair.a.assertQuiet(20);
                        }
                        assertEquals(0, node.endpoint.messages().trecvmsg(
                            0, 0, ANY, 5, 0, 90, claim ? DROP : Flags.PEEK | Flags.DISCARD));
                        node.await(90);
                        pair.a.await(3);
                    }
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldFetchWhatIsHereWhenTheSenderIsGoneAndFailTheRest(Setup setup) {
        setup.assumeAnnouncements();
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            int[] lengths = {SMALL, LARGE, LARGE};
            for (int i = 0; i < 3; i++) {
                node.send(true, i, lengths[i], i);
                assertEquals(i, node.find(true, i, 90 + i, Flags.CLAIM).data());
            }
            node.send(true, 9, LARGE, 9);
            node.find(9);
            pair.a.endpoint.close();
            // the third is discarded, whether its end is noticed before or not
            assertEquals(0, fetch(node, true, 0, 0, 92, DROP));
            assertEquals(LARGE, node.await(92).len());
            // the last was not claimed: it is forgotten when the end is noticed
            PeekNode.Entry entry;
            do {
                assertEquals(0, node.peek(0, 0, 9, 93, 0));
                entry = node.await();
            } while (entry.err() == 0);
            assertEquals(FabricErrno.ENOMSG, entry.err());
            long buf = node.place(PLACE, LARGE);
            assertEquals(0, fetch(node, true, buf, LARGE, 90, Flags.CLAIM));
            assertEquals(SMALL, node.await(90).len());
            pair.b.assertFilled(PLACE, SMALL, 0);
            assertEquals(0, fetch(node, true, buf, LARGE, 91, Flags.CLAIM));
            PeekNode.Entry lost = node.await();
            assertEquals(91, lost.context());
            assertNotEquals(0, lost.err());
            assertNotEquals(FabricErrno.EINVAL, lost.err());
            assertEquals(1, lost.tag());
            // told once
            assertEquals(0, fetch(node, true, buf, LARGE, 91, Flags.CLAIM));
            node.awaitError(91, FabricErrno.EINVAL);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldKeepAClaimThroughACancelAndThroughBadMemory(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            node.send(true, 5, LARGE, 1);
            node.find(true, 5, 90, Flags.CLAIM);
            assertEquals(0, node.endpoint.cancel(90));
            assertEquals(0, fetch(node, true, 1, LARGE, 90, Flags.CLAIM));
            node.awaitError(90, FabricErrno.EFAULT);
            node.assertQuiet(20);
            long buf = node.place(PLACE, LARGE);
            assertEquals(0, fetch(node, true, buf, SMALL, 90, Flags.CLAIM));
            PeekNode.Entry truncated = node.awaitError(90, FabricErrno.ETRUNC);
            assertEquals(SMALL, truncated.len());
            assertEquals(LARGE - SMALL, truncated.olen());
            pair.b.assertFilled(PLACE, SMALL, 1);
            node.assertUntouched(PLACE + SMALL, SMALL);
            pair.a.await(PeekNode.SENT);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldGiveEverythingBackWhenTheEndpointIsClosed(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (int round = 0; round < 3; round++) {
                PeekNode node = new PeekNode(pair);
                node.send(true, 5, SMALL, 1);
                pair.a.await(PeekNode.SENT);
                node.send(true, 6, setup.isForeign() ? BEYOND_BUDGET : LARGE, 1);
                node.find(true, 5, 90, Flags.CLAIM);
                node.find(true, 6, 91, Flags.CLAIM);
                node.close();
                // its sender is told
                FabricNode.Entry failed = pair.a.await();
                assertEquals(PeekNode.SENT, failed.context());
                assertNotEquals(0, failed.err());
            }
        }
    }

    private static int fetch(PeekNode node, boolean tagged, long buf, long len, long context, long flags) {
        Endpoint endpoint = node.endpoint;
        return tagged ? endpoint.messages().trecvmsg(buf, len, ANY, 5, 0, context, flags)
            : endpoint.messages().recvmsg(buf, len, ANY, context, flags);
    }
}
