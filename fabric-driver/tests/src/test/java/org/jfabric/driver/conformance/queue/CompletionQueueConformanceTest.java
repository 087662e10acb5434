package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** What a reader of completion queues sees of real traffic, over every link and in every mode. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class CompletionQueueConformanceTest {
    private static final long ANY = -1L;
    private static final long DEADLINE_NS = Deadline.ns(20);
    private static final byte UNTOUCHED = 0x5C;

    /** Of a peer whose embedded driver has to run too, and whose entries nobody wants. */
    private CompletionQueue pumped;
    private final UnsafeBuffer entries = new UnsafeBuffer(new byte[8 * 48]);

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-061", "CQ-062", "CQ-063"})
    void shouldStopInFrontOfAnErrorAndGoOnBehindIt(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int[] lengths = {64, 64, 8, 64, 8, 8, 64};
            for (int i = 0; i < lengths.length; i++) {
                pair.b.endpoint.trecv(pair.b.memory.address(i * 64L), lengths[i], ANY, i, 0, i);
            }
            for (int i = 0; i < lengths.length; i++) {
                pair.a.endpoint.tsend(pair.a.memory.address(), 64, pair.toB, i, 100 + i);
                pair.a.await(100 + i);
            }
            StringBuilder seen = new StringBuilder();
            CompletionError error = new CompletionError();
            for (int next = 0; next < lengths.length;) {
                entries.setMemory(0, entries.capacity(), UNTOUCHED);
                int count = until(pair.b.cq, 8);
                if (count == -FabricErrno.EAVAIL) {
                    assertEquals(-FabricErrno.EAVAIL, pair.b.cq.read(entries, 0, 8));
                    assertEquals(-FabricErrno.EAVAIL, pair.b.cq.poll(entry -> { }, 8));
                    for (int i = 0; i < entries.capacity(); i++) {
                        assertEquals(UNTOUCHED, entries.getByte(i));
                    }
                    assertEquals(1, pair.b.cq.readErr(error, 0));
                    assertEquals(next, error.opContext());
                    assertEquals(FabricErrno.ETRUNC, error.err());
                    seen.append('x');
                    next++;
                } else {
                    for (int i = 0; i < count; i++) {
                        assertEquals(next++, entries.getLong(i * 48));
                        seen.append('.');
                    }
                }
            }
            assertEquals("..x.xx.", seen.toString());
            assertEquals(-FabricErrno.EAGAIN, pair.b.cq.readErr(error, 0));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-013", "CQ-014", "CQ-020"})
    void shouldShowTheSameTrafficInEveryFormat(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (CompletionFormat format : CompletionFormat.values()) {
                CompletionQueue queue = pair.b.domain.openCompletionQueue(
                    new CompletionQueueAttr().size(16).format(format));
                Endpoint endpoint = endpoint(pair.b, queue, queue, 0);
                long dest = pair.a.av.insert(endpoint.name());
                CompletionFormat shown = queue.format();
                assertNotEquals(CompletionFormat.UNSPEC, shown);
                int longs = shown.entryLengthBytes() / 8;
                for (int i = 0; i < 3; i++) {
                    endpoint.trecv(pair.b.memory.address(i * 128L), 128, ANY, 0, -1L, 70 + i);
                }
                for (int i = 0; i < 3; i++) {
                    pair.a.endpoint.messages().tsenddata(
                        pair.a.memory.address(), 100 + i, 0xDA + i, dest, 0x7A60 + i, 1);
                    pair.a.await(1);
                }
                entries.setMemory(0, entries.capacity(), UNTOUCHED);
                int filled = 0;
                long deadline = System.nanoTime() + DEADLINE_NS;
                while (filled < 3) {
                    int count = queue.read(entries, filled * longs * 8, 3 - filled);
                    assertTrue(count > 0 || count == -FabricErrno.EAGAIN, () -> "read answered " + count);
                    assertTrue(System.nanoTime() - deadline < 0, "no entries");
                    filled += Math.max(0, count);
                }
                for (int i = 0; i < 3; i++) {
                    long[] body = {70 + i, Flags.RECV | Flags.TAGGED | Flags.REMOTE_CQ_DATA, 100 + i, 0, 0xDA + i,
                        0x7A60 + i};
                    for (int field = 0; field < longs; field++) {
                        assertEquals(body[field], entries.getLong((i * longs + field) * 8), format + " field " + field);
                    }
                }
                assertEquals(UNTOUCHED, entries.getByte(3 * longs * 8));
                endpoint.close();
                queue.close();
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-021", "CQ-089", "CQ-123"})
    void shouldFillTheWholeErrorEntryWhateverTheFormat(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            CompletionQueue queue = pair.b.domain.openCompletionQueue(
                new CompletionQueueAttr().size(16).format(CompletionFormat.CONTEXT));
            Endpoint endpoint = endpoint(pair.b, queue, queue, 0);
            long dest = pair.a.av.insert(endpoint.name());
            endpoint.trecv(pair.b.memory.address(), 60, ANY, 5, 0, 0xC0);
            pair.a.endpoint.messages().tsenddata(pair.a.memory.address(), 100, 0xDA, dest, 5, 1);
            pair.a.await(1);
            assertEquals(-FabricErrno.EAVAIL, until(queue, 1));
            CompletionError error = new CompletionError();
            assertEquals(1, queue.readErr(error, 0));
            assertEquals(0xC0, error.opContext());
            assertEquals(Flags.RECV | Flags.TAGGED | Flags.REMOTE_CQ_DATA, error.flags());
            assertEquals(60, error.len());
            assertEquals(40, error.olen());
            assertEquals(0xDA, error.data());
            assertEquals(5, error.tag());
            assertEquals(FabricErrno.ETRUNC, error.err());
            assertNotEquals(0, error.provErrno());
            assertTrue(queue.strerror(error.provErrno()).contains("ETRUNC"), queue.strerror(error.provErrno()));
            assertEquals(-FabricErrno.EAGAIN, queue.readErr(error, 0));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CQ-058")
    void shouldOnlyTellWhatIsThereWhenTheCountIsZero(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            assertEquals(-FabricErrno.EAGAIN, pair.b.cq.read(null, 0, 0));
            pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 7);
            pair.b.endpoint.trecv(pair.b.memory.address(), 8, ANY, 1, 0, 8);
            for (int i = 0; i < 2; i++) {
                pair.a.endpoint.tsend(pair.a.memory.address(), 64, pair.toB, 1, 1);
                pair.a.await(1);
            }
            assertEquals(0, until(pair.b.cq, 0));
            assertEquals(0, pair.b.cq.poll(entry -> { }, 0));
            pair.b.await(7);
            assertEquals(-FabricErrno.EAVAIL, until(pair.b.cq, 0));
            assertEquals(8, pair.b.await().context());
            assertEquals(-FabricErrno.EAGAIN, pair.b.cq.read(null, 0, 0));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-090", "CQ-091", "EP-045"})
    void shouldReportFailuresOfOperationsThatAskedForNoEntry(Setup setup) {
        setup.assumeDeliveryBeforeMatch();
        try (FabricPair pair = new FabricPair(setup)) {
            CompletionQueue queue = pair.a.domain.openCompletionQueue(
                new CompletionQueueAttr().size(16).format(CompletionFormat.CONTEXT));
            Endpoint endpoint = endpoint(pair.a, queue, queue, Flags.SELECTIVE_COMPLETION);
            pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 3);
            assertEquals(0, endpoint.tsend(pair.a.memory.address(), 64, pair.toB, 1, 4));
            pair.b.await(3);
            String gone = pair.b.endpoint.name();
            pair.b.endpoint.close();
            long dest = pair.a.av.insert(gone);
            assertEquals(0, endpoint.tsend(pair.a.memory.address(), 64, dest, 2, 5));
            CompletionError error = new CompletionError();
            pumped = pair.b.cq;
            // the success of the first one asked for no entry either
            assertEquals(-FabricErrno.EAVAIL, until(queue, 1));
            assertEquals(1, queue.readErr(error, 0));
            assertEquals(5, error.opContext());
            assertEquals(0, endpoint.tinject(new UnsafeBuffer(new byte[8]), 0, 8, dest, 2));
            assertEquals(-FabricErrno.EAVAIL, until(queue, 1));
            assertEquals(1, queue.readErr(error, 0));
            assertEquals(endpoint.context(), error.opContext());
            assertEquals(Flags.SEND | Flags.TAGGED, error.flags());
            // receives as well
            assertEquals(0, endpoint.trecv(pair.a.memory.address(), 8, ANY, 3, 0, 6));
            assertEquals(0, endpoint.recv(pair.a.memory.address(), 8, ANY, 7));
            for (int context = 6; context <= 7; context++) {
                assertEquals(0, endpoint.cancel(context));
                assertEquals(-FabricErrno.EAVAIL, until(queue, 1));
                assertEquals(1, queue.readErr(error, 0));
                assertEquals(context, error.opContext());
            }
            assertEquals(0, endpoint.trecv(pair.a.memory.address(), 4, ANY, 3, 0, 8));
            long self = pair.a.av.insert(endpoint.name());
            assertEquals(0, endpoint.tsend(pair.a.memory.address(64), 8, self, 3, 9));
            assertEquals(-FabricErrno.EAVAIL, until(queue, 1));
            assertEquals(1, queue.readErr(error, 0));
            assertEquals(FabricErrno.ETRUNC, error.err());
            assertEquals(-FabricErrno.EAGAIN, queue.read(entries, 0, 1));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-039", "EP-040", "EP-042"})
    void shouldReportEachDirectionInTheQueueBoundForIt(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            CompletionQueue sends = pair.a.domain.openCompletionQueue(
                new CompletionQueueAttr().size(16).format(CompletionFormat.CONTEXT));
            CompletionQueue receives = pair.a.domain.openCompletionQueue(
                new CompletionQueueAttr().size(16).format(CompletionFormat.CONTEXT));
            Endpoint endpoint = endpoint(pair.a, sends, receives, 0);
            long back = pair.b.av.insert(endpoint.name());
            endpoint.trecv(pair.a.memory.address(), 64, ANY, 1, 0, 20);
            pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 21);
            endpoint.tsend(pair.a.memory.address(64), 64, pair.toB, 1, 22);
            pair.b.await(21);
            pair.b.endpoint.tsend(pair.b.memory.address(64), 64, back, 1, 23);
            pair.b.await(23);
            assertEquals(1, until(sends, 8));
            assertEquals(22, entries.getLong(0));
            assertEquals(1, until(receives, 8));
            assertEquals(20, entries.getLong(0));
            assertEquals(-FabricErrno.EAGAIN, sends.read(entries, 0, 8));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CQ-069")
    void shouldTellTheSourceOnceItIsInserted(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            String name = pair.a.endpoint.name();
            pair.b.av.remove(pair.toA);
            for (int i = 0; i < 2; i++) {
                pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 1);
                pair.a.endpoint.tsend(pair.a.memory.address(), 64, pair.toB, 1, 2);
                pair.a.await(2);
                assertEquals(i == 0 ? -1L : pair.toA, pair.b.await(1).source());
                assertEquals(pair.toA, pair.b.av.insert(name));
            }
        }
    }

    /** Reads until there is something else than -FI_EAGAIN. */
    private int until(CompletionQueue queue, int count) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        int result;
        while ((result = queue.read(entries, 0, count)) == -FabricErrno.EAGAIN) {
            assertTrue(System.nanoTime() - deadline < 0, "nothing to read");
            if (pumped != null) {
                pumped.read(null, 0, 0);
            }
            Thread.yield();
        }
        return result;
    }

    private static Endpoint endpoint(FabricNode node, CompletionQueue sends, CompletionQueue receives, long flags) {
        Info info = node.info.copy();
        Endpoint endpoint = node.domain.openEndpoint(info, 0xEC);
        if (sends == receives) {
            endpoint.bind(sends, Flags.TRANSMIT | Flags.RECV | flags);
        } else {
            endpoint.bind(sends, Flags.TRANSMIT | flags);
            endpoint.bind(receives, Flags.RECV | flags);
        }
        endpoint.bind(node.av);
        endpoint.enable();
        return endpoint;
    }
}
