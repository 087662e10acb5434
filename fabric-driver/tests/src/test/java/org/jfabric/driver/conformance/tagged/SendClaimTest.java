package org.jfabric.driver.conformance.tagged;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.SendClaim;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Threading;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Tagged messages that are encoded where the driver takes them from. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
@SeveralLinks
class SendClaimTest {
    private static final long ANY = -1L;
    private static final int SENDS = 110;
    private static final int SEND_LENGTH = 8192;

    private final SendClaim claim = new SendClaim();

    private static void encode(MutableDirectBuffer buffer, int length, int seed) {
        for (int i = 0; i < length; i++) {
            buffer.putByte(i, FabricNode.pattern(seed, i));
        }
    }

    private int send(FabricPair pair, int claimed, int length, long tag, int seed) {
        assertEquals(0, pair.a.endpoint.tryClaim(claimed, claim));
        assertEquals(claimed, claim.buffer().capacity());
        encode(claim.buffer(), claimed, seed);
        return claim.commit(length, pair.toB, tag, 100 + tag);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldSendWhatWasEncodedInPlace(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int limit = pair.a.endpoint.injectSize();
            for (int length = 0; length <= limit; length++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), limit, ANY, 5, 0, 1));
                assertEquals(0, send(pair, length, length, 5, length));
                assertFalse(claim.isOpen());
                assertEquals(0, claim.buffer().capacity());
                assertEquals(length, pair.b.await(1).len());
                pair.b.assertFilled(0, length, length);
                assertEquals(Flags.SEND | Flags.TAGGED, pair.a.await(105).flags());
            }
        }
    }

    /** What was claimed in excess is not sent, and leaves nothing that is taken for the next message. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldSendLessThanWasClaimed(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int limit = pair.a.endpoint.injectSize();
            // each length that can be claimed, and many that are sent of it
            int rounds = setup.daemon ? Effort.rounds(500, 3000) : 3000;
            for (int i = 0; i < rounds; i++) {
                int claimed = i * 7 % (limit + 1);
                int length = claimed == 0 ? 0 : i * 13 % claimed;
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), limit, ANY, i, 0, 1));
                assertEquals(0, send(pair, claimed, length, i, i));
                assertEquals(length, pair.b.await(1).len());
                pair.b.assertFilled(0, length, i);
                pair.a.await(100 + i);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldKeepThePayloadWhileThePeerHoldsMessagesBack(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int limit = pair.a.endpoint.injectSize();
            for (int i = 0; i < SENDS; i++) {
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), SEND_LENGTH, pair.toB, i, i));
            }
            for (int i = 0; i < 20; i++) {
                assertEquals(0, send(pair, limit, limit - i, 1000 + i, i));
            }
            for (int i = 0; i < SENDS; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), SEND_LENGTH, ANY, i, 0, i));
                pair.b.await(i);
            }
            for (int i = 19; i >= 0; i--) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), limit, ANY, 1000 + i, 0, i));
                assertEquals(limit - i, pair.b.await(i).len());
                pair.b.assertFilled(0, limit - i, i);
            }
            for (int i = 0; i < SENDS + 20; i++) {
                assertEquals(0, pair.a.await().err());
            }
            pair.a.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldFollowTheFlagsOfTheCommit(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            CompletionQueue selective = pair.a.domain.openCompletionQueue(
                new CompletionQueueAttr().size(16).format(CompletionFormat.TAGGED));
            Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info);
            endpoint.bind(selective, Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION);
            endpoint.bind(pair.a.av);
            endpoint.enable();
            long level = setup.strongestLevel();
            for (long flags : new long[] {0, Flags.REMOTE_CQ_DATA, Flags.COMPLETION | level}) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 8, ANY, 1, 0, 1));
                assertEquals(0, endpoint.tryClaim(8, claim));
                claim.buffer().putLong(0, flags);
                assertEquals(-FabricErrno.EBADFLAGS, claim.commit(8, 77, pair.toB, 1, 2, Flags.COMMIT_COMPLETE));
                assertTrue(claim.isOpen());
                assertEquals(0, claim.commit(8, 77, pair.toB, 1, 2, flags));
                FabricNode.Entry entry = pair.b.await(1);
                assertEquals((flags & Flags.REMOTE_CQ_DATA) != 0 ? 77 : 0, entry.data());
                assertEquals(flags, pair.b.memory.buffer().getLong(0));
            }
            UnsafeBuffer entries = new UnsafeBuffer(new byte[2 * 48]);
            long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
            while (selective.read(entries, 0, 2) != 1 && System.nanoTime() - deadline < 0) {
                pair.b.poll();
                Thread.yield();
            }
            assertEquals(2, entries.getLong(0));
            assertEquals(-FabricErrno.EAGAIN, selective.read(entries, 0, 2));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldLeaveNothingWhenItIsAborted(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            int limit = pair.a.endpoint.injectSize();
            long left = pair.a.endpoint.txSizeLeft();
            claim.abort();
            for (int i = 0; i < 5000; i++) {
                assertEquals(0, pair.a.endpoint.tryClaim(i % (limit + 1), claim));
                encode(claim.buffer(), i % (limit + 1), i);
                claim.abort();
                assertFalse(claim.isOpen());
                assertEquals(0, claim.buffer().capacity());
            }
            assertEquals(-FabricErrno.EINVAL, claim.commit(0, pair.toB, 1, 1));
            assertEquals(-FabricErrno.EINVAL, claim.commit(0, 0, pair.toB, 1, 1, 0));
            assertEquals(left, pair.a.endpoint.txSizeLeft());
            pair.b.assertQuiet(20);
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), limit, ANY, 5, 0, 1));
            assertEquals(0, send(pair, limit, limit, 5, 9));
            pair.b.await(1);
            pair.b.assertFilled(0, limit, 9);
            pair.a.await(105);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldRefuseOtherSendsOfTheEndpointWhileItIsOpen(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            assertEverythingElseIsBusy(pair, pair.a);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldRefuseTheSendsOfOtherThreadsWhileItIsOpen(Setup setup) throws Exception {
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV);
        hints.domainAttr().threading(Threading.SAFE);
        try (FabricPair pair = new FabricPair(setup, hints, 512)) {
            assertEverythingElseIsBusy(pair, pair.a);
            assertEquals(0, pair.a.endpoint.tryClaim(8, claim));
            int[] answers = new int[2];
            Thread other = new Thread(() -> {
                answers[0] = pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 1, 1);
                answers[1] = pair.a.endpoint.tryClaim(8, new SendClaim());
            });
            other.start();
            other.join();
            assertEquals(-FabricErrno.EBUSY, answers[0]);
            assertEquals(-FabricErrno.EBUSY, answers[1]);
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 8, ANY, 1, 0, 1));
            assertEquals(0, claim.commit(8, pair.toB, 1, 2));
            pair.b.await(1);
            pair.a.await(2);
        }
    }

    private void assertEverythingElseIsBusy(FabricPair pair, FabricNode node) {
        Endpoint endpoint = node.endpoint;
        long buf = node.memory.address();
        UnsafeBuffer array = new UnsafeBuffer(new byte[8]);
        IoVec iov = new IoVec().add(buf, 4).add(buf + 4, 4);
        SendClaim second = new SendClaim();
        assertEquals(0, endpoint.tryClaim(8, claim));
        claim.buffer().putLong(0, 0x1122334455667788L);
        assertEquals(-FabricErrno.EBUSY, endpoint.tsend(buf, 8, pair.toB, 1, 1));
        assertEquals(-FabricErrno.EBUSY, endpoint.send(buf, 8, pair.toB, 1));
        assertEquals(-FabricErrno.EBUSY, endpoint.messages().tsendmsg(buf, 8, 0, pair.toB, 1, 1, Flags.INJECT));
        assertEquals(-FabricErrno.EBUSY, endpoint.messages().tsendv(iov, pair.toB, 1, 1));
        assertEquals(-FabricErrno.EBUSY, endpoint.messages().tsendmsg(iov, 0, pair.toB, 1, 1, Flags.INJECT));
        assertEquals(-FabricErrno.EBUSY, endpoint.tinject(array, 0, 8, pair.toB, 1));
        assertEquals(-FabricErrno.EBUSY, endpoint.messages().injectdata(array, 0, 8, 1, pair.toB));
        assertEquals(-FabricErrno.EBUSY, endpoint.cancel(99));
        assertEquals(-FabricErrno.EBUSY, endpoint.tryClaim(8, second));
        assertEquals(-FabricErrno.EBUSY, endpoint.tryClaim(8, claim));
        assertFalse(second.isOpen());
        assertTrue(endpoint.txSizeLeft() > 0);
        // neither the other direction nor another endpoint of the same queue waits
        assertEquals(0, endpoint.trecv(node.memory.address(1024), 8, ANY, 1, 0, 50));
        assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), 8, pair.toA, 1, 51));
        node.await(50);
        pair.b.await(51);
        assertEquals(-FabricErrno.EINVAL, claim.commit(8, ANY, 1, 1));
        assertEquals(-FabricErrno.EINVAL, claim.commit(9, pair.toB, 1, 1));
        assertEquals(-FabricErrno.EINVAL, claim.commit(-1, pair.toB, 1, 1));
        assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 8, ANY, 1, 0, 1));
        assertEquals(0, claim.commit(8, pair.toB, 1, 2));
        pair.b.await(1);
        assertEquals(0x1122334455667788L, pair.b.memory.buffer().getLong(0));
        node.await(2);
        assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 8, ANY, 1, 0, 3));
        assertEquals(0, endpoint.tsend(buf, 8, pair.toB, 1, 4));
        pair.b.await(3);
        node.await(4);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldRefuseWhatTheDriverCouldNotKeep(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            assertEquals(-FabricErrno.EINVAL, endpoint.tryClaim(endpoint.injectSize() + 1, claim));
            assertEquals(-FabricErrno.EINVAL, endpoint.tryClaim(-1, claim));
            assertEquals(-FabricErrno.EINVAL, endpoint.tryClaim(8, null));
            Endpoint notEnabled = pair.a.domain.openEndpoint(pair.a.info);
            assertEquals(-FabricErrno.EOPBADSTATE, notEnabled.tryClaim(8, claim));
            assertFalse(claim.isOpen());
            int posted = 0;
            int result = endpoint.tryClaim(8, claim);
            while (result == 0) {
                assertEquals(0, claim.commit(8, 0, pair.toB, 1, posted, 0));
                posted++;
                result = endpoint.tryClaim(8, claim);
            }
            assertEquals(-FabricErrno.EAGAIN, result);
            assertFalse(claim.isOpen());
            for (int i = 0; i < posted; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 8, ANY, 1, 0, i));
                pair.b.await(i);
                assertEquals(0, pair.a.await().err());
            }
            assertEquals(0, endpoint.tryClaim(8, claim));
            claim.abort();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldEndWithItsEndpoint(Setup setup) {
        // so few slots that one which is not given back would be missed
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV);
        try (FabricPair pair = new FabricPair(setup, hints, 64)) {
            long before = pair.a.endpoint.txSizeLeft();
            Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info);
            endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(pair.a.av);
            endpoint.enable();
            assertEquals(0, endpoint.tryClaim(64, claim));
            endpoint.close();
            // the memory is still there, but nobody reads it
            encode(claim.buffer(), 64, 1);
            assertEquals(-FabricErrno.EOPBADSTATE, claim.commit(64, pair.toB, 1, 1));
            assertFalse(claim.isOpen());
            assertEquals(0, claim.buffer().capacity());
            claim.abort();
            assertEquals(-FabricErrno.EOPBADSTATE, endpoint.tryClaim(8, claim));
            pair.b.assertQuiet(20);
            assertEquals(before, pair.a.endpoint.txSizeLeft());
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 64, ANY, 5, 0, 1));
            assertEquals(0, send(pair, 64, 64, 5, 2));
            pair.b.await(1);
            assertNotEquals(0, pair.b.memory.buffer().getLong(0));
            pair.a.await(105);
        }
    }
}
