package org.jfabric.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
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
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
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

    static class SimulatedSteps {
        @BeforeEach
        void failFirst(Simulation simulation) {
            throw new IllegalStateException("a step before the test with seed " + simulation.seed());
        }

        @FabricTest(seed = 43)
        void shouldNotBegin() {
            fail("it began");
        }
    }

    @FabricTest
    static class SharedCases {
        @BeforeAll
        static void launch(FabricDriver driver) {
            DIRECTORIES.add(driver.directory());
        }

        @Test
        void shouldShare(FabricDriver driver) {
            assertEquals(DIRECTORIES, List.of(driver.directory()));
        }

        @FabricTest(options = "jfabric.queue.txSize=32")
        void shouldBeRefused(FabricDriver driver) {
            fail(driver.directory() + " has not the options");
        }
    }

    @FabricTest(seed = 44)
    static class SharedSimulation {
        private final Simulation simulation;

        SharedSimulation(Simulation simulation) {
            this.simulation = simulation;
        }

        @Test
        void shouldShare(Simulation same) {
            assertSame(simulation, same);
        }

        @FabricTest(seed = 45)
        void shouldBeRefused() {
            fail(simulation.seed() + " is not the seed");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {SharedCases.class, SharedSimulation.class})
    void shouldRefuseWhatATestAsksForThatItsClassHasAlready(Class<?> tests) {
        TestExecutionSummary summary = run(tests);
        assertEquals(1, summary.getTestsSucceededCount(), () -> summary.getFailures().toString());
        Throwable refused = summary.getFailures().getFirst().getException();
        assertInstanceOf(ExtensionConfigurationException.class, refused);
        assertTrue(refused.getMessage().contains("shouldBeRefused"), refused.getMessage());
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
        failure = run(SimulatedSteps.class).getFailures().getFirst().getException();
        assertEquals("a step before the test with seed 43", failure.getMessage());
        assertEquals("the simulation had the seed 43: -Djfabric.test.seed=43 repeats it",
            failure.getSuppressed()[0].getMessage());
    }
}
