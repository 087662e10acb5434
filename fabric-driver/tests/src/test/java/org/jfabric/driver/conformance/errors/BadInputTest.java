package org.jfabric.driver.conformance.errors;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.InputCheck;
import org.jfabric.driver.kit.InputCheck.Call;
import org.jfabric.driver.kit.InputCheck.Request;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Every data-path call with arguments that cannot be: it answers the documented errno and nothing is posted, or what
 * it names turns out to be impossible and there is one error entry. Afterwards everything is as before.
 */
@Tag("conformance")
@Tag("link")
@Timeout(240)
class BadInputTest {
    private static final int EINVAL = -FabricErrno.EINVAL;
    private static final int EBADFLAGS = -FabricErrno.EBADFLAGS;
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    private static final long SEND_FLAGS = Flags.COMPLETION | Flags.REMOTE_CQ_DATA | Flags.MORE | Flags.FENCE
        | Flags.LENT
        | Flags.INJECT | Flags.INJECT_COMPLETE | Flags.TRANSMIT_COMPLETE | Flags.DELIVERY_COMPLETE
        | Flags.MATCH_COMPLETE;
    private static final long PEEK_FLAGS = Flags.PEEK | Flags.CLAIM | Flags.DISCARD;
    private static final long RECV_FLAGS = Flags.COMPLETION | Flags.MORE | PEEK_FLAGS;
    private static final long CONTEXT = InputCheck.CONTEXT;
    private static final long[] EDGES = {
        0, 1, -1, 2, 63, 64, 65, 4095, 4096, Integer.MAX_VALUE, Integer.MIN_VALUE, 1L << 32, (1L << 40) - 1, 1L << 40,
        (1L << 40) + 1, 1L << 48, Long.MAX_VALUE, Long.MAX_VALUE - 63, Long.MIN_VALUE, Long.MIN_VALUE + 1};

    private static Map<String, Call> sends() {
        Map<String, Call> calls = new LinkedHashMap<>();
        calls.put("send", (ep, r) -> ep.send(r.buf(), r.len(), r.addr(), CONTEXT));
        calls.put("senddata", (ep, r) -> ep.messages().senddata(r.buf(), r.len(), 7, r.addr(), CONTEXT));
        calls.put("sendmsg", (ep, r) -> ep.messages().sendmsg(r.buf(), r.len(), 7, r.addr(), CONTEXT, r.flags()));
        calls.put("tsend", (ep, r) -> ep.tsend(r.buf(), r.len(), r.addr(), 5, CONTEXT));
        calls.put("tsenddata", (ep, r) -> ep.messages().tsenddata(r.buf(), r.len(), 7, r.addr(), 5, CONTEXT));
        calls.put("tsendmsg", (ep, r) -> ep.messages().tsendmsg(r.buf(), r.len(), 7, r.addr(), 5, CONTEXT, r.flags()));
        return calls;
    }

    private static Map<String, Call> receives() {
        Map<String, Call> calls = new LinkedHashMap<>();
        calls.put("recv", (ep, r) -> ep.recv(r.buf(), r.len(), r.addr(), CONTEXT));
        calls.put("recvmsg", (ep, r) -> ep.messages().recvmsg(r.buf(), r.len(), r.addr(), CONTEXT, r.flags()));
        calls.put("trecv", (ep, r) -> ep.trecv(r.buf(), r.len(), r.addr(), 5, 0, CONTEXT));
        calls.put("trecvmsg", (ep, r) -> ep.messages().trecvmsg(r.buf(), r.len(), r.addr(), 5, 0, CONTEXT, r.flags()));
        return calls;
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldRefuseImpossibleLengthsAndDestinationsAtOnce(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            InputCheck check = new InputCheck(pair);
            long good = pair.a.memory.address();
            for (long len : new long[] {-1, Long.MIN_VALUE, Integer.MIN_VALUE}) {
                check.refused(sends(), new Request(good, len, pair.toB, 0), EINVAL);
                check.refused(receives(), new Request(good, len, ANY, 0), EINVAL);
            }
            for (long len : new long[] {pair.a.endpoint.maxMsgSize() + 1, Long.MAX_VALUE}) {
                check.refused(sends(), new Request(good, len, pair.toB, 0), EINVAL);
            }
            check.refused(sends(), new Request(good, 8, ANY, 0), EINVAL);
            check.refused(sends(), new Request(good, 0, ANY, 0), EINVAL);
            check.usable();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldRefuseEveryFlagThatACallDoesNotOffer(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            InputCheck check = new InputCheck(pair);
            long good = pair.a.memory.address();
            for (int bit = 0; bit < Long.SIZE; bit++) {
                long flag = 1L << bit;
                for (String name : new String[] {"sendmsg", "tsendmsg"}) {
                    if ((flag & SEND_FLAGS) == 0) {
                        check.refused(name, sends().get(name), new Request(good, 8, pair.toB, flag), EBADFLAGS);
                        check.refused(name, sends().get(name),
                            new Request(good, 8, pair.toB, flag | Flags.COMPLETION), EBADFLAGS);
                    }
                }
                for (String name : new String[] {"recvmsg", "trecvmsg"}) {
                    if ((flag & RECV_FLAGS) == 0) {
                        check.refused(name, receives().get(name), new Request(good, 8, ANY, flag), EBADFLAGS);
                        check.refused(name, receives().get(name),
                            new Request(good, 8, ANY, flag | Flags.COMPLETION), EBADFLAGS);
                        check.refused(name, receives().get(name),
                            new Request(good, 8, ANY, flag | Flags.PEEK), EBADFLAGS);
                    }
                }
            }
            for (String name : new String[] {"recvmsg", "trecvmsg"}) {
                for (long flags : new long[] {Flags.DISCARD, PEEK_FLAGS}) {
                    check.refused(name, receives().get(name), new Request(good, 8, ANY, flags), EINVAL);
                }
            }
            check.refused("sendmsg", sends().get("sendmsg"), new Request(good, 8, pair.toB, -1L), EBADFLAGS);
            check.refused("trecvmsg", receives().get("trecvmsg"), new Request(good, 8, ANY, -1L), EBADFLAGS);
            check.usable();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldRefuseInjectsOutsideOfTheirBufferOrTooLong(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            InputCheck check = new InputCheck(pair);
            int size = pair.a.endpoint.injectSize();
            UnsafeBuffer payload = new UnsafeBuffer(new byte[size + 8]);
            int[][] ranges = {
                {0, -1}, {0, size + 1}, {-1, 8}, {size + 1, 8}, {size + 8, 1}, {Integer.MAX_VALUE, 8},
                {Integer.MIN_VALUE, 8}, {0, Integer.MIN_VALUE}, {0, Integer.MAX_VALUE}, {8, Integer.MAX_VALUE},
                {Integer.MAX_VALUE, Integer.MAX_VALUE}, {Integer.MIN_VALUE, Integer.MAX_VALUE}};
            for (int[] range : ranges) {
                check.injectRefused(payload, range[0], range[1], pair.toB);
            }
            check.injectRefused(payload, 0, 8, ANY);
            check.injectRefused(null, 0, 8, pair.toB);
            check.injectRefused(null, 0, 0, pair.toB);
            check.usable();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldEndWithAnEntryWhatNamesMemoryThatIsNotRegistered(Setup setup) {
        setup.assumeDeliveryBeforeMatch();
        try (FabricPair pair = new FabricPair(setup)) {
            InputCheck check = new InputCheck(pair);
            MemoryRegion region = pair.a.domain.allocate(4096);
            long closed = region.address();
            region.close();
            long base = pair.a.memory.address();
            long end = base + FabricNode.MEMORY;
            long[][] ranges = {
                {0, 1}, {1, 1}, {-1L, 1}, {Long.MIN_VALUE, 1}, {Long.MAX_VALUE, 8}, {closed, 1}, {closed, 4096},
                {base ^ 1L << 40, 8}, {base ^ 1L << 63, 8}, {base - 1, 2}, {end, 1}, {end - 1, 2}, {end - 8, 4096},
                {base, FabricNode.MEMORY + 1L}, {base | (1L << 40) - 1, 1}, {base | (1L << 40) - 1, 1L << 40},
                {base, pair.a.endpoint.maxMsgSize()}};
            for (long[] range : ranges) {
                check.fails(sends(), new Request(range[0], range[1], pair.toB, Flags.DELIVERY_COMPLETE),
                    FabricErrno.EFAULT);
                check.fails(receives(), new Request(range[0], range[1], ANY, 0), FabricErrno.EFAULT);
            }
            check.fails(receives(), new Request(base, Long.MAX_VALUE, ANY, 0), FabricErrno.EFAULT);
            check.usable();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldEndWithAnEntryWhatNamesAPeerThatIsNotInTheVector(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            InputCheck check = new InputCheck(pair);
            long removed = pair.a.av.insert(pair.neighbour(pair.a, 8));
            pair.a.av.remove(removed);
            long good = pair.a.memory.address();
            long[] addresses = {removed, removed + 1, 4711, 0x7FFF_FFFFL, 1L << 32, 1L << 32 | pair.toB,
                Long.MAX_VALUE, Long.MIN_VALUE, Long.MIN_VALUE | pair.toB, -2L};
            UnsafeBuffer payload = new UnsafeBuffer(new byte[8]);
            for (long address : addresses) {
                check.fails(sends(), new Request(good, 8, address, 0), FabricErrno.EINVAL);
                check.fails(sends(), new Request(good, 0, address, Flags.FENCE), FabricErrno.EINVAL);
                check.fails(receives(), new Request(good, 8, address, 0), FabricErrno.EINVAL);
                check.fails("inject", (ep, r) -> ep.inject(payload, 0, 8, address), null, FabricErrno.EINVAL,
                    pair.a.endpoint.context());
                check.fails("tinject", (ep, r) -> ep.tinject(payload, 0, 8, address, 5), null, FabricErrno.EINVAL,
                    pair.a.endpoint.context());
                check.fails("injectdata", (ep, r) -> ep.messages().injectdata(payload, 0, 8, 7, address), null,
                    FabricErrno.EINVAL, pair.a.endpoint.context());
                check.fails("tinjectdata", (ep, r) -> ep.messages().tinjectdata(payload, 0, 8, 7, address, 5), null,
                    FabricErrno.EINVAL, pair.a.endpoint.context());
            }
            check.usable();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldRefuseEveryCallInTheWrongStateWhateverItsArguments(Setup setup) {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        try (FabricPair pair = new FabricPair(setup)) {
            InputCheck check = new InputCheck(pair);
            Endpoint endpoint = pair.a.domain.openEndpoint(pair.a.info);
            UnsafeBuffer payload = new UnsafeBuffer(new byte[8]);
            for (int state = 0; state < 2; state++) {
                for (int i = 0; i < 200; i++) {
                    Request request = new Request(
                        edge(random), edge(random), edge(random), random.nextLong());
                    Map<String, Call> calls = sends();
                    calls.putAll(receives());
                    calls.forEach((name, call) -> assertEquals(
                        -FabricErrno.EOPBADSTATE, call.post(endpoint, request), () -> name + " seed " + seed));
                    int offset = random.nextInt();
                    int length = random.nextInt();
                    assertEquals(-FabricErrno.EOPBADSTATE, endpoint.inject(payload, offset, length, pair.toB));
                    assertEquals(-FabricErrno.EOPBADSTATE, endpoint.tinject(null, offset, length, pair.toB, 1));
                    assertEquals(-FabricErrno.EOPBADSTATE, endpoint.messages().injectdata(
                        payload, offset, length, 1, pair.toB));
                    assertEquals(-FabricErrno.EOPBADSTATE, endpoint.messages().tinjectdata(
                        null, offset, length, 1, pair.toB, 1));
                    assertEquals(-FabricErrno.EOPBADSTATE, endpoint.messages().tsendv(null, edge(random), 1, 1));
                    assertEquals(-FabricErrno.EOPBADSTATE, endpoint.messages().recvv(null, edge(random), 1));
                    assertEquals(-FabricErrno.EOPBADSTATE, endpoint.tryClaim(length, null));
                    assertEquals(-FabricErrno.EOPBADSTATE, endpoint.cancel(random.nextLong()));
                }
                endpoint.close();
            }
            check.usable();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldRefuseTheDirectionThatAnEndpointHasNot(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            InputCheck check = new InputCheck(pair);
            long good = pair.a.memory.address();
            try (Endpoint sender = oneWay(pair, Flags.SEND); Endpoint receiver = oneWay(pair, Flags.RECV)) {
                receives().forEach((name, call) -> assertEquals(
                    -FabricErrno.EOPNOTSUPP, call.post(sender, new Request(good, 8, ANY, 0)), name));
                sends().forEach((name, call) -> assertEquals(
                    -FabricErrno.EOPNOTSUPP, call.post(receiver, new Request(good, 8, pair.toB, 0)), name));
                assertEquals(-FabricErrno.EOPNOTSUPP, receiver.inject(pair.a.memory.buffer(), 0, 8, pair.toB));
                assertEquals(-FabricErrno.EOPNOTSUPP, receiver.txSizeLeft());
                assertEquals(-FabricErrno.EOPNOTSUPP, sender.rxSizeLeft());
            }
            check.usable();
        }
    }

    private static Endpoint oneWay(FabricPair pair, long direction) {
        Info info = pair.a.info.copy().caps(Flags.TAGGED | Flags.MSG | direction);
        info.txAttr().caps(0);
        info.rxAttr().caps(0);
        return pair.open(info);
    }

    /** No mode asks for contexts of the driver's own, so the application may use one for several operations. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldReportEachOperationOfAContextThatIsReused(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            InputCheck check = new InputCheck(pair);
            for (int i = 0; i < 5; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(i * 64L), 64, ANY, i, 0, CONTEXT));
            }
            for (int i = 0; i < 3; i++) {
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 64, pair.toB, i, CONTEXT));
                pair.a.await(CONTEXT);
                assertEquals(i, pair.b.await(CONTEXT).tag());
            }
            // a cancel takes one of them, whichever it is, and the next one the other
            for (int i = 0; i < 2; i++) {
                assertEquals(0, pair.b.endpoint.cancel(CONTEXT));
                FabricNode.Entry entry = pair.b.await();
                assertEquals(FabricErrno.ECANCELED, entry.err());
                assertEquals(CONTEXT, entry.context());
            }
            assertEquals(0, pair.b.endpoint.cancel(CONTEXT));
            pair.b.assertQuiet(50);
            check.usable();
        }
    }

    /** Whatever is passed: a known code and nothing posted, or one entry. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldAnswerAnyMixtureOfBadArgumentsOnce(Setup setup) {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        try (FabricPair pair = new FabricPair(setup)) {
            InputCheck check = new InputCheck(pair);
            int rounds = setup.daemon ? Effort.rounds(400, 2000) : 2000;
            for (int i = 0; i < rounds; i++) {
                boolean send = random.nextBoolean();
                Object[] entries = (send ? sends() : receives()).entrySet().toArray();
                @SuppressWarnings("unchecked")
                Map.Entry<String, Call> chosen = (Map.Entry<String, Call>) entries[random.nextInt(entries.length)];
                // the address is never one of a registered region; all else may be right or wrong
                long buf = edge(random) & ~(0xFFFFL << 48);
                long len = random.nextBoolean() ? 64 : edge(random);
                long addr = random.nextBoolean() ? send ? pair.toB : ANY : edge(random) | 8;
                long flags = random.nextInt(4) == 0 ? random.nextLong() : 0;
                check.refusedOrFailed(chosen, new Request(buf, len == 0 ? 1 : len, addr, flags), "seed " + seed
                    + " step " + i);
                if (i % 200 == 0) {
                    check.usable();
                }
            }
            check.usable();
        }
    }

    private static long edge(SplittableRandom random) {
        return random.nextInt(4) == 0 ? random.nextLong() : EDGES[random.nextInt(EDGES.length)];
    }
}
