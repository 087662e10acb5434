package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.WaitNode;
import org.jfabric.driver.kit.WaitSetup;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.WaitObject;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** No wake-up at a descriptor is lost, whatever comes at the moment of falling asleep. */
@Tag("slow")
@Timeout(300)
class DescriptorWaitRaceTest {
    /**
     * A tryWait that looks before it arms is found about once in 3000 sleeps, so that one driver gets four times as
     * many: it would be missed in one run of fifty. The others have the same client and the same engine behind them.
     */
    private static final int SLEEPS = 12_000;
    private static final int SLEEPS_OF_OTHERS = 2_500;
    private static final int ALL_SLEEPS = 20_000;
    private static final int WINDOW = 32;
    private static final int ROUNDS = Effort.rounds(200, 400);
    private static final int DEADLINE_MS = Deadline.ms(20);

    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    void shouldWakeFromEverySleep(WaitSetup setup) throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        int count = Effort.rounds(setup == WaitSetup.LOOPBACK_SHARED ? SLEEPS : SLEEPS_OF_OTHERS, ALL_SLEEPS);
        try (var place = setup.open(); Selector selector = Selector.open();
             WaitNode node = new WaitNode(place.owner(), place.peer(), WaitObject.FD)) {
            AtomicLong received = new AtomicLong();
            Thread sender = new Thread(() -> send(node, received, count, seed));
            node.queue.channel().register(selector, SelectionKey.OP_READ);
            for (int i = 0; i < WINDOW; i++) {
                node.post(i);
            }
            sender.start();
            long sleeps = 0;
            for (long next = 0; next < count;) {
                if (node.queue.tryWait() == 0) {
                    sleeps++;
                    if (selector.select(DEADLINE_MS) == 0) {
                        throw new AssertionError("overslept entry " + next + " after " + sleeps + " sleeps, seed "
                            + seed + ", a read answers " + node.take() + ", " + node.queue + ", sender "
                            + sender.getState() + ", the peer's next entry " + place.peer().poll());
                    }
                    selector.selectedKeys().clear();
                }
                for (long context = node.take(); context != -FabricErrno.EAGAIN; context = node.take()) {
                    assertEquals(next, context, () -> "seed " + seed);
                    if (next + WINDOW < count) {
                        node.post(next + WINDOW);
                    }
                    received.setRelease(++next);
                }
            }
            sender.join();
            assertTrue(sleeps > 0, "nobody ever slept");
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(WaitSetup.class)
    void shouldWakeForEntryAndSignalAndCloseAtTheSameTime(WaitSetup setup) throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        try (var place = setup.open(); Selector selector = Selector.open()) {
            WaitNode node = new WaitNode(place.owner(), place.peer(), WaitObject.FD);
            node.queue.channel().register(selector, SelectionKey.OP_READ);
            for (int round = 0; round < ROUNDS; round++) {
                int what = round % 20 == 19 ? 2 : random.nextInt(2);
                int spins = random.nextInt(20_000);
                WaitNode used = node;
                used.post(round);
                long context = round;
                Thread other = new Thread(() -> {
                    spin(spins);
                    if (what == 0) {
                        used.send(context);
                    } else if (what == 1) {
                        used.queue.signal();
                    } else {
                        used.close();
                    }
                });
                other.start();
                int reason = await(used, selector, "seed " + seed + " round " + round + " event " + what);
                other.join();
                // the driver ends the channel before its answer closes the queue
                assertEquals(what == 2 ? -FabricErrno.EOPBADSTATE : -FabricErrno.EAGAIN,
                    what == 2 ? used.queue.tryWait() : reason);
                if (what == 2) {
                    selector.selectNow();
                    node = new WaitNode(place.owner(), place.peer(), WaitObject.FD);
                    node.queue.channel().register(selector, SelectionKey.OP_READ);
                } else {
                    if (what == 1) {
                        used.send(context);
                    }
                    used.awaitEntry();
                    assertEquals(context, used.take());
                }
            }
            node.close();
        }
    }

    private static void send(WaitNode node, AtomicLong received, int count, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (long i = 0; i < count; i++) {
            // mostly one at a time, so that each finds the reader about to fall asleep
            long ahead = random.nextInt(8) == 0 ? WINDOW - 1 : 0;
            while (received.getAcquire() < i - ahead) {
                Thread.yield();
            }
            spin(random.nextInt(2_000));
            node.send(i);
        }
    }

    static int await(WaitNode node, Selector selector, String what) throws IOException {
        int reason;
        while ((reason = node.queue.tryWait()) == 0) {
            assertTrue(selector.select(DEADLINE_MS) > 0 || !node.queue.isOpen(), what);
            selector.selectedKeys().clear();
        }
        return reason;
    }

    private static void spin(int spins) {
        for (int i = 0; i < spins; i++) {
            Thread.onSpinWait();
        }
    }
}
