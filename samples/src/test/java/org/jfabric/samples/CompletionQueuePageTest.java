package org.jfabric.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.Fabric;
import org.jfabric.WaitSet;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricErrno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The page on completion queues shows code that compiles, runs, and does what the page says. */
@Timeout(60)
class CompletionQueuePageTest {
    private static final List<String> PAGES = List.of("completion-queues.md", "waiting.md");
    private static final Path CODE =
        Path.of("src", "test", "java", "org", "jfabric", "samples", "CompletionQueueExamples.java");

    private final FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder()
        .set("jfabric.dir.name", "page-" + ProcessHandle.current().pid()).threadingMode(ThreadingMode.INVOKER).build());
    private final Fabric fabric = driver.fabric();

    @AfterEach
    void close() {
        fabric.close();
        driver.close();
    }

    @Test
    void shouldShowTheCodeThatIsTested() throws IOException {
        Map<String, String> code = PageCode.regions(Files.readString(CODE));
        Map<String, String> page = new HashMap<>();
        for (String each : PAGES) {
            page.putAll(PageCode.blocks(Files.readString(Path.of("..", "docs", each))));
        }
        assertFalse(code.isEmpty());
        assertEquals(code.keySet(), page.keySet());
        code.forEach((name, text) -> assertEquals(text, page.get(name), "example " + name));
    }

    @Test
    void shouldReadInThreeWays() {
        CompletionQueueExamples examples = new CompletionQueueExamples(fabric);
        examples.transfer(40);
        assertEquals(1 + 40 + 2, examples.read());
        examples.transfer(41);
        assertEquals(2, examples.poll());
        assertEquals(41, examples.bytes);
        examples.transfer(42);
        examples.readInPlace();
        assertEquals(41 + 42, examples.bytes);
        assertEquals("FI_EAGAIN", examples.next());
    }

    @Test
    void shouldTellOfErrorsInOrder() {
        CompletionQueueExamples examples = new CompletionQueueExamples(fabric);
        examples.transfer(100);
        String first = examples.next();
        String second = examples.next();
        assertTrue(first.equals("success") && second.equals("operation 1: FI_ETRUNC")
            || second.equals("success") && first.equals("operation 1: FI_ETRUNC"), first + ", " + second);
    }

    @Test
    void shouldRefuseWhatTheQueueHasNoSlotFor() {
        CompletionQueueExamples examples = new CompletionQueueExamples(fabric);
        assertEquals(64, examples.postAll(100));
    }

    @Test
    void shouldOverrunOnlyWithoutResourceManagement() {
        CompletionQueueExamples examples = new CompletionQueueExamples(
            fabric, CompletionQueueExamples.unmanaged(), CompletionQueueExamples.waiting().size(64));
        assertEquals(100, examples.postAll(100));
        for (int i = 0; i < 100; i++) {
            assertEquals(0, examples.endpoint.tsend(examples.memory.address(), 8, examples.self, 7, 200));
        }
        int read = 0;
        int result;
        while ((result = examples.poll()) > 0) {
            read += result;
        }
        assertEquals(-FabricErrno.EOVERRUN, result, "after " + read + " entries");
    }

    @Test
    void shouldWaitForAsManyEntriesAsAsked() {
        CompletionQueueExamples examples = new CompletionQueueExamples(
            fabric, new org.jfabric.info.Info(), CompletionQueueExamples.waiting());
        examples.transfer(8);
        assertEquals(2, examples.sread());
    }

    @Test
    void shouldWaitInASelectorWhereTheDriverHasThreads() throws IOException {
        try (FabricDriver threads = FabricDriver.launchEmbedded(DriverConfig.builder()
                .set("jfabric.dir.name", "select-" + ProcessHandle.current().pid())
                .threadingMode(ThreadingMode.SHARED).build());
            Fabric attached = threads.fabric()) {
            CompletionQueueExamples examples = new CompletionQueueExamples(
                attached, new org.jfabric.info.Info(), CompletionQueueExamples.selectable());
            examples.transfer(8);
            int seen = 0;
            while (seen < 2) {
                seen += examples.select(entry -> { });
            }
            assertEquals(2, seen);
        }
    }

    @Test
    void shouldWaitForAllQueuesOfASet() {
        WaitSet waitSet = CompletionQueueExamples.waitSet(fabric);
        CompletionQueueExamples examples = new CompletionQueueExamples(
            fabric, new org.jfabric.info.Info(), CompletionQueueExamples.inSet(waitSet));
        examples.transfer(8);
        int[] seen = new int[1];
        while (seen[0] < 2) {
            assertEquals(0, examples.awaitSet(waitSet, entry -> seen[0]++));
        }
    }

    @Test
    void shouldCompleteFutures() {
        assertEquals(40, new CompletionQueueExamples(fabric).futures());
    }
}
