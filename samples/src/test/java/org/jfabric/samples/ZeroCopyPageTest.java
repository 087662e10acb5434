package org.jfabric.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricErrno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The page on zero-copy shows code that compiles, runs, and does what the page says. */
@Timeout(60)
class ZeroCopyPageTest {
    private static final List<String> PAGES = List.of("zero-copy.md", "zero-copy-receive.md");
    private static final Path CODE = Path.of("src", "test", "java", "org", "jfabric", "samples");
    private static final int PAYLOAD = ZeroCopyReceiveExamples.MEMORY / 2;

    private final FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder()
        .set("jfabric.dir.name", "zero-copy-" + ProcessHandle.current().pid())
        .threadingMode(ThreadingMode.INVOKER).build());
    private final Fabric fabric = driver.fabric();

    @AfterEach
    void close() {
        fabric.close();
        driver.close();
    }

    @Test
    void shouldShowTheCodeThatIsTested() throws IOException {
        Map<String, String> code = PageCode.regions(Files.readString(CODE.resolve("ZeroCopyExamples.java")));
        code.putAll(PageCode.regions(Files.readString(CODE.resolve("ZeroCopyReceiveExamples.java"))));
        Map<String, String> page = new HashMap<>();
        for (String each : PAGES) {
            page.putAll(PageCode.blocks(Files.readString(Path.of("..", "docs", each))));
        }
        assertFalse(code.isEmpty());
        assertEquals(code.keySet(), page.keySet());
        code.forEach((name, text) -> assertEquals(text, page.get(name), "example " + name));
    }

    @Test
    void shouldSendWhatIsEncodedInPlace() {
        ZeroCopyExamples examples = new ZeroCopyExamples(fabric);
        UnsafeBuffer memory = examples.sample.memory().buffer();
        examples.receive(1);
        assertEquals(0, examples.sendOrder(11, 22, 33, 2));
        examples.sample.await(2, entry -> { });
        assertEquals(11, memory.getLong(1024));
        assertEquals(22, memory.getLong(1032));
        assertEquals(33, memory.getInt(1040));
        examples.receive(1);
        assertEquals(0, examples.sendText("shorter than what was claimed", 2));
        examples.sample.await(2, entry -> { });
        assertEquals("shorter than what was claimed", memory.getStringWithoutLengthAscii(1024, 29));
        assertEquals(-FabricErrno.ENODATA, examples.sendText("", 2));
    }

    @Test
    void shouldLendASliceToEveryReader() {
        ZeroCopyExamples examples = new ZeroCopyExamples(fabric);
        UnsafeBuffer memory = examples.sample.memory().buffer();
        memory.putLong(0, 0x1E47);
        examples.receive(1);
        examples.receive(1);
        long[] readers = {examples.peer, examples.peer};
        assertEquals(0, examples.publish(examples.sample.memory().address(0), 8, readers, 6));
        List<Long> ended = new ArrayList<>();
        examples.sample.await(4, entry -> ended.add(entry.opContext()));
        assertEquals(List.of(1L, 1L, 6L, 6L), ended.stream().sorted().toList());
        assertEquals(0x1E47, memory.getLong(1024));
    }

    private static void send(ZeroCopyReceiveExamples examples, int kind, String text, int length) {
        UnsafeBuffer memory = examples.memory.buffer();
        memory.putInt(PAYLOAD, kind);
        memory.putStringAscii(PAYLOAD + 8, text);
        assertEquals(0, examples.endpoint.send(examples.memory.address(PAYLOAD), length, examples.self, 1));
        for (int i = 0; i < 20; i++) {
            examples.receive();
        }
    }

    @Test
    void shouldUseMessagesWhereTheDriverPutThem() {
        ZeroCopyReceiveExamples examples = new ZeroCopyReceiveExamples(fabric);
        send(examples, 0, "first", 100);
        send(examples, ZeroCopyReceiveExamples.REPORT, "quarter", 2000);
        send(examples, ZeroCopyReceiveExamples.ADVERTISEMENT, "cheap", 2000);
        send(examples, ZeroCopyReceiveExamples.REPORT, "year", 100_000);
        send(examples, 0, "second", 1024);
        assertEquals(List.of("order first", "report of 2000: quarter", "report of 100000: year", "order second"),
            examples.seen);
    }

    @Test
    void shouldKeepAMessageAndGiveItBack() {
        ZeroCopyReceiveExamples examples = new ZeroCopyReceiveExamples(fabric);
        examples.memory.buffer().putStringAscii(PAYLOAD + 8, "kept");
        assertEquals(0, examples.endpoint.tsend(examples.memory.address(PAYLOAD), 50, examples.self, 5, 1));
        assertEquals(0, examples.expect(5));
        assertEquals(1, examples.keep());
        assertEquals(1, examples.keep());
        for (int i = 0; i < 10; i++) {
            examples.receive();
        }
        assertEquals("kept", examples.useKept());
        assertEquals(List.of(), examples.seen);
    }

    @Test
    void shouldUseMessagesWhereTheyArrived() {
        ZeroCopyReceiveExamples examples = new ZeroCopyReceiveExamples(fabric);
        UnsafeBuffer memory = examples.memory.buffer();
        memory.putStringAscii(PAYLOAD + 8, "third");
        assertEquals(0, examples.endpoint.send(examples.memory.address(PAYLOAD), 100, examples.self, 1));
        assertEquals(0, examples.endpoint.send(examples.memory.address(PAYLOAD), 2000, examples.self, 1));
        for (int i = 0; i < 20; i++) {
            examples.receiveInPlace();
        }
        assertEquals(List.of("order third"), examples.seen);
    }

    @Test
    void shouldSendHeaderAndBodyFromWhereTheyAre() {
        ZeroCopyExamples examples = new ZeroCopyExamples(fabric);
        UnsafeBuffer memory = examples.sample.memory().buffer();
        memory.putStringWithoutLengthAscii(0, "head");
        memory.putStringWithoutLengthAscii(512, "and body");
        examples.receive(1);
        assertEquals(0, examples.sendHeaderAndBody(
            examples.sample.memory().address(0), 4, examples.sample.memory().address(512), 8, 2));
        examples.sample.await(2, entry -> { });
        assertEquals("headand body", memory.getStringWithoutLengthAscii(1024, 12));
    }
}
