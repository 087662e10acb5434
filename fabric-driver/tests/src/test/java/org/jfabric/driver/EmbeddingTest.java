package org.jfabric.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.CompositeAgent;
import org.agrona.concurrent.YieldingIdleStrategy;
import org.jfabric.CompletionHandler;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.Messenger;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.junit.FabricTest;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Timeout;

/** What an application gets that embeds a driver in an agent of Agrona, or shows its metrics in a registry. */
@Timeout(60)
class EmbeddingTest {
    private static final long TAG = 7;
    private static final long TIMEOUT_NS = 10_000_000_000L;

    /** An agent of the application, which counts messages. */
    private static final class Desk implements Agent {
        private final Fabric fabric;
        private final Messenger messenger;
        private final AtomicInteger received = new AtomicInteger();
        private final CompletionHandler handler = entry -> received.incrementAndGet();

        Desk(Fabric fabric) {
            this.fabric = fabric;
            messenger = fabric.messenger().name("desk").open();
            messenger.endpoint().trecv(messenger.memory().slice(0, 64), TAG, 0, 1);
        }

        @Override
        public int doWork() {
            return Math.max(messenger.poll(handler, 1), 0);
        }

        @Override
        public void onClose() {
            fabric.close();
        }

        @Override
        public String roleName() {
            return "desk";
        }
    }

    @FabricTest
    void shouldServeAnotherClientInARunnerBesideAnAgentOfTheApplication(FabricDriver driver) {
        Desk desk = new Desk(driver.fabric());
        AtomicInteger errors = new AtomicInteger();
        AgentRunner runner = new AgentRunner(YieldingIdleStrategy.INSTANCE, error -> errors.incrementAndGet(), null,
            new CompositeAgent(desk, driver.agent()));
        AgentRunner.startOnThread(runner);
        try (Fabric fabric = Fabric.connect(new FabricConfig().directory(driver.directory()));
             Messenger feed = fabric.messenger().open()) {
            feed.endpoint().tsend(
                feed.memory().slice(0, 5), feed.peer("jfabric://test/desk"), TAG, 2);
            feed.await(1, TIMEOUT_NS, entry -> { });
            Deadline deadline = Deadline.usual();
            while (desk.received.get() == 0) {
                deadline.check("the agent received a message", () -> errors + " errors");
                Thread.yield();
            }
            assertTrue(driver.isRunning());
        }
        runner.close();
        assertEquals(0, errors.get());
        assertFalse(driver.isRunning());
        assertFalse(Files.exists(driver.directory()), "the agent's end has closed the driver");
    }

    @FabricTest
    void shouldEndWithItsInvoker(FabricDriver driver) {
        AgentInvoker invoker = new AgentInvoker(Assertions::fail, null, driver.agent());
        invoker.start();
        assertTrue(invoker.invoke() >= 0);
        assertEquals("jfabric-test", invoker.agent().roleName());
        invoker.close();
        assertFalse(driver.isRunning());
    }

    @FabricTest(options = "jfabric.threading.mode=SHARED")
    void shouldRefuseAnAgentOfADriverWithThreads(FabricDriver driver) {
        FabricException refused = assertThrows(FabricException.class, driver::agent);
        assertEquals(FabricErrno.EOPBADSTATE, refused.errno());
    }

    @FabricTest
    void shouldSumMetricsByTheirName(FabricDriver driver, Messenger first, Messenger second) {
        assertEquals(2, driver.metric("jfabric_driver_endpoints"));
        assertEquals(0, driver.metric("jfabric_endpoint_posted_receives"));
        first.endpoint().trecv(first.memory().slice(0, 64), TAG, 0, 1);
        second.endpoint().trecv(second.memory().slice(0, 64), TAG, 0, 1);
        Deadline.await("both receives are in the sum", () -> driver.cycle() >= 0
            && driver.metric("jfabric_endpoint_posted_receives") == 2, () -> driver.metric("jfabric_driver_endpoints"));
        assertTrue(driver.metric("process_start_time_seconds") > 1e9);
        assertTrue(Double.isNaN(driver.metric("jfabric_unheard_of")));
        driver.close();
        assertTrue(Double.isNaN(driver.metric("jfabric_driver_endpoints")));
    }
}
