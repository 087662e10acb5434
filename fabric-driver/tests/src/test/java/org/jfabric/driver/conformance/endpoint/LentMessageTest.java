package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.agrona.DirectBuffer;
import org.jfabric.MemoryRegion;
import org.jfabric.RecvContext;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Messages that the receiver reads in their senders' memory. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
@SeveralLinks
class LentMessageTest {
    private static final long ANY = -1L;
    private static final long TAG = 0x1E47;
    /** Default of {@code jfabric.engine.announcementLimit}. */
    private static final int ANNOUNCEMENT_LIMIT = 64;
    private static final int[] LENGTHS = {1, 64, 5000, 100_000, 1 << 20};

    private static FabricPair open(Setup setup) {
        return BufferedReceiveTest.open(setup);
    }

    /** Whether messages of this setup can be read where they lie. */
    private static boolean lends(Setup setup) {
        return !setup.isForeign();
    }

    private static void lend(FabricPair pair, boolean tagged, long offset, int length, int context) {
        long address = pair.a.memory.address(offset);
        assertEquals(0, tagged ? pair.a.endpoint.messages().tsendLent(address, length, pair.toB, TAG, context)
            : pair.a.endpoint.messages().sendLent(address, length, pair.toB, context));
    }

    private static void post(FabricPair pair, boolean tagged, long context) {
        if (tagged) {
            assertEquals(0, pair.b.endpoint.trecv(0, 0, ANY, TAG, 0, context));
        }
    }

    private static RecvContext awaitMessage(FabricPair pair) {
        FabricNode.Entry entry = pair.b.await();
        assertEquals(0, entry.err(), entry::toString);
        RecvContext message = pair.b.cq.recvContext(entry.context());
        assertNotNull(message, entry::toString);
        return message;
    }

    private static void assertShows(DirectBuffer buffer, int length, int seed) {
        assertEquals(length, buffer.capacity());
        FabricNode.assertPattern(buffer, 0, length, seed, 0);
    }

    /** What cannot be lent is a buffered message like any other. */
    private static void receiveAnyhow(FabricPair pair, RecvContext message, int length, int seed) {
        if (message.isWhole()) {
            assertShows(message.buffer(), length, seed);
            assertEquals(0, message.release());
            return;
        }
        message.context(77);
        long kind = message.flags() & Flags.TAGGED;
        long buf = pair.b.memory.address(0);
        assertEquals(0, kind != 0 ? pair.b.endpoint.messages().trecvmsg(
            buf, length, ANY, 0, 0, message.id(), Flags.CLAIM)
            : pair.b.endpoint.messages().recvmsg(buf, length, ANY, message.id(), Flags.CLAIM));
        assertEquals(length, pair.b.await(77).len());
        pair.b.assertFilled(0, length, seed);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldShowTheBytesWhereTheyLieUntilTheyAreGivenBack(Setup setup) {
        try (FabricPair pair = open(setup)) {
            int seed = 0;
            for (boolean tagged : new boolean[] {false, true}) {
                for (int length : LENGTHS) {
                    seed++;
                    pair.a.fill(64, length, seed);
                    post(pair, tagged, 5);
                    lend(pair, tagged, 64, length, seed);
                    RecvContext message = awaitMessage(pair);
                    assertEquals(length, message.messageLength());
                    assertEquals(tagged ? TAG : 0, message.tag());
                    assertEquals(pair.toA, message.source());
                    assertEquals(lends(setup), message.isLent());
                    if (!lends(setup)) {
                        receiveAnyhow(pair, message, length, seed);
                        pair.a.await(seed);
                        continue;
                    }
                    assertEquals(
                        Flags.RECV | Flags.LENT | (tagged ? Flags.TAGGED : Flags.MSG), message.flags());
                    assertTrue(message.isWhole());
                    assertShows(message.buffer(), length, seed);
                    // these are the sender's own bytes
                    pair.a.memory.buffer().putByte(64, (byte) (FabricNode.pattern(seed, 0) + 1));
                    assertEquals((byte) (FabricNode.pattern(seed, 0) + 1), message.buffer().getByte(0));
                    DirectBuffer buffer = message.buffer();
                    message.retain();
                    pair.b.assertQuiet(5);
                    pair.a.assertQuiet(5);
                    assertTrue(message.isOpen());
                    assertEquals(0, message.release());
                    assertFalse(message.isLent());
                    assertEquals(0, buffer.capacity());
                    pair.a.await(seed);
                }
            }
            pair.a.assertQuiet(20);
            pair.b.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldGiveTheBytesBackWithTheNextReadingCall(Setup setup) {
        try (FabricPair pair = open(setup)) {
            for (int i = 0; i < 40; i++) {
                pair.a.fill(0, 100, i);
                lend(pair, false, 0, 100, i);
                RecvContext message = awaitMessage(pair);
                assertShows(message.buffer(), 100, i);
                assertNull(pair.b.poll());
                assertFalse(message.isOpen());
                pair.a.await(i);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldKeepTheOrderAmongOtherMessages(Setup setup) {
        SplittableRandom random = new SplittableRandom(setup.ordinal());
        try (FabricPair pair = open(setup)) {
            for (int round = 0; round < 20; round++) {
                List<Integer> lengths = new ArrayList<>();
                for (int i = 0; i < 12; i++) {
                    int length = random.nextInt(4) == 0 ? 1 + random.nextInt(60_000) : 1 + random.nextInt(200);
                    lengths.add(length);
                    long offset = (long) i << 16;
                    pair.a.fill(offset, length, i);
                    if (random.nextBoolean()) {
                        lend(pair, false, offset, length, i);
                    } else {
                        assertEquals(
                            0, pair.a.endpoint.send(pair.a.memory.address(offset), length, pair.toB, i));
                    }
                }
                List<RecvContext> messages = new ArrayList<>();
                for (int i = 0; i < 12; i++) {
                    RecvContext message = awaitMessage(pair);
                    assertEquals((int) lengths.get(i), message.messageLength(), "message " + i);
                    message.retain();
                    messages.add(message);
                }
                for (int i = 0; i < 12; i++) {
                    receiveAnyhow(pair, messages.get(i), lengths.get(i), i);
                }
                boolean[] ended = new boolean[12];
                for (int i = 0; i < 12; i++) {
                    FabricNode.Entry entry = pair.a.await();
                    assertEquals(0, entry.err(), entry::toString);
                    assertFalse(ended[(int) entry.context()], entry::toString);
                    ended[(int) entry.context()] = true;
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldClaimOrDropALentMessage(Setup setup) {
        setup.assumeAnnouncements();
        try (FabricPair pair = open(setup)) {
            for (boolean tagged : new boolean[] {false, true}) {
                for (int length : LENGTHS) {
                    pair.a.fill(0, length, length);
                    post(pair, tagged, 5);
                    lend(pair, tagged, 0, length, 1);
                    RecvContext message = awaitMessage(pair);
                    message.context(9);
                    assertEquals(0, claim(pair, tagged, length, message.id(), Flags.CLAIM));
                    assertFalse(message.isOpen());
                    FabricNode.Entry entry = pair.b.await(9);
                    assertEquals(length, entry.len());
                    assertNotEquals(0, entry.flags() & Flags.CLAIM);
                    pair.b.assertFilled(0, length, length);
                    pair.a.await(1);
                    post(pair, tagged, 5);
                    lend(pair, tagged, 0, length, 2);
                    message = awaitMessage(pair);
                    message.context(10);
                    assertEquals(0, claim(pair, tagged, 0, message.id(), Flags.DISCARD));
                    assertEquals(length, pair.b.await(10).len());
                    pair.a.await(2);
                }
            }
        }
    }

    /** In an embedded driver both have the same fabric. */
    private static void end(FabricNode node) {
        node.endpoint.close();
    }

    private static int claim(FabricPair pair, boolean tagged, int length, long id, long flags) {
        long buf = length == 0 ? 0 : pair.b.memory.address(0);
        return tagged ? pair.b.endpoint.messages().trecvmsg(buf, length, ANY, 0, 0, id, flags)
            : pair.b.endpoint.messages().recvmsg(buf, length, ANY, id, flags);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldLeaveLentBytesReadableWhenTheSenderIsGone(Setup setup) {
        setup.assumeAnnouncements();
        try (FabricPair pair = open(setup)) {
            pair.a.fill(0, 100_000, 6);
            for (int i = 0; i < 2; i++) {
                lend(pair, false, 0, 100_000, i);
            }
            RecvContext kept = awaitMessage(pair);
            kept.retain();
            RecvContext claimed = awaitMessage(pair);
            claimed.retain();
            end(pair.a);
            // the loss of the peer is seen before the claim
            Deadline.awaitParked("an error of a send", () -> {
                assertEquals(0, pair.b.endpoint.send(pair.b.memory.address(0), 8, pair.toA, 20));
                return pair.b.await().err() != 0;
            });
            assertShows(kept.buffer(), 100_000, 6);
            assertEquals(0, kept.release());
            claimed.context(8);
            assertEquals(0, claim(pair, false, 100_000, claimed.id(), Flags.CLAIM));
            FabricNode.Entry entry = pair.b.await();
            assertNotEquals(0, entry.err(), entry::toString);
            assertEquals(8, entry.context());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldReturnEverythingWhenTheReceiverIsGone(Setup setup) {
        setup.assumeAnnouncements();
        try (FabricPair pair = open(setup)) {
            for (int i = 0; i < 3; i++) {
                lend(pair, false, 0, 100_000, i);
                awaitMessage(pair).retain();
            }
            pair.a.assertQuiet(5);
            end(pair.b);
            boolean[] ended = new boolean[3];
            for (int i = 0; i < 3; i++) {
                FabricNode.Entry entry = pair.a.await();
                assertNotEquals(0, entry.err(), entry::toString);
                assertFalse(ended[(int) entry.context()]);
                ended[(int) entry.context()] = true;
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldLendNoMoreOfARegionThatIsClosedAndLeaveWhatIsLent(Setup setup) {
        setup.assumeAnnouncements();
        try (FabricPair pair = open(setup)) {
            MemoryRegion region = pair.a.domain.allocate(1 << 16);
            for (int i = 0; i < 1 << 16; i++) {
                region.buffer().putByte(i, FabricNode.pattern(4, i));
            }
            assertEquals(0, pair.a.endpoint.messages().sendLent(region.address(0), 1 << 16, pair.toB, 1));
            RecvContext message = awaitMessage(pair);
            message.retain();
            long address = region.address(0);
            region.close();
            assertShows(message.buffer(), 1 << 16, 4);
            assertEquals(0, pair.a.endpoint.messages().sendLent(address, 1 << 16, pair.toB, 2));
            FabricNode.Entry entry = pair.a.await();
            assertEquals(FabricErrno.EFAULT, entry.err(), entry::toString);
            assertEquals(0, message.release());
            pair.a.await(1);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldCopyWhatAnOrdinaryReceiveTakes(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (int length : LENGTHS) {
                pair.a.fill(0, length, length);
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(0), length, ANY, TAG, 0, 3));
                lend(pair, true, 0, length, 4);
                FabricNode.Entry entry = pair.b.await(3);
                assertEquals(Flags.RECV | Flags.TAGGED, entry.flags());
                assertEquals(length, entry.len());
                pair.b.assertFilled(0, length, length);
                pair.a.await(4);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldHoldTheSenderBackWhileTooManyMessagesAreNotGivenBack(Setup setup) {
        setup.assumeAnnouncements();
        try (FabricPair pair = open(setup)) {
            int beyond = 20;
            pair.a.fill(0, 9000, 2);
            for (int i = 0; i < ANNOUNCEMENT_LIMIT + beyond; i++) {
                lend(pair, false, 0, 9000, i);
            }
            List<RecvContext> kept = new ArrayList<>();
            for (int i = 0; i < ANNOUNCEMENT_LIMIT; i++) {
                kept.add(awaitMessage(pair));
                kept.get(i).retain();
            }
            pair.b.assertQuiet(20);
            pair.a.assertQuiet(20);
            for (int i = 0; i < beyond; i++) {
                assertEquals(0, kept.get(i).release());
                RecvContext next = awaitMessage(pair);
                assertTrue(next.isLent());
                assertEquals(Flags.RECV | Flags.MSG | Flags.LENT, next.flags());
                assertShows(next.buffer(), 9000, 2);
                next.retain();
                kept.add(next);
                pair.a.await(i);
            }
        }
    }
}
