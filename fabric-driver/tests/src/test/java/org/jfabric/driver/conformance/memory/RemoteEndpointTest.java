package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.RemoteMemory;
import org.jfabric.RemoteRequest;
import org.jfabric.driver.kit.Connected;
import org.jfabric.driver.kit.ConnectionSide;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Endpoints that access remote memory or give access to it: their queues, capabilities and limits. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class RemoteEndpointTest {
    private static final long ANY = -1L;
    private static final int TX_SIZE = 13;
    /** Kinds of calls that send: the last one is an atomic operation. */
    private static final int CALLS = 12;
    private static final int ENOTSUPP = -FabricErrno.EOPNOTSUPP;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-005")
    void shouldTakeOnePlaceOfTheTransmitQueueForEachAccess(Setup setup) {
        long atomics = setup.hasAllOfOwn() ? Flags.ATOMIC : 0;
        int calls = atomics == 0 ? CALLS - 1 : CALLS;
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, atomics, 512)) {
            Info hints = RemoteMemoryPair.hints(atomics);
            hints.txAttr().size(TX_SIZE);
            Endpoint small = pair.open(pair.a, hints);
            small.bind(pair.a.cq, Flags.TRANSMIT);
            small.bind(pair.a.domain.openCompletionQueue(new CompletionQueueAttr().size(16)), Flags.RECV);
            small.enable();
            assertEquals(TX_SIZE, small.txSizeLeft());
            long receives = small.rxSizeLeft();
            pair.hold(small, 1);
            for (int call = 0; call < TX_SIZE - 1; call++) {
                assertEquals(TX_SIZE - 1 - call, small.txSizeLeft());
                assertEquals(0, post(pair, small, call % calls));
            }
            assertEquals(0, small.txSizeLeft());
            for (int call = 0; call < calls; call++) {
                assertEquals(-FabricErrno.EAGAIN, post(pair, small, call));
            }
            assertEquals(receives, small.rxSizeLeft());
            assertEquals(0, small.trecv(pair.a.memory.address(), 8, ANY, 99, 0, 1));
            assertEquals(receives - 1, small.rxSizeLeft());
            assertEquals(0, small.recv(pair.a.memory.address(), 8, ANY, 1));
            assertEquals(receives - 2, small.rxSizeLeft());
            pair.release();
            // the three injects have no entries
            for (int i = 0; i < TX_SIZE - 3; i++) {
                assertEquals(0, pair.a.await().err());
            }
            pair.b.await(0);
            Deadline deadline = Deadline.usual();
            while (small.txSizeLeft() != TX_SIZE) {
                deadline.check("room for all sends", small::toString);
                pair.pair.pump();
            }
        }
    }

    /** Each kind of call; the first one waits for what was posted before, and so do those behind it. */
    private static int post(RemoteMemoryPair pair, Endpoint from, int call) {
        long buf = pair.a.memory.address();
        UnsafeBuffer bytes = pair.a.memory.buffer();
        return switch (call) {
            case 7 -> from.send(buf, 8, pair.toB, 8);
            case 8 -> from.tsend(buf, 8, pair.toB, 1, 9);
            case 9 -> from.inject(bytes, 0, 8, pair.toB);
            case 10 -> from.tinject(bytes, 0, 8, pair.toB, 1);
            case 11 -> from.atomics().atomic(
                buf, 1, pair.toB, 0, pair.key, AtomicDatatype.INT64, AtomicOperation.SUM, 10);
            default -> access(pair, from.remoteMemory(), call);
        };
    }

    private static int access(RemoteMemoryPair pair, RemoteMemory remote, int call) {
        long buf = pair.a.memory.address();
        long to = pair.toB;
        return switch (call) {
            case 0 -> remote.writemsg(new RemoteRequest().memory(buf, 8).destAddr(to).remote(0, pair.key)
                .opContext(2).flags(Flags.FENCE));
            case 1 -> remote.read(buf, 8, to, 0, pair.key, 3);
            case 2 -> remote.write(buf, 8, to, 0, pair.key, 4);
            case 3 -> remote.readv(new IoVec().add(buf, 8), to, 0, pair.key, 5);
            case 4 -> remote.writev(new IoVec().add(buf, 8), to, 0, pair.key, 6);
            case 5 -> remote.writedata(buf, 8, 7, to, 0, pair.key, 7);
            default -> remote.injectWrite(pair.a.memory.buffer(), 0, 8, to, 0, pair.key);
        };
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-012")
    void shouldNeedOnlyTheQueueOfTheDirectionThatAnEndpointHas(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            Info targets = new Info().caps(Flags.RMA | RemoteMemoryPair.BOTH);
            Info initiates = new Info().caps(Flags.RMA | Flags.READ | Flags.WRITE);
            for (boolean wrong : new boolean[] {true, false}) {
                for (Info hints : new Info[] {targets, initiates}) {
                    try (Endpoint refused = pair.open(pair.b, hints)) {
                        if (wrong) {
                            refused.bind(pair.b.cq, hints == targets ? Flags.TRANSMIT : Flags.RECV);
                        }
                        assertEquals(FabricErrno.ENOCQ, RemoteMemoryPair.errno(refused::enable));
                    }
                }
            }
            Endpoint target = pair.open(pair.b, targets);
            target.bind(pair.b.cq, Flags.RECV);
            target.enable();
            Endpoint initiator = pair.open(pair.a, initiates);
            initiator.bind(pair.a.cq, Flags.TRANSMIT);
            initiator.enable();
            long to = pair.a.av.insert(target.name());
            for (int i = 0; i < 100; i++) {
                pair.a.fill(0, 64, i);
                assertEquals(0, initiator.remoteMemory().write(pair.a.memory.address(), 64, to, 0, pair.key, 1));
                pair.a.await(1);
                FabricNode.assertPattern(pair.bytes(), 0, 64, i, 0);
                assertEquals(0, initiator.remoteMemory().read(pair.a.memory.address(64), 64, to, 0, pair.key, 2));
                pair.a.await(2);
                pair.a.assertFilled(64, 64, i);
            }
            assertEquals(0, initiator.remoteMemory().writedata(pair.a.memory.address(), 8, 5, to, 0, pair.key, 3));
            assertEquals(5, pair.b.await(0).data());
            pair.a.await(3);
            // each has its direction only, and no messages
            assertEquals(ENOTSUPP, target.remoteMemory().write(pair.b.memory.address(), 8, 0, 0, pair.key, 1));
            assertEquals(ENOTSUPP, target.remoteMemory().read(pair.b.memory.address(), 8, 0, 0, pair.key, 1));
            assertEquals(ENOTSUPP, target.txSizeLeft());
            assertEquals(ENOTSUPP, initiator.rxSizeLeft());
            assertEquals(ENOTSUPP, initiator.tsend(pair.a.memory.address(), 8, to, 1, 1));
            assertEquals(ENOTSUPP, target.trecv(pair.b.memory.address(), 8, ANY, 1, 0, 1));
            assertEquals(ENOTSUPP, target.recv(pair.b.memory.address(), 8, ANY, 1));
            pair.b.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldKeepTheDirectionsOfMessagesAndAccessesApart(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            long buf = pair.a.memory.address();
            Endpoint receives = pair.open(pair.a, new Info().caps(Flags.RMA | Flags.WRITE | Flags.TAGGED | Flags.RECV));
            receives.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
            receives.enable();
            assertEquals(ENOTSUPP, receives.tsend(buf, 8, pair.toB, 1, 1));
            assertEquals(0, receives.remoteMemory().write(buf, 8, pair.toB, 0, pair.key, 2));
            pair.a.await(2);
            assertEquals(0, receives.trecv(buf, 8, ANY, 1, 0, 3));
            assertEquals(0, pair.b.endpoint.tsend(
                pair.b.memory.address(), 8, pair.b.av.insert(receives.name()), 1, 4));
            pair.a.await(3);
            pair.b.await(4);
            Endpoint sends = pair.open(
                pair.b, new Info().caps(Flags.RMA | Flags.REMOTE_WRITE | Flags.TAGGED | Flags.SEND));
            sends.bind(pair.b.cq, Flags.TRANSMIT | Flags.RECV);
            sends.enable();
            assertEquals(ENOTSUPP, sends.trecv(pair.b.memory.address(), 8, ANY, 1, 0, 1));
            assertEquals(ENOTSUPP, sends.remoteMemory().write(pair.b.memory.address(), 8, 0, 0, pair.key, 1));
            assertEquals(0, pair.remote.write(buf, 8, pair.a.av.insert(sends.name()), 0, pair.key, 5));
            pair.a.await(5);
            assertEquals(0, pair.a.endpoint.trecv(buf, 8, ANY, 1, 0, 6));
            assertEquals(0, sends.tsend(pair.b.memory.address(), 8, pair.pair.toA, 1, 7));
            pair.a.await(6);
            pair.b.await(7);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-041", "CQ-001"})
    void shouldReportRemoteWritesInTheQueueOfReceives(Setup setup) {
        setup.assumeRemoteEvents();
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            CompletionQueue sends = pair.b.domain.openCompletionQueue(new CompletionQueueAttr().size(16));
            Endpoint target = pair.open(pair.b, RemoteMemoryPair.hints(Flags.RMA_EVENT));
            target.bind(sends, Flags.TRANSMIT);
            target.bind(pair.b.cq, Flags.RECV);
            target.enable();
            long to = pair.a.av.insert(target.name());
            long toA = pair.pair.toA;
            assertEquals(0, pair.remote.writedata(pair.a.memory.address(), 8, 5, to, 0, pair.key, 1));
            assertEquals(Flags.RMA | Flags.REMOTE_WRITE | Flags.REMOTE_CQ_DATA, pair.b.await(0).flags());
            pair.a.await(1);
            assertEquals(0, pair.remote.write(pair.a.memory.address(), 8, to, 0, pair.key, 2));
            assertEquals(Flags.RMA | Flags.REMOTE_WRITE, pair.b.await(0).flags());
            pair.a.await(2);
            assertEquals(0, pair.remote.read(pair.a.memory.address(), 8, to, 0, pair.key, 3));
            assertEquals(Flags.RMA | Flags.REMOTE_READ, pair.b.await(0).flags());
            pair.a.await(3);
            assertEquals(-FabricErrno.EAGAIN, sends.read(new UnsafeBuffer(new byte[64]), 0, 1));
            // its own accesses are in the other one
            MemoryRegion region = pair.a.domain.allocate(
                64, new MemoryRegionAttr().access(Flags.REMOTE_WRITE).requestedKey(3));
            assertEquals(0, target.remoteMemory().write(pair.b.memory.address(), 8, toA, 0, region.key(), 77));
            UnsafeBuffer entry = new UnsafeBuffer(new byte[64]);
            Deadline deadline = Deadline.usual();
            while (sends.read(entry, 0, 1) != 1) {
                deadline.check("the entry of the write", sends::toString);
                pair.pair.pump();
            }
            assertEquals(77, entry.getLong(0));
            pair.b.assertQuiet(20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldRefuseWhatTheCapabilitiesLeaveOut(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            UnsafeBuffer source = new UnsafeBuffer(new byte[8]);
            long[] caps = {Flags.RMA | Flags.READ, Flags.RMA | Flags.WRITE, Flags.TAGGED, Flags.RMA | Flags.TAGGED};
            for (long each : caps) {
                Endpoint endpoint = pair.open(pair.a, new Info().caps(each));
                RemoteMemory remote = endpoint.remoteMemory();
                assertAllAnswer(pair, remote, -FabricErrno.EOPBADSTATE);
                endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV);
                endpoint.enable();
                boolean accesses = (each & Flags.RMA) != 0;
                boolean reads = accesses && (each & Flags.WRITE) == 0;
                boolean writes = accesses && (each & Flags.READ) == 0;
                for (int call = 0; call <= 6; call++) {
                    boolean allowed = call == 1 || call == 3 ? reads : writes;
                    assertEquals(allowed ? 0 : ENOTSUPP, access(pair, remote, call), "call " + call);
                    if (allowed && call != 6) {
                        pair.a.await(call + 2);
                    }
                    if (allowed && call == 5) {
                        pair.b.await(0);
                    }
                }
                RemoteRequest request = new RemoteRequest().memory(pair.a.memory.address(), 8)
                    .destAddr(pair.toB).remote(0, pair.key).opContext(1);
                assertEquals(reads ? 0 : ENOTSUPP, remote.readmsg(request));
                if (reads) {
                    pair.a.await(1);
                }
                if (!writes) {
                    assertEquals(ENOTSUPP, remote.injectWritedata(source, 0, 8, 1, pair.toB, 0, pair.key));
                    assertEquals(ENOTSUPP, remote.writemsg(request.flags(Flags.TAGGED)));
                }
                endpoint.close();
                assertAllAnswer(pair, remote, -FabricErrno.EOPBADSTATE);
            }
            pair.a.assertQuiet(20);
        }
    }

    /** Before the endpoint is enabled, and after its end. */
    private static void assertAllAnswer(RemoteMemoryPair pair, RemoteMemory remote, int result) {
        for (int call = 0; call <= 6; call++) {
            assertEquals(result, access(pair, remote, call), "call " + call);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"TX-045", "TX-046"})
    void shouldOfferAsManyRangesOfRemoteMemoryAsTheWireHas(Setup setup) {
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            long limit = setup.isForeign() && !setup.isByCard() ? 4 : 1;
            assertEquals(limit, pair.a.info.txAttr().rmaIovLimit());
            assertEquals(limit, pair.b.info.txAttr().rmaIovLimit());
            Info hints = RemoteMemoryPair.hints(0).linkName(setup.link);
            hints.txAttr().rmaIovLimit(1);
            assertEquals(limit, pair.a.fabric.info(hints).best().txAttr().rmaIovLimit());
            hints.txAttr().rmaIovLimit(limit + 1);
            assertEquals(FabricErrno.ENODATA, RemoteMemoryPair.errno(() -> pair.a.fabric.info(hints).best()));
            String why = pair.a.fabric.info(hints).explain();
            assertTrue(why.contains("tx_attr.rma_iov_limit"), why);
            Info messages = new Info().caps(Flags.TAGGED).linkName(setup.link);
            assertEquals(0, pair.a.fabric.info(messages).best().txAttr().rmaIovLimit());
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldAccessMemoryOverAConnection(Setup setup) {
        setup.assumeRemoteMemory();
        Info hints = RemoteMemoryPair.delivering(
            setup, ConnectionSide.hints().caps(Flags.MSG | Flags.TAGGED | Flags.RMA | Flags.RMA_EVENT));
        // a refused access is logged over libfabric's wires
        FabricPair fabrics = setup.isForeign() ? FabricPair.withOwnDaemons(setup) : new FabricPair(setup);
        try (Connected pair = new Connected(fabrics, hints)) {
            MemoryRegion region = pair.pair.b.domain.allocate(
                200_000, new MemoryRegionAttr().access(RemoteMemoryPair.BOTH).requestedKey(5));
            RemoteMemory remote = pair.endpointA.remoteMemory();
            long buf = pair.pair.a.memory.address();
            // whatever address it names
            for (long to : new long[] {0, ANY, 1234}) {
                for (int length : new int[] {0, 8, 100_000}) {
                    pair.pair.a.fill(0, length, length);
                    assertEquals(0, remote.write(buf, length, to, 40, 5, 1));
                    assertEquals(Flags.RMA | Flags.REMOTE_WRITE, pair.b.completion(0).flags());
                    assertEquals(Flags.RMA | Flags.WRITE, pair.a.completion(1).flags());
                    FabricNode.assertPattern(region.buffer(), 40, length, length, 0);
                    assertEquals(0, remote.read(pair.pair.a.memory.address(1 << 20), length, to, 40, 5, 2));
                    assertEquals(Flags.RMA | Flags.REMOTE_READ, pair.b.completion(0).flags());
                    pair.a.completion(2);
                    pair.pair.a.assertFilled(1 << 20, length, length);
                    assertEquals(0, remote.writedata(buf, length, 9, to, 40, 5, 3));
                    assertEquals(9, pair.b.completion(0).data());
                    pair.a.completion(3);
                }
            }
            assertEquals(0, remote.write(buf, 8, 0, 0, 6, 4));
            if (setup.isForeign()) {
                int err = pair.a.completion().err();
                assertTrue(err == FabricErrno.ESHUTDOWN || err == FabricErrno.ECONNRESET, FabricErrno.name(err));
                pair.a.next(EventType.SHUTDOWN, pair.endpointA);
                pair.b.next(EventType.SHUTDOWN, pair.endpointB);
                assertEquals(-FabricErrno.ENOTCONN, remote.write(buf, 8, 0, 0, 5, 6));
                return;
            }
            assertEquals(FabricErrno.EKEYREJECTED, pair.a.completion().err());
            assertEquals(0, pair.endpointB.remoteMemory().write(pair.pair.b.memory.address(), 8, 0, 0, 5, 5));
            assertEquals(FabricErrno.EKEYREJECTED, pair.b.completion().err(), "the other side has no such region");
            pair.endpointB.close();
            int result;
            Deadline deadline = Deadline.usual();
            while ((result = remote.write(buf, 8, 0, 0, 5, 6)) == 0) {
                deadline.check("the end of the connection", pair.endpointA::toString);
                assertTrue(pair.a.completion().err() != 0);
            }
            assertEquals(FabricErrno.name(FabricErrno.ENOTCONN), FabricErrno.name(-result));
        }
    }
}
