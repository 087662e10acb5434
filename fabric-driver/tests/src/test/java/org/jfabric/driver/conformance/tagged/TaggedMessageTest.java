package org.jfabric.driver.conformance.tagged;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.BitSet;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;

/** Tagged and untagged messages between two applications, over every link, embedded and with a daemon. */
@Tag("conformance")
@Tag("link")
@SeveralLinks
class TaggedMessageTest {
    private static final int RECEIVE = FabricNode.MEMORY / 2;
    private static final long ANY = -1L;

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement({"TAG-001", "TAG-015", "TAG-019"})
    void shouldCompleteTheReceiveWithTheSameTag(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 64, ANY, 5, 0, 105));
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE + 64), 64, ANY, 7, 0, 107));
            pair.a.fill(0, 64, 1);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(0), 64, pair.toB, 7, 207));
            FabricNode.Entry received = pair.b.await(107);
            assertEquals(7, received.tag());
            assertEquals(64, received.len());
            pair.b.assertFilled(RECEIVE + 64, 64, 1);
            pair.a.await(207);
            pair.b.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement({"TAG-020", "TAG-007", "TAG-036"})
    void shouldKeepMessagesOfEveryLengthWhole(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int[] lengths = {0, 1, 40, 41, 63, 64, 1000, 8192, 8193, 100_000, 4 << 20};
            for (int round = 0; round < 2; round++) {
                for (int length : lengths) {
                    pair.a.fill(0, length, length + round);
                    pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), length + 10, ANY, 3, 0, 1);
                    assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(0), length, pair.toB, 3, 2));
                    assertEquals(length, pair.b.await(1).len());
                    pair.b.assertFilled(RECEIVE, length, length + round);
                    pair.a.await(2);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement({"TAG-004", "TAG-006", "TAG-032"})
    void shouldMatchInTheOrderOfSendingAndPosting(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int[] lengths = {10, 20_000, 30, 9000, 50};
            for (int i = 0; i < lengths.length; i++) {
                pair.a.fill(i * 32_768L, lengths[i], i);
                pair.a.endpoint.tsend(pair.a.memory.address(i * 32_768L), lengths[i], pair.toB, 9, i);
            }
            for (int i = 0; i < lengths.length; i++) {
                pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE + i * 32_768L), 32_768, ANY, 9, 0, 100 + i);
            }
            boolean[] seen = new boolean[lengths.length];
            for (int i = 0; i < lengths.length; i++) {
                FabricNode.Entry entry = pair.b.await();
                int index = (int) entry.context() - 100;
                assertEquals(lengths[index], entry.len());
                pair.b.assertFilled(RECEIVE + index * 32_768L, lengths[index], index);
                seen[index] = true;
            }
            for (boolean each : seen) {
                assertEquals(true, each);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement({"TAG-003", "TAG-005", "CQ-120"})
    void shouldReportTheSendersTagWhenBitsAreIgnored(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            long tag = 0xFEDC_BA98_7654_3210L;
            pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 64, ANY, 0, 0x7FFF_FFFF_FFFF_FFFFL, 1);
            pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 64, ANY, 0, -1L, 2);
            pair.a.endpoint.tsend(pair.a.memory.address(0), 8, pair.toB, tag, 3);
            assertEquals(tag, pair.b.await(2).tag());
            pair.a.await(3);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement({"TAG-009", "TAG-002"})
    void shouldKeepUnexpectedMessagesUntilAReceiveIsPosted(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (int i = 0; i < 50; i++) {
                pair.a.fill(i * 128L, 100, i);
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(i * 128L), 100, pair.toB, 1000 + i, i));
                pair.a.await(i);
            }
            for (int i = 49; i >= 0; i--) {
                pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 100, ANY, 1000 + i, 0, i);
                pair.b.await(i);
                pair.b.assertFilled(RECEIVE, 100, i);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement({"TAG-035", "CQ-121", "CQ-122"})
    void shouldReportTruncationWithWhatWasPlacedAndDropped(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (int length : new int[] {100, 50_000}) {
                pair.a.fill(0, length, 4);
                pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 60, ANY, 4, 0, 1);
                pair.a.endpoint.tsend(pair.a.memory.address(0), length, pair.toB, 4, 2);
                FabricNode.Entry truncated = pair.b.await();
                assertEquals(FabricErrno.ETRUNC, truncated.err());
                assertEquals(60, truncated.len());
                assertEquals(length - 60, truncated.olen());
                assertEquals(4, truncated.tag());
                assertEquals(1, truncated.context());
                pair.b.assertFilled(RECEIVE, 60, 4);
                pair.a.await(2);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement({"TAG-026", "TAG-027", "TAG-028"})
    void shouldInjectWithoutAnEntryAndLetTheBufferGo(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int limit = pair.a.endpoint.injectSize();
            UnsafeBuffer payload = new UnsafeBuffer(new byte[limit + 1]);
            assertEquals(-FabricErrno.EINVAL, pair.a.endpoint.tinject(payload, 0, limit + 1, pair.toB, 8));
            for (int i = 0; i < 200; i++) {
                payload.setMemory(0, limit, (byte) i);
                int result = pair.a.endpoint.tinject(payload, 0, limit, pair.toB, 8);
                while (result == -FabricErrno.EAGAIN) {
                    pair.a.assertQuiet(1);
                    pair.b.poll();
                    result = pair.a.endpoint.tinject(payload, 0, limit, pair.toB, 8);
                }
                assertEquals(0, result);
                payload.setMemory(0, limit, (byte) 0xEE);
                pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), limit, ANY, 8, 0, i);
                assertEquals(limit, pair.b.await(i).len());
                assertEquals((byte) i, pair.b.memory.buffer().getByte(RECEIVE));
                assertEquals((byte) i, pair.b.memory.buffer().getByte(RECEIVE + limit - 1));
            }
            pair.a.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement({"TAG-029", "CQ-118", "CQ-135"})
    void shouldCarryRemoteCqData(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            long data = 0x1122_3344_5566_7788L;
            pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 64, ANY, 1, 0, 1);
            pair.a.endpoint.messages().tsenddata(pair.a.memory.address(0), 8, data, pair.toB, 1, 2);
            FabricNode.Entry entry = pair.b.await(1);
            assertEquals(data, entry.data());
            assertNotEquals(0, entry.flags() & Flags.REMOTE_CQ_DATA);
            pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 64, ANY, 1, 0, 3);
            pair.a.endpoint.tsend(pair.a.memory.address(0), 8, pair.toB, 1, 4);
            entry = pair.b.await(3);
            assertEquals(0, entry.data());
            assertEquals(0, entry.flags() & Flags.REMOTE_CQ_DATA);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement("REF-039")
    void shouldKeepTaggedAndUntaggedMessagesApart(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            pair.b.endpoint.recv(pair.b.memory.address(RECEIVE), 64, ANY, 1);
            pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 64, ANY, 0, -1L, 2);
            pair.a.endpoint.tsend(pair.a.memory.address(0), 8, pair.toB, 0, 3);
            assertEquals(Flags.RECV | Flags.TAGGED, pair.b.await(2).flags());
            assertEquals(Flags.SEND | Flags.TAGGED, pair.a.await(3).flags());
            pair.a.endpoint.send(pair.a.memory.address(0), 8, pair.toB, 4);
            assertEquals(Flags.RECV | Flags.MSG, pair.b.await(1).flags());
            assertEquals(Flags.SEND | Flags.MSG, pair.a.await(4).flags());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement({"TAG-013", "TAG-014", "CQ-068"})
    void shouldMatchDirectedReceivesBySourceAndReportIt(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            long self = pair.b.av.insert(pair.b.endpoint.name());
            pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 64, self, 1, 0, 1);
            pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 64, pair.toA, 1, 0, 2);
            pair.a.endpoint.tsend(pair.a.memory.address(0), 8, pair.toB, 1, 3);
            assertEquals(pair.toA, pair.b.await(2).source());
            pair.b.endpoint.tsend(pair.b.memory.address(0), 8, self, 1, 4);
            FabricNode.Entry first = pair.b.await();
            FabricNode.Entry second = pair.b.await();
            FabricNode.Entry received = first.context() == 1 ? first : second;
            assertEquals(1, received.context());
            assertEquals(self, received.source());
            // without the capability it is ignored
            Info undirected = pair.b.info.copy().caps(Flags.TAGGED);
            undirected.txAttr().caps(0);
            undirected.rxAttr().caps(0);
            Endpoint endpoint = pair.b.domain.openEndpoint(undirected);
            endpoint.bind(pair.b.cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(pair.b.av);
            endpoint.enable();
            assertEquals(0, endpoint.trecv(pair.b.memory.address(RECEIVE), 64, self, 1, 0, 5));
            pair.a.endpoint.tsend(pair.a.memory.address(0), 8, pair.a.av.insert(endpoint.name()), 1, 6);
            pair.b.await(5);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement({"EP-064", "EP-065", "EP-067"})
    void shouldCancelAPostedReceive(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 64, ANY, 1, 0, 11);
            pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 64, ANY, 1, 0, 12);
            assertEquals(0, pair.b.endpoint.cancel(11));
            FabricNode.Entry cancelled = pair.b.await();
            assertEquals(FabricErrno.ECANCELED, cancelled.err());
            assertEquals(11, cancelled.context());
            pair.a.endpoint.tsend(pair.a.memory.address(0), 8, pair.toB, 1, 2);
            pair.b.await(12);
            assertEquals(0, pair.b.endpoint.cancel(11));
            pair.b.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    @Requirement({"CQ-111", "CQ-114"})
    void shouldReportEveryContextOnce(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int count = 1000;
            BitSet sent = new BitSet();
            BitSet received = new BitSet();
            int posted = 0;
            int submitted = 0;
            while (sent.cardinality() < count || received.cardinality() < count) {
                if (posted < count && pair.b.endpoint.trecv(
                    pair.b.memory.address(RECEIVE), 64, ANY, posted, 0, 10_000 + posted) == 0) {
                    posted++;
                }
                if (submitted < posted && pair.a.endpoint.tsend(
                    pair.a.memory.address(0), 64, pair.toB, submitted, 20_000 + submitted) == 0) {
                    submitted++;
                }
                note(pair.a, sent, 20_000);
                note(pair.b, received, 10_000);
            }
            assertEquals(count, sent.cardinality());
            assertEquals(count, received.cardinality());
        }
    }

    private static void note(FabricNode node, BitSet seen, int base) {
        FabricNode.Entry entry = node.poll();
        if (entry != null) {
            int index = (int) entry.context() - base;
            assertEquals(false, seen.get(index), () -> "twice: " + entry);
            assertEquals(0, entry.err());
            seen.set(index);
        }
    }
}
