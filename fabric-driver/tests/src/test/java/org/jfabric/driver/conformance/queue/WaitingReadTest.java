package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Threading;
import org.jfabric.info.WaitCondition;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Blocking reads of a completion queue: what ends them, and what they return then. */
@Tag("slow")
@Timeout(120)
class WaitingReadTest {
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    private static final int ENTRY = 48;
    private static final long FOR_EVER = -1;
    private static final long LONG_ENOUGH_TO_SLEEP_NS = TimeUnit.MILLISECONDS.toNanos(30);
    private static final long DEADLINE_S = Deadline.s(60);

    private final UnsafeBuffer entries = new UnsafeBuffer(new byte[16 * ENTRY]);
    private final List<Thread> started = new ArrayList<>();
    private FabricPair pair;
    private CompletionQueue queue;
    private Endpoint endpoint;
    private long dest;

    @AfterEach
    void closePair() throws InterruptedException {
        if (pair != null) {
            pair.close();
        }
        for (Thread thread : started) {
            thread.join(TimeUnit.SECONDS.toMillis(DEADLINE_S));
            assertFalse(thread.isAlive(), "a reader sleeps for ever");
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-022", "CQ-025", "CQ-033", "CQ-039", "CQ-076"})
    void shouldReturnWhenAnEntryIsWritten(Setup setup) throws Exception {
        pair = new FabricPair(setup);
        for (WaitObject waitObject : List.of(WaitObject.UNSPEC, WaitObject.YIELD)) {
            open(new CompletionQueueAttr().size(16).waitObject(waitObject));
            assertEquals(waitObject, queue.waitObject());
            int rounds = Effort.rounds(100, 300);
            receives(8);
            if (sharesTheThread()) {
                for (int i = 0; i < rounds; i++) {
                    send(i);
                    assertEquals(1, queue.sread(entries, 0, 1, 0, FOR_EVER));
                    assertEquals(i, entries.getLong(40));
                    receives(1);
                }
            } else {
                FutureTask<Long> reader = start(() -> readTags(rounds));
                SplittableRandom random = new SplittableRandom(7);
                for (int i = 0; i < rounds; i++) {
                    send(i);
                    if (i % 16 == 0) {
                        pauseNs(random.nextLong(2_000_000));
                    }
                }
                assertEquals(rounds * (rounds - 1L) / 2, reader.get(DEADLINE_S, TimeUnit.SECONDS));
            }
            closeQueue();
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-077", "CQ-078", "CQ-080"})
    void shouldWaitForTheTimeAndNoLonger(Setup setup) throws Exception {
        pair = new FabricPair(setup);
        open(new CompletionQueueAttr().waitObject(WaitObject.UNSPEC));
        assertEquals(-FabricErrno.EAGAIN, queue.sread(entries, 0, 1, 0, 0));
        long start = System.nanoTime();
        assertEquals(-FabricErrno.EAGAIN, queue.sread(entries, 0, 1, 0, 60_000_000));
        long waited = System.nanoTime() - start;
        assertTrue(waited >= 60_000_000, "waited " + waited + " ns");
        start = System.nanoTime();
        assertEquals(-FabricErrno.EAGAIN, queue.sreadFrom(entries, 0, 1, new long[1], 0, 25_000_000));
        waited = System.nanoTime() - start;
        assertTrue(waited >= 25_000_000, "waited " + waited + " ns");

        if (sharesTheThread()) {
            // another thread must end a wait without limit
            return;
        }
        receives(1);
        // every negative value is a wait without limit
        FutureTask<Integer> reader = start(() -> queue.sread(entries, 0, 1, 0, Long.MIN_VALUE));
        // several of the slices that a wait consists of
        pauseNs(2 * LONG_ENOUGH_TO_SLEEP_NS);
        assertFalse(reader.isDone());
        send(1);
        assertEquals(1, reader.get(DEADLINE_S, TimeUnit.SECONDS));
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-040", "CQ-079", "CQ-085"})
    void shouldReturnWhatIsThereWithoutWaitingForMore(Setup setup) {
        pair = new FabricPair(setup);
        open(new CompletionQueueAttr().waitObject(WaitObject.UNSPEC));
        receives(2);
        send(1);
        send(2);
        awaitArrival();
        long[] sources = {0, 0, 7};
        assertEquals(2, queue.sreadFrom(entries, 0, 3, sources, 5, FOR_EVER));
        assertEquals(1, entries.getLong(40));
        assertEquals(2, entries.getLong(ENTRY + 40));
        assertEquals(pair.toA, sources[0]);
        assertEquals(pair.toA, sources[1]);
        assertEquals(7, sources[2]);

        receives(1);
        send(3);
        UnsafeBuffer inBuffer = new UnsafeBuffer(new byte[24]);
        inBuffer.setMemory(0, 24, (byte) 7);
        assertEquals(1, queue.sreadFrom(entries, 0, 2, inBuffer, 8, 0, FOR_EVER));
        assertEquals(0x0707_0707_0707_0707L, inBuffer.getLong(0));
        assertEquals(pair.toA, inBuffer.getLong(8));
        assertEquals(0x0707_0707_0707_0707L, inBuffer.getLong(16));
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-041", "CQ-042", "CQ-043", "CQ-045"})
    void shouldCountEntriesUpToTheThreshold(Setup setup) throws Exception {
        pair = new FabricPair(setup);
        open(new CompletionQueueAttr().size(16).waitObject(WaitObject.UNSPEC).waitCondition(WaitCondition.THRESHOLD));
        receives(16);
        for (int i = 0; i < 3; i++) {
            send(i);
        }
        awaitArrival();
        // the time ends a wait below the threshold, with what is there; a read that does not wait never looks at it
        assertEquals(2, queue.sread(entries, 0, 2, 10, FOR_EVER));
        assertEquals(1, queue.sread(entries, 0, 8, 4, 20_000_000));
        send(3);
        send(4);
        awaitArrival();
        assertEquals(2, queue.read(entries, 0, 8));

        if (sharesTheThread()) {
            for (int i = 0; i < 4; i++) {
                send(10 + i);
            }
            assertEquals(4, queue.sread(entries, 0, 8, 4, FOR_EVER));
            return;
        }
        FutureTask<Integer> reader = start(() -> {
            int seen = 0;
            // may be woken early: a caller counts itself
            while (seen < 4) {
                int read = queue.sread(entries, 0, 8, 4 - seen, FOR_EVER);
                assertTrue(read >= 1, "sread answered " + read);
                seen += read;
            }
            return seen;
        });
        for (int i = 0; i < 3; i++) {
            send(10 + i);
        }
        pauseNs(LONG_ENOUGH_TO_SLEEP_NS);
        assertFalse(reader.isDone(), "three entries of four");
        send(13);
        assertEquals(4, reader.get(DEADLINE_S, TimeUnit.SECONDS));
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-083"})
    void shouldReturnForAnErrorWhateverTheThreshold(Setup setup) throws Exception {
        pair = new FabricPair(setup);
        open(new CompletionQueueAttr().size(16).waitObject(WaitObject.UNSPEC).waitCondition(WaitCondition.THRESHOLD));
        assertEquals(0, endpoint.trecv(pair.b.memory.address(), 8, ANY, 0, 0, 77));
        int result;
        if (sharesTheThread()) {
            assertEquals(0, endpoint.cancel(77));
            result = queue.sread(entries, 0, 8, 8, FOR_EVER);
        } else {
            FutureTask<Integer> reader = start(() -> queue.sread(entries, 0, 8, 8, FOR_EVER));
            pauseNs(LONG_ENOUGH_TO_SLEEP_NS);
            // too long for the receive
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 64, dest, 0, 1));
            pair.a.await(1);
            result = reader.get(DEADLINE_S, TimeUnit.SECONDS);
        }
        assertEquals(-FabricErrno.EAVAIL, result);
        CompletionError error = new CompletionError();
        assertEquals(1, queue.readErr(error, 0));
        assertEquals(77, error.opContext());
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-082", "CQ-108", "CQ-109", "CQ-110"})
    void shouldBeReleasedByASignalNowOrNextTime(Setup setup) throws Exception {
        pair = new FabricPair(setup);
        for (WaitObject waitObject : List.of(WaitObject.UNSPEC, WaitObject.YIELD)) {
            open(new CompletionQueueAttr().waitObject(waitObject));
            for (int i = 0; i < 20; i++) {
                FutureTask<Integer> reader = start(() -> queue.sread(entries, 0, 1, 0, FOR_EVER));
                if (i % 2 == 0) {
                    pauseNs(2_000_000);
                }
                assertEquals(0, queue.signal());
                assertEquals(-FabricErrno.EAGAIN, reader.get(DEADLINE_S, TimeUnit.SECONDS));
            }
            // nobody waits: the next one that finds nothing returns, once
            assertEquals(0, queue.signal());
            assertEquals(0, queue.signal());
            assertEquals(-FabricErrno.EAGAIN, queue.read(entries, 0, 1));
            assertEquals(-FabricErrno.EAGAIN, queue.sread(entries, 0, 1, 0, FOR_EVER));
            assertEquals(-FabricErrno.EAGAIN, queue.sread(entries, 0, 1, 0, 20_000_000));
            assertEquals(-FabricErrno.EAGAIN, queue.read(entries, 0, 1));
            closeQueue();
            assertEquals(-FabricErrno.EOPBADSTATE, queue.signal());
        }
        assertEquals(-FabricErrno.ENOSYS, pair.b.cq.signal());
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("CQ-107")
    void shouldReleaseAllReadersByOneSignal(Setup setup) throws Exception {
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG);
        hints.domainAttr().threading(Threading.SAFE);
        pair = new FabricPair(setup, hints, 64);
        for (WaitObject waitObject : List.of(WaitObject.UNSPEC, WaitObject.YIELD)) {
            open(new CompletionQueueAttr().waitObject(waitObject));
            CountDownLatch begun = new CountDownLatch(2);
            FutureTask<Integer> first = startReader(begun);
            FutureTask<Integer> second = startReader(begun);
            assertTrue(begun.await(DEADLINE_S, TimeUnit.SECONDS), "a reader does not begin");
            awaitWaiting(2);
            pauseNs(LONG_ENOUGH_TO_SLEEP_NS);
            assertFalse(first.isDone() || second.isDone());
            assertEquals(0, queue.signal());
            assertEquals(-FabricErrno.EAGAIN, first.get(DEADLINE_S, TimeUnit.SECONDS));
            assertEquals(-FabricErrno.EAGAIN, second.get(DEADLINE_S, TimeUnit.SECONDS));
            closeQueue();
        }
    }

    /** Until the threads that were started last are in the library's wait: a signal is for those that wait then. */
    private void awaitWaiting(int threads) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_S);
        for (Thread thread : started.subList(started.size() - threads, started.size())) {
            while (Arrays.stream(thread.getStackTrace())
                .noneMatch(frame -> frame.getMethodName().equals("awaitReady"))) {
                assertTrue(System.nanoTime() - deadline < 0, "a reader does not wait");
                Thread.yield();
            }
        }
    }

    private FutureTask<Integer> startReader(CountDownLatch begun) {
        return start(() -> {
            UnsafeBuffer entry = new UnsafeBuffer(new byte[ENTRY]);
            begun.countDown();
            return queue.sread(entry, 0, 1, 0, FOR_EVER);
        });
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-081"})
    void shouldBeReleasedByAnInterruptWhoseFlagStays(Setup setup) throws Exception {
        pair = new FabricPair(setup);
        open(new CompletionQueueAttr().waitObject(WaitObject.UNSPEC));
        FutureTask<Boolean> reader = start(() -> {
            assertEquals(-FabricErrno.EAGAIN, queue.sread(entries, 0, 1, 0, FOR_EVER));
            return Thread.interrupted();
        });
        pauseNs(LONG_ENOUGH_TO_SLEEP_NS);
        started.getLast().interrupt();
        assertTrue(reader.get(DEADLINE_S, TimeUnit.SECONDS));
        assertEquals(-FabricErrno.EAGAIN, queue.sread(entries, 0, 1, 0, 20_000_000));
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"CQ-023", "CQ-024", "CQ-084"})
    void shouldNotBlockWithoutAWaitObject(Setup setup) {
        pair = new FabricPair(setup);
        open(new CompletionQueueAttr());
        assertEquals(WaitObject.NONE, queue.waitObject());
        receives(1);
        send(1);
        awaitArrival();
        assertEquals(-FabricErrno.ENOSYS, queue.sread(entries, 0, 1, 0, FOR_EVER));
        assertEquals(-FabricErrno.ENOSYS, queue.sreadFrom(entries, 0, 1, new long[1], 0, FOR_EVER));
        assertEquals(1, queue.read(entries, 0, 1));
        closeQueue();
        assertEquals(-FabricErrno.EOPBADSTATE, queue.sread(entries, 0, 1, 0, FOR_EVER));
        // the condition is not looked at
        open(new CompletionQueueAttr().waitCondition(WaitCondition.THRESHOLD));
        assertEquals(-FabricErrno.ENOSYS, queue.sread(entries, 0, 1, 0, 0));
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldRefuseWhatMakesNoSense(Setup setup) {
        pair = new FabricPair(setup);
        CompletionQueue unbound = pair.b.domain.openCompletionQueue(
            new CompletionQueueAttr().waitObject(WaitObject.UNSPEC));
        assertEquals(-FabricErrno.EOPBADSTATE, unbound.sread(entries, 0, 1, 0, FOR_EVER));
        assertEquals(0, unbound.signal());
        open(new CompletionQueueAttr().waitObject(WaitObject.UNSPEC));
        assertEquals(-FabricErrno.EINVAL, queue.sread(entries, 0, -1, 0, 0));
        assertEquals(-FabricErrno.EINVAL, queue.sread(entries, -8, 1, 0, 0));
        assertEquals(-FabricErrno.EINVAL, queue.sread(entries, 0, 17, 0, 0));
        assertEquals(-FabricErrno.EINVAL, queue.sreadFrom(entries, 0, 2, new long[1], 0, 0));
        assertEquals(-FabricErrno.EINVAL, queue.sreadFrom(entries, 0, 2, new UnsafeBuffer(new byte[8]), 0, 0, 0));
    }

    @ParameterizedTest(name = "{0}")
    // with an embedded driver one thread at a time uses everything
    @EnumSource(value = Setup.class, names = {"LOOPBACK_DAEMON", "SHM_DAEMON"})
    void shouldBeReleasedWhenTheQueueCloses(Setup setup) throws Exception {
        pair = new FabricPair(setup);
        for (int i = 0; i < 20; i++) {
            open(new CompletionQueueAttr().waitObject(i % 2 == 0 ? WaitObject.UNSPEC : WaitObject.YIELD));
            CompletionQueue closing = queue;
            FutureTask<Integer> reader = start(() -> closing.sread(entries, 0, 1, 0, FOR_EVER));
            pauseNs(i * 500_000L);
            closeQueue();
            assertEquals(-FabricErrno.EOPBADSTATE, reader.get(DEADLINE_S, TimeUnit.SECONDS));
        }
    }

    @ParameterizedTest(name = "{0}")
    // an embedded driver dies with its application
    @EnumSource(value = Setup.class, names = {"LOOPBACK_DAEMON", "SHM_DAEMON"})
    void shouldBeReleasedWhenTheDriverDies(Setup setup) throws Exception {
        pair = FabricPair.withOwnDaemons(setup);
        open(new CompletionQueueAttr().waitObject(WaitObject.UNSPEC));
        receives(1);
        send(5);
        awaitArrival();
        FutureTask<Integer> reader = start(() -> {
            assertEquals(1, queue.sread(entries, 0, 1, 0, FOR_EVER));
            return queue.sread(entries, 0, 1, 0, FOR_EVER);
        });
        pauseNs(LONG_ENOUGH_TO_SLEEP_NS);
        pair.killDriverOfB();
        assertEquals(-FabricErrno.ENODEV, reader.get(DEADLINE_S, TimeUnit.SECONDS));
    }

    /** In one embedded driver the sender is the reader. */
    private boolean sharesTheThread() {
        return pair.setup == Setup.LOOPBACK_EMBEDDED;
    }

    private void open(CompletionQueueAttr attr) {
        queue = pair.b.domain.openCompletionQueue(attr);
        endpoint = pair.b.domain.openEndpoint(pair.b.info);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
        endpoint.bind(pair.b.av);
        endpoint.enable();
        dest = pair.a.av.insert(endpoint.name());
        connect();
    }

    /** A first message, so that later ones need nothing of the receiving side to be sent. */
    private void connect() {
        receives(1);
        assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, dest, 0, 97));
        boolean sent = false;
        boolean received = false;
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_S);
        while (!sent || !received) {
            assertTrue(System.nanoTime() - deadline < 0, "sent " + sent + ", received " + received);
            sent |= pair.a.poll() != null;
            received |= queue.read(entries, 0, 1) == 1;
            Thread.yield();
        }
    }

    private void closeQueue() {
        pair.a.av.remove(dest);
        endpoint.close();
        queue.close();
    }

    private void receives(int count) {
        for (int i = 0; i < count; i++) {
            assertEquals(0, endpoint.trecv(pair.b.memory.address(), 8, ANY, 0, -1L, i));
        }
    }

    /** Sends eight bytes with that tag, as soon as there is room, and takes the sender's entry. */
    private void send(long tag) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_S);
        int result = pair.a.endpoint.tsend(pair.a.memory.address(), 8, dest, tag, tag);
        while (result == -FabricErrno.EAGAIN && System.nanoTime() - deadline < 0) {
            pair.a.poll();
            Thread.yield();
            result = pair.a.endpoint.tsend(pair.a.memory.address(), 8, dest, tag, tag);
        }
        assertEquals(0, result);
        while (pair.a.poll() == null) {
            assertTrue(System.nanoTime() - deadline < 0, "the send did not complete");
            Thread.yield();
        }
    }

    /** Until what was sent so far has arrived: a message behind it has, and one driver after the other keeps order. */
    private void awaitArrival() {
        pair.setup.assumeSharedConnection();
        assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(64), 8, ANY, 0, -1L, 99));
        assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), 8, pair.toB, 0, 98));
        pair.a.await(98);
        pair.b.await(99);
        // and the receives of the queue that is read, which are another endpoint's
        pair.b.awaitRead(16);
    }

    private long readTags(int rounds) {
        UnsafeBuffer own = new UnsafeBuffer(new byte[4 * ENTRY]);
        long sum = 0;
        for (int seen = 0; seen < rounds;) {
            int read = queue.sread(own, 0, 4, 0, FOR_EVER);
            assertTrue(read >= 1, "sread answered " + read + " after " + seen);
            for (int i = 0; i < read; i++) {
                sum += own.getLong(i * ENTRY + 40);
            }
            seen += read;
            receives(read);
        }
        return sum;
    }

    private <T> FutureTask<T> start(Callable<T> reading) {
        FutureTask<T> task = new FutureTask<>(reading);
        Thread thread = new Thread(task, "reader");
        thread.setDaemon(true);
        started.add(thread);
        thread.start();
        return task;
    }

    private static void pauseNs(long ns) {
        long end = System.nanoTime() + ns;
        while (System.nanoTime() - end < 0) {
            Thread.yield();
        }
    }
}
