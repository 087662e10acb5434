package org.jfabric.driver.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.Fabric;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.resource.Stage;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.tool.CncView;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Samples of the stages of messages, as they are published. */
@Timeout(60)
class StageLatencyTest {
    private static final String NAME = "jfabric_stage_latency_seconds";
    private static final int INTERVAL = 64;
    private static final int LENGTH = 8;
    private static final int BATCH = 32;
    private static final long HELD_NS = 20_000_000;
    private final Path base = TestDirectory.create();
    private final List<AutoCloseable> resources = new ArrayList<>();
    private FabricDriver alpha;
    private FabricDriver beta;
    private FabricNode sender;
    private FabricNode receiver;
    private long toReceiver;
    private long received;

    private FabricDriver launch(String name, ThreadingMode mode, int interval) {
        FabricDriver driver = FabricDriver.launchEmbedded(DriverConfig.builder().directory(base.resolve(name))
            .threadingMode(mode).set("jfabric.metrics.stageSampling", String.valueOf(interval)).build());
        resources.addFirst(driver);
        return driver;
    }

    private void open(ThreadingMode mode, String link, int interval) {
        alpha = launch("alpha", mode, interval);
        beta = link.equals("loopback") ? alpha : launch("beta", mode, interval);
        sender = node(alpha, link);
        receiver = node(beta, link);
        toReceiver = sender.av.insert(receiver.endpoint.name());
    }

    private FabricNode node(FabricDriver driver, String link) {
        Fabric fabric = driver.fabric();
        resources.addFirst(fabric);
        return new FabricNode(fabric, link, new Info().caps(Flags.TAGGED | Flags.MSG), 256, 0, this::pump);
    }

    private void pump() {
        for (FabricDriver driver : new FabricDriver[] {alpha, beta}) {
            if (driver.config().get(ThreadingConfig.MODE) == ThreadingMode.INVOKER) {
                driver.cycle();
            }
        }
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable resource : resources) {
            resource.close();
        }
        TestDirectory.delete(base);
    }

    /** Messages whose receives are posted before. */
    private void exchange(int messages) {
        for (int done = 0; done < messages; done += BATCH) {
            receive(BATCH);
            receiver.awaitRead(BATCH);
            for (int i = 0; i < BATCH; i++) {
                send(i);
            }
            for (int i = 0; i < BATCH; i++) {
                sender.await();
                receiver.await();
            }
        }
    }

    private void receive(int count) {
        for (int i = 0; i < count; i++) {
            assertEquals(0, receiver.endpoint.trecv(receiver.memory.address(), LENGTH, -1L, 7, 0, ++received));
        }
    }

    private void send(long context) {
        assertEquals(0, sender.endpoint.tsend(sender.memory.address(), LENGTH, toReceiver, 7, context));
    }

    private static List<Metric> metrics(FabricDriver driver) {
        try (CncView view = CncView.open(driver.directory())) {
            return MetricsSnapshot.of(view.counters());
        }
    }

    private static Metric stage(FabricDriver driver, Stage stage) {
        return metrics(driver).stream()
            .filter(metric -> metric.name().equals(NAME) && metric.labels().equals(Map.of("stage", stage.label())))
            .findFirst().orElseThrow();
    }

    /** The histogram once it has so many entries; samples are published some time after the messages. */
    private Metric await(FabricDriver driver, Stage stage, long count) {
        long deadlineNs = System.nanoTime() + Deadline.ns(20);
        Metric seen = stage(driver, stage);
        while (seen.count() < count) {
            Metric last = seen;
            assertTrue(System.nanoTime() - deadlineNs < 0, () -> stage + ": " + last + ", awaited are " + count);
            pump();
            Thread.yield();
            seen = stage(driver, stage);
        }
        return seen;
    }

    private static void hold() {
        long endNs = System.nanoTime() + HELD_NS;
        while (System.nanoTime() - endNs < 0) {
            LockSupport.parkNanos(endNs - System.nanoTime());
        }
    }

    private static double longest(Metric metric) {
        return metric.quantile(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHARED", "DEDICATED", "INVOKER"})
    void shouldSampleEachStageAsOftenAsPositionsSay(String mode) {
        open(ThreadingMode.valueOf(mode), "shm", INTERVAL);
        int messages = 10 * INTERVAL;
        exchange(messages);
        if (!mode.equals("INVOKER")) {
            assertEquals(9, await(alpha, Stage.SUBMIT_TO_ENGINE, 9).count(), "in front of the 65th, 129th, ... send");
        }
        assertEquals(9, await(alpha, Stage.ENGINE_TO_WIRE, 9).count());
        // the ring has some records more than messages: those that opened the channel
        assertEquals(10, await(beta, Stage.WIRE_TO_MATCH, 9).count(), 1);
        assertEquals(10, await(beta, Stage.MATCH_TO_ENTRY, 9).count(), 1);
        assertEquals(9, await(alpha, Stage.ENTRY_TO_READ, 9).count(), "entries 64, 128, ...");
        assertEquals(9, await(beta, Stage.ENTRY_TO_READ, 9).count());
        for (FabricDriver driver : new FabricDriver[] {alpha, beta}) {
            for (Stage stage : Stage.values()) {
                Metric times = stage(driver, stage);
                assertTrue(times.value().signum() == (times.count() == 0 ? 0 : 1), times::toString);
            }
        }
        assertEquals(0, stage(beta, Stage.SUBMIT_TO_ENGINE).count(), "it only receives");
        assertEquals(0, stage(alpha, Stage.WIRE_TO_MATCH).count(), "it only sends");
    }

    @ParameterizedTest
    @ValueSource(strings = {"SHARED", "INVOKER"})
    void shouldShowThatAnEntryWasNotRead(String mode) {
        open(ThreadingMode.valueOf(mode), "shm", INTERVAL);
        exchange(INTERVAL);
        receive(1);
        receiver.awaitRead(1);
        send(1);
        sender.await();
        // the driver writes the entry, which this thread does not read
        pump();
        receiver.awaitStep();
        hold();
        assertTrue(receiver.await().err() == 0);
        double seconds = longest(await(beta, Stage.ENTRY_TO_READ, 1));
        assertTrue(seconds >= HELD_NS / 1e9, () -> "longest at most " + seconds + " s");
    }

    @Test
    void shouldNotSampleUnlessItIsAskedTo() {
        open(ThreadingMode.SHARED, "shm", 0);
        exchange(4 * INTERVAL);
        for (FabricDriver driver : new FabricDriver[] {alpha, beta}) {
            assertEquals(List.of(), metrics(driver).stream().filter(metric -> metric.name().equals(NAME)).toList());
        }
    }

    @Test
    void shouldSampleTheOwnStagesIfThePeerSamplesNothing() {
        alpha = launch("alpha", ThreadingMode.SHARED, INTERVAL);
        beta = launch("beta", ThreadingMode.SHARED, 0);
        sender = node(alpha, "shm");
        receiver = node(beta, "shm");
        toReceiver = sender.av.insert(receiver.endpoint.name());
        exchange(4 * INTERVAL);
        assertEquals(3, await(alpha, Stage.SUBMIT_TO_ENGINE, 3).count());
        assertEquals(3, await(alpha, Stage.ENTRY_TO_READ, 3).count());
        assertNull(receiver.poll());
    }

    @Test
    void shouldCountMessagesOfOneDriverInTheStagesThatTheyHave() {
        open(ThreadingMode.SHARED, "loopback", INTERVAL);
        exchange(4 * INTERVAL);
        assertEquals(3, await(alpha, Stage.SUBMIT_TO_ENGINE, 3).count());
        assertEquals(3, await(alpha, Stage.ENGINE_TO_WIRE, 3).count());
        assertEquals(6, await(alpha, Stage.ENTRY_TO_READ, 6).count());
        assertEquals(0, stage(alpha, Stage.WIRE_TO_MATCH).count());
    }
}
