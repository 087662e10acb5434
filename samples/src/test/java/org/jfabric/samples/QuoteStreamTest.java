package org.jfabric.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.LongStream;
import org.jfabric.driver.FabricDriver;
import org.jfabric.samples.stream.QuoteStream;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The tutorial on streams: its publisher, and three readers, of which one is killed and started again. */
@Tag("slow")
@Timeout(120)
class QuoteStreamTest {
    private final List<TestProcess> processes = new ArrayList<>();
    private final Path base = TestDirectory.create();
    private final Path file = base.resolve("average");

    @AfterEach
    void end() {
        Collections.reverse(processes);
        processes.forEach(TestProcess::close);
        TestDirectory.delete(base);
    }

    private TestProcess start(Class<?> main, String... arguments) {
        TestProcess process = TestJvm.start(List.of("jfabric.dir.base=" + base), main, arguments);
        processes.add(process);
        return process;
    }

    @Test
    void shouldGiveEachReaderItsQuotesOnce() throws IOException {
        start(FabricDriver.class).awaitLine("jfabric driver ready");
        TestProcess publisher = start(QuoteStream.class, "publish", base.resolve("log").toString());
        assertEquals("jfabric://default/quotes begins at 0", publisher.hear("publisher:"));
        TestProcess killed = start(QuoteStream.class, "average", file.toString());
        TestProcess printer = start(QuoteStream.class, "print");
        TestProcess watcher = start(QuoteStream.class, "watch");
        killed.awaitLine("begins with average of 0 bids");
        Deadline.awaitParked(killed::toString, () -> Files.exists(file));
        killed.kill();
        TestProcess average = start(QuoteStream.class, "average", file.toString());
        long before = Long.parseLong(average.hear("begins with average of").split(" ")[0]);
        assertTrue(before > 0, average::toString);
        Deadline.awaitParked(average::toString, () -> count() > before);
        // both show quotes
        printer.awaitLine("0 EURUSD 1.0834 1.0836");
        Deadline.awaitParked(watcher::toString, () -> !watcher.lines().isEmpty());

        publisher.say("");

        long end = Long.parseLong(publisher.hear("published up to"));
        publisher.succeeded();
        assertEquals(quotes(0, end), printer.succeeded().lines().toList());
        List<String> watched = watcher.succeeded().lines().toList();
        assertEquals(quotes(Long.parseLong(watched.getFirst().split(" ")[0]), end), watched);
        average.succeeded();
        double mean = LongStream.range(0, end).map(i -> 1_083_400 + i % 100).sum() / end / 1e6;
        assertEquals("average of " + end + " bids: " + mean + ", ended at " + end, average.lines().getLast());
        assertEquals("jfabric://default/quotes begins at " + end,
            start(QuoteStream.class, "publish", base.resolve("log").toString()).hear("publisher:"));
    }

    private long count() {
        try {
            return Long.parseLong(Files.readString(file).split(" ")[0]);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** What a reader prints that begins and ends at these positions. */
    private static List<String> quotes(long begin, long end) {
        List<String> lines = new ArrayList<>();
        for (long i = begin; i < end; i++) {
            lines.add(i + " EURUSD " + (1_083_400 + i % 100) / 1e6 + " " + (1_083_600 + i % 100) / 1e6);
        }
        lines.add("ended at " + end + ": FI_ESHUTDOWN");
        return lines;
    }
}
