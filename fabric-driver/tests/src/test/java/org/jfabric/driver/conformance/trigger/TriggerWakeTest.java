package org.jfabric.driver.conformance.trigger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jfabric.Counter;
import org.jfabric.DeferredWork;
import org.jfabric.Domain;
import org.jfabric.Fabric;
import org.jfabric.FabricConfig;
import org.jfabric.SendRequest;
import org.jfabric.TriggeredContext;
import org.jfabric.driver.FabricDriver;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.Info;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A driver that sleeps wakes when its client changes a counter that work waits for. */
@Tag("conformance")
@Timeout(120)
class TriggerWakeTest {
    private static final int SLEEPS = 8;
    private static final int SLEEP_S = 10;
    private static final int RACES = 500;
    private static final long PAUSE_NS = 200_000;

    @Test
    void shouldWakeADriverAsleep() {
        Path base = TestDirectory.create();
        // a driver that sleeps out its time in each round takes as long as that, whatever the machine
        long begin = System.nanoTime();
        try (FabricDriver driver = FabricDriver.launch(DriverConfig.builder()
                .directory(base.resolve("sleepy")).threadingMode(ThreadingMode.SHARED)
                .set("jfabric.threading.parkTimeoutNs", SLEEP_S + "s").build());
            DriverView view = new DriverView(driver.directory());
            Fabric fabric = Fabric.connect(new FabricConfig().directory(driver.directory()));
            Domain domain = fabric.domain(
                fabric.info(new Info().caps(TriggerPair.CAPS).linkName("loopback")).best());
            Counter counter = domain.openCounter(new CounterAttr());
            Counter changed = domain.openCounter(new CounterAttr().waitObject(WaitObject.UNSPEC))) {
            DeferredWork work = new DeferredWork();
            for (int sleep = 1; sleep <= SLEEPS; sleep++) {
                long parked = view.counter("times parked");
                assertEquals(0, domain.queueWork(work.trigger(counter, sleep).counterAdd(changed, 1)));
                awaitParked(view, parked);
                assertEquals(sleep - 1, changed.read());
                int result = switch (sleep % 4) {
                    case 0 -> counter.add(1);
                    case 1 -> counter.set(sleep - counter.readErr());
                    case 2 -> counter.addErr(1);
                    default -> counter.setErr(sleep - counter.read());
                };
                assertEquals(0, result);
                assertEquals(0, changed.await(sleep, TimeUnit.SECONDS.toNanos(2 * SLEEP_S)));
            }
            assertTrue(System.nanoTime() - begin < TimeUnit.SECONDS.toNanos((SLEEPS - 2) * SLEEP_S),
                "the driver slept its time out");
        } finally {
            TestDirectory.delete(base);
        }
    }

    /** Another thread adds at the moment at which the work is queued, and the driver may be about to sleep. */
    @Test
    void shouldMissNoAdditionOfAnotherThread() {
        Path base = TestDirectory.create();
        try (FabricDriver driver = FabricDriver.launch(DriverConfig.builder()
                .directory(base.resolve("racing")).threadingMode(ThreadingMode.SHARED)
                .set("jfabric.threading.parkTimeoutNs", SLEEP_S + "s").build());
            FabricNode node = new FabricNode(
                Fabric.connect(new FabricConfig().directory(driver.directory())), "loopback",
                new Info().caps(TriggerPair.CAPS), 64, 0, () -> { })) {
            Counter counter = node.domain.openCounter(new CounterAttr());
            long self = node.av.insert(node.endpoint.name());
            TriggeredContext trigger = new TriggeredContext();
            SendRequest request = new SendRequest().memory(node.memory.address(), 8).destAddr(self).tag(1)
                .opContext(1);
            AtomicInteger round = new AtomicInteger();
            Thread adder = new Thread(() -> {
                for (int added = 0; added < RACES; added++) {
                    while (round.get() <= added) {
                        Thread.yield();
                    }
                    counter.add(1);
                }
            });
            adder.start();
            for (int i = 1; i <= RACES; i++) {
                assertEquals(0, node.endpoint.trecv(node.memory.address(8), 8, -1L, 1, 0, 2));
                long begin = System.nanoTime();
                round.set(i);
                assertEquals(0, node.endpoint.messages().tsendmsg(request.trigger(trigger.threshold(counter, i))));
                assertEquals(0, node.await().err());
                assertEquals(0, node.await().err());
                // a round without a wake-up takes as long as the driver sleeps
                assertTrue(System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(SLEEP_S - 1),
                    "the driver slept its time out");
                if (i % 16 == 0) {
                    // long enough for the driver to fall asleep sometimes
                    LockSupport.parkNanos(PAUSE_NS);
                }
            }
            adder.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        } finally {
            TestDirectory.delete(base);
        }
    }

    private static void awaitParked(DriverView view, long before) {
        long deadlineNs = System.nanoTime() + Deadline.ns(20);
        while (view.counter("times parked") == before) {
            assertTrue(System.nanoTime() - deadlineNs < 0, "the driver does not sleep");
            Thread.yield();
        }
    }
}
