package org.jfabric.driver.conformance.transmit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricAddress;
import org.jfabric.test.AllocatedBytes;
import org.jfabric.test.Deadline;
import org.jfabric.test.TestDirectory;
import org.jfabric.tool.PingPongFabric;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Messages over TCP allocate nothing after warm-up on the thread that calls, which runs engine and link too. */
@Tag("compiled")
@Tag("conformance")
@Timeout(120)
class StreamAllocationTest implements CompletionHandler {
    private static final int WARM_UP_ROUNDS = 4_000;
    private static final int ROUNDS = 500;
    private static final int BATCH = 16;
    private static final int SMALL = 64;
    private static final long DEADLINE_NS = Deadline.ns(20);

    private long completed;

    @Override
    public void onCompletion(Completion completion) {
        completed++;
    }

    @ParameterizedTest
    @CsvSource({"tcp, 65536", "rxm, 4096"})
    void shouldAllocateNothing(String link, int large) {
        Path base = TestDirectory.create();
        try (PingPongFabric a = open(base, "alpha", link, large); PingPongFabric b = open(base, "beta", link, large)) {
            long toB = a.peer("beta", "beta");
            long toA = b.peer("alpha", "alpha");
            exchange(large, a, toB, b, toA, WARM_UP_ROUNDS);
            assertEquals(0, AllocatedBytes.least(() -> exchange(large, a, toB, b, toA, ROUNDS)),
                "bytes in " + ROUNDS + " rounds");
        } finally {
            TestDirectory.delete(base);
        }
    }

    private static PingPongFabric open(Path base, String name, String link, int large) {
        return PingPongFabric.streaming(base.resolve(name), ThreadingMode.INVOKER, link, large, name, 64, 1);
    }

    /** A batch there, and back a short and a long one. */
    private void exchange(int large, PingPongFabric a, long toB, PingPongFabric b, long toA, int rounds) {
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < BATCH; i++) {
                receive(b, SMALL);
            }
            for (int i = 0; i < BATCH; i++) {
                send(a, SMALL, toB);
            }
            await(a, b, 2 * BATCH);
            receive(a, SMALL);
            send(b, SMALL, toA);
            await(a, b, 2);
            receive(a, large);
            send(b, large, toA);
            await(a, b, 2);
        }
    }

    private static void receive(PingPongFabric fabric, int length) {
        require(fabric.endpoint().trecv(
            fabric.receiveRegion().address(0), length, FabricAddress.ADDR_UNSPEC, 1, 0, 1));
    }

    private static void send(PingPongFabric fabric, int length, long peer) {
        require(fabric.endpoint().tsend(fabric.sendRegion().address(0), length, peer, 1, 2));
    }

    private void await(PingPongFabric a, PingPongFabric b, int entries) {
        long end = completed + entries;
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (completed < end) {
            a.queue().poll(this, 16);
            b.queue().poll(this, 16);
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError(end - completed + " entries of " + entries + " are missing");
            }
        }
    }

    private static void require(int result) {
        if (result != 0) {
            throw new AssertionError("posting answered " + result);
        }
    }
}
