package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.Messenger;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.stream.LogReader;
import org.jfabric.stream.Publication;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The programs of README.md and docs/features.md: each compiles, it runs, and a page shows it as it is here. */
@Tag("conformance")
@Timeout(60)
class ReadmeExampleTest {
    private static final String FEATURES = "docs/features.md";
    private static final long TIMEOUT_NS = 10_000_000_000L;
    private static final List<Integer> NOT_THERE_YET = List.of(
        FabricErrno.ECONNREFUSED, FabricErrno.ECONNRESET, FabricErrno.ENOENT, FabricErrno.EHOSTUNREACH);

    // example: first program
    static void hello(Path directory) {
        try (FabricDriver driver = embed(directory); Fabric fabric = driver.fabric();
             Messenger self = fabric.messenger().open()) {
            self.memory().buffer().putStringUtf8(0, "hello, fabric");
            self.endpoint().trecv(self.memory().slice(2048, 1024), 7, 0, 1);
            self.endpoint().tsend(self.memory().slice(0, 64), self.peer(self.address()), 7, 2);
            self.await(2, 1_000_000_000L, entry -> System.out.println("context " + entry.opContext()));
        }
    }

    static FabricDriver embed(Path directory) {
        return FabricDriver.launchEmbedded(
            DriverConfig.builder().directory(directory).threadingMode(ThreadingMode.INVOKER).build());
    }
    // end of example

    // example: between two drivers
    static String desk(Path base) {
        try (FabricDriver driver = embed(base.resolve("desk")); Fabric fabric = driver.fabric();
             Messenger orders = fabric.messenger().name("orders").open()) {
            orders.endpoint().trecv(orders.memory().slice(0, 64), 7, 0, 1);
            orders.await(1, entry -> { });
            return orders.memory().buffer().getStringUtf8(0);
        }
    }

    static void quotes(Path base) {
        try (FabricDriver driver = embed(base.resolve("quotes")); Fabric fabric = driver.fabric();
             Messenger feed = fabric.messenger().open()) {
            int length = feed.memory().buffer().putStringUtf8(0, "EURUSD 1.0834");
            feed.endpoint().tsend(feed.memory().slice(0, length), feed.peer("jfabric://desk/orders"), 7, 2);
            feed.await(1, 1_000_000_000L, entry -> { });
        }
    }
    // end of example

    // example: a recorded stream
    static void publish(Path base) {
        try (FabricDriver driver = embed(base.resolve("feed")); Fabric fabric = driver.fabric();
             Publication feed = Publication.on(fabric, "jfabric://feed/prices").recordIn(base.resolve("log")).open()) {
            UnsafeBuffer price = new UnsafeBuffer(new byte[8]);
            for (long i = 0; !Thread.currentThread().isInterrupted(); i++) {
                price.putLong(0, 10_000 + i);
                while (feed.offer(price, 0, 8) == -FabricErrno.EAGAIN) {
                    Thread.onSpinWait();
                }
            }
        }
    }

    static void follow(Path base, StreamListener listener) {
        try (FabricDriver driver = embed(base.resolve("screen")); Fabric fabric = driver.fabric();
             Subscription prices = Subscription.on(fabric, "jfabric://feed/prices").fromOldest().open()) {
            int result;
            do {
                result = prices.poll(listener, 64);
            } while (result >= 0 || result == -FabricErrno.EAGAIN);
        }
    }
    // end of example

    // example: replay
    static void replay(Path base, StreamListener listener) {
        try (LogReader prices = LogReader.open(base.resolve("log"))) {
            while (prices.poll(listener, 64) > 0) {
                Thread.onSpinWait();
            }
        }
    }
    // end of example

    @Test
    void shouldFollowAndReplayARecordedStreamAsShown() throws InterruptedException {
        Path base = TestDirectory.create();
        Thread publisher = new Thread(() -> publish(base), "publisher");
        publisher.start();
        try {
            long[] next = new long[1];
            StreamListener listener = (buffer, offset, length, header) -> {
                assertEquals(next[0], header.position());
                assertEquals(10_000 + next[0], buffer.getLong(offset));
                if (++next[0] == 1000) {
                    publisher.interrupt();
                }
            };
            Deadline deadline = Deadline.usual();
            while (next[0] < 1000) {
                try {
                    follow(base, listener);
                } catch (FabricException ex) {
                    // the publication may not be open yet
                    assertTrue(NOT_THERE_YET.contains(ex.errno()), ex::toString);
                    deadline.check("the publication", ex::toString);
                }
            }
            publisher.join();
            long followed = next[0];
            next[0] = 0;
            replay(base, listener);
            assertEquals(followed, next[0]);
        } finally {
            publisher.interrupt();
            publisher.join();
            TestDirectory.delete(base);
        }
    }

    @Test
    void shouldRunTheFirstProgramAsShown() {
        Path base = TestDirectory.create();
        try {
            hello(base.resolve("hello"));
        } finally {
            TestDirectory.delete(base);
        }
    }

    @Test
    void shouldRunAsShownBetweenTwoDrivers() throws Exception {
        Path base = TestDirectory.create();
        FutureTask<String> desk = new FutureTask<>(() -> desk(base));
        Thread thread = new Thread(desk, "desk");
        thread.start();
        try {
            long startNs = System.nanoTime();
            while (true) {
                try {
                    quotes(base);
                    break;
                } catch (FabricException ex) {
                    // desk may not be open yet
                    assertTrue(NOT_THERE_YET.contains(ex.errno()), ex::toString);
                    assertTrue(System.nanoTime() - startNs < TIMEOUT_NS, ex::toString);
                }
            }
            assertEquals("EURUSD 1.0834", desk.get(TIMEOUT_NS, TimeUnit.NANOSECONDS));
        } finally {
            TestDirectory.delete(base);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"static void hello(", "static String desk(", "static void quotes(",
        "static void publish(", "static void follow(", "static void replay("})
    void shouldHaveProgramsOfAtMostTwelveLines(String begin) throws IOException {
        String page = ExamplePage.text("README.md") + ExamplePage.text(FEATURES);
        int at = page.indexOf(begin);
        assertTrue(at > 0, begin);
        String program = page.substring(at, page.indexOf("\n}\n", at) + 2);
        assertTrue(program.lines().count() <= 12, program);
    }

    @Test
    void shouldStandInTheReadmeAndTheFeaturesAsItIsHere() throws IOException {
        ExamplePage.assertShow(List.of("README.md", FEATURES), ReadmeExampleTest.class, 4);
    }

    /** A first page is read at one go: what it is, why, and two programs. */
    @Test
    void shouldBeShort() throws IOException {
        String page = ExamplePage.text("README.md");
        assertTrue(page.lines().count() <= 110, () -> page.lines().count() + " lines");
        assertTrue(page.getBytes(StandardCharsets.UTF_8).length <= 6 * 1024, () -> page.length() + " characters");
    }

    @Test
    void shouldStandInTheOverviewOfTheJavadocAsInTheReadme() throws IOException {
        String page = ExamplePage.text("README.md");
        int begin = page.indexOf("static void hello(");
        String program = page.substring(begin, page.indexOf("```", begin));
        String overview = ExamplePage.text("fabric-client/src/main/javadoc/overview.html");
        assertTrue(overview.contains("<pre>{@code\n" + program + "}</pre>"), () -> "not there:\n" + program);
    }
}
