package org.jfabric.driver.conformance.flags;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;

/** Flags of single calls and the defaults of the calls without flags. */
@Tag("conformance")
@Tag("link")
class OperationFlagsTest {
    private static final long SEND_FLAGS = Flags.COMPLETION | Flags.REMOTE_CQ_DATA | Flags.MORE | Flags.FENCE
        | Flags.INJECT | Flags.LENT | Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE
        | Flags.MATCH_COMPLETE;
    private static final long RECEIVE_FLAGS = Flags.COMPLETION | Flags.MORE | Flags.PEEK | Flags.CLAIM | Flags.DISCARD;
    private static final long ANY = -1L;
    private static final int RECEIVE = FabricNode.MEMORY / 2;

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"TAG-038", "TAG-040"})
    void shouldCarryDataOnlyWithItsFlag(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (int i = 0; i < 4; i++) {
                boolean withData = (i & 1) != 0;
                boolean tagged = (i & 2) != 0;
                long flags = Flags.MORE | (withData ? Flags.REMOTE_CQ_DATA : 0);
                pair.a.fill(0, 100, i);
                if (tagged) {
                    assertEquals(0, pair.b.endpoint.messages().trecvmsg(
                        pair.b.memory.address(RECEIVE), 100, ANY, 5, 0, 10 + i, Flags.MORE));
                    assertEquals(0, pair.a.endpoint.messages().tsendmsg(
                        pair.a.memory.address(0), 100, 77, pair.toB, 5, 20 + i, flags));
                } else {
                    assertEquals(0, pair.b.endpoint.messages().recvmsg(
                        pair.b.memory.address(RECEIVE), 100, ANY, 10 + i, 0));
                    assertEquals(0, pair.a.endpoint.messages().sendmsg(
                        pair.a.memory.address(0), 100, 77, pair.toB, 20 + i, flags));
                }
                FabricNode.Entry received = pair.b.await(10 + i);
                assertEquals(withData ? 77 : 0, received.data());
                assertEquals(Flags.RECV | (tagged ? Flags.TAGGED : Flags.MSG) | (withData ? Flags.REMOTE_CQ_DATA : 0),
                    received.flags());
                pair.b.assertFilled(RECEIVE, 100, i);
                pair.a.await(20 + i);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"TAG-047", "TAG-048", "CL-032"})
    void shouldRefuseFlagsThatACallDoesNotOffer(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            long buf = pair.a.memory.address(0);
            // also MULTI_RECV and MULTICAST: this endpoint was opened without these capabilities
            for (int bit = 0; bit < Long.SIZE; bit++) {
                long flag = 1L << bit;
                if ((flag & SEND_FLAGS) == 0) {
                    assertEquals(-FabricErrno.EBADFLAGS, endpoint.messages().tsendmsg(
                        buf, 8, 0, pair.toB, 1, 1, flag), "" + bit);
                    assertEquals(-FabricErrno.EBADFLAGS, endpoint.messages().sendmsg(
                        buf, 8, 0, pair.toB, 1, flag), "" + bit);
                }
                if ((flag & RECEIVE_FLAGS) == 0) {
                    for (long with : new long[] {flag, flag | Flags.PEEK}) {
                        assertEquals(-FabricErrno.EBADFLAGS, endpoint.messages().trecvmsg(
                            buf, 8, ANY, 1, 0, 1, with), "" + bit);
                        assertEquals(-FabricErrno.EBADFLAGS, endpoint.messages().recvmsg(
                            buf, 8, ANY, 1, with), "" + bit);
                    }
                }
            }
            pair.a.assertQuiet(20);
            endpoint.close();
            assertEquals(-FabricErrno.EOPBADSTATE, endpoint.messages().tsendmsg(buf, 8, 0, pair.toB, 1, 1, Flags.PEEK));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"TAG-037", "TAG-039", "OPF-002", "OPF-005", "EP-080"})
    void shouldReplaceTheDefaultsByTheFlagsOfTheCall(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            CompletionQueue selective = pair.a.domain.openCompletionQueue(
                new CompletionQueueAttr().size(16).format(CompletionFormat.TAGGED));
            Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info);
            endpoint.bind(selective, Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION);
            endpoint.bind(pair.a.av);
            endpoint.setOpFlags(Flags.TRANSMIT | Flags.COMPLETION);
            endpoint.enable();
            long buf = pair.a.memory.address(0);
            long[] contexts = new long[4];
            for (boolean tagged : new boolean[] {true, false}) {
                for (int i = 0; i < 4; i++) {
                    assertEquals(0, tagged ? pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 8, ANY, 1, 0, i)
                        : pair.b.endpoint.recv(pair.b.memory.address(RECEIVE), 8, ANY, i));
                }
                endpoint.setOpFlags(Flags.TRANSMIT | Flags.COMPLETION);
                assertEquals(0, tagged ? endpoint.messages().tsendmsg(buf, 8, 0, pair.toB, 1, 1, 0)
                    : endpoint.messages().sendmsg(buf, 8, 0, pair.toB, 1, 0));
                assertEquals(0, tagged ? endpoint.tsend(buf, 8, pair.toB, 1, 2) : endpoint.send(buf, 8, pair.toB, 2));
                endpoint.setOpFlags(Flags.TRANSMIT);
                assertEquals(0, tagged ? endpoint.tsend(buf, 8, pair.toB, 1, 3) : endpoint.send(buf, 8, pair.toB, 3));
                assertEquals(0, tagged ? endpoint.messages().tsendmsg(buf, 8, 0, pair.toB, 1, 4, Flags.COMPLETION)
                    : endpoint.messages().sendmsg(buf, 8, 0, pair.toB, 4, Flags.COMPLETION));
                for (int i = 0; i < 4; i++) {
                    contexts[i] = pair.b.await().context();
                }
                assertEquals(0b1111, 1 << contexts[0] | 1 << contexts[1] | 1 << contexts[2] | 1 << contexts[3]);
                assertEquals(2, next(selective, pair));
                assertEquals(4, next(selective, pair));
                assertReceivesFollow(pair, endpoint, selective, tagged);
            }
            endpoint.close();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"EP-079", "EP-082"})
    void shouldGetAndSetTheDefaultsOfOneDirection(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            assertEquals(pair.a.info.txAttr().opFlags(), endpoint.getOpFlags(Flags.TRANSMIT));
            assertEquals(0, endpoint.getOpFlags(Flags.RECV));
            endpoint.setOpFlags(Flags.TRANSMIT | Flags.INJECT_COMPLETE);
            assertEquals(Flags.INJECT_COMPLETE, endpoint.getOpFlags(Flags.TRANSMIT));
            endpoint.setOpFlags(Flags.RECV | Flags.COMPLETION);
            assertEquals(Flags.COMPLETION, endpoint.getOpFlags(Flags.RECV));
            assertEquals(Flags.INJECT_COMPLETE, endpoint.getOpFlags(Flags.TRANSMIT));
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.getOpFlags(Flags.TRANSMIT | Flags.RECV)));
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.getOpFlags(0)));
            assertEquals(FabricErrno.EINVAL, errno(() -> endpoint.setOpFlags(Flags.COMPLETION)));
            long ofCalls = Flags.FENCE | Flags.REMOTE_CQ_DATA | Flags.MORE | Flags.LENT;
            for (int bit = 0; bit < Long.SIZE; bit++) {
                long flag = 1L << bit;
                if ((flag & (Flags.TRANSMIT | Flags.RECV)) != 0) {
                    continue;
                }
                if ((flag & SEND_FLAGS & ~ofCalls) == 0) {
                    assertEquals(FabricErrno.EBADFLAGS, errno(() -> endpoint.setOpFlags(Flags.TRANSMIT | flag)));
                }
                if (flag != Flags.COMPLETION) {
                    assertEquals(FabricErrno.EBADFLAGS, errno(() -> endpoint.setOpFlags(Flags.RECV | flag)));
                }
            }
            assertEquals(Flags.COMPLETION, endpoint.getOpFlags(Flags.RECV));
            assertEquals(Flags.INJECT_COMPLETE, endpoint.getOpFlags(Flags.TRANSMIT));
            endpoint.close();
            assertEquals(FabricErrno.EOPBADSTATE, errno(() -> endpoint.setOpFlags(Flags.TRANSMIT)));
        }
    }

    /** The same of receives: the default, and a call's flags in its place. */
    private static void assertReceivesFollow(
        FabricPair pair, Endpoint endpoint, CompletionQueue selective, boolean tagged) {
        long to = pair.b.av.insert(endpoint.name());
        long buf = pair.a.memory.address(RECEIVE);
        for (int i = 0; i < 4; i++) {
            endpoint.setOpFlags(i < 2 ? Flags.RECV | Flags.COMPLETION : Flags.RECV);
            long flags = i == 3 ? Flags.COMPLETION : 0;
            assertEquals(0, switch (i) {
                case 1, 2 -> tagged ? endpoint.trecv(buf, 8, ANY, 1, 0, 11 + i) : endpoint.recv(buf, 8, ANY, 11 + i);
                default -> tagged ? endpoint.messages().trecvmsg(buf, 8, ANY, 1, 0, 11 + i, flags)
                    : endpoint.messages().recvmsg(buf, 8, ANY, 11 + i, flags);
            });
            assertEquals(0, tagged ? pair.b.endpoint.tsend(pair.b.memory.address(), 8, to, 1, i)
                : pair.b.endpoint.send(pair.b.memory.address(), 8, to, i));
            pair.b.await(i);
        }
        assertEquals(12, next(selective, pair));
        assertEquals(14, next(selective, pair));
    }

    private static long next(CompletionQueue queue, FabricPair pair) {
        UnsafeBuffer entry = new UnsafeBuffer(new byte[48]);
        long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
        while (System.nanoTime() - deadline < 0) {
            int read = queue.read(entry, 0, 1);
            if (read == 1) {
                return entry.getLong(0);
            }
            assertEquals(-FabricErrno.EAGAIN, read);
            pair.b.poll();
            Thread.yield();
        }
        throw new AssertionError("no completion");
    }

    private static int errno(Executable call) {
        return assertThrows(FabricException.class, call).errno();
    }
}
