package org.jfabric.driver.conformance.endpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.ScalableSide;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.test.AllocatedBytes;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Messages from context to named context allocate nothing after warm-up, though the destination changes each time. */
@Tag("compiled")
@Tag("conformance")
@Timeout(300)
class ContextAllocationTest implements CompletionHandler {
    private static final int CONTEXTS = 3;
    private static final int WARM_UP_ROUNDS = 4_000;
    private static final int ROUNDS = 200;
    private static final long DEADLINE_NS = Deadline.ns(20);

    private long polled;

    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    @Requirement({"SEP-020"})
    void shouldAllocateNothingOnTheCallingThread(Setup setup) {
        setup.assumeNames();
        try (FabricPair pair = new FabricPair(setup, ScalableSide.hints(), 512);
            ScalableSide a = new ScalableSide(pair, pair.a, CONTEXTS, 1);
            ScalableSide b = new ScalableSide(pair, pair.b, 1, CONTEXTS)) {
            long toB = a.av.insert(b.scalable.name());
            long[] dest = new long[CONTEXTS];
            for (int i = 0; i < CONTEXTS; i++) {
                dest[i] = FabricAddress.rxAddr(toB, i, ScalableSide.BITS);
            }
            exchange(pair, a, b, dest, setup.daemon ? ROUNDS : WARM_UP_ROUNDS);
            assertEquals(0, AllocatedBytes.least(() -> exchange(pair, a, b, dest, ROUNDS)),
                "bytes in " + ROUNDS + " rounds");
        }
    }

    private void exchange(FabricPair pair, ScalableSide a, ScalableSide b, long[] dest, int rounds) {
        for (int round = 0; round < rounds; round++) {
            int from = round % CONTEXTS;
            int to = (round + round / CONTEXTS) % CONTEXTS;
            check(b.rx.get(to).trecv(pair.b.memory.address(), 64, -1L, round, 0, 1));
            check(a.tx.get(from).tsend(pair.a.memory.address(), 64, dest[to], round, 2));
            await(pair, b.rxCq.get(to));
            await(pair, a.txCq.get(from));
        }
    }

    private static void check(int result) {
        if (result != 0) {
            throw new AssertionError(FabricErrno.name(result));
        }
    }

    private void await(FabricPair pair, CompletionQueue queue) {
        long before = polled;
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (polled == before) {
            int read = queue.poll(this, 4);
            if (read < 0 && read != -FabricErrno.EAGAIN || System.nanoTime() - deadline > 0) {
                throw new AssertionError("no completion: " + read);
            }
            if (read <= 0) {
                pair.pump();
                Thread.onSpinWait();
            }
        }
    }

    @Override
    public void onCompletion(Completion completion) {
        polled++;
    }
}
