package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.MemoryRegion;
import org.jfabric.OperationContext;
import org.jfabric.RecvContext;
import org.jfabric.SendClaim;
import org.jfabric.SendRequest;
import org.jfabric.TriggeredContext;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Mode;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Contexts that are places in registered memory: they come back with the entries, and nothing is written to them. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class OperationContextTest {
    private static final long ANY = -1L;
    private static final int LENGTH = 64;
    private static final int COUNT = 16;
    /** What the application keeps for one operation: the place, and something behind it. */
    private static final int RECORD = 128;
    private static final int NO_PLACE = -FabricErrno.EINVAL;

    /** An endpoint of the first application with a mode that discovery does not ask for. */
    private static Endpoint open(FabricPair pair, long mode) {
        Endpoint endpoint = pair.open(pair.a.info.copy().mode(mode));
        assertEquals(mode, endpoint.info().mode());
        return endpoint;
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-158", "REF-046"})
    void shouldFindThePlaceOfAnOperationByItsEntry(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (long mode : new long[] {0, Mode.CONTEXT, Mode.CONTEXT2, Mode.CONTEXT | Mode.CONTEXT2}) {
                try (Endpoint endpoint = open(pair, mode);
                     MemoryRegion requests = pair.a.domain.allocate(2 * COUNT * RECORD)) {
                    OperationContext place = new OperationContext(
                        (mode & Mode.CONTEXT2) != 0 ? OperationContext.LENGTH_2 : OperationContext.LENGTH);
                    byte[] before = FabricNode.pattern(3, 0, 2 * COUNT * RECORD);
                    requests.buffer().putBytes(0, before);
                    long to = pair.a.av.insert(endpoint.name());
                    for (int i = 0; i < COUNT; i++) {
                        assertEquals(0, endpoint.trecv(pair.a.memory.address((long) i * LENGTH), LENGTH, ANY, i, 0,
                            place.wrap(requests, (long) i * RECORD).id()));
                    }
                    for (int i = COUNT - 1; i >= 0; i--) {
                        assertEquals(0, endpoint.tsend(pair.a.memory.address(4096), LENGTH, to, i,
                            place.wrap(requests, (long) (COUNT + i) * RECORD).id()));
                    }
                    boolean[] ended = new boolean[2 * COUNT];
                    for (int i = 0; i < 2 * COUNT; i++) {
                        FabricNode.Entry entry = pair.a.await();
                        assertEquals(0, entry.err(), entry::toString);
                        assertTrue(place.find(requests, entry.context()), entry::toString);
                        assertEquals(entry.context(), place.id());
                        assertEquals(0, place.offset() % RECORD);
                        int number = (int) (place.offset() / RECORD);
                        assertFalse(ended[number], "twice");
                        ended[number] = true;
                        assertEquals(number < COUNT, (entry.flags() & Flags.RECV) != 0);
                        if (number < COUNT) {
                            assertEquals(number, entry.tag());
                        }
                    }
                    byte[] after = new byte[before.length];
                    requests.buffer().getBytes(0, after);
                    assertEquals(-1, Arrays.mismatch(before, after));
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("REF-046")
    void shouldLieInRegisteredMemory(Setup setup) {
        assertEquals(32, OperationContext.LENGTH);
        assertEquals(64, OperationContext.LENGTH_2);
        assertEquals(16, OperationContext.RECV_LENGTH);
        assertThrows(FabricException.class, () -> new OperationContext(OperationContext.RECV_LENGTH));
        try (FabricPair pair = new FabricPair(setup); MemoryRegion region = pair.a.domain.allocate(4096);
             MemoryRegion other = pair.a.domain.allocate(4096)) {
            for (OperationContext place : new OperationContext[] {
                new OperationContext(), new OperationContext(OperationContext.LENGTH_2)}) {
                assertEquals(0, place.id());
                assertNull(place.region());
                int last = 4096 - place.lengthBytes();
                for (int offset : new int[] {0, 8, last}) {
                    assertSame(place, place.wrap(region, offset));
                    assertEquals(region.address(offset), place.id());
                    assertEquals(offset, place.offset());
                    assertSame(region, place.region());
                    assertFalse(place.find(other, place.id()));
                    assertTrue(place.find(region, place.id()));
                }
                for (long offset : new long[] {-8, 4, last + 8, 4096, Long.MIN_VALUE, Long.MAX_VALUE - 7}) {
                    assertEquals(FabricErrno.EINVAL, assertThrows(
                        FabricException.class, () -> place.wrap(region, offset)).errno());
                }
                for (long id : new long[] {0, 1, region.address(last) + 8, region.address(4), -8}) {
                    assertFalse(place.find(region, id));
                }
                assertEquals(last, place.offset());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("EP-158")
    void shouldRefuseContextsThatAreNoPlaces(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            MemoryRegion closed = pair.a.domain.allocate(4096);
            long gone = closed.address();
            closed.close();
            long end = pair.a.memory.address(FabricNode.MEMORY);
            try (Endpoint endpoint = open(pair, Mode.CONTEXT); Endpoint endpoint2 = open(pair, Mode.CONTEXT2)) {
                for (long context : new long[] {0, 1, -1, -8, gone, end - 36, end - 24, end}) {
                    assertRefused(pair, endpoint, context);
                }
                assertRefused(pair, endpoint2, end - 32);
                long to = pair.b.av.insert(endpoint.name());
                long buf = pair.a.memory.address();
                assertEquals(0, endpoint.trecv(buf, LENGTH, ANY, 1, 0, end - 32));
                assertEquals(0, endpoint.trecv(buf, LENGTH, ANY, 2, 0, end - 32 - 8));
                assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), LENGTH, to, 1, 5));
                pair.a.await(end - 32);
                pair.b.await(5);
                assertEquals(0, endpoint.cancel(end - 32 - 8));
                assertEquals(FabricErrno.ECANCELED, pair.a.await().err());
                // injects have no context
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 3, 0, 6));
                assertEquals(0, endpoint.tinject(new UnsafeBuffer(new byte[8]), 0, 8, pair.toB, 3));
                pair.b.await(6);
            }
        }
    }

    private static void assertRefused(FabricPair pair, Endpoint endpoint, long context) {
        long buf = pair.a.memory.address();
        IoVec pieces = new IoVec().add(buf, 8).add(buf, 8);
        assertEquals(NO_PLACE, endpoint.tsend(buf, LENGTH, pair.toB, 1, context));
        assertEquals(NO_PLACE, endpoint.send(buf, LENGTH, pair.toB, context));
        assertEquals(NO_PLACE, endpoint.messages().tsendv(pieces, pair.toB, 1, context));
        assertEquals(NO_PLACE, endpoint.messages().tsendmsg(buf, LENGTH, 0, pair.toB, 1, context, Flags.INJECT));
        assertEquals(NO_PLACE, endpoint.trecv(buf, LENGTH, ANY, 1, 0, context));
        assertEquals(NO_PLACE, endpoint.recv(buf, LENGTH, ANY, context));
        assertEquals(NO_PLACE, endpoint.messages().trecvv(pieces, ANY, 1, 0, context));
        assertEquals(NO_PLACE, endpoint.messages().trecvmsg(buf, LENGTH, ANY, 1, 0, context, Flags.PEEK));
        assertEquals(NO_PLACE, endpoint.messages().trecvmsg(0, 0, ANY, 1, 0, context, Flags.PEEK | Flags.DISCARD));
        SendClaim claim = new SendClaim();
        assertEquals(0, endpoint.tryClaim(8, claim));
        assertEquals(NO_PLACE, claim.commit(8, pair.toB, 1, context));
        assertFalse(claim.isOpen());
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement("EP-158")
    void shouldRefuseAccessesAndTriggeredOperationsAlike(Setup setup) {
        setup.assumeRemoteMemory();
        Info hints = new Info().caps(Flags.TAGGED | Flags.RMA | Flags.TRIGGER);
        try (FabricPair pair = new FabricPair(setup, hints, 512);
             Endpoint endpoint = open(pair, Mode.CONTEXT);
             Counter counter = pair.a.domain.openCounter(new CounterAttr())) {
            long buf = pair.a.memory.address();
            IoVec pieces = new IoVec().add(buf, 8).add(buf, 8);
            assertEquals(NO_PLACE, endpoint.remoteMemory().write(buf, 8, pair.toB, 0, 7, 1));
            assertEquals(NO_PLACE, endpoint.remoteMemory().readv(pieces, pair.toB, 0, 7, 1));
            SendRequest request = new SendRequest().memory(buf, LENGTH).destAddr(pair.toB).tag(2).opContext(1)
                .trigger(new TriggeredContext().threshold(counter, 0));
            assertEquals(NO_PLACE, endpoint.messages().tsendmsg(request));
            long place = new OperationContext().wrap(pair.a.memory, 4096).id();
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 2, 0, 3));
            assertEquals(0, endpoint.messages().tsendmsg(request.opContext(place)));
            pair.a.await(place);
            pair.b.await(3);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("EP-159")
    void shouldIgnoreTheContextOfAnOperationWithoutEntry(Setup setup) {
        long ofEndpoint = 0x5EED;
        try (FabricPair pair = new FabricPair(setup)) {
            Info info = pair.a.info.copy().mode(Mode.CONTEXT);
            try (Endpoint endpoint = pair.a.domain.openEndpoint(info, ofEndpoint)) {
                endpoint.bind(pair.a.cq, Flags.TRANSMIT | Flags.RECV | Flags.SELECTIVE_COMPLETION);
                endpoint.bind(pair.a.av);
                endpoint.enable();
                long to = pair.b.av.insert(endpoint.name());
                long buf = pair.a.memory.address();
                for (long context : new long[] {0, 3}) {
                    assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 1, 0, 1));
                    assertEquals(0, endpoint.tsend(buf, LENGTH, pair.toB, 1, context));
                    pair.b.await(1);
                    assertEquals(0, endpoint.trecv(buf, LENGTH, ANY, 2, 0, context));
                    assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), LENGTH, to, 2, 2));
                    pair.b.await(2);
                    assertEquals(NO_PLACE, endpoint.messages().tsendmsg(
                        buf, LENGTH, 0, pair.toB, 1, context, Flags.COMPLETION));
                    assertEquals(NO_PLACE, endpoint.messages().trecvmsg(
                        buf, LENGTH, ANY, 1, 0, context, Flags.COMPLETION));
                    // only failures have entries, and theirs name the endpoint
                    for (int i = 0; i < 2; i++) {
                        assertEquals(0, i == 0 ? endpoint.tsend(8, LENGTH, pair.toB, 1, context)
                            : endpoint.trecv(8, LENGTH, ANY, 1, 0, context));
                        FabricNode.Entry entry = pair.a.await();
                        assertEquals(FabricErrno.EFAULT, entry.err(), entry::toString);
                        assertEquals(ofEndpoint, entry.context());
                    }
                }
                long place = new OperationContext().wrap(pair.a.memory, 4096).id();
                assertEquals(0, endpoint.tsend(8, LENGTH, pair.toB, 1, place));
                assertEquals(place, pair.a.await().context());
                pair.a.assertQuiet(20);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("TAG-063")
    void shouldTakeAClaimedMessageWithTheSamePlace(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); Endpoint endpoint = open(pair, Mode.CONTEXT)) {
            long to = pair.b.av.insert(endpoint.name());
            long buf = pair.a.memory.address();
            long place = new OperationContext().wrap(pair.a.memory, 4096).id();
            long another = new OperationContext().wrap(pair.a.memory, 8192).id();
            pair.b.fill(0, LENGTH, 4);
            assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), LENGTH, to, 9, 1));
            long deadline = System.nanoTime() + FabricNode.DEADLINE_NS;
            FabricNode.Entry entry;
            do {
                assertTrue(System.nanoTime() - deadline < 0, "no message");
                pair.pump();
                assertEquals(0, endpoint.messages().trecvmsg(0, 0, ANY, 9, 0, place, Flags.PEEK | Flags.CLAIM));
                entry = pair.a.await();
            } while (entry.err() == FabricErrno.ENOMSG);
            assertEquals(0, entry.err(), entry::toString);
            assertEquals(place, entry.context());
            assertEquals(0, endpoint.messages().trecvmsg(buf, LENGTH, ANY, 9, 0, another, Flags.CLAIM));
            entry = pair.a.await();
            assertEquals(FabricErrno.EINVAL, entry.err());
            assertEquals(another, entry.context());
            assertEquals(NO_PLACE, endpoint.messages().trecvmsg(buf, LENGTH, ANY, 9, 0, 0, Flags.CLAIM));
            assertEquals(0, endpoint.messages().trecvmsg(buf, LENGTH, ANY, 9, 0, place, Flags.CLAIM));
            pair.a.await(place);
            pair.a.assertFilled(0, LENGTH, 4);
            pair.b.await(1);
        }
    }

    /** A claim of a buffered message is known by its number; what its entry carries is for the application to say. */
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldKnowBufferedMessagesByTheirNumbers(Setup setup) {
        Info hints = new Info().caps(Flags.TAGGED).mode(Mode.BUFFERED_RECV);
        try (FabricPair pair = new FabricPair(setup, hints, 512)) {
            Info info = pair.a.info.copy().mode(Mode.BUFFERED_RECV | Mode.CONTEXT);
            info.rxAttr().mode(0);
            CompletionQueue queue = pair.a.cq;
            try (Endpoint endpoint = pair.open(info)) {
                long to = pair.b.av.insert(endpoint.name());
                assertEquals(NO_PLACE, endpoint.trecv(0, 0, ANY, 9, 0, 1));
                assertEquals(0, endpoint.trecv(
                    0, 0, ANY, 9, 0, new OperationContext().wrap(pair.a.memory, 4096).id()));
                pair.b.fill(0, LENGTH, 4);
                assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), LENGTH, to, 9, 1));
                pair.b.await(1);
                FabricNode.Entry entry = pair.a.await();
                RecvContext message = queue.recvContext(entry.context());
                assertEquals(0, endpoint.messages().trecvmsg(
                    pair.a.memory.address(), LENGTH, ANY, 9, 0, message.context(77).id(), Flags.CLAIM));
                pair.a.await(77);
                pair.a.assertFilled(0, LENGTH, 4);
            }
        }
    }
}
