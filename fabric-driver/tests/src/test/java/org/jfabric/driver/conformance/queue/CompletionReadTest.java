package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** What the reading calls of a completion queue return: counts, errnos, entries and their sources. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class CompletionReadTest {
    private static final long ANY = -1L;
    private static final long UNKNOWN = -1L;
    private static final int RX_SIZE = 8;
    private static final int STRIDE = 48;
    private static final byte UNTOUCHED = 0x5C;

    private final UnsafeBuffer entries = new UnsafeBuffer(new byte[8 * STRIDE]);
    private final long[] sources = new long[8];
    private final CompletionError error = new CompletionError();

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"CQ-054", "CQ-055", "CQ-056", "CQ-057"})
    void shouldReturnAtMostWhatWasAskedForAndNeverWait(Setup setup) {
        try (FabricPair pair = pair(setup)) {
            CompletionQueue queue = pair.b.cq;
            // a receive is posted and nothing is sent: whoever waited would wait for ever
            for (int i = 0; i < 5; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(i * 64L), 64, ANY, 1, 0, i));
            }
            assertEquals(-FabricErrno.EAGAIN, queue.read(entries, 0, 8));
            assertEquals(-FabricErrno.EAGAIN, queue.readFrom(entries, 0, 8, sources));
            assertEquals(-FabricErrno.EAGAIN, queue.poll(entry -> { }, 8));
            receive(pair, 5);
            awaitAll(pair);
            for (int[] step : new int[][] {{3, 3, 0}, {8, 2, 3}}) {
                entries.setMemory(0, entries.capacity(), UNTOUCHED);
                assertEquals(step[1], queue.read(entries, 0, step[0]));
                for (int i = 0; i < step[1]; i++) {
                    assertEquals(step[2] + i, entries.getLong(i * STRIDE));
                }
                for (int i = step[1] * STRIDE; i < entries.capacity(); i++) {
                    assertEquals(UNTOUCHED, entries.getByte(i), "byte " + i);
                }
            }
            assertEquals(-FabricErrno.EAGAIN, queue.read(entries, 0, 8));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"CQ-059", "CQ-060", "ERR-005"})
    void shouldTellOfTheOneFailureAmongThreeOutOfBand(Setup setup) {
        try (FabricPair pair = pair(setup)) {
            CompletionQueue queue = pair.b.cq;
            for (int i = 0; i < 3; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), i == 1 ? 4 : 64, ANY, 1, 0, 10 + i));
            }
            receive(pair, 3);
            awaitAll(pair);
            assertEquals(1, queue.read(entries, 0, 8));
            assertEquals(10, entries.getLong(0));
            for (int i = 0; i < 3; i++) {
                assertEquals(-FabricErrno.EAVAIL, queue.read(entries, 0, 8));
                assertEquals(-FabricErrno.EAVAIL, queue.readFrom(entries, 0, 8, sources));
                assertEquals(-FabricErrno.EAVAIL, queue.poll(entry -> { }, 8));
            }
            assertEquals(1, queue.readErr(error, 0));
            assertEquals(11, error.opContext());
            assertEquals(12, pair.b.await().context());
            assertEquals(-FabricErrno.EAGAIN, queue.readErr(error, 0));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"CQ-086", "CQ-087", "CQ-096"})
    void shouldHandOutErrorsOneByOneInTheirOrder(Setup setup) {
        try (FabricPair pair = pair(setup)) {
            CompletionQueue queue = pair.b.cq;
            assertEquals(-FabricErrno.EAGAIN, queue.readErr(error, 0));
            int[] lengths = {1, 2, 64};
            for (int i = 0; i < 3; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), lengths[i], ANY, 1, 0, 20 + i));
            }
            receive(pair, 3);
            awaitAll(pair);
            for (int i = 0; i < 2; i++) {
                assertEquals(-FabricErrno.EBADFLAGS, queue.readErr(error, 1));
                assertEquals(1, queue.readErr(error, 0));
                assertEquals(20 + i, error.opContext());
                assertEquals(lengths[i], error.len());
            }
            assertEquals(-FabricErrno.EAGAIN, queue.readErr(error, 0), "a success is no error");
            assertEquals(1, queue.read(entries, 0, 8));
            assertEquals(22, entries.getLong(0));
            assertEquals(-FabricErrno.EAGAIN, queue.readErr(error, 0));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"CQ-064", "CQ-065"})
    void shouldNameTheSenderOfEachEntryAndChangeNothingElse(Setup setup) {
        try (FabricPair pair = pair(setup)) {
            List<FabricNode> senders = new ArrayList<>(List.of(pair.a));
            senders.add(pair.sibling(pair.a, pair.a.info, 1));
            senders.add(pair.sibling(pair.a, pair.a.info, 2));
            long[] from = new long[senders.size()];
            for (int i = 0; i < from.length; i++) {
                from[i] = pair.b.av.insert(senders.get(i).endpoint.name());
            }
            UnsafeBuffer plain = new UnsafeBuffer(new byte[8 * STRIDE]);
            for (int round = 0; round < 2; round++) {
                for (int i = 0; i < from.length; i++) {
                    assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, i, 0, 30 + i));
                }
                for (int i = from.length - 1; i >= 0; i--) {
                    FabricNode sender = senders.get(i);
                    long dest = sender.av.insert(pair.b.endpoint.name());
                    assertEquals(0, sender.endpoint.messages().tsenddata(
                        sender.memory.address(), 8 + i, 70 + i, dest, i, 9));
                    sender.await(9);
                    awaitPosted(pair, pair.b.endpoint, pair.b.cq, i);
                }
                if (round == 0) {
                    assertEquals(3, pair.b.cq.read(plain, 0, 8));
                } else {
                    assertEquals(3, pair.b.cq.readFrom(entries, 0, 8, sources));
                }
            }
            for (int i = 0; i < 3; i++) {
                for (int at = 0; at < STRIDE; at += 8) {
                    assertEquals(plain.getLong(i * STRIDE + at), entries.getLong(i * STRIDE + at));
                }
                int sender = (int) entries.getLong(i * STRIDE + 40);
                assertEquals(2 - i, sender, "the last one sent first");
                assertEquals(from[sender], sources[i]);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"CQ-071", "CQ-072"})
    void shouldReportAStrangerAsSuccessAndInsertNothing(Setup setup) {
        try (FabricPair pair = pair(setup)) {
            FabricNode stranger = pair.sibling(pair.a, pair.a.info, 1);
            long dest = stranger.av.insert(pair.b.endpoint.name());
            int known = pair.b.av.size();
            String text = pair.b.av.straddr(pair.toA + 1);
            for (int i = 0; i < 3; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 5, 0, 50 + i));
                assertEquals(0, stranger.endpoint.tsend(stranger.memory.address(), 8, dest, 5, 9));
                stranger.await(9);
                FabricNode.Entry entry = pair.b.await(50 + i);
                assertEquals(UNKNOWN, entry.source());
                assertEquals(8, entry.len());
                assertEquals(known, pair.b.av.size());
                assertEquals(text, pair.b.av.straddr(pair.toA + 1));
            }
            assertEquals(pair.toA + 1, pair.b.av.insert(stranger.endpoint.name()), "the next number is still free");
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("CQ-070")
    void shouldReportAStrangerToAMapOnlyByANumberThatWorks(Setup setup) {
        try (FabricPair pair = pair(setup)) {
            AddressVector map = pair.b.domain.openAddressVector(
                new AddressVectorAttr().type(AddressVectorType.MAP));
            Endpoint endpoint = pair.b.domain.openEndpoint(pair.b.info);
            CompletionQueue queue = pair.b.domain.openCompletionQueue(
                new CompletionQueueAttr().size(16).format(CompletionFormat.TAGGED));
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(map);
            endpoint.enable();
            long dest = pair.a.av.insert(endpoint.name());
            assertEquals(0, endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 1));
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, dest, 1, 2));
            pair.a.await(2);
            awaitAll(pair, endpoint, queue);
            assertEquals(1, queue.readFrom(entries, 0, 8, sources));
            long source = sources[0] == UNKNOWN ? map.insert(pair.a.endpoint.name()) : sources[0];
            assertEquals(0, pair.a.endpoint.trecv(pair.a.memory.address(), 64, ANY, 2, 0, 3));
            assertEquals(0, endpoint.tinject(new UnsafeBuffer(new byte[8]), 0, 8, source, 2));
            pair.a.await(3);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("CQ-142")
    void shouldNotBeReadBeforeAnEndpointReportsToIt(Setup setup) {
        try (FabricPair pair = pair(setup)) {
            CompletionQueueAttr attr = new CompletionQueueAttr().size(16).waitObject(WaitObject.UNSPEC);
            CompletionQueue queue = pair.b.domain.openCompletionQueue(attr);
            Endpoint endpoint = pair.b.domain.openEndpoint(pair.b.info);
            assertRefused(queue);
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(pair.b.av);
            assertRefused(queue);
            assertTrue(queue.strerror(FabricErrno.EIO).contains("EIO"), "texts can be asked for before");
            endpoint.enable();
            assertEquals(-FabricErrno.EAGAIN, queue.read(entries, 0, 1));
            assertEquals(-FabricErrno.EAGAIN, queue.readFrom(entries, 0, 1, sources));
            assertEquals(-FabricErrno.EAGAIN, queue.poll(entry -> { }, 1));
            assertEquals(-FabricErrno.EAGAIN, queue.readErr(error, 0));
            CompletionQueue unused = pair.b.domain.openCompletionQueue(attr);
            assertRefused(unused);
            unused.close();
        }
    }

    private void assertRefused(CompletionQueue queue) {
        assertEquals(-FabricErrno.EOPBADSTATE, queue.read(entries, 0, 1));
        assertEquals(-FabricErrno.EOPBADSTATE, queue.readFrom(entries, 0, 1, sources));
        assertEquals(-FabricErrno.EOPBADSTATE, queue.poll(entry -> { }, 1));
        assertEquals(-FabricErrno.EOPBADSTATE, queue.readErr(error, 0));
        assertEquals(-FabricErrno.EOPBADSTATE, queue.sread(entries, 0, 1, 0, -1), "without waiting");
        assertEquals(-FabricErrno.EOPBADSTATE, queue.sreadFrom(entries, 0, 1, sources, 0, -1));
    }

    /** Fewer receives than the queue has slots, so that the room for receives tells how many are still posted. */
    private static FabricPair pair(Setup setup) {
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE);
        hints.rxAttr().size(RX_SIZE);
        return new FabricPair(setup, hints, 512);
    }

    /** Sends messages of 8 bytes with tag 1 from a to b. */
    private static void receive(FabricPair pair, int count) {
        for (int i = 0; i < count; i++) {
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 1, 90 + i));
            pair.a.await(90 + i);
        }
    }

    /** Waits until every receive posted at b has its entry, without taking one: then its receive queue is empty. */
    private static void awaitAll(FabricPair pair) {
        awaitAll(pair, pair.b.endpoint, pair.b.cq);
    }

    private static void awaitAll(FabricPair pair, Endpoint endpoint, CompletionQueue queue) {
        awaitPosted(pair, endpoint, queue, 0);
    }

    private static void awaitPosted(FabricPair pair, Endpoint endpoint, CompletionQueue queue, int posted) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        while (endpoint.rxSizeLeft() != RX_SIZE - posted) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "room for " + endpoint.rxSizeLeft() + " receives");
            queue.read(null, 0, 0);
            pair.a.poll();
            Thread.yield();
        }
        pair.b.awaitStep();
    }
}
