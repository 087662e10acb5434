package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Counter;
import org.jfabric.Endpoint;
import org.jfabric.RemoteMemory;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** What a target with {@link Flags#RMA_EVENT} is told of the accesses of its peers, and what is counted. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
@SeveralLinks
class RemoteEventTest {
    private static final long ANY = -1L;
    private static final int SLOTS = 16;
    private static final long WRITTEN = Flags.RMA | Flags.REMOTE_WRITE;
    private static final long READ = Flags.RMA | Flags.REMOTE_READ;
    /** Where the bytes of reads are. */
    private static final int SECOND = 1 << 19;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-002", "CQ-112"})
    void shouldReportEachAccessWithoutAContext(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofRefusals(setup, Flags.RMA_EVENT)) {
            long buf = pair.a.memory.address();
            for (int length : new int[] {0, 1, 64, 8192, 8193, 100_000}) {
                pair.a.fill(0, length, length);
                assertEquals(0, pair.remote.write(buf, length, pair.toB, 0, pair.key, 1));
                assertReport(pair, WRITTEN, length, 0);
                FabricNode.assertPattern(pair.bytes(), 0, length, length, 0);
                pair.a.await(1);
                assertEquals(0, pair.remote.read(buf, length, pair.toB, 0, pair.key, 2));
                assertReport(pair, READ, length, 0);
                pair.a.await(2);
                assertEquals(0, pair.remote.writedata(buf, length, 9, pair.toB, 0, pair.key, 3));
                assertReport(pair, WRITTEN | Flags.REMOTE_CQ_DATA, length, 9);
                pair.a.await(3);
            }
            UnsafeBuffer source = new UnsafeBuffer(new byte[8]);
            assertEquals(0, pair.remote.injectWrite(source, 0, 8, pair.toB, 0, pair.key));
            assertReport(pair, WRITTEN, 8, 0);
            // what is refused is no access
            assertEquals(0, pair.remote.write(buf, 8, pair.toB, 0, pair.key + 1_000_000, 4));
            pair.assertRefused(pair.a.await(), 4, Flags.WRITE, FabricErrno.EKEYREJECTED);
            assertEquals(0, pair.remote.read(buf, 8, pair.toB, -1, pair.key, 5));
            pair.assertRefused(pair.a.await(), 5, Flags.READ, FabricErrno.EFAULT);
            pair.b.assertQuiet(50);
            pair.a.assertQuiet(1);
        }
    }

    private static void assertReport(RemoteMemoryPair pair, long flags, int length, long data) {
        assertEquals(new FabricNode.Entry(0, flags, length, 0, data, 0, pair.pair.toA, 0, 0, null), pair.b.await());
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldReportAccessesAndMessagesInTheOrderOfPosting(Setup setup) {
        setup.assumeOrderBehindReads();
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, Flags.RMA_EVENT, 64)) {
            long buf = pair.a.memory.address();
            for (int length : new int[] {8, 8192, 50_000}) {
                for (int round = 0; round < 20; round++) {
                    assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), 8, ANY, 7, 0, 77));
                    // a message that comes before its receive is reported when the receive is posted
                    pair.b.awaitRead(1);
                    assertEquals(0, pair.remote.write(buf, length, pair.toB, 0, pair.key, 1));
                    assertEquals(0, pair.remote.read(buf, length, pair.toB, 0, pair.key, 2));
                    assertEquals(0, pair.a.endpoint.tsend(buf, 8, pair.toB, 7, 3));
                    assertEquals(0, pair.remote.writedata(buf, length, 5, pair.toB, 0, pair.key, 4));
                    assertEquals(0, pair.remote.read(buf, 1, pair.toB, 0, pair.key, 5));
                    assertEquals(0, pair.remote.write(buf, 2, pair.toB, 0, pair.key, 6));
                    assertReport(pair, WRITTEN, length, 0);
                    assertReport(pair, READ, length, 0);
                    pair.b.await(77);
                    assertReport(pair, WRITTEN | Flags.REMOTE_CQ_DATA, length, 5);
                    assertReport(pair, READ, 1, 0);
                    assertReport(pair, WRITTEN, 2, 0);
                    for (int i = 0; i < 6; i++) {
                        assertEquals(0, pair.a.await().err());
                    }
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldTouchNothingWithoutASlotForTheReport(Setup setup) {
        int count = 200;
        // where reads may be reported behind later writes there are only writes
        int step = setup.isForeign() ? 2 : 1;
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, Flags.RMA_EVENT, SLOTS)) {
            for (int i = 0; i < step * count; i++) {
                pair.a.memory.buffer().putLong(8 * i, i + 1);
                pair.bytes().putLong(SECOND + 8 * i, -i);
            }
            int posted = 0;
            int ended = 0;
            Deadline deadline = Deadline.usual();
            for (int seen = 0; seen < count;) {
                // until it is stopped by the reader, or by a driver that is slow
                for (int quiet = 0; quiet < 30; quiet++) {
                    if (posted < count && post(pair, step * posted) == 0) {
                        posted++;
                        quiet = 0;
                    }
                    FabricNode.Entry entry = pair.a.poll();
                    if (entry != null) {
                        assertEquals(0, entry.err());
                        ended++;
                        quiet = 0;
                    }
                    pair.pair.pump();
                    Thread.yield();
                }
                assertTrue(ended <= seen + SLOTS, "an access has ended without a report");
                int next = (step * (seen + SLOTS) + 1) / 2 * 2;
                pair.assertUntouched(8 * next, 8 * next + 8);
                int number = step * seen;
                FabricNode.Entry report = pair.b.poll();
                if (report != null) {
                    assertEquals(new FabricNode.Entry(
                        0, number % 2 == 0 ? WRITTEN : READ, 8, 0, 0, 0, pair.pair.toA, 0, 0, null), report);
                    if (number % 2 == 0) {
                        assertEquals(number + 1, pair.bytes().getLong(8 * number));
                    }
                    seen++;
                    deadline = Deadline.usual();
                }
                int[] state = {posted, ended, seen};
                deadline.check("a report", () -> Arrays.toString(state));
            }
            for (; ended < count; ended++) {
                assertEquals(0, pair.a.await().err());
            }
            for (int i = 1; i < count && step == 1; i += 2) {
                assertEquals(-i, pair.a.memory.buffer().getLong(SECOND + 8 * i));
            }
        }
    }

    /** Reads too end only when they are reported, on wires where they may be reported behind later writes. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldReadNothingWithoutASlotForTheReport(Setup setup) {
        int count = 100;
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, Flags.RMA_EVENT, SLOTS)) {
            int posted = 0;
            int ended = 0;
            Deadline deadline = Deadline.usual();
            for (int seen = 0; seen < count || ended < count;) {
                // the target is asked when nothing else happens in many rounds
                for (int quiet = 0; quiet < 30 && ended < count; quiet++) {
                    if (posted < count && post(pair, 2 * posted + 1) == 0) {
                        posted++;
                        quiet = 0;
                    }
                    FabricNode.Entry entry = pair.a.poll();
                    if (entry != null) {
                        assertEquals(0, entry.err());
                        ended++;
                        quiet = 0;
                    }
                    pair.pair.pump();
                    Thread.yield();
                }
                assertTrue(ended <= seen + SLOTS, "a read has ended without a report");
                FabricNode.Entry report = pair.b.poll();
                if (report != null) {
                    assertEquals(new FabricNode.Entry(0, READ, 8, 0, 0, 0, pair.pair.toA, 0, 0, null), report);
                    seen++;
                    deadline = Deadline.usual();
                }
                int[] state = {posted, ended, seen};
                deadline.check("a report", () -> Arrays.toString(state));
            }
            assertNull(pair.b.poll());
        }
    }

    /** A write, or a read after it. */
    private static int post(RemoteMemoryPair pair, int number) {
        return number % 2 == 0
            ? pair.remote.write(
                pair.a.memory.address(8L * number), 8, pair.toB, 8L * number, pair.key, number)
            : pair.remote.read(
                pair.a.memory.address(SECOND + 8L * number), 8, pair.toB, SECOND + 8L * number, pair.key, number);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldEndWaitingAccessesWhenOneSideCloses(Setup setup) {
        for (boolean targetCloses : new boolean[] {true, false}) {
            try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, Flags.RMA_EVENT, SLOTS)) {
                int outstanding = 0;
                int posted = 0;
                for (int quiet = 0; quiet < 50 && posted < 1000; quiet++) {
                    if (post(pair, 2 * (quiet % 8)) == 0) {
                        posted++;
                        outstanding++;
                        quiet = 0;
                    }
                    outstanding -= pair.a.poll() == null ? 0 : 1;
                    pair.pair.pump();
                    Thread.yield();
                }
                assertTrue(outstanding > 0);
                Info hints = RemoteMemoryPair.hints(Flags.RMA_EVENT);
                if (targetCloses) {
                    pair.b.endpoint.close();
                    for (; outstanding > 0; outstanding--) {
                        assertTrue(pair.a.await().err() >= 0);
                    }
                } else {
                    pair.a.endpoint.close();
                }
                // the other one of each side still has its slots
                Endpoint target = targetCloses ? pair.open(pair.b, hints) : pair.b.endpoint;
                Endpoint writer = targetCloses ? pair.a.endpoint : pair.open(pair.a, hints);
                Endpoint fresh = targetCloses ? target : writer;
                fresh.bind(targetCloses ? pair.b.cq : pair.a.cq, Flags.TRANSMIT | Flags.RECV);
                fresh.enable();
                long to = pair.a.av.insert(target.name());
                while (pair.b.poll() != null || pair.a.poll() != null) {
                    pair.pair.pump();
                }
                for (int i = 0; i < 3 * SLOTS; i++) {
                    assertEquals(0, writer.remoteMemory().write(pair.a.memory.address(), 8, to, 0, pair.key, 100 + i));
                    assertEquals(WRITTEN, pair.b.await().flags());
                    pair.a.await(100 + i);
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"EP-052", "EP-053"})
    void shouldCountAccessesOnBothSides(Setup setup) {
        setup.assumeRemoteEvents();
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofRefusals(setup, 0)) {
            Counter[] local = {counter(pair.a), counter(pair.a)};
            Counter[] remote = {counter(pair.b), counter(pair.b)};
            Endpoint initiator = pair.open(pair.a, new Info().caps(Flags.RMA | Flags.READ | Flags.WRITE));
            initiator.bind(pair.a.cq, Flags.TRANSMIT | Flags.SELECTIVE_COMPLETION);
            initiator.bind(local[0], Flags.READ);
            initiator.bind(local[1], Flags.WRITE);
            for (long kind : new long[] {Flags.REMOTE_READ, Flags.REMOTE_WRITE}) {
                assertEquals(FabricErrno.EOPNOTSUPP,
                    RemoteMemoryPair.errno(() -> initiator.bind(local[0], kind)), "no RMA_EVENT");
            }
            initiator.enable();
            Endpoint target = pair.open(
                pair.b, new Info().caps(Flags.RMA | RemoteMemoryPair.BOTH | Flags.RMA_EVENT));
            target.bind(pair.b.cq, Flags.RECV);
            target.bind(remote[0], Flags.REMOTE_READ);
            target.bind(remote[1], Flags.REMOTE_WRITE);
            target.enable();
            long to = pair.a.av.insert(target.name());
            Endpoint messages = pair.open(pair.a, new Info().caps(Flags.TAGGED));
            assertEquals(FabricErrno.EOPNOTSUPP,
                RemoteMemoryPair.errno(() -> messages.bind(local[0], Flags.READ)), "no RMA");
            messages.close();

            RemoteMemory accesses = initiator.remoteMemory();
            long buf = pair.a.memory.address();
            for (int i = 0; i < 3; i++) {
                assertEquals(0, accesses.write(buf, 100, to, 0, pair.key, 1));
                assertEquals(0, accesses.read(buf, 100_000, to, 0, pair.key, 2));
            }
            assertEquals(0, accesses.writedata(buf, 100_000, 1, to, 0, pair.key, 3));
            assertEquals(0, accesses.injectWrite(pair.a.memory.buffer(), 0, 8, to, 0, pair.key));
            // what is outstanding when an access is refused may end with it
            await(pair, () -> counts(local).equals("3/0 5/0"), () -> counts(local));
            assertEquals(0, accesses.write(buf, 8, to, 0, pair.key + 1_000_000, 4));
            pair.assertRefused(pair.a.await(), 4, Flags.WRITE, FabricErrno.EKEYREJECTED);
            assertEquals(0, accesses.read(buf, 8, to, -1, pair.key, 5));
            pair.assertRefused(pair.a.await(), 5, Flags.READ, FabricErrno.EFAULT);
            assertEquals(0, accesses.read(0x7FFFL << 48, 8, to, 0, pair.key, 6));
            RemoteMemoryPair.assertError(pair.a.await(), 6, Flags.READ, FabricErrno.EFAULT);
            await(pair, () -> counts(local).equals("3/2 5/1"), () -> counts(local));
            await(pair, () -> counts(remote).equals("3/0 5/0"), () -> counts(remote));
            for (int i = 0; i < 8; i++) {
                pair.b.await(0);
            }
            pair.b.assertQuiet(20);
        }
    }

    private static Counter counter(FabricNode node) {
        return node.domain.openCounter(new CounterAttr());
    }

    private static String counts(Counter[] counters) {
        return counters[0].read() + "/" + counters[0].readErr() + " " + counters[1].read() + "/"
            + counters[1].readErr();
    }

    private static void await(
        RemoteMemoryPair pair, BooleanSupplier condition, Supplier<String> state) {
        Deadline deadline = Deadline.usual();
        while (!condition.getAsBoolean()) {
            deadline.check("the counts", state);
            pair.pair.pump();
            Thread.yield();
        }
    }
}
