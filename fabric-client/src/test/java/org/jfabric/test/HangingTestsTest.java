package org.jfabric.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

class HangingTestsTest {
    private static final String HANGS = "jfabric.test.hangs";
    private static final long LIMIT_NS = 1000;

    /** A test that ends at once where it is not told otherwise. */
    static final class Endless {
        @Test
        @SuppressWarnings("unused")
        void shouldNotEnd() throws InterruptedException {
            if (Boolean.getBoolean(HANGS)) {
                new CountDownLatch(1).await();
            }
        }
    }

    /** A test JVM with that one test. */
    static final class Main {
        private Main() {
        }

        public static void main(String[] args) {
            run(new HangingTests(Deadline.ns(2)));
        }
    }

    /** Without the listeners of the build, which would write this test into its reports. */
    private static void run(TestExecutionListener listener) {
        LauncherFactory.create(LauncherConfig.builder().enableTestExecutionListenerAutoRegistration(false).build())
            .execute(LauncherDiscoveryRequestBuilder.request().selectors(selectClass(Endless.class)).build(), listener);
    }

    @Test
    void shouldNameTheTestThatRunsForTooLong() {
        HangingTests hanging = new HangingTests(LIMIT_NS);
        String[] said = new String[3];
        run(new TestExecutionListener() {
            @Override
            public void executionStarted(TestIdentifier identifier) {
                hanging.executionStarted(identifier);
                if (identifier.isTest()) {
                    said[0] = hanging.hanging(System.nanoTime() + LIMIT_NS + 1);
                }
            }

            @Override
            public void executionFinished(TestIdentifier identifier, TestExecutionResult result) {
                hanging.executionFinished(identifier, result);
                said[identifier.isTest() ? 1 : 2] = hanging.hanging(System.nanoTime() + LIMIT_NS + 1);
            }
        });
        assertTrue(said[0].contains("shouldNotEnd"), said[0]);
        assertFalse(said[1].contains("shouldNotEnd"), said[1]);
        assertTrue(said[1].contains("Endless"), "its class goes on: " + said[1]);
        assertTrue(said[2].contains("around []"), said[2]);
    }

    @Test
    void shouldSayNothingBeforeTheLimit() {
        assertNull(new HangingTests(Long.MAX_VALUE).hanging(System.nanoTime()));
    }

    @Test
    void shouldEndTheProcessAndSayWhatItsThreadsDo() {
        try (TestProcess process = TestJvm.start(List.of(HANGS + "=true"), Main.class)) {
            process.ended();
            assertEquals(3, process.status(), process::toString);
            assertTrue(process.output().contains("shouldNotEnd"), process::output);
            assertTrue(process.output().contains("CountDownLatch.await"), process::output);
        }
    }
}
