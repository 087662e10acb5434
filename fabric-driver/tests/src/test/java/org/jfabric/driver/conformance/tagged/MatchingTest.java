package org.jfabric.driver.conformance.tagged;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.PeekNode;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.TagFormat;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Who matches whom: sources that become known, orders of posting, lengths of zero, formats of tags, cancels. */
@Tag("conformance")
@Tag("link")
@Timeout(180)
@SeveralLinks
class MatchingTest {
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    private static final int PLACE = 1 << 20;
    private static final int SMALL = 100;
    private static final int LARGE = 200_000;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-013", "TAG-014"})
    void shouldMatchADirectedReceiveWithAMessageThatIsOlderThanItsSendersPlace(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            for (int length : new int[] {SMALL, LARGE}) {
                node.vector.remove(node.source);
                node.send(true, 5, length, 1);
                assertEquals(FabricAddress.ADDR_NOTAVAIL, node.find(5).source());
                // while it is unknown, only a receive of any source takes it (AMB-54)
                long self = node.vector.insert(node.endpoint.name());
                assertEquals(0, node.endpoint.messages().trecvmsg(0, 0, self, 5, 0, 2, Flags.PEEK));
                node.awaitError(2, FabricErrno.ENOMSG);
                long source = node.vector.insert(pair.a.endpoint.name());
                assertEquals(0, node.endpoint.messages().trecvmsg(0, 0, source, 5, 0, 2, Flags.PEEK));
                assertEquals(source, node.await(2).source());
                assertEquals(0, node.endpoint.trecv(node.place(PLACE, length), length, source, 5, 0, 3));
                PeekNode.Entry received = node.await(3);
                assertEquals(source, received.source());
                pair.b.assertFilled(PLACE, length, 1);
                pair.a.await(PeekNode.SENT);
                node.vector.remove(self);
                node.vector.remove(source);
                assertEquals(node.source, node.vector.insert(pair.a.endpoint.name()));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-004", "TAG-032", "REF-039"})
    void shouldKeepOneOrderOfPostingForEachFamily(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            for (int i = 0; i < 8; i++) {
                long buf = pair.b.memory.address(PLACE + i * SMALL);
                // exact, directed and wildcard receives in turn; untagged ones between them
                assertEquals(0, node.endpoint.trecv(
                    buf, SMALL, i % 3 == 1 ? node.source : ANY, i % 3 == 2 ? 0 : 5, i % 3 == 2 ? -1 : 0, 10 + i));
                assertEquals(0, node.endpoint.recv(buf, SMALL, i % 2 == 0 ? ANY : node.source, 20 + i));
            }
            // a daemon that is late takes messages in the step in which it reads the first receive
            pair.b.awaitRead(16);
            for (int i = 7; i >= 0; i--) {
                node.send(false, 0, 8, 100 + i);
            }
            for (int i = 0; i < 8; i++) {
                node.send(true, 5, 8, i);
            }
            for (int i = 0; i < 8; i++) {
                PeekNode.Entry entry = node.await(20 + i);
                assertEquals(107 - i, entry.data());
            }
            for (int i = 0; i < 8; i++) {
                assertEquals(i, node.await(10 + i).data());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"TAG-036", "TAG-035", "CQ-122"})
    void shouldMatchWithABufferOfNoBytes(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            for (boolean posted : new boolean[] {true, false}) {
                for (int length : new int[] {0, 60, LARGE}) {
                    if (posted) {
                        assertEquals(0, node.endpoint.trecv(0, 0, ANY, 5, 0, 1));
                    }
                    node.send(true, 5, length, 9);
                    if (!posted) {
                        node.find(5);
                        assertEquals(0, node.endpoint.trecv(0, 0, ANY, 5, 0, 1));
                    }
                    PeekNode.Entry entry = length == 0 ? node.await(1) : node.awaitError(1, FabricErrno.ETRUNC);
                    assertEquals(0, entry.len());
                    assertEquals(length, entry.olen());
                    assertEquals(5, entry.tag());
                    assertEquals(9, entry.data());
                    pair.a.await(PeekNode.SENT);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-145", "EP-147", "EP-149"})
    void shouldGrantTheFieldsOfTagsThatAreAskedFor(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            assertEquals(FabricAddress.TAG_FORMAT_GENERIC, pair.a.info.epAttr().memTagFormat());
            for (long format : new long[] {0x30FF, 1, -1L, 0xFF00_FF00_FF00_FF00L, FabricAddress.TAG_FORMAT_GENERIC}) {
                Info hints = new Info().caps(Flags.TAGGED);
                hints.epAttr().memTagFormat(format);
                List<Info> offers = pair.a.fabric.info(hints).matches();
                assertFalse(offers.isEmpty());
                for (Info offer : offers) {
                    assertTrue(new TagFormat(offer.epAttr().memTagFormat()).holds(new TagFormat(format)));
                }
            }
            // a mask that cuts a field in two is as good as any other
            try (PeekNode node = new PeekNode(pair)) {
                assertEquals(0, node.endpoint.trecv(pair.b.memory.address(PLACE), SMALL, ANY, 0x2101, 0x1000, 1));
                node.send(0x3101, 8, 1);
                assertEquals(0x3101, node.await(1).tag());
            }
        }
    }

    /** Bits beyond the format come as they were sent: a receiver masks them, whatever the entry is. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-148")
    void shouldReportTagsThatHaveTheFieldsOfTheFormatWithinItsMask(Setup setup) {
        long format = 0x30FF;
        Info hints = new Info().caps(Flags.TAGGED);
        hints.epAttr().memTagFormat(format);
        try (FabricPair pair = new FabricPair(setup, hints, 64); PeekNode node = new PeekNode(pair)) {
            TagFormat fields = new TagFormat(pair.b.info.epAttr().memTagFormat());
            assertTrue(fields.holds(new TagFormat(format)));
            long mask = new TagFormat(format).mask();
            long buf = pair.b.memory.address(PLACE);
            for (long beyond : new long[] {0, 0x4000, Long.MIN_VALUE, ~mask}) {
                long tag = 0x21C5 | beyond;
                assertEquals(0, node.endpoint.trecv(buf, SMALL, ANY, 0x21C5, ~mask, 1));
                node.send(tag, SMALL, 1);
                PeekNode.Entry entry = node.await(1);
                assertEquals(0x21C5, entry.tag() & mask);
                assertEquals(tag, entry.tag(), "every bit of a tag is carried here");
                assertEquals(0, node.endpoint.trecv(buf, SMALL - 1, ANY, 0x21C5, ~mask, 2));
                node.send(tag, SMALL, 1);
                assertEquals(0x21C5, node.awaitError(2, FabricErrno.ETRUNC).tag() & mask);
                node.send(tag, SMALL, 1);
                assertEquals(0x21C5, node.find(tag).tag() & mask);
                assertEquals(0, node.endpoint.trecv(buf, SMALL, ANY, 0x21C5, ~mask, 3));
                assertEquals(0x21C5, node.await(3).tag() & mask);
                // a tag of other fields is another one, whatever is beyond them
                assertEquals(0, node.endpoint.trecv(buf, SMALL, ANY, 0x21C5, ~mask, 4));
                node.send(0x21C4 | beyond, SMALL, 1);
                node.assertQuiet(10);
                assertEquals(0x21C4, node.find(0x21C4 | beyond).tag() & mask);
                assertEquals(0, node.endpoint.cancel(4));
                node.awaitError(4, FabricErrno.ECANCELED);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-066", "EP-068", "EP-070"})
    void shouldCancelReceivesOfEveryKind(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            long buf = pair.b.memory.address(PLACE);
            assertEquals(0, node.endpoint.trecv(buf, SMALL, ANY, 5, 0, 1));
            assertEquals(0, node.endpoint.trecv(buf, SMALL, node.source, 5, 0, 2));
            assertEquals(0, node.endpoint.trecv(buf, SMALL, ANY, 0, -1, 3));
            assertEquals(0, node.endpoint.trecv(buf, SMALL, node.source, 0, -1, 4));
            assertEquals(0, node.endpoint.recv(buf, SMALL, ANY, 6));
            assertEquals(0, node.endpoint.recv(buf, SMALL, node.source, 7));
            for (int context : new int[] {3, 7, 1, 4, 6, 2}) {
                assertEquals(0, node.endpoint.cancel(context));
                node.awaitError(context, FabricErrno.ECANCELED);
                assertEquals(0, node.endpoint.cancel(context));
            }
            node.assertQuiet(20);
            node.send(5, SMALL, 1);
            assertEquals(SMALL, node.find(5).len());
            // one that has completed keeps its entry, and what has no context is not found
            // a cancel does not overtake the receive that it is posted after
            assertEquals(0, node.endpoint.trecv(buf, SMALL, ANY, 5, 0, 8));
            assertEquals(0, node.endpoint.cancel(8));
            assertEquals(0, node.endpoint.trecv(buf, SMALL, ANY, 9, 0, 0));
            assertEquals(0, node.endpoint.cancel(0));
            node.await(8);
            node.assertQuiet(20);
        }
    }

    /** Sends that wait behind what the peer has not granted can be cancelled; what was announced has begun. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-064", "EP-065"})
    void shouldCancelASendThatHasNotBegun(Setup setup) {
        setup.assumeSendsWait();
        try (FabricPair pair = new FabricPair(setup); PeekNode node = new PeekNode(pair)) {
            int count = 0;
            // over tcp they wait behind the first one, which has begun
            int first = setup.isForeign() ? setup.heldLength() : LARGE;
            while (count < 100 && pair.a.endpoint.messages().tsendmsg(
                pair.a.memory.address(0), count == 0 ? first : LARGE, count, node.address, 5, 1000 + count,
                Flags.REMOTE_CQ_DATA | setup.heldFlags()) == 0) {
                count++;
            }
            assertTrue(count > 70, "the announcement limit is 64, posted " + count);
            int last = 1000 + count - 1;
            node.find(5);
            pair.a.assertQuiet(20);
            assertEquals(0, pair.a.endpoint.cancel(1000));
            assertEquals(0, pair.a.endpoint.cancel(last));
            FabricNode.Entry cancelled = pair.a.await();
            assertEquals(FabricErrno.ECANCELED, cancelled.err());
            assertEquals(last, cancelled.context());
            List<Long> received = new ArrayList<>();
            for (int i = 0; i < count - 1; i++) {
                assertEquals(0, node.endpoint.trecv(pair.b.memory.address(PLACE), first, ANY, 5, 0, 1));
                received.add(node.await(1).data());
                pair.a.await();
            }
            for (int i = 0; i < count - 1; i++) {
                assertEquals(i, (long) received.get(i));
            }
            assertEquals(0, node.peek(0, 0, 5, 2, 0));
            node.awaitError(2, FabricErrno.ENOMSG);
        }
    }
}
