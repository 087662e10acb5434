package org.jfabric.samples.sequencer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.agrona.DirectBuffer;
import org.jfabric.driver.kit.Effort;
import org.jfabric.stream.LogReader;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.test.TestJvm;
import org.jfabric.test.TestProcess;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The sample's sequencer and desks as processes; the sequencer is killed, with its driver, at random moments. */
@Tag("slow")
@Timeout(600)
class SequencedOrdersTest {
    private static final int KILLS = Integer.getInteger("jfabric.test.sampleKills", Effort.rounds(2, 40));
    private static final int DESKS = 3;
    private static final int COUNT = 2_000_000_000;

    private final long seed = Long.getLong("jfabric.test.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final Path base = TestDirectory.create();
    private final Path log = base.resolve("log");
    private final List<TestProcess> processes = new ArrayList<>();

    /** Fails unless each desk's orders come with the sequences 1, 2, 3 and so on. */
    private static final class Orders implements StreamListener {
        private final long[] last = new long[DeskOrder.DESKS];

        @Override
        public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
            int desk = DeskOrder.desk(buffer, offset);
            assertEquals(++last[desk], DeskOrder.sequence(buffer, offset), () -> "desk " + desk + ", " + header);
        }

        @Override
        public void onGap(long first, long end) {
            throw new AssertionError("a gap from " + first + " to " + end);
        }
    }

    @AfterEach
    void end() {
        processes.forEach(TestProcess::close);
        TestDirectory.delete(base);
    }

    private TestProcess start(String... arguments) {
        TestProcess process = TestJvm.start(List.of("jfabric.dir.base=" + base), SequencedOrders.class, arguments);
        processes.add(process);
        return process;
    }

    private TestProcess sequencer() {
        TestProcess sequencer = start("run", log.toString());
        sequencer.awaitLine("sequencer runs");
        return sequencer;
    }

    private TestProcess desk(int number, long count) {
        return start("desk", Integer.toString(number), Long.toString(count), log.toString());
    }

    @Test
    void shouldPublishEachOrderOnceInTheDesksSequence() {
        System.out.println("seed " + seed);
        TestProcess sequencer = sequencer();
        List<TestProcess> desks = new ArrayList<>();
        for (int i = 0; i < DESKS; i++) {
            desks.add(desk(i, COUNT));
        }
        Orders orders = new Orders();
        try (LogReader reader = LogReader.open(log)) {
            for (int kill = 0; kill < KILLS; kill++) {
                long[] before = orders.last.clone();
                // each desk has gone on with the next sequencer
                Deadline.awaitParked(() -> Arrays.toString(orders.last) + " seed " + seed + ' ' + processes, () -> {
                    reader.poll(orders, 100_000);
                    return IntStream.range(0, DESKS).allMatch(desk -> orders.last[desk] > before[desk]);
                });
                LockSupport.parkNanos(random.nextLong(50_000_000));
                sequencer.kill();
                sequencer = sequencer();
            }
            // the desks end with a known number of orders
            desks.forEach(TestProcess::kill);
            sequencer.kill();
            sequencer();
            long[] counted = DeskOrder.lastSequences(log, Long.MAX_VALUE);
            for (int i = 0; i < DESKS; i++) {
                desk(i, 1000).awaitLine("desk " + i + " has confirmed orders up to " + (counted[i] + 1000));
            }
            int read;
            do {
                read = reader.poll(orders, 100_000);
            } while (read > 0);
            for (int i = 0; i < DESKS; i++) {
                assertEquals(counted[i] + 1000, orders.last[i], "seed " + seed);
            }
        }
    }
}
