package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.ClosedPort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricNode.Entry;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** The members of entries and errors, operation by operation. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class CompletionFieldsTest {
    private static final long ANY = -1L;
    private static final long DATA = 0x1122_3344_5566_7788L;

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"CQ-006", "CQ-114", "CQ-115"})
    void shouldDescribeTheSameTrafficAlikeOnEveryLink(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            List<String> seen = new ArrayList<>();
            pair.b.endpoint.recv(pair.b.memory.address(), 4096, ANY, 1);
            pair.a.endpoint.send(pair.a.memory.address(), 100, pair.toB, 2);
            record(pair, seen);
            pair.b.endpoint.trecv(pair.b.memory.address(), 4096, ANY, 0x70, 0xF, 3);
            pair.a.endpoint.messages().tsenddata(pair.a.memory.address(), 4096, DATA, pair.toB, 0x77, 4);
            record(pair, seen);
            pair.b.endpoint.recv(pair.b.memory.address(), 1 << 20, ANY, 5);
            pair.a.endpoint.messages().senddata(pair.a.memory.address(), 1 << 20, DATA, pair.toB, 6);
            record(pair, seen);
            pair.b.endpoint.trecv(pair.b.memory.address(), 0, ANY, 8, 0, 7);
            pair.a.endpoint.tsend(0, 0, pair.toB, 8, 8);
            record(pair, seen);
            pair.b.endpoint.trecv(pair.b.memory.address(), 60, ANY, 9, 0, 9);
            pair.a.endpoint.tsend(pair.a.memory.address(), 100, pair.toB, 9, 10);
            record(pair, seen);
            assertEquals(List.of(
                "2 MSG|SEND", "1 MSG|RECV len 100",
                "4 TAGGED|SEND", "3 TAGGED|RECV|REMOTE_CQ_DATA len 4096 data 1122334455667788 tag 77",
                "6 MSG|SEND", "5 MSG|RECV|REMOTE_CQ_DATA len 1048576 data 1122334455667788",
                "8 TAGGED|SEND", "7 TAGGED|RECV tag 8",
                "10 TAGGED|SEND", "9 TAGGED|RECV len 60 tag 9 FI_ETRUNC olen 40"), seen);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"CQ-124", "CQ-125", "CQ-128", "CQ-129"})
    void shouldMarkSendsAndReceivesWithTheirKind(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            pair.b.endpoint.recv(pair.b.memory.address(), 64, ANY, 1);
            pair.a.endpoint.send(pair.a.memory.address(), 8, pair.toB, 2);
            assertEquals(Flags.SEND | Flags.MSG, pair.a.await(2).flags());
            assertEquals(Flags.RECV | Flags.MSG, pair.b.await(1).flags());
            pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 3);
            pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 1, 4);
            assertEquals(Flags.SEND | Flags.TAGGED, pair.a.await(4).flags());
            assertEquals(Flags.RECV | Flags.TAGGED, pair.b.await(3).flags());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"CQ-118", "CQ-119", "CQ-135"})
    void shouldShowRemoteDataInTheHostsOrderAndOnlyWithTheirFlag(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            long[] values = {DATA, 1, 0, -1, 0x8000_0000_0000_0000L};
            for (long value : values) {
                pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 1);
                pair.a.endpoint.messages().tsenddata(pair.a.memory.address(), 8, value, pair.toB, 1, 2);
                assertEquals(0, pair.a.await(2).flags() & Flags.REMOTE_CQ_DATA);
                Entry with = pair.b.await(1);
                assertNotEquals(0, with.flags() & Flags.REMOTE_CQ_DATA);
                assertEquals(value, with.data());
                pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 3);
                pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 1, 4);
                pair.a.await(4);
                Entry without = pair.b.await(3);
                assertEquals(0, without.flags() & Flags.REMOTE_CQ_DATA);
                assertEquals(0, without.data());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"CQ-091", "CQ-092"})
    void shouldReportAFailingInjectWithTheEndpointsContextAndZeros(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            String gone = pair.b.endpoint.name();
            pair.b.endpoint.close();
            ClosedPort.keep(setup, gone, () -> {
                assertInjectFails(pair, gone, 0);
                assertInjectFails(pair, gone, 0xE9);
            });
        }
    }

    private static void assertInjectFails(FabricPair pair, String gone, long context) {
        CompletionQueue queue = pair.a.domain.openCompletionQueue(
            new CompletionQueueAttr().size(16).format(CompletionFormat.TAGGED));
        Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info, context);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(pair.a.av);
        endpoint.enable();
        assertEquals(0, endpoint.inject(new UnsafeBuffer(new byte[8]), 0, 8, pair.a.av.insert(gone)));
        CompletionError error = awaitError(pair, queue);
        assertEquals(context, error.opContext());
        assertEquals(Flags.SEND | Flags.MSG, error.flags());
        assertTrue(error.err() > 0);
        assertEquals(List.of(0L, 0L, 0L, 0L, 0L),
            List.of(error.len(), error.buf(), error.data(), error.tag(), error.olen()));
        assertEquals(-FabricErrno.EAGAIN, queue.read(null, 0, 0), "and no other entry");
        endpoint.close();
        queue.close();
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"CQ-122", "CQ-123", "ERR-002"})
    void shouldGivePositiveCodesAndTextsForEveryError(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            List<Integer> codes = new ArrayList<>();
            pair.b.endpoint.trecv(pair.b.memory.address(), 4, ANY, 1, 0, 1);
            pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 1, 2);
            pair.a.await(2);
            codes.add(checked(pair, pair.b.cq).err());
            pair.b.endpoint.trecv(pair.b.memory.address(), 4, ANY, 1, 0, 3);
            pair.b.endpoint.cancel(3);
            codes.add(checked(pair, pair.b.cq).err());
            pair.a.endpoint.tsend(12345, 8, pair.toB, 1, 4);
            codes.add(checked(pair, pair.a.cq).err());
            pair.a.av.remove(pair.toB);
            pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 1, 5);
            codes.add(checked(pair, pair.a.cq).err());
            assertEquals(List.of(FabricErrno.ETRUNC, FabricErrno.ECANCELED), codes.subList(0, 2));
            assertTrue(codes.stream().allMatch(code -> code > 0), codes::toString);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"CQ-089", "CQ-104", "CQ-105", "CQ-106"})
    void shouldExplainWhatTheDriverReports(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            pair.b.endpoint.trecv(pair.b.memory.address(), 4, ANY, 1, 0, 1);
            pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 1, 2);
            pair.a.await(2);
            CompletionError error = awaitError(pair, pair.b.cq);
            assertEquals(FabricErrno.ETRUNC, error.err());
            String full = pair.b.cq.strerror(error.provErrno(), error.errData(), null, 0, 0);
            assertTrue(full.contains("ETRUNC"), full);
            UnsafeBuffer detail = new UnsafeBuffer(new byte[] {0x1D, (byte) 0xEA});
            assertEquals(full + " Data: 1d ea",
                pair.b.cq.strerror(error.provErrno(), detail, null, 0, 0), "the bytes are shown behind the code");
            UnsafeBuffer text = new UnsafeBuffer(new byte[12]);
            text.setMemory(0, 12, (byte) 'x');
            assertEquals(full, pair.b.cq.strerror(error.provErrno(), error.errData(), text, 2, 8));
            assertEquals(full.substring(0, 7), new String(text.byteArray(), 2, 7, StandardCharsets.US_ASCII));
            assertEquals(0, text.getByte(9));
            assertEquals("xxxx", "" + (char) text.getByte(0) + (char) text.getByte(1) + (char) text.getByte(10)
                + (char) text.getByte(11));
            for (int unknown : new int[] {123_456, -123_456, 0, Integer.MIN_VALUE}) {
                assertFalse(pair.b.cq.strerror(unknown).isEmpty());
            }
        }
    }

    private static CompletionError checked(FabricPair pair, CompletionQueue queue) {
        CompletionError error = awaitError(pair, queue);
        assertTrue(error.err() > 0, error::toString);
        assertNotEquals(0, error.provErrno(), error::toString);
        assertFalse(queue.strerror(error.provErrno()).isEmpty());
        return error;
    }

    private static CompletionError awaitError(FabricPair pair, CompletionQueue queue) {
        CompletionError error = new CompletionError();
        long deadline = System.nanoTime() + Deadline.ns(20);
        int result;
        while ((result = queue.readErr(error, 0)) == -FabricErrno.EAGAIN) {
            assertTrue(System.nanoTime() - deadline < 0, "no error");
            pump(pair, queue);
            Thread.yield();
        }
        assertEquals(1, result);
        return error;
    }

    /** Runs the cycles of embedded drivers; entries that come meanwhile are an error of the test. */
    private static void pump(FabricPair pair, CompletionQueue queue) {
        pair.pump();
        for (FabricNode node : List.of(pair.a, pair.b)) {
            if (node.cq != queue && node.endpoint.isOpen()) {
                assertEquals(-FabricErrno.EAGAIN, node.cq.read(null, 0, 0));
            }
        }
    }

    /** One entry of each side: what matters of it. */
    private static void record(FabricPair pair, List<String> seen) {
        for (FabricNode node : List.of(pair.a, pair.b)) {
            Entry entry = node.await();
            StringBuilder text = new StringBuilder().append(entry.context()).append(' ')
                .append(Flags.toString(entry.flags(), Flags.Kind.COMPLETION));
            boolean receive = (entry.flags() & Flags.RECV) != 0;
            text.append(receive && entry.len() != 0 ? " len " + entry.len() : "");
            text.append(entry.data() != 0 ? " data " + Long.toHexString(entry.data()) : "");
            text.append(receive && entry.tag() != 0 ? " tag " + Long.toHexString(entry.tag()) : "");
            text.append(entry.err() != 0 ? " " + FabricErrno.name(entry.err()) + " olen " + entry.olen() : "");
            seen.add(text.toString());
        }
    }
}
