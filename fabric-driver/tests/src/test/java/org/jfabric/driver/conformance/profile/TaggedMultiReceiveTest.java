package org.jfabric.driver.conformance.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.TagFormat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** One buffer for many tagged messages, which API version 1.18 forbids. */
@Tag("conformance")
@Tag("link")
@SeveralLinks
@Timeout(120)
class TaggedMultiReceiveTest {
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    private static final int RECEIVE = FabricNode.MEMORY / 2;
    private static final long TAGGED = Flags.RECV | Flags.TAGGED;
    private static final long CAPS = Flags.MSG | Flags.TAGGED | Flags.SOURCE | Flags.DIRECTED_RECV;
    private static final int BUFFER = 1;

    private static FabricPair open(Setup setup, long caps, int cqSize) {
        Info hints = new Info().caps(caps);
        hints.fabricAttr().apiVersion(FabricAttr.VERSION_2);
        return new FabricPair(setup, hints, cqSize);
    }

    private static FabricPair open(Setup setup) {
        return open(setup, CAPS | Flags.TAGGED_MULTI_RECV, 512);
    }

    /** Posts a buffer for tags that differ in the bits of a mask. */
    private static void post(FabricPair pair, int offset, int length, long tag, long ignore, long context) {
        assertEquals(0, pair.b.endpoint.messages().trecvmsg(
            pair.b.memory.address(RECEIVE + offset), length, ANY, tag, ignore, context, Flags.MULTI_RECV));
    }

    private static void send(FabricPair pair, int length, long tag, int seed) {
        pair.a.fill(0, length, seed);
        assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(0), length, pair.toB, tag, seed));
        pair.a.await(seed);
    }

    private static void assertMessage(FabricPair pair, int offset, int length, long tag, int seed) {
        FabricNode.Entry entry = pair.b.await(BUFFER);
        assertEquals(TAGGED, entry.flags(), () -> "" + entry);
        assertEquals(length, entry.len(), () -> "" + entry);
        assertEquals(tag, entry.tag(), () -> "" + entry);
        assertEquals(pair.toA, entry.source(), () -> "" + entry);
        assertEquals(pair.b.memory.address(RECEIVE + offset), entry.buf(), () -> "" + entry);
        pair.b.assertFilled(RECEIVE + offset, length, seed);
    }

    private static void assertReleased(FabricPair pair, long context, int err) {
        FabricNode.Entry entry = pair.b.await();
        assertEquals(err, entry.err(), () -> "" + entry);
        assertEquals(context, entry.context(), () -> "" + entry);
        assertEquals(Flags.MULTI_RECV, entry.flags(), () -> "" + entry);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldPackMessagesWithMatchingTagsIntoOneBuffer(Setup setup) {
        try (FabricPair pair = open(setup)) {
            pair.b.endpoint.setopt(EndpointOption.MIN_MULTI_RECV, 100);
            // two that are here already, of which one does not match
            send(pair, 40, 0x1234, 1);
            send(pair, 24, 0x9999, 2);
            post(pair, 0, 4096, 0x1200, 0xff, BUFFER);
            assertMessage(pair, 0, 40, 0x1234, 1);
            send(pair, 13, 0x12ff, 3);
            assertMessage(pair, 40, 13, 0x12ff, 3);
            // the other one goes to a receive of its own, which is posted behind the buffer
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(0), 64, ANY, 0x9999, 0, 7));
            assertEquals(24, pair.b.await(7).len());
            send(pair, 3900, 0x1200, 4);
            assertMessage(pair, 56, 3900, 0x1200, 4);
            // 136 bytes are left; one that does not fit ends the buffer and waits for the next
            send(pair, 137, 0x1201, 5);
            assertReleased(pair, BUFFER, 0);
            pair.b.assertQuiet(20);
            post(pair, 8192, 300, 0x1201, 0, BUFFER);
            assertMessage(pair, 8192, 137, 0x1201, 5);
            // less than the minimum is left now
            send(pair, 100, 0x1201, 6);
            assertMessage(pair, 8192 + 144, 100, 0x1201, 6);
            assertReleased(pair, BUFFER, 0);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldKeepTheOrderOfBuffersAndReceives(Setup setup) {
        try (FabricPair pair = open(setup, CAPS | Flags.MULTI_RECV | Flags.TAGGED_MULTI_RECV, 512)) {
            // the oldest that accepts a message gets it, and untagged ones have a buffer of their own
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(0), 64, ANY, 5, 0, 11));
            post(pair, 0, 1024, 5, 0, BUFFER);
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(64), 64, ANY, 5, 0, 12));
            assertEquals(0, pair.b.endpoint.messages().recvmsg(
                pair.b.memory.address(RECEIVE + 4096), 1024, ANY, 13, Flags.MULTI_RECV));
            send(pair, 8, 5, 1);
            pair.b.await(11);
            for (int i = 0; i < 3; i++) {
                send(pair, 16, 5, 20 + i);
                assertMessage(pair, 16 * i, 16, 5, 20 + i);
                pair.a.fill(0, 16, 30 + i);
                assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), 16, pair.toB, 2));
                pair.a.await(2);
                FabricNode.Entry entry = pair.b.await(13);
                assertEquals(Flags.RECV | Flags.MSG, entry.flags());
                assertEquals(pair.b.memory.address(RECEIVE + 4096 + 16 * i), entry.buf());
            }
            assertEquals(0, pair.b.endpoint.cancel(BUFFER));
            assertReleased(pair, BUFFER, FabricErrno.ECANCELED);
            send(pair, 8, 5, 3);
            pair.b.await(12);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldTakeLongMessagesAndCutThoseThatAreLongerThanTheBuffer(Setup setup) {
        int length = 200_000;
        try (FabricPair pair = open(setup)) {
            post(pair, 0, 3 * length, 7, 0, BUFFER);
            pair.a.fill(0, length, 9);
            for (int i = 0; i < 3; i++) {
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), length, pair.toB, 7, 1));
            }
            for (int i = 0; i < 3; i++) {
                assertMessage(pair, i * length, length, 7, 9);
                pair.a.await(1);
            }
            assertReleased(pair, BUFFER, 0);
            post(pair, 0, 64, 8, 0, BUFFER);
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 65, pair.toB, 8, 1));
            FabricNode.Entry cut = pair.b.await();
            assertEquals(FabricErrno.ETRUNC, cut.err());
            assertEquals(64, cut.len());
            assertEquals(1, cut.olen());
            assertReleased(pair, BUFFER, 0);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldHoldMessagesBackWhileTheQueueIsFull(Setup setup) {
        int messages = 300;
        try (FabricPair pair = open(setup, CAPS | Flags.TAGGED_MULTI_RECV, 16)) {
            // less than the minimum of 64 bytes is left behind the last one
            post(pair, 0, 8 * messages + 63, 3, 0, BUFFER);
            int ended = 0;
            int begun = 0;
            int received = 0;
            // the receiver reads nothing until the sends are held back or done
            while (begun < messages) {
                int result = pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 3, begun);
                begun += result == 0 ? 1 : 0;
                FabricNode.Entry entry = pair.a.poll();
                if (entry != null) {
                    assertEquals(0, entry.err());
                    ended++;
                } else if (result != 0) {
                    received += take(pair, received);
                }
            }
            while (received < messages) {
                received += take(pair, received);
                ended += pair.a.poll() == null ? 0 : 1;
            }
            while (ended < messages) {
                pair.a.await();
                ended++;
            }
            assertReleased(pair, BUFFER, 0);
            pair.b.assertQuiet(20);
        }
    }

    /** Reads one entry of the buffer, if there is one: its place shows that none is missing. */
    private static int take(FabricPair pair, int received) {
        FabricNode.Entry entry = pair.b.poll();
        if (entry == null) {
            Thread.yield();
            return 0;
        }
        assertEquals(TAGGED, entry.flags(), () -> "" + entry);
        assertEquals(pair.b.memory.address(RECEIVE + 8 * received), entry.buf(), () -> "" + entry);
        return 1;
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldRefuseSuchBuffersWithoutTheCapability(Setup setup) {
        try (FabricPair pair = open(setup, CAPS | Flags.MULTI_RECV, 64)) {
            assertEquals(-FabricErrno.EBADFLAGS, pair.b.endpoint.messages().trecvmsg(
                pair.b.memory.address(), 64, ANY, 1, 0, 1, Flags.MULTI_RECV));
        }
        try (FabricPair pair = open(setup, CAPS, 64)) {
            assertEquals(FabricErrno.ENOPROTOOPT, assertThrows(FabricException.class,
                () -> pair.b.endpoint.setopt(EndpointOption.MIN_MULTI_RECV, 1)).errno());
        }
        // and untagged ones with nothing but that of tagged ones; the restrictions hold for buffers too
        Info hints = new Info().caps(CAPS | Flags.TAGGED_MULTI_RECV | Flags.EXACT_DIRECTED_RECV);
        hints.fabricAttr().apiVersion(FabricAttr.VERSION_2);
        hints.epAttr().memTagFormat(TagFormat.MPI);
        try (FabricPair pair = new FabricPair(setup, hints, 64)) {
            long buffer = pair.b.memory.address();
            assertEquals(-FabricErrno.EBADFLAGS,
                pair.b.endpoint.messages().recvmsg(buffer, 64, pair.toA, 1, Flags.MULTI_RECV));
            assertEquals(-FabricErrno.EINVAL,
                pair.b.endpoint.messages().trecvmsg(buffer, 64, ANY, 1, 0, 1, Flags.MULTI_RECV));
            assertEquals(-FabricErrno.EINVAL,
                pair.b.endpoint.messages().trecvmsg(buffer, 64, pair.toA, 1, 2, 1, Flags.MULTI_RECV));
            assertEquals(-FabricErrno.EINVAL,
                pair.b.endpoint.messages().trecvmsg(buffer, -1, pair.toA, 1, 0, 1, Flags.MULTI_RECV));
            assertEquals(0, pair.b.endpoint.messages().trecvmsg(buffer, 64, pair.toA, 1, 0, 1, Flags.MULTI_RECV));
        }
    }
}
