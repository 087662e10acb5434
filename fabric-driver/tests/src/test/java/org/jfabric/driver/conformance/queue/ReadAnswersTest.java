package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.ResourceManagement;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** What the five reading calls answer in each state of a queue. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class ReadAnswersTest {
    private static final long DEADLINE_NS = Deadline.ns(20);
    private static final int SIZE = 16;
    private static final int MESSAGES = 100;
    private static final String READ_ERR = "readErr";

    private final UnsafeBuffer entries = new UnsafeBuffer(new byte[8 * 48]);
    private final long[] sources = new long[8];
    private final CompletionError error = new CompletionError();
    private final Map<String, ToIntFunction<CompletionQueue>> calls = new LinkedHashMap<>();

    ReadAnswersTest() {
        calls.put("read", queue -> queue.read(entries, 0, 1));
        calls.put("readFrom", queue -> queue.readFrom(entries, 0, 1, sources));
        calls.put("sread", queue -> queue.sread(entries, 0, 1, 0, 1_000_000));
        calls.put("sreadFrom", queue -> queue.sreadFrom(entries, 0, 1, sources, 0, 1_000_000));
        calls.put(READ_ERR, queue -> queue.readErr(error, 0));
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CQ-149")
    void shouldAnswerWithACountOrANegativeErrno(Setup setup) {
        Info hints = new Info().caps(Flags.TAGGED);
        hints.domainAttr().resourceManagement(ResourceManagement.DISABLED);
        try (FabricPair pair = new FabricPair(setup, hints, 2 * MESSAGES)) {
            CompletionQueue queue = pair.b.domain.openCompletionQueue(
                new CompletionQueueAttr().size(SIZE).format(CompletionFormat.TAGGED).waitObject(WaitObject.UNSPEC));
            Endpoint endpoint = pair.b.domain.openEndpoint(pair.b.info);
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(pair.b.av);
            endpoint.enable();
            long to = pair.a.av.insert(endpoint.name());
            calls.forEach((name, call) -> assertEquals(-FabricErrno.EAGAIN, call.applyAsInt(queue), name + ", empty"));
            calls.forEach((name, call) -> {
                transfer(pair, endpoint, to, 5);
                until(queue, 0);
                boolean isReadErr = name.equals(READ_ERR);
                assertEquals(isReadErr ? -FabricErrno.EAGAIN : 1, call.applyAsInt(queue), name + ", data");
                assertEquals(isReadErr ? 1 : -FabricErrno.EAGAIN, queue.read(entries, 0, 1), name + ", after data");
            });
            calls.forEach((name, call) -> {
                assertEquals(0, endpoint.trecv(-1L, 64, FabricAddress.ADDR_UNSPEC, 1, 0, 6));
                until(queue, -FabricErrno.EAVAIL);
                boolean isReadErr = name.equals(READ_ERR);
                assertEquals(isReadErr ? 1 : -FabricErrno.EAVAIL, call.applyAsInt(queue), name + ", error");
                assertEquals(isReadErr ? -FabricErrno.EAGAIN : 1, queue.readErr(error, 0), name + ", after an error");
                assertEquals(6, error.opContext());
            });
            long room = endpoint.rxSizeLeft();
            for (int i = 0; i < MESSAGES; i++) {
                transfer(pair, endpoint, to, i);
            }
            long deadline = System.nanoTime() + DEADLINE_NS;
            while (endpoint.rxSizeLeft() != room) {
                // entries that are read while others are on their way make room for them; in INVOKER this is progress
                queue.read(null, 0, 0);
                assertTrue(System.nanoTime() - deadline < 0, "not all have come");
                Thread.yield();
            }
            int result;
            while ((result = queue.read(entries, 0, 8)) != -FabricErrno.EOVERRUN) {
                int seen = result;
                assertTrue(seen > 0 || seen == -FabricErrno.EAGAIN, () -> "read answered " + seen);
                assertTrue(System.nanoTime() - deadline < 0, "no overrun");
                Thread.yield();
            }
            for (int round = 0; round < 2; round++) {
                calls.forEach((name, call) -> assertEquals(
                    name.equals(READ_ERR) ? 1 : -FabricErrno.EOVERRUN, call.applyAsInt(queue), name + ", overrun"));
                assertEquals(FabricErrno.EOVERRUN, error.err());
            }
        }
    }

    private static void transfer(FabricPair pair, Endpoint endpoint, long to, int context) {
        assertEquals(0, endpoint.trecv(
            pair.b.memory.address(), 64, FabricAddress.ADDR_UNSPEC, context, 0, context));
        assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 64, to, context, context));
        pair.a.await(context);
    }

    /** Asks what a read would find, until it is that. */
    private static void until(CompletionQueue queue, int answer) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        int result;
        while ((result = queue.read(null, 0, 0)) != answer) {
            int seen = result;
            assertEquals(-FabricErrno.EAGAIN, seen);
            assertTrue(System.nanoTime() - deadline < 0, () -> "no answer " + answer);
            Thread.yield();
        }
    }
}
