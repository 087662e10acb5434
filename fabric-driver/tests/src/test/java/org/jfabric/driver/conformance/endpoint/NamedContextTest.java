package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.atomic.AtomicReference;
import org.jfabric.CompletionQueue;
import org.jfabric.Counter;
import org.jfabric.Endpoint;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.ScalableEndpoint;
import org.jfabric.SendRequest;
import org.jfabric.TriggeredContext;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.ScalableSide;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Order;
import org.jfabric.info.RxAttr;
import org.jfabric.info.Threading;
import org.jfabric.info.TrafficClass;
import org.jfabric.info.TxAttr;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Where messages to and from the contexts of scalable endpoints go, and what source they have. */
@Tag("conformance")
@Tag("link")
@Timeout(180)
class NamedContextTest {
    private static final long ANY = -1L;
    private static final int LENGTH = 64;
    /** Beyond the eager limit. */
    private static final int LONG = 100_000;
    private static final int RECEIVE = FabricNode.MEMORY / 2;
    private static final int CONTEXTS = 3;
    /** More than the receiver has room for without growing. */
    private static final int MANY_CONTEXTS = 20;

    private static FabricPair pair(Setup setup) {
        setup.assumeNames();
        return new FabricPair(setup, ScalableSide.hints(), 512);
    }

    private static int errno(Runnable call) {
        return assertThrows(FabricException.class, call::run).errno();
    }

    private static long named(long fiAddr, int index) {
        return FabricAddress.rxAddr(fiAddr, index, ScalableSide.BITS);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"SEP-001", "SEP-019", "SEP-020", "SEP-021", "REF-020"})
    void shouldDeliverToTheContextNamedAndElseToTheFirst(Setup setup) {
        try (FabricPair pair = pair(setup); ScalableSide a = new ScalableSide(pair, pair.a, 1, 1);
            ScalableSide b = new ScalableSide(pair, pair.b, 1, CONTEXTS)) {
            long toB = a.av.insert(b.scalable.name());
            assertEquals(b.scalable.name(), a.av.lookup(toB));
            int[] lengths = {0, LENGTH, LONG};
            for (int index = -1; index < CONTEXTS; index++) {
                int target = Math.max(index, 0);
                long dest = index < 0 ? toB : named(toB, index);
                for (int length : lengths) {
                    for (int i = 0; i < CONTEXTS; i++) {
                        long at = pair.b.memory.address(RECEIVE + (long) i * LONG);
                        assertEquals(0, b.rx.get(i).trecv(at, LONG, ANY, 7, 0, i + 1));
                    }
                    pair.a.fill(0, length, index + length);
                    assertEquals(0, a.tx.getFirst().tsend(pair.a.memory.address(), length, dest, 7, 1));
                    assertEquals(length, b.await(b.rxCq.get(target), target + 1).len());
                    a.await(a.txCq.getFirst(), 1);
                    pair.b.assertFilled(RECEIVE + (long) target * LONG, length, index + length);
                    for (int i = 0; i < CONTEXTS; i++) {
                        if (i != target) {
                            b.assertQuiet(b.rxCq.get(i), 3);
                            b.rx.get(i).cancel(i + 1);
                            assertEquals(FabricErrno.ECANCELED, b.await(b.rxCq.get(i)).err());
                        }
                    }
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"SEP-019", "SEP-001"})
    void shouldTakeMessagesOfOrdinaryEndpointsAtTheFirstContext(Setup setup) {
        try (FabricPair pair = pair(setup); ScalableSide b = new ScalableSide(pair, pair.b, 1, 2)) {
            long toScalable = pair.a.av.insert(b.scalable.name());
            long from = b.av.insert(pair.a.endpoint.name());
            assertEquals(0, b.rx.get(1).trecv(pair.b.memory.address(LONG), LENGTH, ANY, 1, 0, 1));
            for (int i = 0; i < 3; i++) {
                assertEquals(0, b.rx.getFirst().trecv(pair.b.memory.address(), LENGTH, from, 1, 0, 2));
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), LENGTH, toScalable, 1, 3));
                assertEquals(from, b.await(b.rxCq.getFirst(), 2).source());
                pair.a.await(3);
            }
            b.assertQuiet(b.rxCq.get(1), 20);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"SEP-001"})
    void shouldHaveOneSourceWhateverContextHasSent(Setup setup) {
        try (FabricPair pair = pair(setup); ScalableSide a = new ScalableSide(pair, pair.a, CONTEXTS, 1)) {
            long toB = a.av.insert(pair.b.endpoint.name());
            // before it is in the vector
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 1, 0, 1));
            assertEquals(0, a.tx.get(1).tsend(pair.a.memory.address(), LENGTH, toB, 1, 2));
            assertEquals(-1, pair.b.await(1).source());
            a.await(a.txCq.get(1), 2);
            // one that waits learns its source
            assertEquals(0, a.tx.get(2).tsend(pair.a.memory.address(), LENGTH, toB, 5, 2));
            a.await(a.txCq.get(2), 2);
            pair.a.awaitStep();
            pair.b.assertQuiet(20);
            long from = pair.b.av.insert(a.scalable.name());
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, from, 5, 0, 3));
            assertEquals(from, pair.b.await(3).source());
            for (int i = 0; i < CONTEXTS; i++) {
                // the first may already be known, as the peer of a send
                assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), LENGTH, from, 9, 8));
                assertEquals(0, a.rx.getFirst().trecv(pair.a.memory.address(RECEIVE), LENGTH, ANY, 9, 0, 8));
                a.await(a.rxCq.getFirst(), 8);
                pair.b.await(8);
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, pair.toA, 6, 0, 4));
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, from, 6, 0, 5));
                assertEquals(0, a.tx.get(i).tsend(pair.a.memory.address(), LENGTH, toB, 6, 6));
                assertEquals(from, pair.b.await(5).source());
                a.await(a.txCq.get(i), 6);
                pair.b.endpoint.cancel(4);
                assertEquals(FabricErrno.ECANCELED, pair.b.await().err());
            }
            pair.b.av.remove(from);
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 1, 0, 1));
            assertEquals(0, a.tx.getFirst().tsend(pair.a.memory.address(), LENGTH, toB, 1, 2));
            assertEquals(-1, pair.b.await(1).source());
        }
    }

    /** Whatever number of contexts the receiver knows when the address is inserted. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"SEP-001"})
    void shouldLearnTheSourceOfEachOfManyContexts(Setup setup) {
        try (FabricPair pair = pair(setup); ScalableSide a = new ScalableSide(pair, pair.a, MANY_CONTEXTS, 1)) {
            long toB = a.av.insert(pair.b.endpoint.name());
            for (int i = 0; i < MANY_CONTEXTS; i++) {
                // before its address is in the vector
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 1, 0, 1));
                assertEquals(0, a.tx.get(i).tsend(pair.a.memory.address(), LENGTH, toB, 1, 2));
                assertEquals(-1, pair.b.await(1).source());
                a.await(a.txCq.get(i), 2);
                long from = pair.b.av.insert(a.scalable.name());
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, from, 1, 0, 3));
                assertEquals(0, a.tx.get(i).tsend(pair.a.memory.address(), LENGTH, toB, 1, 2));
                assertEquals(from, pair.b.await(3).source());
                a.await(a.txCq.get(i), 2);
                pair.b.av.remove(from);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"SEP-001"})
    void shouldEndDirectedReceivesWithTheLastContextOfThePeer(Setup setup) {
        try (FabricPair pair = pair(setup); ScalableSide a = new ScalableSide(pair, pair.a, 2, 1)) {
            long toB = a.av.insert(pair.b.endpoint.name());
            long from = pair.b.av.insert(a.scalable.name());
            for (int i = 0; i < 2; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, from, 1, 0, 1));
                assertEquals(0, a.tx.get(i).tsend(pair.a.memory.address(), LENGTH, toB, 1, 2));
                pair.b.await(1);
                a.await(a.txCq.get(i), 2);
            }
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, from, 1, 0, 3));
            // it waits before the peer's context ends
            pair.b.awaitRead(1);
            a.tx.getFirst().close();
            pair.b.assertQuiet(50);
            assertEquals(0, a.tx.get(1).tsend(pair.a.memory.address(), LENGTH, toB, 1, 4));
            assertEquals(from, pair.b.await(3).source());
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, from, 1, 0, 5));
            pair.b.awaitRead(1);
            a.tx.get(1).close();
            assertEquals(5, pair.b.await().context(), "nothing of the endpoint is left");
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"SEP-020"})
    void shouldRefuseContextsThatCannotBeNamed(Setup setup) {
        try (FabricPair pair = pair(setup); ScalableSide a = new ScalableSide(pair, pair.a, 1, 1);
            ScalableSide b = new ScalableSide(pair, pair.b, 1, 2)) {
            long toB = a.av.insert(b.scalable.name());
            long toOrdinary = a.av.insert(pair.b.endpoint.name());
            Endpoint tx = a.tx.getFirst();
            for (long dest : new long[] {named(toB, 2), named(toB, 15), named(toOrdinary, 1)}) {
                assertEquals(0, tx.tsend(pair.a.memory.address(), LENGTH, dest, 1, 5));
                assertEquals(FabricErrno.ECONNREFUSED, a.await(a.txCq.getFirst()).err());
            }
            assertEquals(0, tx.tsend(pair.a.memory.address(), LENGTH, named(99, 1), 1, 5));
            assertEquals(FabricErrno.EINVAL, a.await(a.txCq.getFirst()).err(), "no such entry");
            b.rx.get(1).close();
            assertEquals(0, tx.tsend(pair.a.memory.address(), LENGTH, named(toB, 1), 1, 5));
            assertEquals(FabricErrno.ECONNREFUSED, a.await(a.txCq.getFirst()).err());
            b.rx.set(1, ScalableSide.enabled(b.scalable.rxContext(1), b.rxCq.get(1), Flags.RECV));
            assertEquals(0, b.rx.get(1).trecv(pair.b.memory.address(), LENGTH, ANY, 1, 0, 6));
            assertEquals(0, tx.tsend(pair.a.memory.address(), LENGTH, named(toB, 1), 1, 7));
            b.await(b.rxCq.get(1), 6);
            a.await(a.txCq.getFirst(), 7);
            a.av.remove(toB);
            assertEquals(0, tx.tsend(pair.a.memory.address(), LENGTH, named(toB, 1), 1, 5));
            assertEquals(FabricErrno.EINVAL, a.await(a.txCq.getFirst()).err(), "removed");
            assertEquals(FabricErrno.EINVAL,
                errno(() -> pair.a.domain.openAddressVector(new AddressVectorAttr().rxCtxBits(17))));
            assertEquals(FabricErrno.EINVAL,
                errno(() -> pair.a.domain.openAddressVector(new AddressVectorAttr().rxCtxBits(-1))));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SEP-020"})
    void shouldNameContextsOnlyWithTheCapability(Setup setup) {
        try (FabricPair pair = pair(setup)) {
            Info without = ScalableSide.info(pair.b, 1, 2);
            without.caps(without.caps() & ~Flags.NAMED_RX_CTX);
            without.txAttr().caps(0);
            try (ScalableSide a = new ScalableSide(pair, pair.a, 1, 1);
                ScalableSide b = new ScalableSide(pair, pair.b, without)) {
                long toB = a.av.insert(b.scalable.name());
                assertEquals(0, a.tx.getFirst().tsend(pair.a.memory.address(), LENGTH, named(toB, 1), 1, 5));
                assertEquals(FabricErrno.ECONNREFUSED, a.await(a.txCq.getFirst()).err());
                long toA = b.av.insert(a.scalable.name());
                assertEquals(0, b.tx.getFirst().tsend(pair.b.memory.address(), LENGTH, named(toA, 0), 1, 6));
                b.await(b.txCq.getFirst(), 6);
                assertEquals(0, b.tx.getFirst().tsend(pair.b.memory.address(), LENGTH, named(toA, 1), 1, 5));
                assertEquals(FabricErrno.EINVAL, b.await(b.txCq.getFirst()).err());
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SEP-008", "SEP-013", "SEP-014", "SEP-017", "SEP-022", "TX-005", "RX-005"})
    void shouldInheritAttributesOrHaveASubset(Setup setup) {
        setup.assumeNames();
        Info hints = ScalableSide.hints();
        hints.caps(hints.caps() | Flags.RMA);
        hints.txAttr().msgOrder(Order.SAS);
        try (FabricPair pair = new FabricPair(setup, hints, 512);
            CompletionQueue queue = pair.a.domain.openCompletionQueue(
                new CompletionQueueAttr().size(4096))) {
            ScalableEndpoint scalable = pair.a.domain.openScalableEndpoint(ScalableSide.info(pair.a, 3, 3));
            scalable.bind(pair.a.av);
            Info parent = scalable.info();

            TxAttr assigned = new TxAttr();
            Endpoint like = ScalableSide.enabled(scalable.txContext(0, assigned, 0), queue, Flags.TRANSMIT);
            assertEquals(parent.txAttr().size(), assigned.size());
            assertEquals(parent.txAttr().injectSize(), assigned.injectSize());
            assertEquals(parent.txAttr().msgOrder(), assigned.msgOrder());
            assertEquals(parent.txAttr().iovLimit(), assigned.iovLimit());
            assertEquals(parent.txAttr().opFlags(), assigned.opFlags());
            assertEquals(parent.txAttr().compOrder(), assigned.compOrder());
            assertEquals(parent.txAttr().rmaIovLimit(), assigned.rmaIovLimit());
            assertEquals(parent.txAttr().tclass(), assigned.tclass());
            assertEquals(0, assigned.caps() & ~parent.txAttr().caps());
            assertEquals(assigned.size(), like.txSizeLeft());
            assertEquals(assigned.injectSize(), like.injectSize());
            assertEquals(Flags.SEND, like.info().caps() & (Flags.SEND | Flags.RECV));

            TxAttr less = new TxAttr().injectSize(16).size(8).msgOrder(Order.SAS).caps(Flags.MSG | Flags.TAGGED)
                .opFlags(Flags.COMPLETION | Flags.INJECT_COMPLETE).tclass(TrafficClass.LOW_LATENCY.code());
            Endpoint small = ScalableSide.enabled(scalable.txContext(1, less, 0), queue, Flags.TRANSMIT);
            assertEquals(Order.SAS, less.msgOrder());
            assertEquals(16, less.injectSize());
            assertEquals(16, small.injectSize());
            assertEquals(8, small.txSizeLeft());
            assertEquals(8, less.size());
            assertEquals(TrafficClass.LOW_LATENCY.code(), less.tclass());
            assertEquals(TrafficClass.LOW_LATENCY.code(), small.info().txAttr().tclass());
            assertEquals(Flags.COMPLETION | Flags.INJECT_COMPLETE, small.getOpFlags(Flags.TRANSMIT));
            long buf = pair.a.memory.address();
            assertEquals(-FabricErrno.EINVAL, small.tinject(pair.a.memory.buffer(), 0, 17, pair.toB, 1));
            assertEquals(0, like.tinject(pair.a.memory.buffer(), 0, 17, pair.toB, 1));
            assertEquals(0, small.tinject(pair.a.memory.buffer(), 0, 16, pair.toB, 1));
            assertEquals(-FabricErrno.EOPNOTSUPP, small.remoteMemory().write(buf, 8, pair.toB, 0, 1, 1));
            assertEquals(0, like.remoteMemory().write(buf, 8, pair.toB, 0, 1, 1), "ends with an error entry");

            for (TxAttr more : new TxAttr[] {
                new TxAttr().injectSize(parent.txAttr().injectSize() + 1), new TxAttr().caps(Flags.MSG | Flags.ATOMIC),
                new TxAttr().caps(Flags.MSG | Flags.RECV), new TxAttr().size(1L << 40),
                new TxAttr().msgOrder(1L << 40), new TxAttr().mode(1L << 58), new TxAttr().iovLimit(1000)}) {
                assertEquals(FabricErrno.EINVAL, errno(() -> scalable.txContext(2, more, 0)), more::toString);
            }
            assertReceiveAttributes(scalable, queue, pair);
            like.close();
            small.close();
            scalable.close();
        }
    }

    private static void assertReceiveAttributes(ScalableEndpoint scalable, CompletionQueue queue, FabricPair pair) {
        Info parent = scalable.info();
        RxAttr assigned = new RxAttr();
        Endpoint like = ScalableSide.enabled(scalable.rxContext(0, assigned, 0), queue, Flags.RECV);
        assertEquals(parent.rxAttr().size(), assigned.size());
        assertEquals(parent.rxAttr().size(), like.rxSizeLeft());
        assertEquals(parent.rxAttr().msgOrder(), assigned.msgOrder());
        assertEquals(parent.rxAttr().totalBufferedRecv(), assigned.totalBufferedRecv());
        assertEquals(0, assigned.caps() & ~parent.rxAttr().caps());
        RxAttr less = new RxAttr().size(4).caps(Flags.MSG | Flags.TAGGED).msgOrder(Order.SAS);
        Endpoint small = ScalableSide.enabled(scalable.rxContext(1, less, 0), queue, Flags.RECV);
        assertEquals(4, less.size());
        assertEquals(4, small.rxSizeLeft());
        assertEquals(0, small.info().caps() & (Flags.RMA | Flags.SEND | Flags.DIRECTED_RECV));
        for (int i = 0; i < 4; i++) {
            assertEquals(0, small.trecv(pair.a.memory.address(), 8, ANY, 1, 0, i + 1));
        }
        assertEquals(-FabricErrno.EAGAIN, small.trecv(pair.a.memory.address(), 8, ANY, 1, 0, 1));
        for (RxAttr more : new RxAttr[] {
            new RxAttr().size(1L << 40), new RxAttr().caps(Flags.MSG | Flags.SEND), new RxAttr().iovLimit(1000),
            new RxAttr().caps(Flags.MULTI_RECV), new RxAttr().mode(1L << 58)}) {
            assertEquals(FabricErrno.EINVAL, errno(() -> scalable.rxContext(2, more, 0)), more::toString);
        }
        like.close();
        small.close();
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"SEP-003", "SEP-006", "EP-151"})
    void shouldBeUsedByOneThreadForEachContext(Setup setup) throws Exception {
        setup.assumeNames();
        int messages = 400;
        Info hints = ScalableSide.hints();
        hints.domainAttr().threading(Threading.COMPLETION);
        try (FabricPair pair = new FabricPair(setup, hints, 512);
            ScalableSide a = new ScalableSide(pair, pair.a, CONTEXTS, 1);
            ScalableSide b = new ScalableSide(pair, pair.b, 1, CONTEXTS)) {
            long toB = a.av.insert(b.scalable.name());
            long from = b.av.insert(a.scalable.name());
            AtomicReference<Throwable> failure = new AtomicReference<>();
            Thread[] threads = new Thread[2 * CONTEXTS];
            for (int i = 0; i < CONTEXTS; i++) {
                Worker sends = new Worker(a.tx.get(i), a.txCq.get(i), i, failure);
                Worker receives = new Worker(b.rx.get(i), b.rxCq.get(i), i, failure);
                long dest = named(toB, i);
                threads[i] = new Thread(() -> sends.run(messages, n -> {
                    pair.a.memory.buffer().putLong(sends.slot(n), sends.stamp(n));
                    return sends.endpoint.tsend(pair.a.memory.address(sends.slot(n)), 8, dest, n, n);
                }, n -> { }));
                threads[CONTEXTS + i] = new Thread(() -> receives.run(messages,
                    n -> receives.endpoint.trecv(pair.b.memory.address(receives.slot(n)), 8, from, n, 0, n),
                    n -> assertEquals(receives.stamp(n), pair.b.memory.buffer().getLong(receives.slot(n)))));
            }
            for (Thread thread : threads) {
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join(Deadline.ms(120_000));
            }
            if (failure.get() != null) {
                throw new AssertionError(failure.get());
            }
            for (Thread thread : threads) {
                assertEquals(Thread.State.TERMINATED, thread.getState());
            }
        }
    }

    /** A thread's context: it posts a few operations at a time and reads its own queue. */
    private static final class Worker {
        private static final int WINDOW = 8;

        interface Post {
            int post(int message);
        }

        interface Check {
            void check(int message);
        }

        private final Endpoint endpoint;
        private final CompletionQueue queue;
        private final int number;
        private final AtomicReference<Throwable> failure;
        private int ended;

        Worker(Endpoint endpoint, CompletionQueue queue, int number, AtomicReference<Throwable> failure) {
            this.endpoint = endpoint;
            this.queue = queue;
            this.number = number;
            this.failure = failure;
        }

        int slot(int message) {
            boolean receives = endpoint.fidClass() == FidClass.RX_CTX;
            return (receives ? RECEIVE : 0) + (number * WINDOW + message % WINDOW) * LENGTH;
        }

        long stamp(int message) {
            return number * 1_000_003L + message;
        }

        void run(int messages, Post post, Check check) {
            try {
                long deadline = System.nanoTime() + Deadline.ns(100);
                int posted = 0;
                while (ended < messages) {
                    if (failure.get() != null || System.nanoTime() - deadline > 0) {
                        throw new AssertionError(number + " has ended " + ended + " of " + messages);
                    }
                    if (posted < messages && posted - ended < WINDOW && post.post(posted) == 0) {
                        posted++;
                    }
                    int first = ended;
                    int read = queue.poll(entry -> {
                        assertEquals(0, (int) entry.opContext() - ended, "in the order of one context");
                        check.check((int) entry.opContext());
                        ended++;
                    }, WINDOW);
                    if (read < 0 && read != -FabricErrno.EAGAIN) {
                        throw new AssertionError(FabricErrno.name(read));
                    }
                    if (first == ended) {
                        Thread.yield();
                    }
                }
            } catch (Throwable ex) {
                failure.compareAndSet(null, ex);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"SEP-020", "SEP-008"})
    void shouldAccessMemoryThroughContexts(Setup setup) {
        setup.assumeNames();
        Info hints = ScalableSide.hints();
        hints.caps(hints.caps() | Flags.RMA);
        try (FabricPair pair = new FabricPair(setup, hints, 512);
            ScalableSide a = new ScalableSide(pair, pair.a, 2, 1);
            ScalableSide b = new ScalableSide(pair, pair.b, 1, 2);
            MemoryRegion region = pair.b.domain.allocate(4096, new MemoryRegionAttr()
                .access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(77))) {
            long toB = a.av.insert(b.scalable.name());
            for (int i = 0; i < 2; i++) {
                Endpoint tx = a.tx.get(i);
                CompletionQueue queue = a.txCq.get(i);
                pair.a.fill(0, LENGTH, 3 + i);
                long dest = named(toB, i);
                assertEquals(0, tx.remoteMemory().write(
                    pair.a.memory.address(), LENGTH, dest, 0, region.key(), 1));
                a.await(queue, 1);
                assertEquals(0, tx.remoteMemory().read(
                    pair.a.memory.address(RECEIVE), LENGTH, dest, 0, region.key(), 2));
                a.await(queue, 2);
                pair.a.assertFilled(RECEIVE, LENGTH, 3 + i);
            }
            assertEquals(-FabricErrno.EOPNOTSUPP, b.rx.getFirst().remoteMemory().write(
                pair.b.memory.address(), 8, 0, 0, 1, 1));
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SEP-020", "SEP-007"})
    void shouldStartOperationsOfContextsByCounters(Setup setup) {
        setup.assumeNames();
        Info hints = ScalableSide.hints();
        hints.caps(hints.caps() | Flags.TRIGGER);
        try (FabricPair pair = new FabricPair(setup, hints, 512);
            ScalableSide a = new ScalableSide(pair, pair.a, 2, 1);
            ScalableSide b = new ScalableSide(pair, pair.b, 1, 2);
            Counter counter = pair.a.domain.openCounter(new CounterAttr())) {
            long dest = named(a.av.insert(b.scalable.name()), 1);
            SendRequest request = new SendRequest().memory(pair.a.memory.address(), LENGTH).destAddr(dest).tag(9)
                .opContext(1).trigger(new TriggeredContext().threshold(counter, 1));
            assertEquals(0, b.rx.get(1).trecv(pair.b.memory.address(), LENGTH, ANY, 9, 0, 2));
            assertEquals(0, a.tx.get(1).messages().tsendmsg(request));
            b.assertQuiet(b.rxCq.get(1), 20);
            counter.add(1);
            assertEquals(LENGTH, b.await(b.rxCq.get(1), 2).len());
            a.await(a.txCq.get(1), 1);
            // an alias of a context sends through it
            Endpoint alias = a.tx.get(1).alias(Flags.TRANSMIT | Flags.COMPLETION);
            assertEquals(0, b.rx.get(1).trecv(pair.b.memory.address(), LENGTH, ANY, 9, 0, 3));
            assertEquals(0, alias.tsend(pair.a.memory.address(), LENGTH, dest, 9, 4));
            b.await(b.rxCq.get(1), 3);
            a.await(a.txCq.get(1), 4);
            alias.close();
        }
    }
}
