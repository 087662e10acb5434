package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionQueue;
import org.jfabric.Domain;
import org.jfabric.Endpoint;
import org.jfabric.FabricConfig;
import org.jfabric.FabricListener;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Threading;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Domains whose objects several threads use at a time. */
@Tag("conformance")
@Timeout(180)
class ThreadSafeDomainTest {
    private static final long ANY = -1L;
    private static final long DEADLINE_NS = Deadline.ns(90);
    private static final int THREADS = 3;
    /** Of each thread. Without its lock a domain fails with them in each setup. */
    private static final int MESSAGES = Effort.rounds(400, 1000);
    private static final int WINDOW = 8;
    private static final int SLOT = 32_768;
    /** Now and then one beyond the eager limit. */
    private static final int LONG_MESSAGE = 20_000;
    private static final int SHORT_MESSAGE = 16;

    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final long deadline = System.nanoTime() + DEADLINE_NS;

    private interface Work {
        void run() throws Exception;
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-013")
    void shouldLoseNothingAndRepeatNothingWhenAllThreadsPostAndRead(Setup setup) throws Exception {
        try (FabricPair pair = new FabricPair(setup, hints(Threading.SAFE), 64)) {
            Side sends = new Side(pair.a);
            Side receives = new Side(pair.b);
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                int thread = t;
                threads.add(start("sender " + t, () -> sends.run(thread, message -> {
                    long at = sends.slot(thread, message);
                    int length = length(message);
                    pair.a.memory.buffer().putLong((int) at, stamp(thread, message));
                    pair.a.memory.buffer().putLong((int) at + length - 8, ~stamp(thread, message));
                    long context = context(thread, message);
                    return pair.a.endpoint.tsend(pair.a.memory.address(at), length, pair.toB, thread, context);
                })));
                threads.add(start("receiver " + t, () -> receives.run(thread, message -> pair.b.endpoint.trecv(
                    pair.b.memory.address(receives.slot(thread, message)), SLOT, ANY, thread, 0,
                    context(thread, message)))));
            }
            join(threads);
            for (int i = 0; i < THREADS * MESSAGES; i++) {
                assertEquals(1, sends.done.get(i), "send " + i);
                assertEquals(1, receives.done.get(i), "receive " + i);
            }
        }
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldLetHandlersPostAndMakeControlCallsWhileOthersDoTheSame(Setup setup) throws Exception {
        try (FabricPair pair = new FabricPair(setup, hints(Threading.SAFE), 64)) {
            FabricNode node = pair.a;
            long self = node.av.insert(node.endpoint.name());
            int rounds = 60;
            AtomicInteger handled = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            threads.add(start("starter", () -> {
                post(() -> node.endpoint.trecv(node.memory.address(), 8, ANY, 1, 0, 1));
                post(() -> node.endpoint.tsend(node.memory.address(64), 8, self, 1, 2));
            }));
            for (int t = 0; t < 2; t++) {
                threads.add(start("reader " + t, () -> {
                    while (handled.get() < rounds && goesOn()) {
                        int read = node.cq.poll(completion -> {
                            if (completion.opContext() != 1 || handled.incrementAndGet() >= rounds) {
                                return;
                            }
                            // inside of the read: posts, a control call, and a read, which is refused
                            node.domain.allocate(64).close();
                            assertEquals(-FabricErrno.EOPBADSTATE, node.cq.read(null, 0, 0));
                            post(() -> node.endpoint.trecv(node.memory.address(), 8, ANY, 1, 0, 1));
                            post(() -> node.endpoint.tsend(node.memory.address(64), 8, self, 1, 2));
                        }, 4);
                        assertTrue(read > 0 || read == -FabricErrno.EAGAIN, () -> FabricErrno.name(read));
                        Thread.yield();
                    }
                }));
            }
            threads.add(start("control", () -> {
                for (int i = 0; handled.get() < rounds && goesOn(); i++) {
                    // never its own address, which a higher port could be
                    node.av.remove(node.av.insert(pair.neighbour(node, i % 1000)));
                }
            }));
            join(threads);
            assertEquals(rounds, handled.get());
        }
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldCloseUnderThreadsThatPostAndRead(Setup setup) throws Exception {
        try (FabricPair pair = new FabricPair(setup, hints(Threading.SAFE), 64)) {
            FabricNode node = pair.a;
            for (boolean wholeFabric : new boolean[] {false, true}) {
                Endpoint endpoint = node.domain.openEndpoint(node.info);
                endpoint.bind(node.cq, Flags.TRANSMIT | Flags.RECV);
                endpoint.bind(node.av);
                endpoint.enable();
                long self = node.av.insert(endpoint.name());
                List<Thread> threads = new ArrayList<>();
                AtomicInteger posted = new AtomicInteger();
                UnsafeBuffer payload = new UnsafeBuffer(new byte[16]);
                for (int t = 0; t < 2; t++) {
                    threads.add(start("poster " + t, () -> {
                        int result = 0;
                        while (result == 0 || result == -FabricErrno.EAGAIN) {
                            assertTrue(goesOn());
                            result = endpoint.trecv(node.memory.address(), 64, ANY, 1, 0, 1);
                            if (result == 0) {
                                posted.incrementAndGet();
                                result = injected(endpoint, payload, self);
                            }
                            Thread.yield();
                        }
                        assertEquals(-FabricErrno.EOPBADSTATE, result, () -> "at " + endpoint);
                    }));
                }
                AtomicInteger stop = new AtomicInteger();
                threads.add(start("reader", () -> {
                    int result = 0;
                    while (stop.get() == 0 && result != -FabricErrno.EOPBADSTATE) {
                        assertTrue(goesOn());
                        result = node.cq.poll(completion -> { }, 8);
                        Thread.yield();
                    }
                }));
                while (posted.get() < 200 && goesOn()) {
                    Thread.yield();
                }
                if (wholeFabric) {
                    node.fabric.close(0);
                } else {
                    endpoint.close();
                }
                // the queue of an endpoint that is gone is read on by others
                stop.set(wholeFabric ? 0 : 1);
                join(threads);
                if (!wholeFabric) {
                    assertCreditIsBack(node);
                }
            }
            assertEquals(-FabricErrno.EOPBADSTATE, node.cq.read(null, 0, 0));
        }
    }

    /** Until it was taken: further receives before it could take all slots of the queue and leave none for it. */
    private int injected(Endpoint endpoint, UnsafeBuffer payload, long dest) {
        int result = endpoint.tinject(payload, 0, 16, dest, 1);
        while (result == -FabricErrno.EAGAIN) {
            assertTrue(goesOn());
            Thread.yield();
            result = endpoint.tinject(payload, 0, 16, dest, 1);
        }
        return result;
    }

    /** Every slot of the queue can be taken again: posts that met the close gave theirs back exactly once. */
    private void assertCreditIsBack(FabricNode node) {
        UnsafeBuffer entries = new UnsafeBuffer(new byte[48 * 8]);
        for (int i = 0; i < node.cq.size(); i++) {
            int context = i;
            while (node.endpoint.trecv(node.memory.address(), 8, ANY, 1000 + i, 0, 5000 + i) != 0) {
                assertTrue(goesOn(), () -> "no credit for receive " + context + " of " + node.cq);
                node.cq.read(entries, 0, 8);
            }
        }
        assertEquals(-FabricErrno.EAGAIN, node.endpoint.trecv(node.memory.address(), 8, ANY, 9, 0, 9));
        for (int i = 0; i < node.cq.size(); i++) {
            assertEquals(0, node.endpoint.cancel(5000 + i));
            assertEquals(FabricErrno.ECANCELED, node.await().err());
        }
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldNotWaitForAReaderThatIsInAHandler(Setup setup) throws Exception {
        try (FabricPair pair = new FabricPair(setup, hints(Threading.SAFE), 64)) {
            FabricNode node = pair.a;
            long self = node.av.insert(node.endpoint.name());
            for (int i = 0; i < 2; i++) {
                assertEquals(0, node.endpoint.trecv(node.memory.address(), 8, ANY, i, 0, 10 + i));
                assertEquals(0, node.endpoint.tinject(new UnsafeBuffer(new byte[8]), 0, 8, self, i));
            }
            CountDownLatch inside = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            Thread reader = start("reader", () -> {
                while (inside.getCount() != 0 && goesOn()) {
                    node.cq.poll(completion -> {
                        inside.countDown();
                        await(end);
                    }, 1);
                }
            });
            await(inside);
            assertEquals(-FabricErrno.EAGAIN, node.cq.read(null, 0, 0));
            // posts go on meanwhile
            assertEquals(0, node.endpoint.trecv(node.memory.address(), 8, ANY, 7, 0, 12));
            end.countDown();
            join(List.of(reader));
            assertEquals(11, node.await().context());
        }
    }

    @Test
    void shouldLetListenersOfAnEmbeddedDriverMakeControlCallsWhileOthersDo() throws Exception {
        Path base = TestDirectory.create();
        AtomicInteger told = new AtomicInteger();
        AtomicReference<Domain> domain = new AtomicReference<>();
        FabricListener listener = new FabricListener() {
            @Override
            public void onPeerDown(Endpoint endpoint, long fiAddr, int errno, String address) {
                domain.get().allocate(64).close();
                told.incrementAndGet();
            }

            @Override
            public void onError(Throwable failed) {
                failure.compareAndSet(null, failed);
            }
        };
        FabricDriver beta = embed(base.resolve("beta"));
        try (FabricDriver alpha = embed(base.resolve("alpha"))) {
            Runnable pump = () -> {
                alpha.cycle();
                beta.cycle();
            };
            FabricNode a = new FabricNode(
                alpha.fabric(new FabricConfig().listener(listener)), "shm", hints(Threading.SAFE), 64, 1, pump);
            FabricNode b = new FabricNode(beta.fabric(), "shm", hints(Threading.DOMAIN), 64, 2, pump);
            domain.set(a.domain);
            long toB = a.av.insert(b.endpoint.name());
            assertEquals(0, b.endpoint.trecv(b.memory.address(), 64, ANY, 1, 0, 1));
            assertEquals(0, a.endpoint.tsend(a.memory.address(), 64, toB, 1, 2));
            b.await(1);
            a.await(2);
            List<Thread> threads = new ArrayList<>();
            threads.add(start("reader", () -> {
                while (told.get() == 0 && goesOn()) {
                    a.cq.poll(completion -> { }, 1);
                    Thread.yield();
                }
            }));
            for (int t = 0; t < 2; t++) {
                String stem = a.endpoint.name() + '-' + t + '-';
                threads.add(start("control " + t, () -> {
                    for (int i = 0; told.get() == 0 && goesOn(); i++) {
                        a.av.remove(a.av.insert(stem + i));
                    }
                }));
            }
            beta.close();
            join(threads);
            assertEquals(1, told.get());
            a.close();
        } finally {
            beta.close();
            TestDirectory.delete(base);
        }
    }

    @ParameterizedTest(name = "{0} first")
    @EnumSource(value = Threading.class, names = {"SAFE", "DOMAIN"})
    @Requirement("REF-013")
    void shouldKeepADomainForOneThreadApartFromOneForSeveral(Threading firstOpened) throws Exception {
        Threading secondOpened = firstOpened == Threading.SAFE ? Threading.DOMAIN : Threading.SAFE;
        Path directory = TestDirectory.create();
        try (FabricDriver driver = embed(directory.resolve("a"));
             FabricNode first = new FabricNode(driver.fabric(), "loopback", hints(firstOpened), 64, 0, () -> { })) {
            long firstSelf = first.av.insert(first.endpoint.name());
            // begun before the other domain is there
            assertEquals(0, first.endpoint.trecv(first.memory.address() + 64, 8, ANY, 0, 0, 0));
            exchange(first, firstSelf, 1, WINDOW);
            try (FabricNode second = new FabricNode(
                driver.fabric(), "loopback", hints(secondOpened), 64, 0, () -> { })) {
                long toSecond = first.av.insert(second.endpoint.name());
                long toFirst = second.av.insert(first.endpoint.name());
                List<Thread> threads = new ArrayList<>();
                threads.add(start("owner of " + firstOpened, () -> {
                    assertEquals(0, first.endpoint.tsend(first.memory.address(), 8, firstSelf, 0, 0));
                    assertEquals(0, first.await().context());
                    assertEquals(0, first.await().context());
                    exchange(first, toSecond, WINDOW, MESSAGES * THREADS);
                }));
                threads.add(start("owner of " + secondOpened,
                    () -> exchange(second, toFirst, WINDOW, MESSAGES * THREADS)));
                join(threads);
            }
        } finally {
            TestDirectory.delete(directory);
        }
    }

    /** Sends messages to a peer that does the same, one after the other. */
    private static void exchange(FabricNode node, long peer, int from, int to) {
        for (int i = from; i < to; i++) {
            node.memory.buffer().putLong(0, i);
            assertEquals(0, node.endpoint.trecv(node.memory.address() + 64, 8, ANY, i, 0, 2 * i));
            assertEquals(0, node.endpoint.tsend(node.memory.address(), 8, peer, i, 2 * i + 1));
            assertEquals(4 * i + 1, node.await().context() + node.await().context());
            assertEquals(i, node.memory.buffer().getLong(64));
        }
    }

    @Test
    void shouldRefuseTheFirstDomainForSeveralThreadsInAHandlerOfAnother() throws Exception {
        Path directory = TestDirectory.create();
        try (FabricDriver driver = embed(directory.resolve("a"));
             FabricNode node = new FabricNode(
                 driver.fabric(), "loopback", hints(Threading.DOMAIN), 64, 0, () -> { })) {
            long self = node.av.insert(node.endpoint.name());
            Info safe = node.fabric.info(hints(Threading.SAFE)).best();
            assertEquals(0, node.endpoint.trecv(node.memory.address() + 64, 8, ANY, 1, 0, 1));
            assertEquals(0, node.endpoint.tinject(new UnsafeBuffer(new byte[8]), 0, 8, self, 1));
            AtomicInteger handled = new AtomicInteger();
            while (handled.get() == 0 && goesOn()) {
                node.cq.poll(completion -> {
                    handled.incrementAndGet();
                    FabricException refused = assertThrows(FabricException.class, () -> node.fabric.domain(safe));
                    assertEquals(FabricErrno.EOPBADSTATE, refused.errno());
                    assertTrue(refused.getMessage().contains("handler"), refused.getMessage());
                }, 1);
            }
            assertEquals(1, handled.get());
            node.fabric.domain(safe).close();
            exchange(node, self, 2, WINDOW);
        } finally {
            TestDirectory.delete(directory);
        }
    }

    private static FabricDriver embed(Path directory) {
        return FabricDriver.launchEmbedded(
            DriverConfig.builder().directory(directory).threadingMode(ThreadingMode.INVOKER).build());
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldGrantTheThreadingLevelAskedForBesideOtherDomains(Setup setup) {
        for (Threading opened : List.of(Threading.UNSPEC, Threading.FID)) {
            try (FabricPair pair = new FabricPair(setup, hints(opened), 64)) {
                for (Threading threading : Threading.values()) {
                    Info info = pair.a.fabric.info(hints(threading)).best();
                    assertEquals(threading == Threading.UNSPEC ? Threading.DOMAIN : threading,
                        info.domainAttr().threading());
                    Domain domain = pair.a.fabric.domain(info);
                    assertEquals(info.domainAttr().threading(), domain.info().domainAttr().threading());
                    domain.close();
                }
            }
        }
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldStillFindTwoThreadsInADomainOfOne(Setup setup) throws Exception {
        try (FabricPair pair = new FabricPair(setup, hints(Threading.DOMAIN), 64)) {
            FabricNode node = pair.a;
            CompletionQueue queue = node.cq;
            long self = node.av.insert(node.endpoint.name());
            assertEquals(0, node.endpoint.trecv(node.memory.address(), 8, ANY, 1, 0, 1));
            assertEquals(0, node.endpoint.tinject(new UnsafeBuffer(new byte[8]), 0, 8, self, 1));
            AtomicReference<Throwable> seen = new AtomicReference<>();
            AtomicInteger handled = new AtomicInteger();
            while (handled.get() == 0 && goesOn()) {
                queue.poll(completion -> {
                    handled.incrementAndGet();
                    Thread other = new Thread(() -> {
                        try {
                            queue.poll(none -> { }, 1);
                        } catch (AssertionError found) {
                            seen.set(found);
                        }
                    });
                    other.start();
                    join(other);
                }, 1);
            }
            assertTrue(seen.get() != null && seen.get().getMessage().contains("only one at a time may"),
                () -> "seen " + seen.get());
        }
    }

    /** One side's messages: which have ended, and where they lie. */
    private final class Side {
        final FabricNode node;
        final AtomicIntegerArray done = new AtomicIntegerArray(THREADS * MESSAGES);

        Side(FabricNode node) {
            this.node = node;
        }

        long slot(int thread, int message) {
            return (long) (thread * WINDOW + message % WINDOW) * SLOT;
        }

        /** Posts all messages of a thread and reads, until all threads' ones have ended. */
        void run(int thread, Poster poster) {
            UnsafeBuffer entries = new UnsafeBuffer(new byte[48 * 4]);
            int posted = 0;
            int rounds = 0;
            while (goesOn()) {
                if (posted < MESSAGES && isFree(thread, posted)) {
                    int result = poster.post(posted);
                    posted += result == 0 ? 1 : 0;
                    assertTrue(result == 0 || result == -FabricErrno.EAGAIN, () -> FabricErrno.name(result));
                } else if (posted == MESSAGES && allEnded()) {
                    return;
                }
                int read = (rounds++ & 1) == 0
                    ? node.cq.poll(completion -> ended(completion.opContext()), 4) : node.cq.read(entries, 0, 4);
                if ((rounds & 1) == 0) {
                    for (int i = 0; i < read; i++) {
                        ended(entries.getLong(i * 48));
                    }
                }
                assertTrue(read > 0 || read == -FabricErrno.EAGAIN, () -> FabricErrno.name(read));
                if (read < 0) {
                    Thread.yield();
                }
            }
        }

        private boolean isFree(int thread, int message) {
            return message < WINDOW || done.get(thread * MESSAGES + message - WINDOW) != 0;
        }

        private boolean allEnded() {
            for (int i = 0; i < THREADS; i++) {
                for (int j = 1; j <= WINDOW; j++) {
                    if (done.get((i + 1) * MESSAGES - j) == 0) {
                        return false;
                    }
                }
            }
            return true;
        }

        private void ended(long context) {
            int thread = (int) (context >>> 32);
            int message = (int) context;
            UnsafeBuffer memory = node.memory.buffer();
            int at = (int) slot(thread, message);
            // the sender's own memory holds the same words
            assertEquals(stamp(thread, message), memory.getLong(at), "first word");
            assertEquals(~stamp(thread, message), memory.getLong(at + length(message) - 8), "last word");
            done.incrementAndGet(thread * MESSAGES + message);
        }
    }

    private interface Poster {
        int post(int message);
    }

    private interface Call {
        int post();
    }

    private void post(Call call) {
        int result;
        while ((result = call.post()) == -FabricErrno.EAGAIN && goesOn()) {
            Thread.yield();
        }
        assertEquals(0, result);
    }

    private static int length(int message) {
        return message % 50 == 49 ? LONG_MESSAGE : SHORT_MESSAGE;
    }

    private static long stamp(int thread, int message) {
        return 0x5EED_0000_0000_0000L | (long) thread << 32 | message;
    }

    private static long context(int thread, int message) {
        return (long) thread << 32 | message;
    }

    private static Info hints(Threading threading) {
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG);
        hints.domainAttr().threading(threading);
        return hints;
    }

    private boolean goesOn() {
        return failure.get() == null && System.nanoTime() - deadline < 0;
    }

    private Thread start(String name, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Throwable failed) {
                failure.compareAndSet(null, failed);
            }
        }, name);
        thread.start();
        return thread;
    }

    private void join(List<Thread> threads) {
        threads.forEach(ThreadSafeDomainTest::join);
        if (failure.get() != null) {
            throw new AssertionError("a thread failed", failure.get());
        }
        assertTrue(System.nanoTime() - deadline < 0, "not done in time");
    }

    private static void join(Thread thread) {
        try {
            thread.join(DEADLINE_NS / 1_000_000 + Deadline.ms(20));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (thread.isAlive()) {
            AssertionError stuck = new AssertionError(thread.getName() + " does not end");
            stuck.setStackTrace(thread.getStackTrace());
            throw stuck;
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(Deadline.s(60), TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
