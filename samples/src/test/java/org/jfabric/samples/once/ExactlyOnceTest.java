package org.jfabric.samples.once;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.driver.kit.Effort;
import org.jfabric.info.LogPosition;
import org.jfabric.stream.LogReader;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The sample's publisher and consumer as processes that are killed, with their drivers, at random moments. */
@Tag("slow")
@Timeout(600)
class ExactlyOnceTest {
    private static final int KILLS = Integer.getInteger("jfabric.test.sampleKills", Effort.rounds(4, 60));

    private final long seed = Long.getLong("jfabric.test.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Path base = TestDirectory.create();
    private final Path log = base.resolve("log");
    private final List<TestProcess> processes = new ArrayList<>();

    @AfterEach
    void end() {
        processes.forEach(TestProcess::close);
        TestDirectory.delete(base);
    }

    private TestProcess start(String... arguments) {
        TestProcess process = TestJvm.start(List.of("jfabric.dir.base=" + base), ExactlyOnce.class, arguments);
        processes.add(process);
        return process;
    }

    private TestProcess publisher(int count) {
        return start("publish", log.toString(), Integer.toString(count));
    }

    private TestProcess consumer(String file) {
        return start("consume", base.resolve(file).toString());
    }

    private Portfolio portfolio(String file) {
        try {
            return new Portfolio(base.resolve(file));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private long position(String file) {
        LogPosition next = portfolio(file).next();
        return next == null ? 0 : next.position();
    }

    @Test
    void shouldCountEachOrderOnceWhoeverIsKilled() throws IOException {
        System.out.println("seed " + seed);
        TestProcess publisher = publisher(Integer.MAX_VALUE);
        TestProcess neverKilled = consumer("never");
        TestProcess killed = consumer("killed");
        publisher.awaitLine("orders begin");
        int terms = 1;
        for (int i = 0; i < KILLS; i++) {
            if (i % 3 == 0) {
                // something to go on with, now and then
                long least = position("killed");
                TestProcess process = killed;
                Deadline.awaitParked(process::toString, () -> position("killed") > least);
            }
            LockSupport.parkNanos(random.nextLong(100_000_000));
            int what = random.nextInt(4);
            if (what <= 1) {
                publisher.kill();
                publisher = publisher(Integer.MAX_VALUE);
                publisher.awaitLine("orders begin");
                terms++;
            }
            if (what >= 1) {
                killed.kill();
                killed = consumer("killed");
                killed.awaitLine("consumer has");
            }
        }
        publisher.kill();
        publisher = publisher(1000);
        long end = Long.parseLong(publisher.hear("published").split(",")[0]);
        for (String file : List.of("never", "killed")) {
            Deadline.awaitParked(() -> "all " + end + " orders: " + portfolio(file), () -> position(file) == end);
        }
        assertTrue(neverKilled.isAlive(), neverKilled::toString);
        assertEquals(portfolio("never").toString(), portfolio("killed").toString(), "seed " + seed);
        Portfolio expected = portfolio("none");
        try (LogReader reader = LogReader.open(log)) {
            while (reader.poll(expected, 1000) > 0) {
                assertTrue(reader.position() <= end, "seed " + seed);
            }
        }
        assertEquals(expected.toString(), portfolio("killed").toString(), "seed " + seed);
        assertEquals(terms + 1, portfolio("killed").next().term(), "seed " + seed);
    }
}
