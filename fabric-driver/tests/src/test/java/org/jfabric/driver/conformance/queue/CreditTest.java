package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.MemoryRegion;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;

/** Completion queues that cannot overrun, receivers that do not post, requests that name something invalid. */
@Tag("conformance")
@Tag("link")
@SeveralLinks
class CreditTest {
    private static final long STANDSTILL_NS = Deadline.ns(40);
    private static final long ANY = -1L;
    /** Over no link it goes with its header: it is fetched, or arrives in pieces. */
    private static final int LONG = 100_000;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CQ-008")
    void shouldRefuseSubmissionsWhenTheQueueIsFullAndTakeThemAgainWhenItWasRead(Setup setup) {
        try (FabricPair pair = new FabricPair(setup, new Info().caps(Flags.TAGGED), 17)) {
            for (int round = 0; round < 5; round++) {
                int posted = 0;
                int result;
                while ((result = pair.b.endpoint.trecv(pair.b.memory.address(0), 64, ANY, 1, 0, posted)) == 0) {
                    posted++;
                    assertTrue(posted < 1000);
                }
                assertEquals(-FabricErrno.EAGAIN, result);
                assertTrue(posted >= 17, "only " + posted + " fit");
                for (int i = 0; i < posted; i++) {
                    while (pair.a.endpoint.tsend(pair.a.memory.address(0), 8, pair.toB, 1, i) != 0) {
                        pair.a.poll();
                    }
                }
                for (int i = 0; i < posted; i++) {
                    pair.b.await(i);
                }
                while (pair.a.poll() != null) {
                    continue;
                }
            }
        }
    }

    /** As many as can be are always outstanding: what is posted behind an entry has only that one's room. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CL-012")
    void shouldHaveRoomForAnotherOperationAsSoonAsAnEntryIsRead(Setup setup) {
        Info hints = new Info().caps(Flags.TAGGED);
        hints.txAttr().size(16);
        hints.rxAttr().size(16);
        if (setup.strongestLevel() != Flags.INJECT_COMPLETE) {
            hints.txAttr().opFlags(Flags.TRANSMIT_COMPLETE);
        }
        try (FabricPair pair = new FabricPair(setup, hints, 64)) {
            for (int i = 0; i < pair.b.info.rxAttr().size(); i++) {
                assertEquals(0, receive(pair.b));
            }
            // each record that waits for its sender to be told is one of these sends, so the spare ones are enough
            assertEquals(16, pair.a.info.txAttr().size());
            int sent = 0;
            while (sent < pair.a.info.txAttr().size()) {
                assertEquals(0, send(pair, sent++));
            }
            long deadlineNs = System.nanoTime() + STANDSTILL_NS;
            // a record of a queue of 16 that is given back late is missed within some rounds of it
            int rounds = setup.daemon ? Effort.rounds(3_000, 20_000) : 20_000;
            for (int again = 0; again < rounds;) {
                boolean quiet = true;
                if (pair.b.poll() instanceof FabricNode.Entry entry) {
                    assertEquals(0, entry.err(), entry::toString);
                    assertEquals(0, receive(pair.b), "a receive behind an entry");
                    quiet = false;
                }
                if (pair.a.poll() instanceof FabricNode.Entry entry) {
                    assertEquals(0, entry.err(), entry::toString);
                    assertEquals(0, send(pair, sent++), "a send behind an entry");
                    again++;
                    quiet = false;
                    deadlineNs = System.nanoTime() + STANDSTILL_NS;
                }
                if (quiet) {
                    pair.pump();
                    // the daemons have two processors with this thread
                    Thread.yield();
                    assertTrue(System.nanoTime() - deadlineNs < 0, again + " sends behind an entry");
                }
            }
        }
    }

    private static int receive(FabricNode node) {
        return node.endpoint.trecv(node.memory.address(0), LONG, ANY, 1, 0, 1);
    }

    private static int send(FabricPair pair, int number) {
        int length = number % 64 == 0 ? LONG : 8;
        return pair.a.endpoint.tsend(pair.a.memory.address(0), length, pair.toB, 1, 2);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldHoldASenderWhoseReceiverNeverPostsAndNameItInACounter(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            // libfabric's wire does not tell the sender why it waits: there the counter is the receiver's
            String label = setup.isForeign()
                ? "messages of " + setup.seen(pair.a.endpoint) + " without a receive at " + pair.b.endpoint.name()
                    + " hold it back"
                : "sends of " + pair.a.endpoint.name() + " held back by " + setup.seen(pair.b.endpoint);
            long deadlineNs = System.nanoTime() + Deadline.ns(20);
            int sent = 0;
            try (DriverView view = new DriverView(pair.directoryOf(setup.isForeign() ? pair.b : pair.a))) {
                while (view.counters().getOrDefault(label, 0L) == 0) {
                    sent += pair.a.endpoint.tsend(pair.a.memory.address(0), 4096, pair.toB, 1, 1) == 0 ? 1 : 0;
                    pair.a.poll();
                    pair.b.poll();
                    Thread.yield();
                    assertTrue(System.nanoTime() - deadlineNs < 0, () -> "not held back: " + view.counters());
                }
            }
            long budget = 4L << 20;
            // what the system keeps of a connection comes on top
            long sockets = setup.isForeign() ? 16L << 20 : 0;
            assertTrue(sent * 4096L < 2 * budget + sockets, sent + " messages were taken");
            assertTrue(sent > 10);
            pair.b.endpoint.trecv(pair.b.memory.address(0), 4096, ANY, 1, 0, 7);
            pair.b.await(7);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldEndInvalidRequestsWithAnErrorEntryAndGoOn(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            long good = pair.a.memory.address(0);
            long otherRegion = good + (1L << 48);
            long otherGeneration = good ^ (1L << 40);
            MemoryRegion closed = pair.a.domain.allocate(4096);
            long closedAddress = closed.address(0);
            closed.close();
            long[] bad = {otherRegion, otherGeneration, closedAddress, good + FabricNode.MEMORY - 8, 0, -1L};
            for (long address : bad) {
                assertEquals(0, pair.a.endpoint.tsend(address, 64, pair.toB, 1, 5));
                FabricNode.Entry entry = pair.a.await();
                assertEquals(FabricErrno.EFAULT, entry.err(), () -> Long.toHexString(address));
                assertEquals(5, entry.context());
                assertEquals(0, pair.a.endpoint.trecv(address, 64, ANY, 1, 0, 6));
                entry = pair.a.await();
                assertEquals(FabricErrno.EFAULT, entry.err());
                assertEquals(6, entry.context());
            }
            assertEquals(0, pair.a.endpoint.tsend(good, 64, 99, 1, 8));
            assertEquals(FabricErrno.EINVAL, pair.a.await().err());
            assertEquals(-FabricErrno.EINVAL, pair.a.endpoint.tsend(good, -1, pair.toB, 1, 8));
            assertEquals(-FabricErrno.EINVAL, pair.a.endpoint.tsend(good, 64, ANY, 1, 8));
            pair.b.endpoint.trecv(pair.b.memory.address(0), 64, ANY, 2, 0, 9);
            pair.a.endpoint.tsend(good, 64, pair.toB, 2, 10);
            pair.b.await(9);
            pair.a.await(10);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldFailSendsToAnEndpointThatIsGone(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            pair.b.endpoint.trecv(pair.b.memory.address(0), 64, ANY, 1, 0, 1);
            pair.a.endpoint.tsend(pair.a.memory.address(0), 64, pair.toB, 1, 2);
            pair.b.await(1);
            pair.a.await(2);
            // more than a receiver keeps, where it cannot leave the payload at the sender
            int length = setup.isForeign() ? 12 << 20 : 1 << 20;
            pair.a.endpoint.tsend(pair.a.memory.address(0), length, pair.toB, 3, 3);
            pair.a.awaitStep();
            pair.a.assertQuiet(50);
            pair.b.endpoint.close();
            FabricNode.Entry failed = pair.a.await();
            assertEquals(FabricErrno.ECONNRESET, failed.err());
            assertEquals(3, failed.context());
            Deadline deadline = Deadline.usual();
            FabricNode.Entry refused;
            do {
                // a process that another test starts has the closed listening socket for a moment, too
                deadline.check("a refusal", () -> pair.a.endpoint);
                pair.a.endpoint.tsend(pair.a.memory.address(0), 64, pair.toB, 3, 4);
                refused = pair.a.await();
            } while (setup.isForeign() && refused.err() == FabricErrno.ECONNRESET);
            assertEquals(FabricErrno.ECONNREFUSED, refused.err());
            assertEquals(-FabricErrno.EOPBADSTATE,
                pair.b.endpoint.tsend(pair.b.memory.address(0), 8, pair.toA, 1, 1));
        }
    }
}
