package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.DirectBuffer;
import org.jfabric.Completion;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.RecvContext;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
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

/** Messages that are received into the driver's memory. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
@SeveralLinks
class BufferedReceiveTest {
    private static final long ANY = -1L;
    private static final int RECEIVE = FabricNode.MEMORY / 2;
    private static final long UNTAGGED = Flags.RECV | Flags.MSG;
    private static final long TAGGED = Flags.RECV | Flags.TAGGED;
    private static final long TAG = 0x7A6;
    /** Whole, and longer than the limit: by one, eager, announced, by single copy or in segments. */
    private static final int[] LONGER = {1, 900, 20_000, 1 << 20};

    static Info hints() {
        return new Info().caps(Flags.MSG | Flags.TAGGED | Flags.SOURCE | Flags.DIRECTED_RECV).mode(Mode.BUFFERED_RECV);
    }

    static FabricPair open(Setup setup) {
        return new FabricPair(setup, hints(), 512);
    }

    private static int limit(FabricPair pair) {
        return (int) pair.b.endpoint.getopt(EndpointOption.BUFFERED_LIMIT);
    }

    private static int least(FabricPair pair) {
        return (int) pair.b.endpoint.getopt(EndpointOption.BUFFERED_MIN);
    }

    /** Begins to send; the entry is still to be read. */
    static void send(FabricPair pair, boolean tagged, int length, int seed) {
        pair.a.fill(0, length, seed);
        long address = pair.a.memory.address(0);
        assertEquals(0, tagged ? pair.a.endpoint.tsend(address, length, pair.toB, TAG, seed)
            : pair.a.endpoint.send(address, length, pair.toB, seed));
    }

    private static void post(FabricPair pair, boolean tagged, long context) {
        if (tagged) {
            assertEquals(0, pair.b.endpoint.trecv(0, 0, ANY, TAG, 0, context));
        }
    }

    private static void assertShows(DirectBuffer buffer, int length, int seed) {
        assertEquals(length, buffer.capacity());
        for (int i = 0; i < length; i++) {
            assertEquals(FabricNode.pattern(seed, i), buffer.getByte(i), "byte " + i);
        }
    }

    private static RecvContext context(FabricPair pair, FabricNode.Entry entry) {
        assertEquals(0, entry.err(), entry::toString);
        RecvContext context = pair.b.cq.recvContext(entry.context());
        assertNotNull(context, entry::toString);
        assertEquals(entry.context(), context.id());
        assertEquals(entry.len(), context.messageLength());
        assertEquals(pair.b.endpoint, context.endpoint());
        return context;
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"REF-050", "REF-052", "EP-086"})
    void shouldShowAWholeMessageUntilTheNextReadOrUntilItIsGivenBack(Setup setup) {
        try (FabricPair pair = open(setup)) {
            int limit = limit(pair);
            for (boolean tagged : new boolean[] {false, true}) {
                for (int length : new int[] {0, 1, 40, 100, limit - 1, limit}) {
                    post(pair, tagged, 5);
                    send(pair, tagged, length, 3);
                    FabricNode.Entry entry = pair.b.await();
                    assertEquals(tagged ? TAGGED : UNTAGGED, entry.flags(), entry::toString);
                    assertEquals(length, entry.len());
                    assertEquals(tagged ? TAG : 0, entry.tag());
                    assertEquals(pair.toA, entry.source());
                    assertNotEquals(0, entry.buf());
                    RecvContext context = context(pair, entry);
                    DirectBuffer buffer = context.buffer();
                    assertTrue(context.isWhole());
                    assertShows(buffer, length, 3);
                    pair.a.await(3);
                    if ((length & 1) == 0) {
                        assertNull(pair.b.poll());
                    } else {
                        assertEquals(0, context.release());
                    }
                    assertFalse(context.isOpen());
                    assertEquals(0, buffer.capacity());
                    assertNull(pair.b.cq.recvContext(entry.context()));
                    assertEquals(-FabricErrno.EINVAL, context.release());
                    assertEquals(-FabricErrno.EINVAL, pair.b.endpoint.messages().recvmsg(
                        pair.b.memory.address(0), 8, ANY, entry.context(), Flags.CLAIM));
                }
            }
            assertEquals(0, pair.a.endpoint.messages().senddata(pair.a.memory.address(0), 8, 0xDA7A, pair.toB, 4));
            FabricNode.Entry withData = pair.b.await();
            assertEquals(UNTAGGED | Flags.REMOTE_CQ_DATA, withData.flags());
            assertEquals(0xDA7A, withData.data());
            pair.a.await(4);
            pair.b.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-140", "CQ-141", "EP-091"})
    void shouldShowTheBeginOfALongerMessageAndReceiveAllOfItWhenItIsClaimed(Setup setup) {
        try (FabricPair pair = open(setup)) {
            for (boolean tagged : new boolean[] {false, true}) {
                for (int beyond : LONGER) {
                    int length = limit(pair) + beyond;
                    post(pair, tagged, 5);
                    send(pair, tagged, length, 4);
                    FabricNode.Entry entry = pair.b.await();
                    assertEquals((tagged ? TAGGED : UNTAGGED) | Flags.MORE, entry.flags(), entry::toString);
                    assertEquals(length, entry.len());
                    RecvContext context = context(pair, entry);
                    assertFalse(context.isWhole());
                    assertEquals(-FabricErrno.EINVAL, context.release());
                    pair.b.assertQuiet(5);
                    assertShows(context.buffer(), least(pair), 4);
                    context.context(77);
                    long flags = Flags.CLAIM | Flags.COMPLETION;
                    long to = pair.b.memory.address(RECEIVE);
                    assertEquals(0, tagged ? pair.b.endpoint.messages().trecvmsg(
                        to, length, ANY, 0, 0, entry.context(), flags)
                        : pair.b.endpoint.messages().recvmsg(to, length, ANY, entry.context(), flags));
                    assertFalse(context.isOpen());
                    assertEquals(0, context.buffer().capacity());
                    FabricNode.Entry claimed = pair.b.await(77);
                    assertEquals((tagged ? TAGGED : UNTAGGED) | Flags.CLAIM, claimed.flags(), claimed::toString);
                    assertEquals(length, claimed.len());
                    assertEquals(tagged ? TAG : 0, claimed.tag());
                    assertEquals(pair.toA, claimed.source());
                    pair.b.assertFilled(RECEIVE, length, 4);
                    pair.a.await(4);
                }
            }
            pair.b.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-050")
    void shouldClaimAWholeMessageToo(Setup setup) {
        try (FabricPair pair = open(setup)) {
            IoVec iov = new IoVec().add(pair.b.memory.address(RECEIVE), 30)
                .add(pair.b.memory.address(RECEIVE + 100), 70);
            for (boolean tagged : new boolean[] {false, true}) {
                post(pair, tagged, 5);
                send(pair, tagged, 100, 6);
                RecvContext context = context(pair, pair.b.await());
                context.context(8).retain();
                pair.b.assertQuiet(5);
                assertShows(context.buffer(), 100, 6);
                assertEquals(0, tagged ? pair.b.endpoint.messages().trecvmsg(iov, ANY, 0, 0, context.id(), Flags.CLAIM)
                    : pair.b.endpoint.messages().recvmsg(iov, ANY, context.id(), Flags.CLAIM));
                FabricNode.Entry claimed = pair.b.await(8);
                assertEquals((tagged ? TAGGED : UNTAGGED) | Flags.CLAIM, claimed.flags());
                pair.b.assertFilled(RECEIVE, 30, 6);
                for (int i = 30; i < 100; i++) {
                    assertEquals(
                        FabricNode.pattern(6, i), pair.b.memory.buffer().getByte(RECEIVE + 100 + i - 30));
                }
                pair.a.await(6);
            }
            // into too little room
            send(pair, false, 100, 6);
            RecvContext context = context(pair, pair.b.await());
            context.context(9);
            assertEquals(0, pair.b.endpoint.messages().recvmsg(
                pair.b.memory.address(RECEIVE), 60, ANY, context.id(), Flags.CLAIM));
            FabricNode.Entry cut = pair.b.await();
            assertEquals(FabricErrno.ETRUNC, cut.err());
            assertEquals(40, cut.olen());
            assertEquals(9, cut.context());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"REF-050", "REF-052"})
    void shouldDropAMessageThatIsDiscarded(Setup setup) {
        try (FabricPair pair = open(setup)) {
            for (boolean tagged : new boolean[] {false, true}) {
                for (int length : new int[] {100, limit(pair) + 1, limit(pair) + 900, limit(pair) + (1 << 20)}) {
                    for (long claim : new long[] {0, Flags.CLAIM}) {
                        post(pair, tagged, 5);
                        send(pair, tagged, length, 7);
                        FabricNode.Entry entry = pair.b.await();
                        RecvContext context = context(pair, entry);
                        context.context(10);
                        long flags = Flags.DISCARD | claim;
                        assertEquals(0, tagged ? pair.b.endpoint.messages().trecvmsg(
                            0, 0, ANY, 0, 0, entry.context(), flags)
                            : pair.b.endpoint.messages().recvmsg(0, 0, ANY, entry.context(), flags));
                        assertFalse(context.isOpen());
                        FabricNode.Entry dropped = pair.b.await(10);
                        assertEquals(tagged ? TAGGED : UNTAGGED, dropped.flags(), dropped::toString);
                        assertEquals(length, dropped.len());
                        assertEquals(0, dropped.buf());
                        assertEquals(-FabricErrno.EINVAL, pair.b.endpoint.messages().recvmsg(
                            pair.b.memory.address(0), 8, ANY, entry.context(), flags));
                        // nothing is left of it at its sender
                        pair.a.await(7);
                    }
                }
            }
            pair.b.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldNeverTakeAnApplicationsContextForAMessage(Setup setup) {
        try (FabricPair pair = open(setup)) {
            send(pair, false, 64, 1);
            RecvContext context = context(pair, pair.b.await());
            context.retain();
            pair.a.await(1);
            long id = context.id();
            assertTrue(id < 0, () -> "" + id);
            for (long own : new long[] {id & Long.MAX_VALUE, 0, 1, 1 << 16, id + (1L << 47), id + (1 << 16), id + 1}) {
                assertNull(pair.b.cq.recvContext(own), () -> own + " beside " + id);
            }
            // an entry of a send that carries the very number
            assertEquals(0, pair.b.endpoint.send(pair.b.memory.address(0), 8, pair.toA, id));
            Completion[] seen = new Completion[1];
            long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
            while (seen[0] == null && System.nanoTime() - deadline < 0) {
                pair.pump();
                Thread.yield();
                pair.b.cq.poll(entry -> {
                    seen[0] = entry;
                    assertEquals(id, entry.opContext());
                    assertNull(pair.b.cq.recvContext(entry));
                }, 1);
            }
            assertNotNull(seen[0]);
            assertEquals(context, pair.b.cq.recvContext(id));
            assertEquals(0, context.release());
        }
    }

    /** More often than there are cells, so that none is lost. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldGiveUpAMessageThatIsClaimedIntoMemoryThatIsNotRegistered(Setup setup) {
        try (FabricPair pair = open(setup)) {
            int limit = limit(pair);
            int[] lengths = {100, limit + 1, limit + (1 << 17)};
            for (int i = 0; i < 300; i++) {
                boolean tagged = (i & 1) == 0;
                int length = lengths[i % 3];
                post(pair, tagged, 5);
                send(pair, tagged, length, 7);
                RecvContext context = context(pair, pair.b.await());
                long id = context.id();
                context.context(10);
                // beyond the end of the memory, in one piece or in two
                long to = pair.b.memory.address(FabricNode.MEMORY - 8);
                IoVec iov = new IoVec().add(pair.b.memory.address(0), 8).add(to, 9);
                long claim = Flags.CLAIM;
                assertEquals(-FabricErrno.EINVAL, tagged ? pair.b.endpoint.messages().recvmsg(to, 64, ANY, id, claim)
                    : pair.b.endpoint.messages().trecvmsg(to, 64, ANY, 0, 0, id, claim), "of the other kind");
                if (i % 4 < 2) {
                    assertEquals(0, tagged ? pair.b.endpoint.messages().trecvmsg(to, 64, ANY, 0, 0, id, claim)
                        : pair.b.endpoint.messages().recvmsg(to, 64, ANY, id, claim));
                } else {
                    assertEquals(0, tagged ? pair.b.endpoint.messages().trecvmsg(iov, ANY, 0, 0, id, claim)
                        : pair.b.endpoint.messages().recvmsg(iov, ANY, id, claim));
                }
                FabricNode.Entry failed = pair.b.await();
                assertEquals(FabricErrno.EFAULT, failed.err(), failed::toString);
                assertEquals(10, failed.context(), failed::toString);
                assertFalse(context.isOpen());
                assertEquals(-FabricErrno.EINVAL, tagged ? pair.b.endpoint.messages().trecvmsg(
                    to, 64, ANY, 0, 0, id, claim)
                    : pair.b.endpoint.messages().recvmsg(to, 64, ANY, id, claim));
                // as of a discard
                assertEquals(0, pair.a.await(7).err());
            }
            pair.b.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-051")
    void shouldTakeOnlyTheTagOfAPostedReceive(Setup setup) {
        try (FabricPair pair = open(setup)) {
            Endpoint endpoint = pair.b.endpoint;
            pair.b.fill(RECEIVE, 64, 1);
            long buffer = pair.b.memory.address(RECEIVE);
            // the message waits: only a tagged one needs a receive
            send(pair, true, 64, 2);
            pair.b.assertQuiet(20);
            assertEquals(0, endpoint.trecv(buffer, 64, ANY, TAG + 1, 0, 11));
            assertEquals(0, endpoint.trecv(buffer, 1, ANY, TAG, 0, 12));
            assertShows(context(pair, pair.b.await()).buffer(), 64, 2);
            pair.b.assertFilled(RECEIVE, 64, 1);
            pair.a.await(2);
            // whatever the buffer is
            assertEquals(0, endpoint.trecv(0x1234_5678_9ABCL, 64, ANY, TAG, 0, 13));
            assertEquals(0, endpoint.messages().trecvv(null, ANY, TAG, 0, 14));
            assertEquals(0, endpoint.messages().trecvmsg(0, 0, ANY, TAG, 0, 15, Flags.COMPLETION));
            for (int seed = 3; seed < 6; seed++) {
                send(pair, true, 64, seed);
                FabricNode.Entry entry = pair.b.await();
                assertEquals(TAGGED, entry.flags());
                assertShows(context(pair, entry).buffer(), 64, seed);
                pair.a.await(seed);
            }
            assertEquals(0, endpoint.cancel(11));
            FabricNode.Entry canceled = pair.b.await();
            assertEquals(FabricErrno.ECANCELED, canceled.err());
            assertEquals(11, canceled.context());
            // untagged messages come by themselves
            assertEquals(-FabricErrno.EOPNOTSUPP, endpoint.recv(buffer, 64, ANY, 16));
            assertEquals(-FabricErrno.EOPNOTSUPP, endpoint.messages().recvmsg(buffer, 64, ANY, 16, 0));
            assertEquals(-FabricErrno.EBADFLAGS, endpoint.messages().trecvmsg(buffer, 64, ANY, TAG, 0, 16, Flags.PEEK));
            assertEquals(-FabricErrno.EINVAL, endpoint.messages().trecvmsg(buffer, 64, ANY, TAG, 0, 16, Flags.CLAIM));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-087", "EP-088", "EP-089", "EP-090", "ERR-018"})
    void shouldHaveLimitsThatAreSetBeforeTheEndpointIsEnabled(Setup setup) {
        try (FabricPair pair = open(setup)) {
            for (EndpointOption option : new EndpointOption[] {EndpointOption.BUFFERED_LIMIT,
                EndpointOption.BUFFERED_MIN}) {
                Endpoint endpoint = pair.b.domain.openEndpoint(pair.b.info);
                assertTrue(endpoint.getopt(option) > 0);
                endpoint.setopt(option, 200);
                assertEquals(200, endpoint.getopt(option));
                endpoint.setopt(EndpointOption.BUFFERED_LIMIT, FabricAddress.BUFFERED_LIMIT_MAX);
                long max = endpoint.getopt(EndpointOption.BUFFERED_LIMIT);
                assertTrue(max >= 4096 && max < Integer.MAX_VALUE, "" + max);
                endpoint.setopt(option, 300);
                for (long value : new long[] {max + 1, Long.MAX_VALUE, Long.MIN_VALUE}) {
                    assertEquals(FabricErrno.EMSGSIZE, assertThrows(
                        FabricException.class, () -> endpoint.setopt(option, value)).errno());
                    assertEquals(300, endpoint.getopt(option));
                }
                endpoint.setopt(option, max);
                assertEquals(max, endpoint.getopt(option));
                endpoint.bind(pair.b.cq, Flags.TRANSMIT | Flags.RECV);
                endpoint.bind(pair.b.av);
                endpoint.enable();
                assertEquals(FabricErrno.EOPBADSTATE, assertThrows(
                    FabricException.class, () -> endpoint.setopt(option, 100)).errno());
                assertEquals(max, endpoint.getopt(option));
                endpoint.close();
            }
        }
    }

    /** The sender's limits are its own matter: nothing is lost where they differ. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-090", "EP-091", "EP-092"})
    void shouldShowAsMuchAsTheReceiverHasSetWhateverTheSenderHas(Setup setup) {
        try (FabricPair pair = open(setup)) {
            for (int[] limits : new int[][] {{0, 0}, {0, 64}, {64, 1}, {100, 1000}, {1 << 16, 0}, {1 << 16, 1 << 16}}) {
                Endpoint endpoint = pair.b.domain.openEndpoint(pair.b.info);
                endpoint.setopt(EndpointOption.BUFFERED_LIMIT, limits[0]);
                endpoint.setopt(EndpointOption.BUFFERED_MIN, limits[1]);
                endpoint.bind(pair.b.cq, Flags.TRANSMIT | Flags.RECV);
                endpoint.bind(pair.b.av);
                endpoint.enable();
                long to = pair.a.av.insert(endpoint.name());
                for (int length : new int[] {1, 64, 65, 999, 1 << 16, (1 << 16) + 1}) {
                    pair.a.fill(0, length, 9);
                    assertEquals(0, pair.a.endpoint.send(pair.a.memory.address(), length, to, 9));
                    FabricNode.Entry entry = pair.b.await();
                    RecvContext context = pair.b.cq.recvContext(entry.context());
                    assertEquals(endpoint, context.endpoint());
                    assertEquals(length, entry.len());
                    assertEquals(length <= limits[0], context.isWhole());
                    assertEquals(length > limits[0] ? UNTAGGED | Flags.MORE : UNTAGGED, entry.flags());
                    assertShows(context.buffer(), context.isWhole() ? length : Math.min(length, limits[1]), 9);
                    context.context(3);
                    assertEquals(0, endpoint.messages().recvmsg(
                        pair.b.memory.address(RECEIVE), length, ANY, entry.context(), Flags.CLAIM));
                    assertEquals(length, pair.b.await(3).len());
                    pair.b.assertFilled(RECEIVE, length, 9);
                    pair.a.await(9);
                }
                endpoint.close();
            }
        }
    }
}
