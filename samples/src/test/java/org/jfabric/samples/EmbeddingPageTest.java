package org.jfabric.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.junit.FabricTest;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The pages on embedding and on room show code that compiles, runs, and does what they say. */
@Timeout(60)
class EmbeddingPageTest {
    private static final Path PAGES = Path.of("..", "docs");
    private static final Path TESTS = Path.of("src", "test", "java", "org", "jfabric", "samples");
    private static final Path SPRING = Path.of("spring", "src", "main", "java", "com", "example", "quotes");

    private final EmbeddingExamples examples = new EmbeddingExamples();

    @Test
    void shouldShowTheCodeThatIsTestedAndThatOfTheService() throws IOException {
        assertShown("embedding.md", TESTS.resolve("EmbeddingExamples.java"), SPRING.resolve("QuoteService.java"),
            SPRING.resolve("QuoteFeed.java"), SPRING.resolve("FabricHealthIndicator.java"),
            SPRING.resolve("FabricMetrics.java"));
        assertShown("what-can-go-wrong.md", TESTS.resolve("RoomExamples.java"));
    }

    private static void assertShown(String page, Path... sources) throws IOException {
        Map<String, String> code = new LinkedHashMap<>();
        for (Path source : sources) {
            code.putAll(PageCode.regions(Files.readString(source)));
        }
        Map<String, String> blocks = PageCode.blocks(Files.readString(PAGES.resolve(page)));
        assertFalse(code.isEmpty());
        assertEquals(code.keySet(), blocks.keySet(), page);
        code.forEach((name, text) -> assertEquals(text, blocks.get(name), page + ", example " + name));
    }

    @Test
    void shouldCloseAllWhenTheProcessIsToEnd() throws IOException {
        Path directory = Files.createTempDirectory("jfabric-embedding-").resolve("desk");
        DriverConfig config =
            DriverConfig.builder().directory(directory).threadingMode(ThreadingMode.INVOKER).build();
        Thread owner = Thread.ofPlatform().start(() -> examples.serve(config));
        Deadline.awaitParked("the driver runs", () -> Files.exists(directory));
        examples.end(owner);
        assertFalse(owner.isAlive());
        assertFalse(Files.exists(directory), directory.toString());
        Files.delete(directory.getParent());
    }

    @FabricTest
    void shouldEndTheApplicationBeforeTheDriver(FabricDriver driver) {
        AtomicInteger errors = new AtomicInteger();
        Fabric fabric = driver.fabric();
        AgentRunner runner = EmbeddingExamples.start(driver, new Agent() {
            @Override
            public int doWork() {
                return 0;
            }

            @Override
            public void onClose() {
                assertTrue(driver.isRunning());
                fabric.close();
            }

            @Override
            public String roleName() {
                return "application";
            }
        }, error -> errors.incrementAndGet());
        runner.close();
        assertEquals(0, errors.get());
        assertFalse(driver.isRunning());
    }

    @FabricTest(options = "jfabric.threading.mode=SHARED")
    void shouldReadInAnEventLoop(Messenger desk, Messenger feed) throws Exception {
        EmbeddingExamples.post(desk, 0);
        try (ScheduledExecutorService loop = Executors.newSingleThreadScheduledExecutor()) {
            examples.attach(loop, desk);
            feed.endpoint().tsend(feed.memory().slice(0, 8), feed.peer(desk.address()), 7, 1);
            feed.await(1, Deadline.ns(10), entry -> { });
            Deadline.awaitParked("the loop has read the message", () -> examples.received == 1);
            loop.shutdownNow();
        }
    }

    @FabricTest
    void shouldCountLatencies(Messenger desk) {
        EmbeddingExamples.post(desk, 1);
        desk.memory().buffer().putLong(0, System.nanoTime());
        desk.endpoint().tsend(desk.memory().slice(0, 8), desk.peer(desk.address()), 7, 1);
        desk.await(2, Deadline.ns(10), entry -> {
            if (entry.len() > 0) {
                examples.onMessage(desk, entry);
            }
        });
        assertEquals(1, examples.interval().getTotalCount());
        assertEquals(0, examples.interval().getTotalCount());
    }

    @FabricTest
    void shouldLeaveASlowPeerOutAndServeTheOthers(Fabric fabric, Messenger fast, Messenger slow) {
        try (RoomExamples feed = new RoomExamples(fabric, fast.address(), slow.address())) {
            AtomicInteger arrived = new AtomicInteger();
            for (int i = 0; i < 100; i++) {
                fast.endpoint().trecv(fast.memory().slice(0, 64), 2, 0, i);
                feed.publishNewest(i);
                fast.poll(entry -> arrived.incrementAndGet(), 16);
                feed.drain();
            }
            Deadline.await("the fast one has all", () -> fast.poll(entry -> arrived.incrementAndGet(), 16) != 0
                && feed.drain() >= 0 && arrived.get() == 100, arrived::get);
            assertTrue(feed.outstanding[1] <= 32, feed.outstanding[1] + " are on the way to the slow one");
        }
    }

    @FabricTest
    void shouldTellTheEndOfAPeerFromACancel(Fabric fabric, Messenger desk) {
        try (RoomExamples feed = new RoomExamples(fabric, "jfabric://test/nobody")) {
            feed.post(1);
            feed.own.endpoint().cancel(1);
            assertTrue(feed.publish());
            int[] errors = {0};
            Deadline.await("the cancel and the failed send", () -> (errors[0] += feed.drain()) == 2,
                () -> errors[0] + " errors, of them sends: " + feed.failed);
            assertEquals(1, feed.failed);
            assertEquals(0, feed.outstanding[0]);
        }
    }
}
