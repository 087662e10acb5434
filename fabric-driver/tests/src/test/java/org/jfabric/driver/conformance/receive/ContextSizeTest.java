package org.jfabric.driver.conformance.receive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.ResourceManagement;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** How many operations an endpoint takes, and how much it keeps of what nobody awaits. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class ContextSizeTest {
    private static final long ANY = -1L;
    private static final int RECEIVE = FabricNode.MEMORY / 2;
    private static final int CQ_SIZE = 1024;
    private static final int TOO_LONG_TO_BE_EAGER = 100_000;

    private static Info hints() {
        return new Info().caps(Flags.TAGGED | Flags.MSG);
    }

    /** Sends that nobody takes until no more are accepted; each has two chances, the driver may be busy with it. */
    private static int fillTransmit(FabricPair pair) {
        int accepted = 0;
        int refused = 0;
        Setup setup = pair.setup;
        while (refused < 200) {
            // over tcp the first one stays at the sender, and all others behind it
            int length = setup.isForeign() && accepted == 0 ? setup.heldLength() : TOO_LONG_TO_BE_EAGER;
            int result = pair.a.endpoint.messages().tsendmsg(
                pair.a.memory.address(0), length, 0, pair.toB, 1, accepted, setup.heldFlags());
            if (result == 0) {
                accepted++;
                refused = 0;
            } else {
                assertEquals(-FabricErrno.EAGAIN, result);
                refused++;
                pair.a.assertQuiet(1);
                pair.b.assertQuiet(1);
            }
            assertTrue(accepted <= CQ_SIZE, "no limit");
        }
        return accepted;
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"TX-041", "TX-042", "TAG-071"})
    void shouldTakeAtLeastAsManySendsWithALargerContextAndSayWhenItIsFull(Setup setup) {
        setup.assumeDeliveryBeforeMatch();
        int before = 0;
        for (int size : new int[] {4, 200}) {
            Info hints = hints();
            hints.txAttr().size(size);
            try (FabricPair pair = new FabricPair(setup, hints, CQ_SIZE)) {
                assertTrue(pair.a.info.txAttr().size() >= size, pair.a.info::toString);
                int accepted = fillTransmit(pair);
                assertTrue(accepted >= before, accepted + " with " + size + ", fewer than " + before);
                assertEquals(pair.a.info.txAttr().size(), accepted);
                before = accepted;

                for (int i = 0; i < accepted; i++) {
                    assertEquals(0, pair.b.endpoint.trecv(
                        pair.b.memory.address(RECEIVE), setup.heldLength(), ANY, 1, 0, i));
                    pair.b.await(i);
                }
                // progress alone does not help a sender that does not look: its entries do
                BitSet ended = new BitSet();
                while (ended.cardinality() < accepted) {
                    FabricNode.Entry entry = pair.a.await();
                    assertEquals(0, entry.err(), entry::toString);
                    ended.set((int) entry.context());
                }
                // as soon as the driver's word of it is here
                long deadlineNs = System.nanoTime() + Deadline.ns(20);
                while (pair.a.endpoint.tsend(pair.a.memory.address(0), 8, pair.toB, 1, 9) != 0) {
                    assertTrue(System.nanoTime() - deadlineNs < 0, "no room after all entries were read");
                    pair.a.assertQuiet(1);
                }
                pair.a.await(9);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"RX-019", "RX-020"})
    void shouldTakeAtLeastAsManyReceivesWithALargerContextAndSayWhenItIsFull(Setup setup) {
        int before = 0;
        for (int size : new int[] {4, 200}) {
            Info hints = hints();
            hints.rxAttr().size(size);
            try (FabricPair pair = new FabricPair(setup, hints, CQ_SIZE)) {
                assertTrue(pair.b.info.rxAttr().size() >= size, pair.b.info::toString);
                int accepted = 0;
                while (pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 64, ANY, 1, 0, accepted) == 0) {
                    accepted++;
                    assertTrue(accepted <= CQ_SIZE, "no limit");
                }
                assertEquals(-FabricErrno.EAGAIN,
                    pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 64, ANY, 1, 0, accepted));
                assertEquals(-FabricErrno.EAGAIN,
                    pair.b.endpoint.recv(pair.b.memory.address(RECEIVE), 64, ANY, accepted));
                assertTrue(accepted >= before, accepted + " with " + size + ", fewer than " + before);
                assertEquals(pair.b.info.rxAttr().size(), accepted);
                before = accepted;
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(0), 8, pair.toB, 1, 9));
                pair.b.await(0);
                retry(pair, accepted);
            }
        }
    }

    /** The receive that ended has made room for one more, as soon as the driver's word of it is here. */
    private static void retry(FabricPair pair, int context) {
        long deadlineNs = System.nanoTime() + Deadline.ns(20);
        while (pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 64, ANY, 1, 0, context) != 0) {
            assertTrue(System.nanoTime() - deadlineNs < 0, "no room after an entry was read");
            pair.b.assertQuiet(1);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"RX-015", "RX-016"})
    void shouldKeepMessagesOfAnySizeWhateverRoomWasHintedAt(Setup setup) {
        for (long room : new long[] {0, 1 << 20}) {
            Info hints = hints();
            hints.rxAttr().totalBufferedRecv(room);
            try (FabricPair pair = new FabricPair(setup, hints, CQ_SIZE)) {
                assertTrue(pair.b.info.rxAttr().totalBufferedRecv() >= room, pair.b.info::toString);
                int[] lengths = {0, 1, 63, 64, 65, 1000, 8191, 8192, 8193, 300_000, 40};
                long place = 0;
                for (int i = 0; i < lengths.length; i++) {
                    pair.a.fill(place, lengths[i], i);
                    assertEquals(
                        0, pair.a.endpoint.tsend(pair.a.memory.address(place), lengths[i], pair.toB, i, i));
                    place += lengths[i];
                }
                pair.b.assertQuiet(50);
                for (int i = lengths.length - 1; i >= 0; i--) {
                    pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 300_000, ANY, i, 0, i);
                    assertEquals(lengths[i], pair.b.await(i).len());
                    pair.b.assertFilled(RECEIVE, lengths[i], i);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("RX-018")
    void shouldManageResourcesUnlessAskedNotTo(Setup setup) {
        try (FabricPair pair = new FabricPair(setup, hints(), CQ_SIZE)) {
            assertEquals(ResourceManagement.ENABLED, pair.a.info.domainAttr().resourceManagement());
            Info hints = hints();
            hints.domainAttr().resourceManagement(ResourceManagement.ENABLED);
            assertEquals(ResourceManagement.ENABLED,
                pair.a.fabric.info(hints).best().domainAttr().resourceManagement());
        }
    }
}
