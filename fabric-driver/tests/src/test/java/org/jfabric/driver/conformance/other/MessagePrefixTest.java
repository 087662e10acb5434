package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.IntSupplier;
import java.util.function.ToIntFunction;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Counter;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.SendClaim;
import org.jfabric.SendRequest;
import org.jfabric.TriggeredContext;
import org.jfabric.driver.kit.DatagramPair;
import org.jfabric.driver.kit.DatagramSetup;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Buffers that begin with a prefix: it is neither sent nor written to, and entries of receives count it. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class MessagePrefixTest {
    private static final long ANY = -1L;
    private static final int PREFIX = 16;
    private static final int PAYLOAD = 100;
    private static final int LENGTH = PREFIX + PAYLOAD;
    private static final int RECEIVE = FabricNode.MEMORY / 2;
    private static final int UNTOUCHED = 99;

    private static Info hints(long caps) {
        Info hints = new Info().caps(caps | Flags.MSG).mode(Mode.MSG_PREFIX);
        hints.epAttr().msgPrefixSize(PREFIX);
        return hints;
    }

    private static FabricPair open(Setup setup) {
        return new FabricPair(setup, hints(Flags.TAGGED | Flags.SOURCE), 512);
    }

    /** A receive buffer, full of a pattern that no message has. */
    private static long buffer(FabricNode node) {
        node.fill(RECEIVE, 2 * LENGTH, UNTOUCHED);
        return node.memory.address(RECEIVE);
    }

    /** The prefix and what is behind the message are as they were. */
    private static void assertReceived(FabricNode node, FabricNode.Entry entry, int payload, int seed) {
        assertEquals(0, entry.err(), entry::toString);
        assertEquals(PREFIX + payload, entry.len(), entry::toString);
        node.assertFilled(RECEIVE, PREFIX, UNTOUCHED);
        node.assertFilled(RECEIVE + PREFIX, payload, seed);
        FabricNode.assertPattern(
            node.memory.buffer(), RECEIVE + PREFIX + payload, PREFIX, UNTOUCHED, PREFIX + payload);
    }

    /** The message of the pattern behind a prefix of another one. */
    private static long message(FabricNode node, int payload, int seed) {
        node.fill(0, PREFIX, seed + 1);
        node.fill(PREFIX, payload, seed);
        return node.memory.address();
    }

    private static IoVec pieces(FabricNode node, int offset, int... lengths) {
        IoVec pieces = new IoVec();
        int at = offset;
        for (int length : lengths) {
            pieces.add(node.memory.address(at), length);
            at += length;
        }
        return pieces;
    }

    private static DirectBuffer array(int payload, int seed) {
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[3 + PREFIX + payload]);
        bytes.putBytes(3 + PREFIX, FabricNode.pattern(seed, 0, payload));
        return bytes;
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"REF-008", "CQ-116"})
    void shouldTransferWhatIsBehindThePrefix(Setup setup) {
        try (FabricPair pair = open(setup)) {
            Endpoint from = pair.a.endpoint;
            assertEquals(PREFIX, from.msgPrefixSize());
            exchange(pair, 1, buf -> from.tsend(buf, LENGTH, pair.toB, 1, 1));
            exchange(pair, 2, buf -> from.messages().tsenddata(buf, LENGTH, 0xDA, pair.toB, 2, 2));
            exchange(pair, 3, buf -> from.messages().tsendmsg(buf, LENGTH, 0, pair.toB, 3, 3, Flags.INJECT));
            exchange(pair, 4, buf -> from.messages().tsendv(pieces(pair.a, 0, PREFIX, 30, 70), pair.toB, 4, 4));
            exchange(pair, 5, buf -> from.messages().tsendv(pieces(pair.a, 0, 50, 66), pair.toB, 5, 5));
            exchange(pair, 6, buf -> from.messages().tsendv(pieces(pair.a, 0, LENGTH), pair.toB, 6, 6));
            exchange(pair, 7, buf -> from.messages().tsendmsg(
                pieces(pair.a, 0, PREFIX, PAYLOAD), 0, pair.toB, 7, 7, Flags.INJECT));
            injected(pair, () -> from.tinject(array(PAYLOAD, 8), 3, LENGTH, pair.toB, 8), 8);
            injected(pair, () -> from.messages().tinjectdata(array(PAYLOAD, 9), 3, LENGTH, 5, pair.toB, 9), 9);
            long buf = message(pair.a, PAYLOAD, 10);
            assertEquals(0, pair.b.endpoint.recv(buffer(pair.b), 2 * LENGTH, ANY, 20));
            assertEquals(0, from.send(buf, LENGTH, pair.toB, 10));
            pair.a.await(10);
            assertReceived(pair.b, pair.b.await(20), PAYLOAD, 10);
        }
    }

    /** A receive into one piece, then one into several. */
    private static void exchange(FabricPair pair, int seed, ToIntFunction<Long> send) {
        for (boolean several : new boolean[] {false, true}) {
            long buffer = buffer(pair.b);
            assertEquals(0, several
                ? pair.b.endpoint.messages().trecvv(pieces(pair.b, RECEIVE, 24, LENGTH), ANY, seed, 0, seed)
                : pair.b.endpoint.trecv(buffer, 2 * LENGTH, ANY, seed, 0, seed));
            assertEquals(0, send.applyAsInt(message(pair.a, PAYLOAD, seed)));
            pair.a.await(seed);
            assertReceived(pair.b, pair.b.await(seed), PAYLOAD, seed);
        }
    }

    private static void injected(FabricPair pair, IntSupplier inject, int seed) {
        assertEquals(0, pair.b.endpoint.trecv(buffer(pair.b), 2 * LENGTH, ANY, seed, 0, seed));
        assertEquals(0, inject.getAsInt());
        assertReceived(pair.b, pair.b.await(seed), PAYLOAD, seed);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("REF-008")
    void shouldNotCountAgainstLimits(Setup setup) {
        try (FabricPair pair = open(setup)) {
            Info info = pair.a.info.copy();
            info.epAttr().maxMsgSize(1000);
            Endpoint from = pair.open(info);
            int longest = (int) from.maxMsgSize();
            assertEquals(1000, longest);
            int inject = Math.min(from.injectSize(), longest);
            for (int payload : new int[] {0, 1, inject, longest}) {
                assertEquals(0, pair.b.endpoint.trecv(buffer(pair.b), PREFIX + payload, ANY, 1, 0, 3));
                long buf = message(pair.a, payload, 3);
                assertEquals(0, from.tsend(buf, PREFIX + payload, pair.toB, 1, 2));
                pair.a.await(2);
                assertEquals(PREFIX + payload, pair.b.await(3).len());
                pair.b.assertFilled(RECEIVE + PREFIX, payload, 3);
            }
            long buf = pair.a.memory.address();
            assertEquals(-FabricErrno.EINVAL, from.tsend(buf, PREFIX + longest + 1, pair.toB, 1, 2));
            injected(pair, () -> from.tinject(array(PAYLOAD, 4), 3, LENGTH, pair.toB, 4), 4);
            DirectBuffer most = new UnsafeBuffer(new byte[PREFIX + from.injectSize() + 1]);
            assertEquals(-FabricErrno.EINVAL, from.tinject(most, 0, most.capacity(), pair.toB, 4));
            assertEquals(0, pair.b.endpoint.trecv(buffer(pair.b), PREFIX + inject, ANY, 5, 0, 5));
            assertEquals(0, from.tinject(most, 0, PREFIX + inject, pair.toB, 5));
            assertEquals(PREFIX + inject, pair.b.await(5).len());
            assertEquals(0, pair.b.endpoint.trecv(buffer(pair.b), PREFIX + inject, ANY, 6, 0, 6));
            assertEquals(0, from.messages().tsendmsg(buf, PREFIX + inject, 0, pair.toB, 6, 6, Flags.INJECT));
            pair.a.await(6);
            assertEquals(PREFIX + inject, pair.b.await(6).len());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldRefuseBuffersWithoutRoomForThePrefix(Setup setup) {
        try (FabricPair pair = open(setup)) {
            Endpoint endpoint = pair.a.endpoint;
            long buf = pair.a.memory.address();
            DirectBuffer source = new UnsafeBuffer(new byte[LENGTH]);
            int refused = -FabricErrno.EINVAL;
            assertEquals(refused, endpoint.tsend(buf, PREFIX - 1, pair.toB, 1, 1));
            assertEquals(refused, endpoint.send(buf, 0, pair.toB, 1));
            assertEquals(refused, endpoint.messages().tsendmsg(buf, PREFIX - 1, 0, pair.toB, 1, 1, Flags.INJECT));
            assertEquals(refused, endpoint.messages().tsendv(pieces(pair.a, 0, PREFIX - 1, 64), pair.toB, 1, 1));
            assertEquals(refused, endpoint.messages().tsendv(new IoVec(), pair.toB, 1, 1));
            assertEquals(refused, endpoint.messages().tsendv(null, pair.toB, 1, 1));
            assertEquals(refused, endpoint.tinject(source, 0, PREFIX - 1, pair.toB, 1));
            assertEquals(refused, endpoint.tinject(source, -PREFIX, LENGTH, pair.toB, 1));
            assertEquals(refused, endpoint.tinject(source, 1, LENGTH, pair.toB, 1));
            assertEquals(refused, endpoint.trecv(buf, PREFIX - 1, ANY, 1, 0, 1));
            assertEquals(refused, endpoint.recv(buf, 0, ANY, 1));
            assertEquals(refused, endpoint.messages().trecvv(pieces(pair.a, 0, PREFIX - 1, 64), ANY, 1, 0, 1));
            assertEquals(refused, endpoint.messages().trecvmsg(buf, PREFIX - 1, ANY, 1, 0, 1, Flags.PEEK));
            exchange(pair, 1, each -> endpoint.tsend(each, LENGTH, pair.toB, 1, 1));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CQ-116")
    void shouldCountThePrefixInErrorsOfMessages(Setup setup) {
        try (FabricPair pair = open(setup)) {
            long buffer = buffer(pair.b);
            assertEquals(0, pair.b.endpoint.trecv(buffer, PREFIX + 60, ANY, 1, 0, 2));
            assertEquals(0, pair.a.endpoint.tsend(message(pair.a, PAYLOAD, 5), LENGTH, pair.toB, 1, 1));
            pair.a.await(1);
            FabricNode.Entry entry = pair.b.await();
            assertEquals(FabricErrno.ETRUNC, entry.err());
            assertEquals(PREFIX + 60, entry.len());
            assertEquals(PAYLOAD - 60, entry.olen());
            pair.b.assertFilled(RECEIVE, PREFIX, UNTOUCHED);
            pair.b.assertFilled(RECEIVE + PREFIX, 60, 5);
            // no message, no length
            assertEquals(0, pair.b.endpoint.trecv(buffer, LENGTH, ANY, 2, 0, 3));
            assertEquals(0, pair.b.endpoint.cancel(3));
            entry = pair.b.await();
            assertEquals(FabricErrno.ECANCELED, entry.err());
            assertEquals(0, entry.len());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-008")
    void shouldTransferLongMessages(Setup setup) {
        try (FabricPair pair = open(setup)) {
            int payload = setup.heldLength() + 5;
            for (boolean expected : new boolean[] {true, false}) {
                long buf = message(pair.a, payload, 7);
                pair.b.fill(RECEIVE, PREFIX, UNTOUCHED);
                long into = pair.b.memory.address(RECEIVE);
                if (expected) {
                    assertEquals(0, pair.b.endpoint.trecv(into, PREFIX + payload, ANY, 1, 0, 2));
                }
                assertEquals(0, pair.a.endpoint.tsend(buf, PREFIX + payload, pair.toB, 1, 1));
                if (!expected) {
                    pair.b.assertQuiet(100);
                    assertEquals(0, pair.b.endpoint.trecv(into, PREFIX + payload, ANY, 1, 0, 2));
                }
                assertEquals(PREFIX + payload, pair.b.await(2).len());
                pair.a.await(1);
                pair.b.assertFilled(RECEIVE, PREFIX, UNTOUCHED);
                pair.b.assertFilled(RECEIVE + PREFIX, payload, 7);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-116", "REF-008", "TAG-058"})
    void shouldShowLengthsOfPeeksWithThePrefix(Setup setup) {
        setup.assumeDeliveryBeforeMatch();
        try (FabricPair pair = open(setup)) {
            assertEquals(0, pair.a.endpoint.tsend(message(pair.a, PAYLOAD, 5), LENGTH, pair.toB, 1, 1));
            pair.a.await(1);
            Endpoint to = pair.b.endpoint;
            FabricNode.Entry entry = peek(pair, 0, 0, Flags.PEEK);
            assertEquals(LENGTH, entry.len());
            assertEquals(0, entry.buf());
            long buffer = buffer(pair.b);
            entry = peek(pair, buffer, 2 * LENGTH, Flags.PEEK);
            assertEquals(LENGTH, entry.len());
            if (entry.buf() != 0) {
                assertEquals(buffer, entry.buf());
                assertReceived(pair.b, entry, PAYLOAD, 5);
            }
            entry = peek(pair, 0, 0, Flags.PEEK | Flags.CLAIM);
            assertEquals(LENGTH, entry.len());
            assertEquals(0, to.messages().trecvmsg(
                buffer(pair.b), 2 * LENGTH, ANY, 1, 0, entry.context(), Flags.CLAIM));
            assertReceived(pair.b, pair.b.await(entry.context()), PAYLOAD, 5);
        }
    }

    /** Peeks until the message is here. */
    private static FabricNode.Entry peek(FabricPair pair, long buf, long len, long flags) {
        long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
        for (long context = 100;; context++) {
            assertTrue(System.nanoTime() - deadline < 0, "no message");
            pair.pump();
            assertEquals(0, pair.b.endpoint.messages().trecvmsg(buf, len, ANY, 1, 0, context, flags));
            FabricNode.Entry entry = pair.b.await();
            if (entry.err() != FabricErrno.ENOMSG) {
                assertEquals(0, entry.err(), entry::toString);
                return entry;
            }
        }
    }

    /** Each message in a multi-receive buffer has a prefix of its own. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CQ-116")
    void shouldLeaveRoomForThePrefixOfEachMessageInABuffer(Setup setup) {
        try (FabricPair pair = new FabricPair(setup, hints(Flags.MULTI_RECV | Flags.SOURCE), 512)) {
            pair.b.fill(RECEIVE, 512, UNTOUCHED);
            Endpoint to = pair.b.endpoint;
            assertEquals(-FabricErrno.EINVAL,
                to.messages().recvmsg(pair.b.memory.address(RECEIVE), PREFIX - 1, ANY, 9, Flags.MULTI_RECV));
            // two messages fit, with the gap between them; behind them is room for a prefix and 23 bytes
            int second = 120;
            int length = second + LENGTH + PREFIX + 23;
            to.setopt(EndpointOption.MIN_MULTI_RECV, 1);
            assertEquals(0, to.messages().recvmsg(pair.b.memory.address(RECEIVE), length, ANY, 9, Flags.MULTI_RECV));
            for (int i = 0; i < 2; i++) {
                assertEquals(0, pair.a.endpoint.send(message(pair.a, PAYLOAD, i), LENGTH, pair.toB, 1));
                pair.a.await(1);
                FabricNode.Entry entry = pair.b.await(9);
                assertEquals(LENGTH, entry.len(), entry::toString);
                assertEquals(pair.b.memory.address(RECEIVE + (long) i * second), entry.buf(), entry::toString);
                FabricNode.assertPattern(
                    pair.b.memory.buffer(), RECEIVE + i * second, PREFIX, UNTOUCHED, i * second);
                pair.b.assertFilled(RECEIVE + i * second + PREFIX, PAYLOAD, i);
            }
            // one that does not fit ends the buffer, and goes to the next receive
            assertEquals(0, to.recv(buffer(pair.b), LENGTH, ANY, 10));
            assertEquals(0, pair.a.endpoint.send(message(pair.a, 24, 3), PREFIX + 24, pair.toB, 1));
            pair.a.await(1);
            assertEquals(Flags.MULTI_RECV, pair.b.await(9).flags());
            assertEquals(PREFIX + 24, pair.b.await(10).len());
        }
    }

    /** The wire knows nothing of prefixes: each side has its own, or none. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-008")
    void shouldTalkToPeersWithAnotherPrefix(Setup setup) {
        try (FabricPair pair = open(setup)) {
            FabricNode plain = pair.sibling(pair.a, new Info().caps(Flags.MSG | Flags.TAGGED), 0);
            assertEquals(0, plain.endpoint.msgPrefixSize());
            long toPlain = pair.b.av.insert(plain.endpoint.name());
            long toB = plain.av.insert(pair.b.endpoint.name());
            assertEquals(0, pair.b.endpoint.trecv(buffer(pair.b), LENGTH, ANY, 1, 0, 1));
            plain.fill(0, PAYLOAD, 6);
            assertEquals(0, plain.endpoint.tsend(plain.memory.address(), PAYLOAD, toB, 1, 2));
            plain.await(2);
            assertReceived(pair.b, pair.b.await(1), PAYLOAD, 6);
            assertEquals(0, plain.endpoint.trecv(plain.memory.address(), PAYLOAD, ANY, 2, 0, 3));
            assertEquals(0, pair.b.endpoint.tsend(message(pair.b, PAYLOAD, 7), LENGTH, toPlain, 2, 4));
            pair.b.await(4);
            assertEquals(PAYLOAD, plain.await(3).len());
            plain.assertFilled(0, PAYLOAD, 7);
        }
    }

    /** Memory of the driver has no prefix; one that waits for a counter has. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldSendClaimsWithoutAndTriggeredMessagesWithPrefix(Setup setup) {
        try (FabricPair pair = new FabricPair(setup, hints(Flags.TAGGED | Flags.TRIGGER), 512)) {
            SendClaim claim = new SendClaim();
            assertEquals(0, pair.b.endpoint.trecv(buffer(pair.b), 2 * LENGTH, ANY, 1, 0, 2));
            assertEquals(0, pair.a.endpoint.tryClaim(PAYLOAD, claim));
            claim.buffer().putBytes(0, FabricNode.pattern(4, 0, PAYLOAD));
            assertEquals(0, claim.commit(PAYLOAD, pair.toB, 1, 1));
            pair.a.await(1);
            assertReceived(pair.b, pair.b.await(2), PAYLOAD, 4);
            try (Counter counter = pair.a.domain.openCounter(new CounterAttr())) {
                assertEquals(0, pair.b.endpoint.trecv(buffer(pair.b), 2 * LENGTH, ANY, 2, 0, 4));
                SendRequest request = new SendRequest().memory(message(pair.a, PAYLOAD, 5), LENGTH)
                    .destAddr(pair.toB).tag(2).opContext(3).trigger(new TriggeredContext().threshold(counter, 0));
                assertEquals(0, pair.a.endpoint.messages().tsendmsg(request));
                pair.a.await(3);
                assertReceived(pair.b, pair.b.await(4), PAYLOAD, 5);
                request.memory(pair.a.memory.address(), PREFIX - 1);
                assertEquals(-FabricErrno.EINVAL, pair.a.endpoint.messages().tsendmsg(request));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldBeGrantedWithALengthOnly(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info hints = hints(Flags.TAGGED).mode(Mode.MSG_PREFIX | Mode.CONTEXT);
            for (Info match : pair.a.fabric.info(hints).matches()) {
                assertEquals(Mode.MSG_PREFIX, match.mode());
                assertEquals(Mode.MSG_PREFIX, match.txAttr().mode());
                assertEquals(Mode.MSG_PREFIX, match.rxAttr().mode());
                assertEquals(PREFIX, match.epAttr().msgPrefixSize());
            }
            for (long size : new long[] {4, 4104, -8, Long.MIN_VALUE}) {
                Info refused = hints.copy();
                refused.epAttr().msgPrefixSize(size);
                assertRefused(pair, refused);
            }
            assertRefused(pair, hints.copy().mode(Mode.CONTEXT));
            assertRefused(pair, hints.copy().mode(Mode.MSG_PREFIX | Mode.BUFFERED_RECV));
            Info shared = hints.copy();
            shared.epAttr().rxCtxCnt(FabricAddress.SHARED_CONTEXT);
            assertRefused(pair, shared);
            Info oneDirection = hints.copy();
            oneDirection.rxAttr().mode(Mode.CONTEXT);
            assertRefused(pair, oneDirection);
            hints.epAttr().msgPrefixSize(0);
            assertEquals(0, pair.a.fabric.info(hints).best().mode());
        }
    }

    private static void assertRefused(FabricPair pair, Info hints) {
        Info asked = hints.copy().linkName(pair.setup.link);
        assertEquals(FabricErrno.ENODATA, assertThrows(
            FabricException.class, () -> pair.a.fabric.info(asked).best()).errno());
        assertTrue(pair.a.fabric.info(asked).explain().contains("ep_attr.msg_prefix_size"));
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(DatagramSetup.class)
    @Requirement({"REF-008", "CQ-116"})
    void shouldTransferDatagramsBehindThePrefix(DatagramSetup setup) {
        Info hints = DatagramPair.hints().mode(Mode.MSG_PREFIX);
        hints.epAttr().msgPrefixSize(PREFIX);
        try (DatagramPair pair = new DatagramPair(setup, hints)) {
            int longest = (int) pair.a.endpoint.maxMsgSize();
            for (int payload : new int[] {0, PAYLOAD, longest}) {
                pair.b.fill(RECEIVE, PREFIX, UNTOUCHED);
                assertEquals(0, pair.b.endpoint.recv(pair.b.memory.address(RECEIVE), PREFIX + payload, ANY, 1));
                // the driver has taken the receive before the datagram comes
                pair.b.awaitRead(1);
                long buf = message(pair.a, payload, 5);
                assertEquals(0, pair.a.endpoint.send(buf, PREFIX + payload, pair.toB, 2));
                pair.a.await(2);
                assertEquals(PREFIX + payload, pair.b.await(1).len());
                pair.b.assertFilled(RECEIVE, PREFIX, UNTOUCHED);
                pair.b.assertFilled(RECEIVE + PREFIX, payload, 5);
            }
            assertEquals(-FabricErrno.EINVAL,
                pair.a.endpoint.send(pair.a.memory.address(), PREFIX + longest + 1, pair.toB, 2));
        }
    }
}
