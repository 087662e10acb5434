package org.jfabric.driver.conformance.tagged;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.PeekNode;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** A look at messages that came before a receive for them: what it finds, what it tells, and that it leaves them. */
@Tag("conformance")
@Tag("link")
@Timeout(180)
@SeveralLinks
class PeekTest {
    private static final long ANY = PeekNode.ANY;
    private static final int PLACE = 1 << 20;
    private static final int SMALL = 100;
    /** Beyond the eager limit: the payload waits at the sender. */
    private static final int LARGE = 200_000;
    private static final int[] LENGTHS = {0, SMALL, LARGE};

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-049", "TAG-053", "CQ-115"})
    void shouldTellOfAMessageWhatItsReceiveWillTellAndLeaveIt(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            for (boolean tagged : new boolean[] {true, false}) {
                for (int length : LENGTHS) {
                    long tag = tagged ? 0x8000_0000_0000_0007L : 0;
                    node.send(tagged, tag, length, 31);
                    PeekNode.Entry peeked = node.find(tagged, tag, 1, 0);
                    PeekNode.Entry again = node.find(tagged, tag, 1, 0);
                    assertEquals(peeked, again);
                    long buf = node.place(PLACE, LARGE);
                    assertEquals(0, tagged ? node.endpoint.trecv(buf, LARGE, ANY, tag, 0, 1)
                        : node.endpoint.recv(buf, LARGE, ANY, 1));
                    PeekNode.Entry received = node.await(1);
                    assertEquals(received, peeked);
                    assertEquals(length, peeked.len());
                    assertEquals(31, peeked.data());
                    assertEquals(tag, peeked.tag());
                    assertEquals(node.source, peeked.source());
                    assertEquals(Flags.RECV | Flags.REMOTE_CQ_DATA | (tagged ? Flags.TAGGED : Flags.MSG),
                        peeked.flags());
                    pair.b.assertFilled(PLACE, length, 31);
                    pair.a.await(PeekNode.SENT);
                }
            }
            node.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-050", "TAG-052", "ERR-010"})
    void shouldEndAtOnceWhenNothingMatches(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            node.send(5, SMALL, 1);
            node.find(5);
            assertEquals(0, node.peek(0, 0, 6, 66, 0));
            PeekNode.Entry nothing = node.awaitError(66, FabricErrno.ENOMSG);
            assertEquals(42, nothing.err());
            assertEquals(0, nothing.len());
            // another family, though it carries tag 0 and no tag is tag 0
            assertEquals(0, node.endpoint.messages().recvmsg(0, 0, ANY, 67, Flags.PEEK));
            node.awaitError(67, FabricErrno.ENOMSG);
            // it is not queued: the message that comes now is unexpected
            node.send(6, SMALL, 2);
            node.assertQuiet(50);
            PeekNode.Entry later = node.find(6);
            assertEquals(SMALL, later.len());
            assertEquals(0, node.endpoint.trecv(node.place(PLACE, SMALL), SMALL, ANY, 6, 0, 68));
            node.await(68);
            pair.b.assertFilled(PLACE, SMALL, 2);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TAG-051")
    void shouldWriteItsEntryAlsoIntoASelectiveQueue(Setup setup) {
        try (FabricPair pair = new FabricPair(setup);
            PeekNode node = new PeekNode(pair, pair.a, CompletionFormat.TAGGED, Flags.SELECTIVE_COMPLETION)) {
            for (int i = 0; i < 4; i++) {
                node.send(5, SMALL, i);
            }
            // without FI_COMPLETION in any of the calls
            assertEquals(0, node.find(5).data());
            assertEquals(0, node.find(true, 5, 2, Flags.CLAIM).data());
            assertEquals(0, node.endpoint.messages().trecvmsg(0, 0, ANY, 0, 0, 2, Flags.CLAIM | Flags.DISCARD));
            assertEquals(0, node.await(2).data());
            assertEquals(1, node.find(true, 5, 3, Flags.DISCARD).data());
            assertEquals(0, node.peek(0, 0, 6, 4, 0));
            node.awaitError(4, FabricErrno.ENOMSG);
            // a claim is fetched by a receive as any other: it has an entry if it asks for one
            assertEquals(2, node.find(true, 5, 5, Flags.CLAIM).data());
            assertEquals(3, node.find(true, 5, 6, Flags.CLAIM).data());
            long buf = node.place(PLACE, SMALL);
            assertEquals(0, node.endpoint.messages().trecvmsg(buf, SMALL, ANY, 0, 0, 5, Flags.CLAIM));
            assertEquals(0, node.endpoint.messages().trecvmsg(
                buf, SMALL, ANY, 0, 0, 6, Flags.CLAIM | Flags.COMPLETION));
            assertEquals(3, node.await(6).data());
            pair.b.assertFilled(PLACE, SMALL, 3);
            node.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-054", "TAG-056"})
    void shouldTellWhatTheFormatHolds(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (CompletionFormat format : CompletionFormat.values()) {
                PeekNode node = new PeekNode(pair, pair.a, format, 0);
                node.send(0x55, SMALL, 9);
                long buf = node.place(PLACE, SMALL);
                boolean copies = format != CompletionFormat.CONTEXT && format != CompletionFormat.MSG;
                // until it has come
                node.find(true, 0x55, 1, 0);
                assertEquals(0, node.peek(buf, SMALL, 0x55, 77, 0));
                UnsafeBuffer entry = new UnsafeBuffer(new byte[64]);
                entry.setMemory(0, 64, (byte) 0xEE);
                while (node.queue.read(entry, 0, 1) == -FabricErrno.EAGAIN) {
                    node.step();
                }
                int length = format.resolved().entryLengthBytes();
                assertEquals(77, entry.getLong(0));
                if (length > 8) {
                    assertEquals(Flags.RECV | Flags.TAGGED | Flags.REMOTE_CQ_DATA, entry.getLong(8));
                    assertEquals(SMALL, entry.getLong(16));
                }
                if (length > 24) {
                    assertEquals(buf, entry.getLong(24));
                    assertEquals(9, entry.getLong(32));
                }
                if (length > 40) {
                    assertEquals(0x55, entry.getLong(40));
                }
                assertEquals((byte) 0xEE, entry.getByte(length));
                if (copies) {
                    pair.b.assertFilled(PLACE, SMALL, 9);
                } else {
                    node.assertUntouched(PLACE, SMALL);
                }
                node.close();
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-057", "TAG-058", "TAG-060"})
    void shouldCopyWhatFitsAndTellTheWholeLength(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            node.send(5, SMALL, 3);
            for (int room : new int[] {1, 10, SMALL, SMALL + 50}) {
                long buf = node.place(PLACE, SMALL + 50);
                PeekNode.Entry peeked = node.find(true, 5, buf, room, 1, 0);
                int copied = Math.min(room, SMALL);
                assertEquals(buf, peeked.buf());
                assertEquals(SMALL, peeked.len());
                pair.b.assertFilled(PLACE, copied, 3);
                node.assertUntouched(PLACE + copied, SMALL + 50 - copied);
            }
            PeekNode.Entry without = node.find(5);
            assertEquals(0, without.buf());
            assertEquals(SMALL, without.len());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-059", "TAG-058"})
    void shouldTellThatNothingWasCopiedOfAMessageThatWaitsAtItsSender(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            int length = setup.heldLength();
            pair.a.endpoint.setOpFlags(Flags.TRANSMIT | setup.heldFlags());
            node.send(true, 5, length, 3);
            PeekNode.Entry peeked = node.find(true, 5, node.place(PLACE, SMALL), SMALL, 1, 0);
            assertEquals(0, peeked.buf());
            assertEquals(length, peeked.len());
            node.assertUntouched(PLACE, SMALL);
            pair.a.assertQuiet(20);
            assertEquals(0, node.endpoint.trecv(node.place(PLACE, length), length, ANY, 5, 0, 2));
            assertEquals(0, node.await(2).buf());
            pair.b.assertFilled(PLACE, length, 3);
            pair.a.await(PeekNode.SENT);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-055", "TAG-002", "TAG-013"})
    void shouldFindTheOldestThatAReceiveWouldTake(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            long self = node.vector.insert(node.endpoint.name());
            node.send(true, 0x11, SMALL, 1);
            node.send(true, 0x12, LARGE, 2);
            node.send(true, 0x11, SMALL, 3);
            node.send(true, 0x14, SMALL, 5);
            node.find(0x14);
            pair.b.fill(0, 8, 4);
            assertEquals(0, node.endpoint.messages().tsenddata(pair.b.memory.address(0), 8, 4, self, 0x12, 9));
            node.await(9);
            long[][] asked = {
                // tag, ignore, source, data of the one that is found or 0
                {0x11, 0, ANY, 1}, {0x12, 0, ANY, 2}, {0x10, 3, ANY, 1}, {0, -1, ANY, 1}, {0x12, 0, self, 4},
                {0x12, 0, node.source, 2}, {0, -1, self, 4}, {0x11, 0, self, 0}, {0x13, 0, ANY, 0},
                {0x20, 0xF, ANY, 0}};
            for (long[] each : asked) {
                assertEquals(0, node.endpoint.messages().trecvmsg(0, 0, each[2], each[0], each[1], 1, Flags.PEEK));
                PeekNode.Entry found = node.await();
                String what = "tag " + each[0] + " ignore " + each[1] + " source " + each[2];
                assertEquals(each[3] == 0 ? FabricErrno.ENOMSG : 0, found.err(), what);
                assertEquals(each[3], found.data(), what);
            }
            // the order of receives is that of peeks
            for (long[] each : new long[][] {{0x10, 3, 1}, {0x12, 0, 2}, {0x11, 0, 3}, {0, -1, 5}, {0, -1, 4}}) {
                assertEquals(0, node.endpoint.trecv(
                    node.place(PLACE, LARGE), LARGE, ANY, each[0], each[1], 2));
                assertEquals(each[2], node.await(2).data());
            }
            for (int i = 0; i < 4; i++) {
                pair.a.await(PeekNode.SENT);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldRefuseWhatCannotBe(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            long buf = pair.b.memory.address(PLACE);
            for (long flag : new long[] {Flags.FENCE, Flags.INJECT, Flags.MULTI_RECV, Flags.MATCH_COMPLETE, 1L << 63}) {
                assertEquals(-FabricErrno.EBADFLAGS, node.peek(buf, SMALL, 1, 1, flag));
                assertEquals(-FabricErrno.EBADFLAGS,
                    node.endpoint.messages().recvmsg(buf, SMALL, ANY, 1, flag | Flags.CLAIM));
            }
            assertEquals(-FabricErrno.EBADFLAGS, node.endpoint.messages().tsendmsg(
                buf, SMALL, 0, node.source, 1, 1, Flags.PEEK));
            assertEquals(-FabricErrno.EINVAL, node.peek(buf, -1, 1, 1, 0));
            node.assertQuiet(20);
            // what only the driver can find out has an entry
            assertEquals(0, node.peek(1, SMALL, 1, 2, 0));
            node.awaitError(2, FabricErrno.EFAULT);
            assertEquals(0, node.peek(buf, FabricNode.MEMORY, 1, 3, 0));
            node.awaitError(3, FabricErrno.EFAULT);
            assertEquals(0, node.endpoint.messages().trecvmsg(0, 0, 1234, 1, 0, 4, Flags.PEEK));
            node.awaitError(4, FabricErrno.EINVAL);
            node.endpoint.close();
            assertEquals(-FabricErrno.EOPBADSTATE, node.peek(0, 0, 1, 1, 0));
            assertEquals(-FabricErrno.EOPBADSTATE, node.endpoint.messages().trecvmsg(
                0, 0, ANY, 1, 0, 1, Flags.DISCARD));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldTakeAPlaceAmongTheReceivesOnlyWhileItIsExecuted(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            long size = node.endpoint.rxSizeLeft();
            assertTrue(size > 0);
            // more than there are places, which are told before
            int rounds = setup.daemon ? (int) size + 200 : 3000;
            for (int i = 0; i < rounds; i++) {
                assertEquals(0, node.peek(0, 0, 1, i + 1, 0));
                node.awaitError(i + 1, FabricErrno.ENOMSG);
            }
            assertEquals(size, node.endpoint.rxSizeLeft());
        }
    }
}
