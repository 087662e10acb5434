package org.jfabric.driver.conformance.other;

import static org.jfabric.driver.kit.CountedNode.DEADLINE_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Counter;
import org.jfabric.driver.kit.CountedNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Threading;
import org.jfabric.info.WaitObject;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Counters that several threads use at a time, and what counting costs the collector. */
@Tag("conformance")
@Tag("link")
@Timeout(180)
class CounterThreadsTest {
    private static final long ANY = -1L;

    private final UnsafeBuffer payload = new UnsafeBuffer(new byte[8]);
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldLoseNothingThatIsAddedWhileTheDriverCounts(Setup setup) throws Exception {
        int sends = 3000;
        int additions = 20_000;
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG);
        hints.domainAttr().threading(Threading.SAFE);
        try (FabricPair pair = new FabricPair(setup, hints, 64);
             CountedNode a = new CountedNode(pair.a, true, WaitObject.UNSPEC)) {
            Counter counter = a.sends;
            long self = a.insert(a);
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 2; t++) {
                threads.add(start("adder " + t, () -> {
                    for (int i = 0; i < additions; i++) {
                        counter.add(2);
                        counter.addErr(1);
                    }
                }));
            }
            long total = sends + 4L * additions;
            for (int t = 1; t <= 3; t++) {
                long threshold = total * t / 3;
                // errors change all the time, and each waiter waits for a value of its own
                threads.add(start("waiter " + t, () -> {
                    long deadline = System.nanoTime() + 4 * DEADLINE_NS;
                    while (counter.await(threshold, DEADLINE_NS) != 0) {
                        if (System.nanoTime() - deadline > 0) {
                            throw new AssertionError("not at " + threshold + ": " + counter);
                        }
                    }
                }));
            }
            for (int i = 0; i < sends; i++) {
                CountedNode.post(() -> a.endpoint.recv(a.buffer(), 64, ANY, 1), a);
                CountedNode.post(() -> a.endpoint.inject(payload, 0, 8, self), a);
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertNull(failure.get());
            assertEquals(total, counter.read());
            assertEquals(2 * additions, counter.readErr());
            CountedNode.await("the messages", () -> a.receives.read() == sends, a);
        }
    }

    /** The second compiler removes what a call of the system would allocate, and readers may sleep in each attempt. */
    @Tag("compiled")
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldAllocateNothing(Setup setup) {
        setup.assumeNoGarbage();
        assumeTrue(ManagementFactory.getThreadMXBean() instanceof ThreadMXBean bean
            && bean.isThreadAllocatedMemorySupported(), "this JVM does not count allocation per thread");
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (FabricPair pair = new FabricPair(setup);
             CountedNode a = new CountedNode(pair.a, true, WaitObject.UNSPEC);
             Counter yielding = pair.a.domain.openCounter(new CounterAttr().waitObject(WaitObject.YIELD))) {
            long self = a.insert(a);
            long least = Long.MAX_VALUE;
            for (int attempt = 0; attempt < 2_000 && least != 0; attempt++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 200; i++) {
                    use(a, yielding, self);
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertEquals(0, least);
        }
    }

    private void use(CountedNode a, Counter yielding, long self) {
        assertEquals(0, a.sends.set(0));
        assertEquals(0, a.receives.set(0));
        assertEquals(0, a.endpoint.recv(a.buffer(), 64, ANY, 1));
        assertEquals(0, a.endpoint.inject(payload, 0, 8, self));
        assertEquals(0, a.sends.await(1, DEADLINE_NS));
        assertEquals(0, a.receives.await(1, DEADLINE_NS));
        assertEquals(1, a.receives.read());
        assertEquals(0, a.receives.readErr());
        assertEquals(0, yielding.add(1));
        yielding.await(Long.MAX_VALUE, 0);
        assertEquals(0, yielding.addErr(1));
        assertEquals(0, yielding.setErr(0));
    }

    private Thread start(String name, Runnable work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Throwable thrown) {
                failure.compareAndSet(null, thrown);
            }
        }, name);
        thread.start();
        return thread;
    }
}
