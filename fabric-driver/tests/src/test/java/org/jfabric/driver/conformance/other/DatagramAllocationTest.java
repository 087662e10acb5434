package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.IoVec;
import org.jfabric.driver.kit.DatagramPair;
import org.jfabric.driver.kit.DatagramSetup;
import org.jfabric.info.FabricAddress;
import org.jfabric.test.AllocatedBytes;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Datagrams allocate nothing after warm-up on the thread that calls, which runs engine and link too. */
@Tag("compiled")
@Tag("conformance")
@Timeout(120)
class DatagramAllocationTest implements CompletionHandler {
    private static final int WARM_UP_ROUNDS = 4_000;
    private static final int ROUNDS = 1_000;
    private static final int BATCH = 8;
    private static final long DEADLINE_NS = Deadline.ns(20);

    private final UnsafeBuffer injected = new UnsafeBuffer(new byte[64]);
    private final IoVec pieces = new IoVec();
    private long completed;

    @Override
    public void onCompletion(Completion completion) {
        completed++;
    }

    @ParameterizedTest
    @EnumSource(value = DatagramSetup.class, names = {"EMBEDDED", "PACKET_EMBEDDED"})
    void shouldAllocateNothing(DatagramSetup setup) {
        try (DatagramPair pair = new DatagramPair(setup)) {
            exchange(pair, WARM_UP_ROUNDS);
            assertEquals(0, AllocatedBytes.least(() -> exchange(pair, ROUNDS)), "bytes in " + ROUNDS + " rounds");
        }
    }

    /** A batch there, in one piece, copied and in pieces, and one message back. */
    private void exchange(DatagramPair pair, int rounds) {
        long from = pair.a.memory.address();
        long to = pair.b.memory.address();
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < BATCH; i++) {
                require(pair.b.endpoint.recv(to, 256, FabricAddress.ADDR_UNSPEC, i));
            }
            require(pair.a.endpoint.recv(from + 512, 256, FabricAddress.ADDR_UNSPEC, 1));
            for (int i = 0; i < BATCH; i++) {
                switch (i % 4) {
                    case 0 -> require(pair.a.endpoint.inject(injected, 0, 64, pair.toB));
                    case 1 -> require(pair.a.endpoint.messages().sendv(
                        pieces.clear().add(from, 10).add(from + 10, 20), pair.toB, i));
                    default -> require(pair.a.endpoint.send(from, 128, pair.toB, i));
                }
            }
            // injects have no entry
            await(pair, BATCH - BATCH / 4 + BATCH);
            require(pair.b.endpoint.send(to, 64, pair.toA, 1));
            await(pair, 2);
        }
    }

    private void await(DatagramPair pair, int entries) {
        long end = completed + entries;
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (completed < end) {
            pair.a.cq.poll(this, 16);
            pair.b.cq.poll(this, 16);
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
