package org.jfabric.perf.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The link verbs over a device that does nothing: what it allocates, and how often it calls the device. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class VerbsLinkAllocationTest {
    private static final int BATCH = 32;
    private static final int SIZE = 64;
    private static final int WARM_UP = 2_000;
    private static final int ROUNDS = 5_000;
    /** The JVM may deoptimize once while it is counted, which allocates. */
    private static final int TRIES = 3;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final VerbsRig rig = new VerbsRig(SIZE);

    @AfterEach
    void close() {
        rig.close();
    }

    @Test
    void shouldAllocateNothingForMessagesInSteadyState() {
        exchange(WARM_UP);
        long least = Long.MAX_VALUE;
        for (int i = 0; i < TRIES && least > 0; i++) {
            // the first read of the counter allocates; that does not count
            threads.getCurrentThreadAllocatedBytes();
            long before = threads.getCurrentThreadAllocatedBytes();
            exchange(ROUNDS);
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(0, least, "bytes of " + ROUNDS + " rounds of " + 2 * BATCH + " messages");
    }

    @Test
    void shouldHandABatchOverByOneCall() {
        BlankDataPath device = rig.dataPath();
        exchange(1);
        long posts = device.sendPosts();
        long sends = device.sends();
        long inline = device.inlineSends();
        rig.send(VerbsRig.SIGNALED, BATCH);
        assertEquals(posts + 1, device.sendPosts(), "the end of the batch hands it over");
        assertEquals(sends + BATCH, device.sends());
        assertEquals(inline + BATCH, device.inlineSends());
        while (rig.poll() != 0) {
            Thread.onSpinWait();
        }
        assertEquals(posts + 1, device.sendPosts(), "polls have nothing to hand over");
        assertEquals(2L * BATCH, rig.sent());
    }

    @Test
    void shouldHandReceivesBackManyByOneCall() {
        BlankDataPath device = rig.dataPath();
        long posts = device.receivePosts();
        long end = rig.received() + BATCH;
        device.arrive(BATCH, SIZE);
        while (rig.poll() != 0 || rig.received() != end) {
            Thread.onSpinWait();
        }
        assertEquals(posts + 1, device.receivePosts());
    }

    /** Rounds of one batch sent and one received. */
    private void exchange(int rounds) {
        for (int i = 0; i < rounds; i++) {
            long sent = rig.sent() + BATCH;
            long received = rig.received() + BATCH;
            rig.send(VerbsRig.SIGNALED, BATCH);
            rig.dataPath().arrive(BATCH, SIZE);
            while (rig.sent() != sent || rig.received() != received) {
                rig.poll();
            }
        }
    }
}
