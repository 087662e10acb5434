package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Threading;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** A blocking read of a queue with entries that another thread, which is in a handler, keeps to itself. */
@Timeout(60)
class WaitBehindReaderTest {
    private static final long DEADLINE_NS = Deadline.ns(30);
    private static final long FOR_EVER = -1;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldEndAsOfAnEmptyQueue(Setup setup) throws Exception {
        Info hints = new Info().caps(Flags.TAGGED | Flags.MSG);
        hints.domainAttr().threading(Threading.SAFE);
        try (FabricPair pair = new FabricPair(setup, hints, 64)) {
            FabricNode node = pair.a;
            CompletionQueue cq = node.domain.openCompletionQueue(
                new CompletionQueueAttr().waitObject(WaitObject.UNSPEC));
            Endpoint endpoint = node.domain.openEndpoint(node.info);
            endpoint.bind(cq, Flags.TRANSMIT | Flags.RECV);
            endpoint.bind(node.av);
            endpoint.enable();
            long self = node.av.insert(endpoint.name());
            assertEquals(0, endpoint.trecv(node.memory.address(), 8, -1L, 1, 0, 10));
            assertEquals(0, endpoint.tinject(new UnsafeBuffer(new byte[8]), 0, 8, self, 1));
            CountDownLatch inside = new CountDownLatch(1);
            CountDownLatch end = new CountDownLatch(1);
            Thread reader = Thread.ofPlatform().start(() -> {
                long deadline = System.nanoTime() + DEADLINE_NS;
                while (inside.getCount() != 0 && System.nanoTime() - deadline < 0) {
                    cq.poll(completion -> {
                        inside.countDown();
                        await(end);
                    }, 1);
                    Thread.yield();
                }
            });
            try {
                assertTrue(await(inside), "no entry");
                assertEquals(-FabricErrno.EAGAIN, cq.sread(null, 0, 0, 0, 20_000_000), "the time is over");
                assertEquals(0, cq.signal());
                assertEquals(-FabricErrno.EAGAIN, cq.sread(null, 0, 0, 0, FOR_EVER), "signalled");
                Thread.currentThread().interrupt();
                assertEquals(-FabricErrno.EAGAIN, cq.sread(null, 0, 0, 0, FOR_EVER), "interrupted");
                assertTrue(Thread.interrupted());
                endpoint.close();
                cq.close();
                assertEquals(-FabricErrno.EOPBADSTATE, cq.sread(null, 0, 0, 0, FOR_EVER), "closed");
            } finally {
                end.countDown();
                reader.join();
            }
        }
    }

    private static boolean await(CountDownLatch latch) {
        try {
            return latch.await(DEADLINE_NS, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
