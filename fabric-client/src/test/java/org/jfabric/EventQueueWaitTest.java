package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jfabric.info.EventQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Threads that wait for events in every way that is offered, and everything that ends a wait. */
@Timeout(120)
class EventQueueWaitTest {
    private static final int EAGAIN = -FabricErrno.EAGAIN;
    private static final long DEADLINE_S = Deadline.s(30);
    private static final Object FID = "some object";

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<EventQueue> opened = new ArrayList<>();

    @AfterEach
    void end() throws InterruptedException {
        opened.forEach(EventQueueWaitTest::close);
        threads.shutdownNow();
        assertTrue(threads.awaitTermination(DEADLINE_S, TimeUnit.SECONDS), "a thread still waits");
    }

    private EventQueue open(WaitObject object) {
        EventQueue queue = new EventQueue(
            null, new EventQueueAttr().size(64).flags(Flags.WRITE).waitObject(object), 0, null);
        opened.add(queue);
        return queue;
    }

    private static void close(EventQueue queue) {
        queue.markClosed();
        queue.onClosed();
    }

    @ParameterizedTest
    @EnumSource(value = WaitObject.class, names = {"UNSPEC", "YIELD", "FD", "MUTEX_COND"})
    void shouldEndAWaitWithWhatComes(WaitObject object) throws Exception {
        EventQueue queue = open(object);
        Future<Integer> event = sleeper(queue);
        queue.write(1, null, 0, 5, 0);
        assertEquals(1, result(event));
        Future<Integer> error = sleeper(queue);
        queue.reportError(FID, 0, 0, FabricErrno.EIO, new byte[0]);
        assertEquals(-FabricErrno.EAVAIL, result(error));
        assertEquals(1, queue.readErr(new EventError(), 0));
        Future<Integer> peek = threads.submit(() -> queue.sread(new EventEntry(), -1, Flags.PEEK));
        queue.write(1, null, 0, 6, 0);
        assertEquals(1, result(peek));
        assertEquals(1, result(sleeper(queue)), "what was looked at is still there");
        Future<Integer> gone = sleeper(queue);
        queue.onDriverGone();
        assertEquals(-FabricErrno.ENODEV, result(gone));
    }

    @ParameterizedTest
    @EnumSource(value = WaitObject.class, names = {"UNSPEC", "YIELD", "FD", "MUTEX_COND"})
    void shouldEndAWaitWhenItsTimeIsOver(WaitObject object) {
        EventQueue queue = open(object);
        EventEntry entry = new EventEntry();
        assertEquals(EAGAIN, queue.sread(entry, 0, 0));
        long before = System.nanoTime();
        assertEquals(EAGAIN, queue.sread(entry, 50_000_000, 0));
        assertTrue(System.nanoTime() - before >= 50_000_000L, "it came back early");
        queue.write(1, null, 0, 1, 0);
        assertEquals(1, queue.sread(entry, Long.MAX_VALUE, 0));
        assertEquals(-FabricErrno.EBADFLAGS, queue.sread(entry, -1, Flags.WRITE));
        assertEquals(-FabricErrno.EINVAL, queue.sread(null, Long.MIN_VALUE, 0));
    }

    @ParameterizedTest
    @EnumSource(value = WaitObject.class, names = {"UNSPEC", "YIELD", "FD", "MUTEX_COND"})
    void shouldEndAWaitOnInterruptAndKeepTheStatus(WaitObject object) throws Exception {
        EventQueue queue = open(object);
        for (int round = 0; round < 200; round++) {
            CyclicBarrier start = new CyclicBarrier(2);
            boolean[] kept = new boolean[1];
            int[] result = new int[1];
            Thread sleeper = new Thread(() -> {
                await(start);
                result[0] = queue.sread(new EventEntry(), -1, 0);
                kept[0] = Thread.interrupted();
            });
            sleeper.start();
            await(start);
            spin(round);
            sleeper.interrupt();
            sleeper.join(TimeUnit.SECONDS.toMillis(DEADLINE_S));
            assertFalse(sleeper.isAlive(), "round " + round + ": it still waits");
            assertEquals(EAGAIN, result[0]);
            assertTrue(kept[0], "round " + round + ": the status was lost");
        }
        Thread.currentThread().interrupt();
        queue.write(1, null, 0, 1, 0);
        assertEquals(1, queue.sread(new EventEntry(), -1, 0), "what is there is read all the same");
        assertEquals(EAGAIN, queue.sread(new EventEntry(), -1, 0));
        queue.write(1, null, 0, 2, 0);
        assertTrue(Thread.interrupted());
        assertEquals(1, queue.sread(new EventEntry(), -1, 0), "an interrupt of the writer harms nothing");
    }

    @ParameterizedTest
    @EnumSource(value = WaitObject.class, names = {"UNSPEC", "YIELD", "FD", "MUTEX_COND"})
    void shouldWakeEveryoneAtItsCloseAndAtTheDriversEnd(WaitObject object) throws Exception {
        for (int round = 0; round < 200; round++) {
            EventQueue queue = open(object);
            CyclicBarrier start = new CyclicBarrier(3);
            List<Future<Integer>> sleepers = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                sleepers.add(threads.submit(() -> {
                    await(start);
                    return queue.sread(new EventEntry(), -1, 0);
                }));
            }
            await(start);
            spin(round);
            boolean closes = (round & 1) == 0;
            if (closes) {
                close(queue);
            } else {
                queue.onDriverGone();
            }
            for (Future<Integer> sleeper : sleepers) {
                assertEquals(closes ? -FabricErrno.EOPBADSTATE : -FabricErrno.ENODEV, result(sleeper));
            }
            close(queue);
        }
    }

    @ParameterizedTest
    @EnumSource(value = WaitObject.class, names = {"UNSPEC", "YIELD", "FD", "MUTEX_COND"})
    void shouldGiveEachEventToOneOfManyReaders(WaitObject object) throws Exception {
        EventQueue queue = open(object);
        assertAllRead(queue, () -> queue.sread(reader.get(), -1, 0));
    }

    @Test
    void shouldWakeASelectorForEachEvent() throws Exception {
        EventQueue queue = open(WaitObject.FD);
        assertAllRead(queue, () -> {
            try (Selector selector = Selector.open()) {
                queue.channel().register(selector, SelectionKey.OP_READ);
                int result;
                while ((result = queue.read(reader.get(), 0)) == EAGAIN) {
                    if (queue.tryWait() == 0) {
                        selector.select();
                        selector.selectedKeys().clear();
                    }
                }
                return result;
            }
        });
    }

    @Test
    void shouldSignalTheConditionForEachEvent() throws Exception {
        EventQueue queue = open(WaitObject.MUTEX_COND);
        assertAllRead(queue, () -> {
            queue.mutexCond().lock().lock();
            try {
                int result;
                while ((result = queue.read(reader.get(), 0)) == EAGAIN) {
                    queue.mutexCond().condition().await();
                }
                return result;
            } finally {
                queue.mutexCond().lock().unlock();
            }
        });
    }

    @Test
    void shouldKeepTheChannelReadableExactlyWhileThereIsSomethingToTell() throws Exception {
        EventQueue queue = open(WaitObject.FD);
        try (Selector selector = Selector.open()) {
            queue.channel().register(selector, SelectionKey.OP_READ);
            assertFalse(isReadable(selector));
            queue.write(1, null, 0, 1, 0);
            queue.reportError(FID, 0, 0, FabricErrno.EIO, new byte[0]);
            assertTrue(isReadable(selector));
            assertEquals(EAGAIN, queue.tryWait());
            queue.read(new EventEntry(), Flags.PEEK);
            assertTrue(isReadable(selector));
            queue.read(new EventEntry(), 0);
            assertTrue(isReadable(selector), "an error is left");
            queue.readErr(new EventError(), 0);
            assertFalse(isReadable(selector));
            assertEquals(0, queue.tryWait());
            queue.onDriverGone();
            assertTrue(isReadable(selector));
            queue.read(new EventEntry(), 0);
            assertTrue(isReadable(selector), "the end stays to be told");
        }
    }

    @Test
    void shouldWakeASelectorAtItsClose() throws Exception {
        for (int round = 0; round < 100; round++) {
            EventQueue queue = open(WaitObject.FD);
            CyclicBarrier start = new CyclicBarrier(2);
            Future<Integer> sleeper = threads.submit(() -> {
                try (Selector selector = Selector.open()) {
                    queue.channel().register(selector, SelectionKey.OP_READ);
                    await(start);
                    selector.select();
                    queue.channel().close();
                    return queue.read(new EventEntry(), 0);
                }
            });
            await(start);
            spin(round);
            close(queue);
            assertEquals(-FabricErrno.EOPBADSTATE, result(sleeper));
        }
    }

    @Test
    void shouldSignalTheConditionAtItsClose() throws Exception {
        for (int round = 0; round < 100; round++) {
            EventQueue queue = open(WaitObject.MUTEX_COND);
            CyclicBarrier start = new CyclicBarrier(2);
            Future<Integer> sleeper = threads.submit(() -> {
                await(start);
                queue.mutexCond().lock().lock();
                try {
                    int result;
                    while ((result = queue.read(new EventEntry(), 0)) == EAGAIN) {
                        queue.mutexCond().condition().await();
                    }
                    return result;
                } finally {
                    queue.mutexCond().lock().unlock();
                }
            });
            await(start);
            spin(round);
            close(queue);
            assertEquals(-FabricErrno.EOPBADSTATE, result(sleeper));
        }
    }

    private final ThreadLocal<EventEntry> reader = ThreadLocal.withInitial(EventEntry::new);

    /** Two writers, two readers; each event is read once, in the order of its writer. */
    private void assertAllRead(EventQueue queue, Callable<Integer> read) throws Exception {
        int each = 5_000;
        int stop = 9;
        AtomicIntegerArray seen = new AtomicIntegerArray(2 * each);
        List<Future<Integer>> readers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            readers.add(threads.submit(() -> {
                int count = 0;
                long[] last = {-1, -1};
                while (true) {
                    assertEquals(1, read.call());
                    EventEntry entry = reader.get();
                    if (entry.event() == stop) {
                        return count;
                    }
                    int writer = entry.event();
                    assertTrue(entry.context() > last[writer], () -> "after " + last[writer] + ": " + entry);
                    last[writer] = entry.context();
                    seen.incrementAndGet(writer * each + (int) entry.context());
                    count++;
                }
            }));
        }
        List<Future<Integer>> writers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            int writer = i;
            writers.add(threads.submit(() -> {
                for (int j = 0; j < each; j++) {
                    write(queue, writer, j);
                }
                return 0;
            }));
        }
        for (Future<Integer> writer : writers) {
            result(writer);
        }
        write(queue, stop, 0);
        write(queue, stop, 0);
        int sum = 0;
        for (Future<Integer> one : readers) {
            sum += result(one);
        }
        assertEquals(2 * each, sum);
        for (int i = 0; i < 2 * each; i++) {
            assertEquals(1, seen.get(i), "event " + i);
        }
    }

    private static void write(EventQueue queue, int event, int context) {
        while (queue.write(event, null, 0, context, 0) != 1) {
            Thread.yield();
        }
    }

    private Future<Integer> sleeper(EventQueue queue) {
        return threads.submit(() -> queue.sread(new EventEntry(), -1, 0));
    }

    private static boolean isReadable(Selector selector) throws Exception {
        selector.selectedKeys().clear();
        return selector.selectNow() == 1;
    }

    private static int result(Future<Integer> future) throws Exception {
        return future.get(DEADLINE_S, TimeUnit.SECONDS);
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(DEADLINE_S, TimeUnit.SECONDS);
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
    }

    /** Lets the other thread come a little further in each round, from the first look to deep sleep. */
    private static void spin(int round) {
        for (int i = 0; i < round % 50 * 200; i++) {
            Thread.onSpinWait();
        }
        if (round % 50 > 40) {
            Thread.yield();
        }
    }
}
