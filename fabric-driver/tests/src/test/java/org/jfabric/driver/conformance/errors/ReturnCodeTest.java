package org.jfabric.driver.conformance.errors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.Fid;
import org.jfabric.IoVec;
import org.jfabric.driver.kit.FabricNode.Entry;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.RxAttr;
import org.jfabric.info.TxAttr;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** What calls return: counts, zero, or negative errnos of the list; only control calls throw. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class ReturnCodeTest {
    private static final long ANY = -1L;
    private static final Set<Integer> KNOWN =
        Arrays.stream(FabricErrno.codes()).boxed().collect(Collectors.toSet());

    private final UnsafeBuffer entries = new UnsafeBuffer(new byte[8 * 48]);
    private final UnsafeBuffer payload = new UnsafeBuffer(new byte[64]);
    private final CompletionError error = new CompletionError();

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"CQ-151", "ERR-001"})
    void shouldReturnCountsOrKnownNegativeCodesInEveryState(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            CompletionQueue queue = pair.a.domain.openCompletionQueue(new CompletionQueueAttr().size(16));
            Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info);
            assertAll(calls(pair, endpoint, queue), -FabricErrno.EOPBADSTATE, Set.of());
            endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(pair.a.av);
            assertAll(calls(pair, endpoint, queue), -FabricErrno.EOPBADSTATE, Set.of());
            endpoint.enable();
            assertAll(calls(pair, endpoint, queue), 0,
                Set.of("read", "readFrom", "poll", "readErr", "txSizeLeft", "rxSizeLeft"));
            endpoint.close();
            assertAll(calls(pair, endpoint, queue), -FabricErrno.EOPBADSTATE, Set.of("read", "readFrom", "poll",
                "readErr"));
            queue.close();
            assertAll(calls(pair, endpoint, queue), -FabricErrno.EOPBADSTATE, Set.of());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"ERR-009", "ERR-019"})
    void shouldSubmitCancelsAndEndWhatIsStillPosted(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            assertEquals(0, pair.b.endpoint.cancel(77), "nothing has that context");
            assertEquals(0, pair.b.endpoint.cancel(0));
            pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 5);
            assertEquals(0, pair.b.endpoint.cancel(5));
            Entry cancelled = pair.b.await();
            assertEquals(FabricErrno.ECANCELED, cancelled.err());
            assertEquals(5, cancelled.context());
            assertEquals(0, pair.b.endpoint.cancel(5));
            pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 6);
            pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 1, 7);
            pair.a.await(7);
            pair.b.await(6);
            assertEquals(0, pair.b.endpoint.cancel(6), "it has ended before");
            pair.b.assertQuiet(100);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"ERR-011", "TAG-072", "TAG-074", "TAG-021"})
    void shouldRefuseBadArgumentsAndStartNothing(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            long tooLong = endpoint.maxMsgSize() + 1;
            UnsafeBuffer large = new UnsafeBuffer(new byte[endpoint.injectSize() + 1]);
            pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 0, -1L, 1);
            pair.b.endpoint.recv(pair.b.memory.address(), 64, ANY, 2);
            int[] results = {
                endpoint.tsend(pair.a.memory.address(), tooLong, pair.toB, 1, 3),
                endpoint.send(pair.a.memory.address(), tooLong, pair.toB, 3),
                endpoint.tsend(pair.a.memory.address(), -1, pair.toB, 1, 3),
                endpoint.tsend(pair.a.memory.address(), 8, ANY, 1, 3),
                endpoint.send(pair.a.memory.address(), 8, ANY, 3),
                endpoint.messages().tsendv(
                    new IoVec().add(pair.a.memory.address(), 4).add(pair.a.memory.address(), 4), ANY, 1, 3),
                endpoint.tinject(payload, 0, 8, ANY, 1),
                endpoint.inject(payload, 0, 8, ANY),
                endpoint.tinject(large, 0, large.capacity(), pair.toB, 1),
                endpoint.inject(payload, 60, 8, pair.toB),
                endpoint.inject(payload, -1, 8, pair.toB),
                pair.a.cq.read(entries, 0, -1),
                pair.a.cq.read(entries, 0, 9),
                pair.a.cq.read(entries, -1, 1),
                pair.a.cq.readFrom(entries, 0, 2, new long[1]),
                pair.a.cq.poll(entry -> { }, -1)};
            for (int i = 0; i < results.length; i++) {
                assertEquals(-FabricErrno.EINVAL, results[i], "call " + i);
            }
            assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.domain.openCompletionQueue(null)));
            assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.domain.openEndpoint(null)));
            assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.av.insert("no address")));
            assertEquals(FabricErrno.EINVAL, errno(() -> pair.a.av.remove(4711)));
            pair.a.assertQuiet(100);
            pair.b.assertQuiet(100);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"ERR-014", "EP-037", "EP-038"})
    void shouldNotEnableWithoutAQueueForEachDirection(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            CompletionQueue queue = pair.a.domain.openCompletionQueue(new CompletionQueueAttr().size(16));
            for (long direction : new long[] {0, Flags.TRANSMIT, Flags.RECV}) {
                Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info);
                endpoint.bind(pair.a.av);
                if (direction != 0) {
                    endpoint.bind(queue, direction | Flags.SELECTIVE_COMPLETION);
                }
                assertEquals(FabricErrno.ENOCQ, errno(endpoint::enable));
                assertEquals(-FabricErrno.EOPBADSTATE, endpoint.tsend(0, 0, pair.toB, 0, 0));
                endpoint.close();
            }
            Info sends = pair.a.info.copy();
            sends.caps(Flags.TAGGED | Flags.MSG | Flags.SEND).txAttr().caps(0);
            sends.rxAttr().caps(0);
            Endpoint endpoint = pair.a.domain.openEndpoint(sends);
            endpoint.bind(pair.a.av);
            endpoint.bind(queue, Flags.TRANSMIT);
            endpoint.enable();
            endpoint.close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"ERR-015", "EP-007", "EP-036"})
    void shouldRefuseWhatTheStateOfTheEndpointForbids(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info);
            assertEquals(-FabricErrno.EOPBADSTATE, endpoint.recv(pair.a.memory.address(), 8, ANY, 1));
            assertEquals(-FabricErrno.EOPBADSTATE, endpoint.trecv(pair.a.memory.address(), 8, ANY, 1, 0, 1));
            assertEquals(-FabricErrno.EOPBADSTATE, endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 1, 1));
            assertEquals(-FabricErrno.EOPBADSTATE, endpoint.cancel(1));
            assertEquals(FabricErrno.EOPBADSTATE, errno(endpoint::name));
            endpoint.bind(pair.a.av);
            endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.enable();
            CompletionQueue other = pair.a.domain.openCompletionQueue(new CompletionQueueAttr());
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> endpoint.bind(other, Flags.TRANSMIT)));
            assertEquals(FabricErrno.EOPBADSTATE,
                errno(() -> endpoint.bind(pair.a.domain.openAddressVector(new AddressVectorAttr()))));
            for (Fid late : List.of(pair.a.fabric.openEventQueue(new EventQueueAttr()),
                pair.a.domain.openSharedTransmitContext(new TxAttr(), 0),
                pair.a.domain.openSharedReceiveContext(new RxAttr(), 0))) {
                assertEquals(FabricErrno.EOPBADSTATE, errno(() -> endpoint.bind(late, 0)), late::toString);
            }
            endpoint.close();
            assertEquals(-FabricErrno.EOPBADSTATE, endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 1, 1));
            assertEquals(FabricErrno.EOPBADSTATE, errno(endpoint::enable));
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> endpoint.bind(other, Flags.TRANSMIT)));
        }
    }

    private Map<String, LongSupplier> calls(FabricPair pair, Endpoint endpoint, CompletionQueue queue) {
        long memory = pair.a.memory.address();
        Map<String, LongSupplier> calls = new LinkedHashMap<>();
        calls.put("recv", () -> endpoint.recv(memory, 8, ANY, 1));
        calls.put("trecv", () -> endpoint.trecv(memory, 8, ANY, 1, 0, 1));
        calls.put("send", () -> endpoint.send(memory, 8, pair.toB, 1));
        calls.put("senddata", () -> endpoint.messages().senddata(memory, 8, 1, pair.toB, 1));
        calls.put("tsend", () -> endpoint.tsend(memory, 8, pair.toB, 1, 1));
        calls.put("tsenddata", () -> endpoint.messages().tsenddata(memory, 8, 1, pair.toB, 1, 1));
        calls.put("inject", () -> endpoint.inject(payload, 0, 8, pair.toB));
        calls.put("tinject", () -> endpoint.tinject(payload, 0, 8, pair.toB, 1));
        calls.put("cancel", () -> endpoint.cancel(99));
        calls.put("txSizeLeft", endpoint::txSizeLeft);
        calls.put("rxSizeLeft", endpoint::rxSizeLeft);
        calls.put("read", () -> queue.read(entries, 0, 1));
        calls.put("readFrom", () -> queue.readFrom(entries, 0, 1, new long[1]));
        calls.put("poll", () -> queue.poll(entry -> { }, 1));
        calls.put("readErr", () -> queue.readErr(error, 0));
        return calls;
    }

    /** All calls answer that, but those that may answer a count or another known code. */
    private static void assertAll(Map<String, LongSupplier> calls, long answer, Set<String> others) {
        calls.forEach((name, call) -> {
            long result = call.getAsLong();
            if (others.contains(name)) {
                assertTrue(result >= 0 || KNOWN.contains((int) -result), name + " answered " + result);
            } else {
                assertEquals(answer, result, name);
            }
        });
    }

    private static int errno(Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }
}
