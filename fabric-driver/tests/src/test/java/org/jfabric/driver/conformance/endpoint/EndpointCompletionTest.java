package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.CountedNode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Which operations of an endpoint make entries, with which context, and what a cancel makes of them. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class EndpointCompletionTest {
    private static final long ANY = -1L;
    private static final int LENGTH = 64;
    /** One of so many sends has an entry. */
    private static final int EVERY = 16;
    /** Beyond the eager limit. */
    private static final int SLOT = 100_000;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-043")
    void shouldWriteAnEntryForEachTransferByDefault(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int count = 30;
            Endpoint a = pair.a.endpoint;
            long from = pair.a.memory.address();
            for (int i = 0; i < count; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, i, 0, i));
                assertEquals(0, switch (i % 3) {
                    case 0 -> a.tsend(from, LENGTH, pair.toB, i, i);
                    case 1 -> a.messages().tsenddata(from, LENGTH, 9, pair.toB, i, i);
                    // the flags of a call do not take the entry away, only a selective queue allows that
                    default -> a.messages().tsendmsg(from, LENGTH, 0, pair.toB, i, i, 0);
                });
                pair.a.await(i);
                pair.b.await(i);
            }
            pair.a.assertQuiet(50);
            pair.b.assertQuiet(50);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-044")
    void shouldWriteOnlyEntriesThatWereAskedForInASelectiveQueue(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); Endpoint selective = pair.a.domain.openEndpoint(pair.a.info)) {
            selective.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION);
            selective.bind(pair.a.av);
            selective.enable();
            long to = pair.b.av.insert(selective.name());
            for (int i = 0; i < 10; i++) {
                long flags = i % 3 == 1 ? Flags.COMPLETION : 0;
                boolean tagged = i % 2 == 0;
                assertEquals(0, tagged
                    ? pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, i, 0, i)
                    : pair.b.endpoint.recv(pair.b.memory.address(), LENGTH, ANY, i));
                assertEquals(0, tagged
                    ? selective.messages().tsendmsg(pair.a.memory.address(), LENGTH, 0, pair.toB, i, i, flags)
                    : selective.messages().sendmsg(pair.a.memory.address(), LENGTH, 0, pair.toB, i, flags));
                pair.b.await(i);
            }
            for (int context : new int[] {1, 4, 7}) {
                pair.a.await(context);
            }
            pair.a.assertQuiet(100);
            for (int i = 0; i < 10; i++) {
                long flags = i % 3 == 1 ? Flags.COMPLETION : 0;
                boolean tagged = i % 2 == 0;
                assertEquals(0, tagged
                    ? selective.messages().trecvmsg(pair.a.memory.address(), LENGTH, ANY, i, 0, i, flags)
                    : selective.messages().recvmsg(pair.a.memory.address(), LENGTH, ANY, i, flags));
                assertEquals(0, tagged
                    ? pair.b.endpoint.tsend(pair.b.memory.address(), LENGTH, to, i, i)
                    : pair.b.endpoint.send(pair.b.memory.address(), LENGTH, to, i));
                pair.b.await(i);
            }
            for (int context : new int[] {1, 4, 7}) {
                pair.a.await(context);
            }
            pair.a.assertQuiet(100);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-046")
    void shouldBeSelectiveInTheDirectionsThatItIsCombinedWith(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (long selective : new long[] {0, Flags.TRANSMIT, Flags.RECV, Flags.TRANSMIT | Flags.RECV}) {
                for (boolean together : new boolean[] {false, true}) {
                    if (!together || selective == 0 || selective == (Flags.TRANSMIT | Flags.RECV)) {
                        assertSelective(pair, selective, together);
                    }
                }
            }
        }
    }

    /** An endpoint that is bound by one call for both directions, or by one for each. */
    private static void assertSelective(FabricPair pair, long selective, boolean together) {
        try (Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info)) {
            for (long alone : new long[] {Flags.SELECTIVE_COMPLETION, 0}) {
                assertEquals(FabricErrno.EINVAL, assertThrows(
                    FabricException.class, () -> endpoint.bind(pair.a.cq, alone)).errno());
            }
            long[] directions = together ? new long[] {Flags.TRANSMIT | Flags.RECV}
                : new long[] {Flags.TRANSMIT, Flags.RECV};
            for (long direction : directions) {
                // what was refused has bound nothing
                endpoint.bind(pair.a.cq, direction | ((selective & direction) == 0 ? 0 : Flags.SELECTIVE_COMPLETION));
            }
            endpoint.bind(pair.a.av);
            endpoint.enable();
            long to = pair.b.av.insert(endpoint.name());
            for (long asked : new long[] {0, Flags.COMPLETION}) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 1, 0, 1));
                assertEquals(0, endpoint.messages().tsendmsg(
                    pair.a.memory.address(), LENGTH, 0, pair.toB, 1, 2, asked));
                pair.b.await(1);
                if (asked != 0 || (selective & Flags.TRANSMIT) == 0) {
                    pair.a.await(2);
                }
                pair.a.assertQuiet(30);
                assertEquals(0, endpoint.messages().trecvmsg(pair.a.memory.address(), LENGTH, ANY, 1, 0, 3, asked));
                assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), LENGTH, to, 1, 4));
                pair.b.await(4);
                if (asked != 0 || (selective & Flags.RECV) == 0) {
                    pair.a.await(3);
                }
                pair.a.assertQuiet(30);
            }
        }
    }

    /** Completions come in no order of their own; a fence makes one of them speak for all before it. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-047")
    void shouldTellByOneEntryBehindAFenceThatEarlierSendsAreComplete(Setup setup) {
        try (FabricPair pair = new FabricPair(setup);
             CountedNode a = new CountedNode(pair.a, true, WaitObject.NONE)) {
            long toB = a.av.insert(pair.b.endpoint.name());
            for (int round = 0; round < 12; round++) {
                int first = round * EVERY;
                for (int i = 0; i < EVERY; i++) {
                    int number = first + i;
                    int length = length(i);
                    pair.a.fill((long) i * SLOT, length, number);
                    if (i % 2 == 0) {
                        receive(pair, number, i);
                    }
                    CountedNode.post(() -> a.endpoint.messages().tsendmsg(
                        pair.a.memory.address((number - first) * (long) SLOT),
                        length, 0, toB, number, number,
                        number - first == EVERY - 1 ? Flags.COMPLETION | Flags.FENCE : 0), a);
                }
                for (int i = 1; i < EVERY; i += 2) {
                    receive(pair, first + i, i);
                }
                UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);
                CountedNode.await("the one entry", () -> {
                    pair.pump();
                    return a.cq.read(entry, 0, 1) == 1;
                }, a);
                assertEquals(first + EVERY - 1, entry.getLong(0));
                // the entry alone says so: none of them is read any more
                pair.a.memory.buffer().setMemory(0, EVERY * SLOT, (byte) 0x5A);
                // a count follows the entries of the same operations, at the end of the driver's cycle
                CountedNode.await("the count of what came before it", () -> {
                    pair.pump();
                    return a.sends.read() >= first + EVERY - 1;
                }, a);
                for (int i = 0; i < EVERY; i++) {
                    pair.b.await();
                }
                for (int i = 0; i < EVERY; i++) {
                    pair.b.assertFilled((long) i * SLOT, length(i), first + i);
                }
                assertEquals(-FabricErrno.EAGAIN, a.cq.read(entry, 0, 1), "no other entry");
            }
        }
    }

    private static int length(int i) {
        return i % 5 == 3 ? SLOT : LENGTH;
    }

    private static void receive(FabricPair pair, int number, int i) {
        assertEquals(0, pair.b.endpoint.trecv(
            pair.b.memory.address((long) i * SLOT), SLOT, ANY, number, 0, number));
    }

    /** Successes without an entry take no slot of the queue either, so nobody has to read it. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-048")
    void shouldSkipTheEntriesOfASelectiveQueueAsLongAsNobodyAsksForOne(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int most;
            try (CountedNode a = new CountedNode(pair.a, false, WaitObject.NONE);
                 CountedNode b = new CountedNode(pair.b, true, WaitObject.NONE)) {
                most = transferUnread(a, b, Integer.MAX_VALUE);
                assertTrue(most > 0);
                assertEquals(1, a.cq.read(new UnsafeBuffer(new byte[48]), 0, 1));
                assertEquals(1, transferUnread(a, b, 1));
            }
            try (CountedNode a = new CountedNode(pair.a, true, WaitObject.NONE);
                 CountedNode b = new CountedNode(pair.b, true, WaitObject.NONE)) {
                int many = (setup.daemon ? 4 : 20) * most;
                assertEquals(many, transferUnread(a, b, many));
                assertEquals(-FabricErrno.EAGAIN, a.cq.read(null, 0, 0), "no entry was written");
                assertEquals(-FabricErrno.EAGAIN, b.cq.read(null, 0, 0), "no entry was written");
            }
        }
    }

    /** One message after the other, until there is no slot for one more; how many went through. */
    private static int transferUnread(CountedNode a, CountedNode b, int limit) {
        long toB = a.insert(b);
        long before = a.sends.read();
        for (int sent = 0; sent < limit; sent++) {
            CountedNode.post(() -> b.endpoint.trecv(b.buffer(), LENGTH, ANY, 1, 0, 1), a, b);
            int result = a.endpoint.tsend(a.buffer(), LENGTH, toB, 1, 1);
            if (result != 0) {
                assertEquals(-FabricErrno.EAGAIN, result);
                return sent;
            }
            long counted = before + sent + 1;
            CountedNode.await("the count", () -> a.sends.read() == counted, a, b);
        }
        return limit;
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-026", "EP-160", "CQ-091"})
    void shouldReportItsOwnContextWhereAnOperationHasNone(Setup setup) {
        Info hints = FabricPair.usualHints();
        boolean accesses = setup.hasAllOfOwn();
        hints.caps(hints.caps() | (accesses ? Flags.RMA | Flags.ATOMIC : 0));
        try (FabricPair pair = new FabricPair(setup, hints, 512)) {
            UnsafeBuffer bytes = new UnsafeBuffer(new byte[8]);
            String gone = pair.b.endpoint.name();
            pair.b.endpoint.close();
            long nowhere = pair.a.av.insert(gone);
            for (long context : new long[] {0, 1, -1L, Long.MIN_VALUE}) {
                Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info, context);
                assertEquals(context, endpoint.context());
                endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
                endpoint.bind(pair.a.av);
                endpoint.enable();
                assertEquals(context, endpoint.context());
                assertEquals(0, endpoint.tinject(bytes, 0, 8, nowhere, 1));
                FabricNode.Entry entry = pair.a.await();
                assertTrue(entry.err() > 0, entry::toString);
                assertEquals(context, entry.context(), "an inject has no context of its own");
                if (accesses) {
                    assertEquals(0, endpoint.remoteMemory().injectWrite(bytes, 0, 8, nowhere, 0, 1));
                    entry = pair.a.await();
                    assertTrue(entry.err() > 0 && entry.context() == context, entry::toString);
                    assertEquals(0, endpoint.atomics().injectAtomic(
                        bytes, 0, 1, nowhere, 0, 1, AtomicDatatype.INT64, AtomicOperation.SUM));
                    entry = pair.a.await();
                    assertTrue(entry.err() > 0 && entry.context() == context, entry::toString);
                }
                assertEquals(0, endpoint.tsend(pair.a.memory.address(), 8, nowhere, 1, 4711));
                entry = pair.a.await();
                assertTrue(entry.err() > 0, entry::toString);
                assertEquals(4711, entry.context(), "a send has one");
                endpoint.close();
                assertEquals(context, endpoint.context());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-066")
    void shouldKeepTheEntryOfAnOperationThatEndedBeforeItsCancel(Setup setup) {
        setup.assumeDeliveryBeforeMatch();
        try (FabricPair pair = new FabricPair(setup)) {
            for (int i = 0; i < 50; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 1, 0, 100 + i));
                assertEquals(0, pair.a.endpoint.messages().tsendmsg(
                    pair.a.memory.address(), LENGTH, 0, pair.toB, 1, i, Flags.DELIVERY_COMPLETE));
                pair.a.await(i);
                // the receive has ended, though its entry was not read
                assertEquals(0, pair.b.endpoint.cancel(100 + i));
                assertEquals(0, pair.a.endpoint.cancel(i));
                pair.b.await(100 + i);
            }
            pair.a.assertQuiet(100);
            pair.b.assertQuiet(100);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-068")
    void shouldCancelNothingWithoutAContext(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 1, 0, 0));
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(LENGTH), LENGTH, ANY, 2, 0, 7));
            assertEquals(0, pair.b.endpoint.cancel(0), "AMB-67");
            assertEquals(0, pair.b.endpoint.cancel(8), "nothing has that one");
            // held by announcements and credit, so that it is still there to be cancelled
            for (int i = 0; i < 110; i++) {
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8192, pair.toB, 9, 1000 + i));
            }
            UnsafeBuffer payload = new UnsafeBuffer(new byte[8]);
            assertEquals(0, pair.a.endpoint.tinject(payload, 0, 8, pair.toB, 1));
            assertEquals(0, pair.a.endpoint.tinject(payload, 0, 8, pair.toB, 2));
            assertEquals(0, pair.a.endpoint.cancel(0));
            assertEquals(0, pair.a.endpoint.cancel(pair.a.endpoint.context()), "that is not the inject's context");
            for (int i = 0; i < 110; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(8192), 8192, ANY, 9, 0, 5000));
            }
            List<Long> contexts = new ArrayList<>();
            for (int i = 0; i < 112; i++) {
                FabricNode.Entry entry = pair.b.await();
                assertEquals(0, entry.err(), entry::toString);
                contexts.add(entry.context());
            }
            assertTrue(contexts.contains(0L) && contexts.contains(7L), contexts::toString);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-070")
    void shouldEndACancelledOperationWhileTheQueueIsRead(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (int i = 1; i <= 200; i++) {
                assertEquals(0, i % 2 == 0
                    ? pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, i, 0, i)
                    : pair.b.endpoint.recv(pair.b.memory.address(), LENGTH, ANY, i));
                assertEquals(0, pair.b.endpoint.cancel(i));
                // reading is all that has to be done for it
                FabricNode.Entry entry = pair.b.await();
                assertEquals(FabricErrno.ECANCELED, entry.err());
                assertEquals(i, entry.context());
            }
            pair.assertTransfers(pair.a.endpoint);
        }
    }
}
