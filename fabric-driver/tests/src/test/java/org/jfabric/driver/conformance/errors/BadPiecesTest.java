package org.jfabric.driver.conformance.errors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Counter;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.MemoryRegion;
import org.jfabric.PortedCalls;
import org.jfabric.SendClaim;
import org.jfabric.driver.kit.CountedNode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.InputCheck;
import org.jfabric.driver.kit.InputCheck.Call;
import org.jfabric.driver.kit.InputCheck.Request;
import org.jfabric.driver.kit.PeekNode;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.EndpointOption;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.WaitObject;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** As {@link BadInputTest}, of pieces, claims of room and of messages, counters and options. */
@Tag("conformance")
@Tag("link")
@Timeout(240)
class BadPiecesTest {
    private static final int EINVAL = -FabricErrno.EINVAL;
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    private static final long CONTEXT = InputCheck.CONTEXT;
    private static final int LENGTH = 64;
    private static final long LOOKS = Flags.PEEK | Flags.CLAIM | Flags.DISCARD;

    private static Map<String, Call> sends(IoVec iov) {
        Map<String, Call> calls = new LinkedHashMap<>();
        calls.put("sendv", (ep, r) -> ep.messages().sendv(iov, r.addr(), CONTEXT));
        calls.put("sendmsg", (ep, r) -> ep.messages().sendmsg(iov, 7, r.addr(), CONTEXT, r.flags()));
        calls.put("tsendv", (ep, r) -> ep.messages().tsendv(iov, r.addr(), 5, CONTEXT));
        calls.put("tsendmsg", (ep, r) -> ep.messages().tsendmsg(iov, 7, r.addr(), 5, CONTEXT, r.flags()));
        return calls;
    }

    private static Map<String, Call> receives(IoVec iov) {
        Map<String, Call> calls = new LinkedHashMap<>();
        calls.put("recvv", (ep, r) -> ep.messages().recvv(iov, r.addr(), CONTEXT));
        calls.put("recvmsg", (ep, r) -> ep.messages().recvmsg(iov, r.addr(), CONTEXT, r.flags()));
        calls.put("trecvv", (ep, r) -> ep.messages().trecvv(iov, r.addr(), 5, 0, CONTEXT));
        calls.put("trecvmsg", (ep, r) -> ep.messages().trecvmsg(iov, r.addr(), 5, 0, CONTEXT, r.flags()));
        return calls;
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldRefusePiecesThatCannotBe(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            InputCheck check = new InputCheck(pair);
            long good = pair.a.memory.address();
            IoVec tooMany = new IoVec(100);
            while (tooMany.count() < tooMany.capacity()) {
                tooMany.add(good, 0);
            }
            for (IoVec bad : new IoVec[] {null, tooMany,
                new IoVec().add(good, -1), new IoVec().add(good, 8).add(good, Long.MIN_VALUE),
                new IoVec().add(good, Long.MAX_VALUE).add(good, Long.MAX_VALUE),
                // the sum is small again
                new IoVec().add(good, Long.MAX_VALUE).add(good, Long.MAX_VALUE).add(good, 66),
                new IoVec().add(0, 8), new IoVec().add(good, 8).add(0, 1)}) {
                check.refused(sends(bad), new Request(0, 0, pair.toB, 0), EINVAL);
                check.refused(receives(bad), new Request(0, 0, ANY, 0), EINVAL);
            }
            long most = pair.a.endpoint.maxMsgSize();
            check.refused(sends(new IoVec().add(good, most).add(good, 1)), new Request(0, 0, pair.toB, 0), EINVAL);
            IoVec two = new IoVec().add(good, 8).add(good + 8, 8);
            check.refused(sends(two), new Request(0, 0, ANY, 0), EINVAL);
            int inject = pair.a.endpoint.injectSize();
            for (String name : new String[] {"sendmsg", "tsendmsg"}) {
                check.refused(name, sends(new IoVec().add(good, inject).add(good, 1)).get(name),
                    new Request(0, 0, pair.toB, Flags.INJECT), EINVAL);
                check.refused(name, sends(two).get(name),
                    new Request(0, 0, pair.toB, Flags.MULTI_RECV), -FabricErrno.EBADFLAGS);
            }
            for (String name : new String[] {"recvmsg", "trecvmsg"}) {
                check.refused(name, receives(two).get(name), new Request(0, 0, ANY, Flags.DISCARD), EINVAL);
                check.refused(name, receives(two).get(name), new Request(0, 0, ANY, LOOKS), EINVAL);
                for (long flag : new long[] {Flags.MULTI_RECV, Flags.FENCE, Flags.PEEK | Flags.FENCE}) {
                    check.refused(name, receives(two).get(name),
                        new Request(0, 0, ANY, flag), -FabricErrno.EBADFLAGS);
                }
            }
            check.usable();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldEndWithOneEntryWhereAnyPieceIsNotRegistered(Setup setup) {
        setup.assumeDeliveryBeforeMatch();
        try (FabricPair pair = new FabricPair(setup)) {
            InputCheck check = new InputCheck(pair);
            MemoryRegion region = pair.a.domain.allocate(4096);
            long closed = region.address();
            region.close();
            long good = pair.a.memory.address();
            long end = good + FabricNode.MEMORY;
            long[][] ranges = {{closed, 8}, {end, 1}, {end - 4, 8}, {good ^ 1L << 40, 8}, {-1L, 1},
                {Long.MIN_VALUE, 8}, {good, 1L << 40}, {1, 1}};
            for (long[] range : ranges) {
                for (int at = 0; at < 3; at++) {
                    IoVec iov = new IoVec();
                    for (int i = 0; i < 3; i++) {
                        iov.add(i == at ? range[0] : good + i * 16L, i == at ? range[1] : 16);
                    }
                    check.fails(receives(iov), new Request(0, 0, ANY, 0), FabricErrno.EFAULT);
                    if (iov.lengthBytes() <= pair.a.endpoint.maxMsgSize()) {
                        check.fails(sends(iov), new Request(0, 0, pair.toB, Flags.DELIVERY_COMPLETE),
                            FabricErrno.EFAULT);
                    }
                }
            }
            IoVec two = new IoVec().add(good, 8).add(good + 8, 8);
            check.fails(sends(two), new Request(0, 0, 4711, 0), FabricErrno.EINVAL);
            check.fails(receives(two), new Request(0, 0, 4711, 0), FabricErrno.EINVAL);
            check.usable();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldEndEachClaimOfRoomOnce(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            InputCheck check = new InputCheck(pair);
            Endpoint endpoint = pair.a.endpoint;
            SendClaim claim = new SendClaim();
            try (Endpoint other = pair.open(pair.a.info)) {
                for (int length : new int[] {-1, Integer.MIN_VALUE, endpoint.injectSize() + 1, Integer.MAX_VALUE}) {
                    assertEquals(EINVAL, endpoint.tryClaim(length, claim));
                    assertNotOpen(pair, claim);
                }
                check.assertUnchanged("refused claims");
                assertEquals(0, endpoint.tryClaim(LENGTH, claim));
                long left = other.txSizeLeft();
                assertEquals(-FabricErrno.EBUSY, other.tryClaim(8, claim), "it is open");
                assertEquals(-FabricErrno.EBUSY, endpoint.tryClaim(8, claim));
                assertEquals(-FabricErrno.EBUSY, endpoint.tryClaim(8, new SendClaim()));
                assertEquals(left, other.txSizeLeft());
                claim.buffer().setMemory(0, LENGTH, (byte) 0x33);
                assertThrows(IndexOutOfBoundsException.class, () -> claim.buffer().putByte(LENGTH, (byte) 1));
                for (int length : new int[] {-1, LENGTH + 1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
                    assertEquals(EINVAL, claim.commit(length, pair.toB, 5, 1));
                    assertEquals(EINVAL, claim.commit(length, 0, pair.toB, 5, 1, Flags.COMPLETION));
                }
                assertEquals(EINVAL, claim.commit(LENGTH, ANY, 5, 1));
                for (long flag : new long[] {Flags.MULTI_RECV, Flags.PEEK, 1L << 63, -1L}) {
                    assertEquals(-FabricErrno.EBADFLAGS, claim.commit(LENGTH, 0, pair.toB, 5, 1, flag));
                }
                assertTrue(claim.isOpen(), "what was refused changed nothing");
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 5, 0, 2));
                assertEquals(0, claim.commit(LENGTH, pair.toB, 5, 1));
                assertNotOpen(pair, claim);
                assertEquals(LENGTH, pair.b.await(2).len());
                for (int i = 0; i < LENGTH; i++) {
                    assertEquals(0x33, pair.b.memory.buffer().getByte(i));
                }
                pair.a.await(1);
                assertEquals(0, endpoint.tryClaim(LENGTH, claim));
                claim.abort();
                claim.abort();
                assertNotOpen(pair, claim);
                check.fails("commit", (ep, r) -> {
                    assertEquals(0, ep.tryClaim(LENGTH, claim));
                    return claim.commit(LENGTH, 4711, 5, CONTEXT);
                }, null, FabricErrno.EINVAL, CONTEXT);
                assertNotOpen(pair, claim);
            }
            check.usable();
        }
    }

    private static void assertNotOpen(FabricPair pair, SendClaim claim) {
        assertFalse(claim.isOpen());
        assertEquals(0, claim.buffer().capacity());
        assertEquals(EINVAL, claim.commit(0, pair.toB, 5, 1));
        assertEquals(EINVAL, claim.commit(8, 0, pair.toB, 5, 1, 0));
    }

    /** Whatever is asked of whichever context: each message is taken once, and each claim belongs to one endpoint. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldLoseNoMessageByLooksThatAreWrong(Setup setup) {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        try (FabricPair pair = new FabricPair(setup); PeekNode one = new PeekNode(pair);
             PeekNode two = new PeekNode(pair)) {
            Looker[] lookers = {new Looker(one, random, seed), new Looker(two, random, seed)};
            for (int i = 0; i < 400; i++) {
                Looker looker = lookers[random.nextInt(2)];
                if (random.nextInt(4) == 0) {
                    looker.send();
                } else {
                    looker.look();
                }
            }
            for (Looker looker : lookers) {
                looker.takeTheRest();
            }
        }
    }

    /** Looks at the messages of one endpoint, and knows what must have become of each. */
    private static final class Looker {
        private static final int CONTEXTS = 3;
        private static final long[] KINDS = {Flags.PEEK, Flags.PEEK | Flags.CLAIM, Flags.PEEK | Flags.DISCARD,
            Flags.CLAIM, Flags.CLAIM | Flags.DISCARD, Flags.DISCARD, LOOKS};
        private final PeekNode node;
        private final SplittableRandom random;
        private final long seed;
        /** Tags of the messages that nobody has claimed or taken. */
        private final TreeSet<Long> waiting = new TreeSet<>();
        private final long[] claimed = new long[CONTEXTS + 1];
        private long lastTag;

        Looker(PeekNode node, SplittableRandom random, long seed) {
            this.node = node;
            this.random = random;
            this.seed = seed;
        }

        void send() {
            waiting.add(++lastTag);
            node.send(lastTag, LENGTH, (int) lastTag);
            // it is there from now on
            node.find(true, lastTag, 99, 0);
        }

        void look() {
            long look = KINDS[random.nextInt(KINDS.length)];
            long context = random.nextInt(CONTEXTS + 1);
            boolean tagged = random.nextInt(8) != 0;
            boolean bad = random.nextInt(4) == 0;
            long buf = bad ? random.nextLong() & ~(0xFFFFL << 48) | 1 : node.place(0, LENGTH);
            boolean claims = (look & Flags.CLAIM) != 0;
            int result = tagged
                ? node.endpoint.messages().trecvmsg(buf, LENGTH, ANY, 0, -1L, context, look)
                : node.endpoint.messages().recvmsg(buf, LENGTH, ANY, context, look);
            if (look == Flags.DISCARD || look == LOOKS || claims && context == 0) {
                assertEquals(EINVAL, result, this::state);
                return;
            }
            assertEquals(0, result, this::state);
            PeekNode.Entry entry = node.await();
            assertEquals(context, entry.context(), () -> entry + " " + state());
            boolean peeks = (look & Flags.PEEK) != 0;
            boolean moves = look == Flags.PEEK || look == (Flags.PEEK | Flags.CLAIM) || look == Flags.CLAIM;
            int expected = 0;
            if (peeks && claims && claimed[(int) context] != 0) {
                expected = FabricErrno.EBUSY;
            } else if (peeks ? !tagged || waiting.isEmpty() : !tagged || claimed[(int) context] == 0) {
                expected = peeks ? FabricErrno.ENOMSG : FabricErrno.EINVAL;
            }
            if (bad && moves && entry.err() == FabricErrno.EFAULT) {
                return;
            }
            assertEquals(FabricErrno.name(expected), FabricErrno.name(entry.err()), () -> entry + " " + state());
            if (expected == 0) {
                onTaken(look, (int) context, entry);
            }
        }

        private void onTaken(long look, int context, PeekNode.Entry entry) {
            boolean peeks = (look & Flags.PEEK) != 0;
            long tag = peeks ? waiting.first() : claimed[context];
            assertEquals(tag, entry.tag(), () -> entry + " " + state());
            if (look == Flags.CLAIM) {
                node.pair.b.assertFilled(0, LENGTH, (int) tag);
            }
            if (look != Flags.PEEK) {
                waiting.remove(tag);
            }
            if ((look & Flags.CLAIM) != 0) {
                claimed[context] = peeks ? tag : 0;
            }
        }

        void takeTheRest() {
            for (int context = 1; context <= CONTEXTS; context++) {
                if (claimed[context] != 0) {
                    assertEquals(0, node.endpoint.messages().trecvmsg(
                        node.place(0, LENGTH), LENGTH, ANY, 0, 0, context, Flags.CLAIM));
                    assertEquals(claimed[context], node.await(context).tag(), this::state);
                    node.pair.b.assertFilled(0, LENGTH, (int) claimed[context]);
                }
            }
            for (long tag : waiting) {
                assertEquals(0, node.endpoint.trecv(node.place(0, LENGTH), LENGTH, ANY, 0, -1L, 7));
                assertEquals(tag, node.await(7).tag(), this::state);
                node.pair.b.assertFilled(0, LENGTH, (int) tag);
            }
            assertEquals(0, node.peek(0, 0, 0, 8, 0));
            node.awaitError(8, FabricErrno.ENOMSG);
            node.assertQuiet(20);
        }

        private String state() {
            return "seed " + seed + ", waiting " + waiting + ", claimed " + List.of(claimed[1], claimed[2], claimed[3]);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldKeepCountersAndOptionsThroughImpossibleValues(Setup setup) {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        try (FabricPair pair = new FabricPair(setup);
             CountedNode a = new CountedNode(pair.a, true, WaitObject.UNSPEC)) {
            Counter counter = a.sends;
            assertEquals(0, counter.set(7));
            UnsafeBuffer value = new UnsafeBuffer(new byte[32]);
            long before = a.endpoint.getopt(EndpointOption.TX_SIZE);
            for (int i = 0; i < 500; i++) {
                long negative = random.nextLong() | Long.MIN_VALUE;
                assertEquals(EINVAL, counter.add(negative));
                assertEquals(EINVAL, counter.addErr(negative));
                assertEquals(EINVAL, counter.set(negative));
                assertEquals(EINVAL, counter.setErr(negative));
                assertEquals(EINVAL, counter.await(negative, 0), "seed " + seed);
                int level = random.nextInt() | 1;
                int name = random.nextInt(-1, 20);
                int offset = random.nextInt();
                int length = random.nextInt();
                int errno = -PortedCalls.setopt(a.endpoint, level, name, value, offset, length);
                assertEquals(FabricErrno.ENOPROTOOPT, errno, () -> level + " " + name + " seed " + seed);
                errno = -PortedCalls.getopt(
                    a.endpoint, EndpointOption.LEVEL_ENDPOINT, name, value, offset | Integer.MIN_VALUE, new int[] {8});
                assertTrue(errno == FabricErrno.ENOPROTOOPT || errno == FabricErrno.EINVAL
                    || errno == FabricErrno.EOPNOTSUPP || errno == FabricErrno.ETOOSMALL,
                    FabricErrno.name(errno) + " of " + name + " seed " + seed);
            }
            assertEquals(before, a.endpoint.getopt(EndpointOption.TX_SIZE));
            assertEquals(7, counter.read());
            assertEquals(0, counter.readErr());
            long self = a.insert(a);
            assertEquals(0, a.endpoint.recv(a.buffer(), 8, ANY, 1));
            assertEquals(0, a.endpoint.inject(value, 0, 8, self));
            CountedNode.await("the count", () -> counter.read() == 8, a);
        }
    }
}
