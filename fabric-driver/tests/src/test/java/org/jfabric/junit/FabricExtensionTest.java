package org.jfabric.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.QueueConfig;
import org.jfabric.simulation.Simulation;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs classes of tests as an application has them, and looks at what they got and what is left. */
@Timeout(60)
class FabricExtensionTest {
    private static final long TIMEOUT_NS = 10_000_000_000L;

    private static final List<Path> DIRECTORIES = new ArrayList<>();

    private static TestExecutionSummary run(Class<?> tests) {
        DIRECTORIES.clear();
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create().execute(
            LauncherDiscoveryRequestBuilder.request().selectors(selectClass(tests))
                .configurationParameter("junit.jupiter.execution.parallel.enabled", "false").build(), listener);
        return listener.getSummary();
    }

    @FabricTest(options = "jfabric.queue.txSize=64")
    static class OwnCases {
        private FabricDriver before;

        @BeforeEach
        void note(FabricDriver driver) {
            before = driver;
            DIRECTORIES.add(driver.directory());
        }

        @Test
        void shouldSend(FabricDriver driver, Messenger desk, Messenger feed) {
            assertSame(before, driver);
            assertNotSame(desk, feed);
            assertEquals(64, driver.config().get(QueueConfig.TX_SIZE));
            desk.endpoint().trecv(desk.memory().slice(0, 64), 7, 0, 1);
            feed.endpoint().tsend(feed.memory().slice(0, 5), feed.peer(desk.address()), 7, 2);
            desk.await(1, TIMEOUT_NS, entry -> assertEquals(5, entry.len()));
        }

        @FabricTest(options = "jfabric.queue.txSize=32")
        void shouldHaveOptionsOfItsOwn(Fabric fabric) {
            assertTrue(fabric.isOpen());
            assertEquals(32, before.config().get(QueueConfig.TX_SIZE));
        }

        @Test
        void shouldCleanUpAfterAFailure(Messenger messenger) {
            fail(messenger + " is what this test fails with");
        }
    }

    static class SimulatedCases {
        @FabricTest(seed = 42)
        void shouldFail(Simulation simulation) {
            simulation.add("a", "tcp", node -> () -> 0);
            simulation.start();
            simulation.run(Duration.ofMillis(1));
            throw new IllegalStateException("a check of the test");
        }
    }

    @Test
    void shouldGiveEachTestADriverOfItsOwnAndLeaveNothing() {
        TestExecutionSummary summary = run(OwnCases.class);
        assertEquals(2, summary.getTestsSucceededCount(), () -> summary.getFailures().toString());
        assertEquals(1, summary.getTestsFailedCount());
        assertEquals(3, DIRECTORIES.stream().distinct().count());
        DIRECTORIES.forEach(each -> assertFalse(Files.exists(each.getParent()), each.toString()));
    }

    @Test
    void shouldNameTheSeedBesideTheFailure() {
        TestExecutionSummary summary = run(SimulatedCases.class);
        Throwable failure = summary.getFailures().getFirst().getException();
        assertEquals("a check of the test", failure.getMessage());
        assertEquals("the simulation had the seed 42: -Djfabric.test.seed=42 repeats it",
            failure.getSuppressed()[0].getMessage());
    }
}
