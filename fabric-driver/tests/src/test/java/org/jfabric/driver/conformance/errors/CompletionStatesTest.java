package org.jfabric.driver.conformance.errors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.IntPredicate;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** All five reading calls in every state that a completion queue can be in. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class CompletionStatesTest {
    private static final long ANY = -1L;
    private static final int EAGAIN = -FabricErrno.EAGAIN;
    private static final int EAVAIL = -FabricErrno.EAVAIL;
    private static final int EOVERRUN = -FabricErrno.EOVERRUN;
    private static final int SIZE = 16;
    private static final int MESSAGES = 100;

    private final UnsafeBuffer entries = new UnsafeBuffer(new byte[MESSAGES * 48]);
    private final long[] sources = new long[MESSAGES];
    private final CompletionError error = new CompletionError();

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CQ-149")
    void shouldAnswerCountsOrTheErrnoOfTheState(Setup setup) {
        try (FabricPair pair = unmanaged(setup)) {
            CompletionQueue queue = queue(pair);
            Endpoint endpoint = endpoint(pair, queue);
            long dest = pair.a.av.insert(endpoint.name());
            assertAnswers(queue, EAGAIN, EAGAIN);

            for (int i = 0; i < 4; i++) {
                exchange(pair, endpoint, dest, 64);
            }
            until(pair, queue, state -> state == 0);
            assertEquals(EAGAIN, queue.readErr(error, 0));
            assertEquals(1, queue.read(entries, 0, 1));
            assertEquals(1, await(pair, queue, () -> queue.readFrom(entries, 0, 1, sources)));
            assertEquals(1, await(pair, queue, () -> queue.sread(entries, 0, 1, 0, 0)));
            assertEquals(1, await(pair, queue, () -> queue.sreadFrom(entries, 0, 1, sources, 0, 0)));
            assertAnswers(queue, EAGAIN, EAGAIN);

            exchange(pair, endpoint, dest, 4);
            until(pair, queue, state -> state == EAVAIL);
            assertAnswers(queue, EAVAIL, 1);
            assertEquals(FabricErrno.ETRUNC, error.err());
            assertAnswers(queue, EAGAIN, EAGAIN);

            long room = endpoint.rxSizeLeft();
            for (int i = 0; i < MESSAGES; i++) {
                exchange(pair, endpoint, dest, 64);
            }
            // entries that are read while others are on their way make room for them
            until(pair, queue, state -> endpoint.rxSizeLeft() == room);
            until(pair, queue, state -> {
                int read = queue.read(entries, 0, SIZE);
                return read == EOVERRUN;
            });
            for (int i = 0; i < 3; i++) {
                assertAnswers(queue, EOVERRUN, 1);
                assertEquals(FabricErrno.EOVERRUN, error.err());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"ERR-004", "TAG-071"})
    void shouldSayTryAgainWhereverNothingIsThereOrNoResourcesAreLeft(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            CompletionQueue queue = queue(pair);
            Endpoint endpoint = endpoint(pair, queue);
            assertEquals(EAGAIN, queue.read(entries, 0, 1));
            assertEquals(EAGAIN, queue.sread(entries, 0, 1, 0, 20_000_000), "the time is over");
            assertEquals(0, queue.signal());
            assertEquals(EAGAIN, queue.sread(entries, 0, 1, 0, -1), "woken without an entry");
            int posted = 0;
            int result;
            while ((result = endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, posted)) == 0) {
                posted++;
                assertTrue(posted < 10_000);
            }
            assertEquals(EAGAIN, result);
            long dest = pair.a.av.insert(endpoint.name());
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, dest, 1, 2));
            pair.a.await(2);
            assertEquals(1, await(pair, queue, () -> queue.read(entries, 0, 1)));
            assertEquals(0, endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 3), "after progress it is taken");
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("ERR-021")
    void shouldSayThatOptionalCallsAreNotThereAndStayUsable(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            CompletionQueue plain = pair.b.cq;
            for (int i = 0; i < 2; i++) {
                assertEquals(-FabricErrno.ENOSYS, plain.sread(entries, 0, 1, 0, -1));
                assertEquals(-FabricErrno.ENOSYS, plain.sreadFrom(entries, 0, 1, sources, 0, -1));
                assertEquals(-FabricErrno.ENOSYS, plain.signal());
                assertEquals(FabricErrno.ENOSYS, assertThrows(FabricException.class, () -> pair.b.domain
                    .openCompletionQueue(new CompletionQueueAttr().waitObject(WaitObject.CRITSEC_COND))).errno());
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 1));
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 1, 2));
                pair.a.await(2);
                pair.b.await(1);
            }
        }
    }

    /** The four calls that return entries, then the one for errors. */
    private void assertAnswers(CompletionQueue queue, int answer, int ofReadErr) {
        assertEquals(answer, queue.read(entries, 0, 2));
        assertEquals(answer, queue.readFrom(entries, 0, 2, sources));
        assertEquals(answer, queue.sread(entries, 0, 2, 0, 0));
        assertEquals(answer, queue.sreadFrom(entries, 0, 2, sources, 0, 0));
        assertEquals(ofReadErr, queue.readErr(error, 0));
    }

    private static void exchange(FabricPair pair, Endpoint endpoint, long dest, int room) {
        assertEquals(0, endpoint.trecv(pair.b.memory.address(), room, ANY, 1, 0, 5));
        assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, dest, 1, 6));
        pair.a.await(6);
    }

    private interface Call {
        int run();
    }

    private static int await(FabricPair pair, CompletionQueue queue, Call call) {
        int[] result = new int[1];
        until(pair, queue, state -> {
            result[0] = state == 0 ? call.run() : EAGAIN;
            return result[0] != EAGAIN;
        });
        return result[0];
    }

    /** Until what a read would find is as it should be. */
    private static void until(FabricPair pair, CompletionQueue queue, IntPredicate state) {
        long deadline = System.nanoTime() + Deadline.ns(20);
        int found;
        while (!state.test(found = queue.read(null, 0, 0))) {
            int last = found;
            assertTrue(System.nanoTime() - deadline < 0, () -> "still " + FabricErrno.name(last));
            pair.a.poll();
            Thread.yield();
        }
    }

    private static FabricPair unmanaged(Setup setup) {
        Info hints = new Info().caps(Flags.TAGGED);
        hints.domainAttr().resourceManagement(ResourceManagement.DISABLED);
        return new FabricPair(setup, hints, 512);
    }

    private static CompletionQueue queue(FabricPair pair) {
        return pair.b.domain.openCompletionQueue(new CompletionQueueAttr().size(SIZE)
            .format(CompletionFormat.CONTEXT).waitObject(WaitObject.UNSPEC));
    }

    private static Endpoint endpoint(FabricPair pair, CompletionQueue queue) {
        Endpoint endpoint = pair.b.domain.openEndpoint(pair.b.info);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(pair.b.av);
        endpoint.enable();
        return endpoint;
    }
}
