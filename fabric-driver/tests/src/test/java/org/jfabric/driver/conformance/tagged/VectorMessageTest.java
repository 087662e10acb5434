package org.jfabric.driver.conformance.tagged;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.InfoResult;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Messages that are gathered from several pieces of registered memory, or scattered over them. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
@SeveralLinks
class VectorMessageTest {
    private static final long ANY = -1L;
    private static final int RECEIVE = 1 << 20;
    /** Beyond the eager limit: announced, then copied once. */
    private static final int LARGE = 100_000;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TAG-022")
    void shouldSendSeveralPiecesAsOneMessageInOrder(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (int[] lengths : new int[][] {{10, 20, 30}, {1, 1}, {3, 0, 5, 0}, {40, 41, 42, 43}, {1000, 7, 2000, 1},
                {8191, 1}, {8192, 1}, {LARGE, 1, LARGE + 3, 17}, {0, 0}, {0, 9}}) {
                IoVec iov = pieces(pair.a, 0, 64, lengths);
                int total = (int) iov.lengthBytes();
                fill(pair.a, 0, 64, lengths, total);
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(RECEIVE), 4 * LARGE, ANY, 7, 0, 1));
                assertEquals(0, pair.a.endpoint.messages().tsendv(iov, pair.toB, 7, 2));
                // the list is the caller's again
                iov.clear();
                assertEquals(total, pair.b.await(1).len());
                pair.b.assertFilled(RECEIVE, total, total);
                pair.a.await(2);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TAG-033")
    void shouldScatterAMessageOverThePiecesInOrder(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (int length : new int[] {100, 99, 61, 60, 59, 1, 0}) {
                for (boolean isPosted : new boolean[] {true, false}) {
                    receive(pair, length, isPosted, 60, 40);
                }
            }
            receive(pair, LARGE, true, 1, LARGE - 4, 0, 3);
            receive(pair, LARGE, false, 1, LARGE - 4, 0, 3);
            receive(pair, 1000, true, 250, 250, 250, 250);
            receive(pair, LARGE, false, LARGE / 2, 1, 1, LARGE / 2);
        }
    }

    private static void receive(FabricPair pair, int length, boolean isPosted, int... lengths) {
        IoVec iov = pieces(pair.b, RECEIVE, 64, lengths);
        pair.b.memory.buffer(RECEIVE, 4 * LARGE).setMemory(0, 4 * LARGE, (byte) 0x5A);
        pair.a.fill(0, length, length);
        if (isPosted) {
            assertEquals(0, pair.b.endpoint.messages().trecvv(iov, ANY, 3, 0, 1));
        }
        assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), length, pair.toB, 3, 2));
        if (!isPosted) {
            pair.b.assertQuiet(30);
            assertEquals(0, pair.b.endpoint.messages().trecvv(iov, ANY, 3, 0, 1));
        }
        assertEquals(length, pair.b.await(1).len());
        assertScattered(pair.b, RECEIVE, 64, lengths, length, length);
        pair.a.await(2);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldTellWhatDidNotFitIntoThePieces(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (int length : new int[] {101, 8192, LARGE}) {
                pair.b.memory.buffer(RECEIVE, 4096).setMemory(0, 4096, (byte) 0x5A);
                pair.a.fill(0, length, length);
                assertEquals(0, pair.b.endpoint.messages().trecvv(pieces(pair.b, RECEIVE, 64, 60, 40), ANY, 3, 0, 1));
                assertEquals(0, pair.a.endpoint.messages().tsendv(pieces(pair.a, 0, 0, length - 7, 7), pair.toB, 3, 2));
                FabricNode.Entry entry = pair.b.await();
                assertEquals(FabricErrno.ETRUNC, entry.err());
                assertEquals(100, entry.len());
                assertEquals(length - 100, entry.olen());
                assertScattered(pair.b, RECEIVE, 64, new int[] {60, 40}, 100, length);
                pair.a.await(2);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-023", "TX-044", "RX-021", "TAG-072"})
    void shouldRefuseMorePiecesThanTheLimitAndPiecesOfNothing(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            long limit = pair.a.info.txAttr().iovLimit();
            assertEquals(4, limit);
            assertEquals(limit, pair.a.info.rxAttr().iovLimit());
            IoVec allowed = new IoVec((int) limit + 1);
            for (int i = 0; i < limit; i++) {
                allowed.add(pair.a.memory.address(i * 100L), 8);
            }
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 1, 0, 1));
            assertEquals(0, endpoint.messages().tsendv(allowed, pair.toB, 1, 2));
            assertEquals(0, endpoint.messages().trecvv(allowed, ANY, 1, 0, 3));
            assertEquals(0, endpoint.cancel(3));
            assertEquals(FabricErrno.ECANCELED, await(pair, 3, 2).err());
            pair.b.await(1);
            IoVec tooMany = allowed.add(pair.a.memory.address(), 8);
            IoVec nothing = new IoVec().add(pair.a.memory.address(), 8).add(0, 8);
            IoVec negative = new IoVec().add(pair.a.memory.address(), 8).add(pair.a.memory.address(), -1);
            for (IoVec bad : new IoVec[] {tooMany, nothing, negative, null}) {
                assertEquals(-FabricErrno.EINVAL, endpoint.messages().tsendv(bad, pair.toB, 1, 1));
                assertEquals(-FabricErrno.EINVAL, endpoint.messages().sendv(bad, pair.toB, 1));
                assertEquals(-FabricErrno.EINVAL, endpoint.messages().tsendmsg(bad, 0, pair.toB, 1, 1, 0));
                assertEquals(-FabricErrno.EINVAL, endpoint.messages().sendmsg(bad, 0, pair.toB, 1, Flags.INJECT));
                assertEquals(-FabricErrno.EINVAL, endpoint.messages().trecvv(bad, ANY, 1, 0, 1));
                assertEquals(-FabricErrno.EINVAL, endpoint.messages().recvv(bad, ANY, 1));
                assertEquals(-FabricErrno.EINVAL, endpoint.messages().trecvmsg(bad, ANY, 1, 0, 1, 0));
                assertEquals(-FabricErrno.EINVAL, endpoint.messages().recvmsg(bad, ANY, 1, 0));
            }
            IoVec good = new IoVec().add(pair.a.memory.address(), 8).add(pair.a.memory.address(8), 8);
            assertEquals(-FabricErrno.EINVAL, endpoint.messages().tsendv(good, ANY, 1, 1));
            assertEquals(-FabricErrno.EBADFLAGS, endpoint.messages().tsendmsg(
                good, 0, pair.toB, 1, 1, Flags.MULTI_RECV));
            assertEquals(-FabricErrno.EBADFLAGS, endpoint.messages().trecvmsg(good, ANY, 1, 0, 1, Flags.FENCE));
            pair.a.assertQuiet(20);
            endpoint.close();
            assertEquals(-FabricErrno.EOPBADSTATE, endpoint.messages().tsendv(good, pair.toB, 1, 1));
            assertEquals(-FabricErrno.EOPBADSTATE, endpoint.messages().trecvv(good, ANY, 1, 0, 1));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldRefuseAnEndpointThatIsToTakeMorePiecesThanTheLinkDoes(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info hints = new Info().linkName(setup.link);
            hints.txAttr().iovLimit(5);
            assertRefused(pair.a.fabric.info(hints), "tx_attr.iov_limit");
            hints.txAttr().iovLimit(4);
            hints.rxAttr().iovLimit(5);
            assertRefused(pair.a.fabric.info(hints), "rx_attr.iov_limit");
        }
    }

    private static void assertRefused(InfoResult result, String member) {
        assertTrue(result.matches().isEmpty());
        assertTrue(result.explain().contains(member), result::explain);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldRefuseABufferOfManyMessagesInPieces(Setup setup) {
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.MULTI_RECV);
        try (FabricPair pair = new FabricPair(setup, hints, 64)) {
            IoVec iov = pieces(pair.b, RECEIVE, 64, 1000, 1000);
            assertEquals(-FabricErrno.EBADFLAGS, pair.b.endpoint.messages().recvmsg(iov, ANY, 1, Flags.MULTI_RECV));
            pair.b.endpoint.setOpFlags(Flags.RECV | Flags.MULTI_RECV);
            assertEquals(-FabricErrno.EBADFLAGS, pair.b.endpoint.messages().recvv(iov, ANY, 1));
            assertEquals(0, pair.b.endpoint.messages().recvmsg(iov, ANY, 1, 0));
            assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 1500, pair.toB, 2));
            assertEquals(1500, pair.b.await(1).len());
            pair.a.await(2);
        }
    }

    /** What one piece names is found out by the driver: an error entry, and nothing else is disturbed. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldEndWithAnErrorWhereOnePieceIsNotRegistered(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            MemoryRegion closed = pair.a.domain.allocate(4096);
            long gone = closed.address();
            closed.close();
            long end = pair.a.memory.lengthBytes();
            long buf = pair.a.memory.address();
            for (IoVec bad : new IoVec[] {new IoVec().add(buf, 8).add(gone, 8), new IoVec().add(gone, 1).add(buf, 8),
                new IoVec().add(buf, 8).add(buf + end - 4, 5), new IoVec().add(buf, 8).add(buf, 8).add(7L << 48, 8)}) {
                assertEquals(0, pair.a.endpoint.messages().tsendv(bad, pair.toB, 1, 5));
                FabricNode.Entry entry = pair.a.await();
                assertEquals(5, entry.context());
                assertEquals(FabricErrno.EFAULT, entry.err());
                assertEquals(0, pair.a.endpoint.messages().trecvv(bad, ANY, 1, 0, 6));
                entry = pair.a.await();
                assertEquals(6, entry.context());
                assertEquals(FabricErrno.EFAULT, entry.err());
                assertEquals(-FabricErrno.EFAULT, pair.a.endpoint.messages().tsendmsg(
                    bad, 0, pair.toB, 1, 7, Flags.INJECT));
            }
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 8, ANY, 1, 0, 1));
            assertEquals(0, pair.a.endpoint.tsend(buf, 8, pair.toB, 1, 2));
            pair.b.await(1);
            pair.a.await(2);
        }
    }

    /** Pieces of odd lengths in different regions, of more megabytes than any eager message or ring could hold. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldMoveMegabytesBetweenPiecesOfDifferentRegions(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int[] sent = {3_000_001, 7, 4_194_304, 1_300_003};
            int[] received = {1, 5_000_000, 3_400_000, 94_314};
            int total = 8_494_315;
            MemoryRegion[] from = regions(pair.a, sent);
            MemoryRegion[] to = regions(pair.b, received);
            for (int round = 0; round < 2; round++) {
                int at = 0;
                IoVec source = new IoVec();
                for (int i = 0; i < sent.length; i++) {
                    from[i].buffer().putBytes(i, FabricNode.pattern(round, at, sent[i]));
                    at += sent[i];
                    source.add(from[i].address(i), sent[i]);
                }
                assertEquals(total, source.lengthBytes());
                IoVec dest = new IoVec();
                for (int i = 0; i < received.length; i++) {
                    dest.add(to[i].address(i), received[i]);
                }
                assertEquals(total, dest.lengthBytes());
                assertEquals(0, pair.b.endpoint.messages().trecvv(dest, ANY, 1, 0, 1));
                assertEquals(0, pair.a.endpoint.messages().tsendv(source, pair.toB, 1, 2));
                assertEquals(total, pair.b.await(1).len());
                pair.a.await(2);
                at = 0;
                for (int i = 0; i < received.length; i++) {
                    FabricNode.assertPattern(to[i].buffer(), i, received[i], round, at);
                    at += received[i];
                }
            }
        }
    }

    private static MemoryRegion[] regions(FabricNode node, int[] lengths) {
        MemoryRegion[] regions = new MemoryRegion[lengths.length];
        for (int i = 0; i < lengths.length; i++) {
            regions[i] = node.domain.allocate(lengths[i] + i);
        }
        return regions;
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-019", "TAG-025"})
    void shouldCarryEveryMemberOfTheTaggedMessage(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint from = pair.a.endpoint;
            Endpoint to = pair.b.endpoint;
            UnsafeBuffer array = new UnsafeBuffer(new byte[64]);
            IoVec source = pieces(pair.a, 0, 64, 10, 20, 30);
            IoVec dest = pieces(pair.b, RECEIVE, 64, 30, 30);
            long buf = pair.a.memory.address();
            // the ignored bits are those of the receive; the data is in the entry, the context of each side in its own
            assertEquals(0, to.messages().trecvmsg(dest, pair.toA, 0xF00D, 0xFF, 11, Flags.COMPLETION));
            assertEquals(0, from.messages().tsendmsg(
                source, 99, pair.toB, 0xF077, 12, Flags.REMOTE_CQ_DATA | Flags.COMPLETION));
            FabricNode.Entry entry = pair.b.await(11);
            assertEquals(60, entry.len());
            assertEquals(0xF077, entry.tag());
            assertEquals(99, entry.data());
            assertEquals(pair.toA, entry.source());
            assertEquals(Flags.RECV | Flags.TAGGED | Flags.REMOTE_CQ_DATA, entry.flags());
            assertEquals(Flags.SEND | Flags.TAGGED, pair.a.await(12).flags());
            for (int i = 0; i < 7; i++) {
                assertEquals(0, i % 2 == 0 ? to.trecv(pair.b.memory.address(), 64, ANY, 1, 0, i)
                    : to.messages().trecvv(dest, ANY, 1, 0, i));
            }
            assertEquals(0, from.tsend(buf, 8, pair.toB, 1, 100));
            assertEquals(0, from.messages().tsendv(source, pair.toB, 1, 101));
            assertEquals(0, from.messages().tsendmsg(buf, 8, 0, pair.toB, 1, 102, 0));
            assertEquals(0, from.tinject(array, 0, 8, pair.toB, 1));
            assertEquals(0, from.messages().tsenddata(buf, 8, 5, pair.toB, 1, 104));
            assertEquals(0, from.messages().tinjectdata(array, 0, 8, 5, pair.toB, 1));
            assertEquals(0, from.messages().tsendmsg(source, 0, pair.toB, 1, 106, 0));
            for (int i = 0; i < 7; i++) {
                pair.b.await(i);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-037")
    void shouldOfferTheSameCallsWithoutTags(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint from = pair.a.endpoint;
            UnsafeBuffer array = new UnsafeBuffer(new byte[64]);
            long buf = pair.a.memory.address();
            int[] lengths = {5, 15};
            for (int call = 0; call < 7; call++) {
                fill(pair.a, 0, 0, lengths, call);
                for (int i = 0; i < 20; i++) {
                    array.putByte(i, FabricNode.pattern(call, i));
                }
                pair.b.memory.buffer(RECEIVE, 4096).setMemory(0, 4096, (byte) 0x5A);
                IoVec source = pieces(pair.a, 0, 0, lengths);
                IoVec dest = pieces(pair.b, RECEIVE, 64, 12, 8);
                long context = call;
                assertEquals(0, switch (call % 4) {
                    case 0 -> pair.b.endpoint.messages().recvv(dest, ANY, context);
                    case 1 -> pair.b.endpoint.messages().recvmsg(dest, pair.toA, context, Flags.COMPLETION);
                    case 2 -> pair.b.endpoint.recv(pair.b.memory.address(RECEIVE), 20, ANY, context);
                    default -> pair.b.endpoint.messages().recvmsg(pair.b.memory.address(RECEIVE), 20, ANY, context, 0);
                });
                assertEquals(0, switch (call) {
                    case 0 -> from.send(buf, 20, pair.toB, 50);
                    case 1 -> from.messages().sendv(source, pair.toB, 50);
                    case 2 -> from.messages().sendmsg(source, 77, pair.toB, 50, Flags.REMOTE_CQ_DATA);
                    case 3 -> from.messages().sendmsg(buf, 20, 0, pair.toB, 50, Flags.INJECT);
                    case 4 -> from.messages().senddata(buf, 20, 77, pair.toB, 50);
                    case 5 -> from.inject(array, 0, 20, pair.toB);
                    default -> from.messages().injectdata(array, 0, 20, 77, pair.toB);
                });
                boolean hasData = call == 2 || call == 4 || call == 6;
                FabricNode.Entry entry = pair.b.await(call);
                assertEquals(20, entry.len());
                assertEquals(hasData ? 77 : 0, entry.data());
                assertEquals(Flags.RECV | Flags.MSG | (hasData ? Flags.REMOTE_CQ_DATA : 0), entry.flags());
                assertScattered(
                    pair.b, RECEIVE, call % 4 < 2 ? 64 : 0, call % 4 < 2 ? new int[] {12, 8} : new int[] {20}, 20,
                    call);
                if (call < 5) {
                    pair.a.await(50);
                }
            }
            // injects have no entries
            pair.a.assertQuiet(20);
        }
    }

    @Test
    void shouldHoldAFixedNumberOfPieces() {
        IoVec iov = new IoVec(2).add(1, 10).add(2, 20);
        assertEquals(2, iov.count());
        assertEquals(2, iov.capacity());
        assertEquals(30, iov.lengthBytes());
        assertEquals(FabricErrno.EINVAL, assertThrows(FabricException.class, () -> iov.add(3, 30)).errno());
        assertEquals(2, iov.count());
        assertEquals(0, iov.clear().count());
        assertEquals(0, iov.lengthBytes());
        assertEquals(4, new IoVec().capacity());
        assertEquals(FabricErrno.EINVAL, assertThrows(FabricException.class, () -> new IoVec(0)).errno());
    }

    private static FabricNode.Entry await(FabricPair pair, long context, long other) {
        FabricNode.Entry first = pair.a.await();
        FabricNode.Entry second = pair.a.await();
        assertEquals(context + other, first.context() + second.context());
        return first.context() == context ? first : second;
    }

    /** Pieces one behind the other, with a gap between them. */
    private static IoVec pieces(FabricNode node, long offset, int gap, int... lengths) {
        IoVec iov = new IoVec(lengths.length);
        long at = offset;
        for (int length : lengths) {
            iov.add(node.memory.address(at), length);
            at += length + gap;
        }
        return iov;
    }

    private static void fill(FabricNode node, int offset, int gap, int[] lengths, int seed) {
        UnsafeBuffer buffer = node.memory.buffer();
        int at = offset;
        int index = 0;
        for (int length : lengths) {
            for (int i = 0; i < length; i++) {
                buffer.putByte(at++, FabricNode.pattern(seed, index++));
            }
            at += gap;
        }
    }

    /** The pieces hold that many bytes of the message; what is behind these and between the pieces is as it was. */
    private static void assertScattered(
        FabricNode node, int offset, int gap, int[] lengths, int placed, int seed) {
        UnsafeBuffer buffer = node.memory.buffer();
        int at = offset;
        int index = 0;
        for (int length : lengths) {
            for (int i = 0; i < length + gap; i++, at++) {
                byte expected = i < length && index < placed ? FabricNode.pattern(seed, index++) : (byte) 0x5A;
                if (buffer.getByte(at) != expected) {
                    throw new AssertionError("byte " + (at - offset) + " of a message of " + placed + " differs");
                }
            }
        }
    }
}
