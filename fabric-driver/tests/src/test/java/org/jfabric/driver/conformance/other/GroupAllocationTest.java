package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.GroupRig;
import org.jfabric.driver.kit.GroupRig.Place;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.AllocatedBytes;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Groups allocate nothing after warm-up on the thread that calls, which runs the drivers of writer and readers too. */
@Tag("compiled")
@Tag("conformance")
@Timeout(120)
class GroupAllocationTest implements CompletionHandler {
    private static final int WARM_UP_ROUNDS = 3_000;
    private static final int ROUNDS = 500;
    private static final int BATCH = 32;
    private static final long DEADLINE_NS = Deadline.ns(20);

    private final UnsafeBuffer injected = new UnsafeBuffer(new byte[64]);
    private long completed;

    @Override
    public void onCompletion(Completion completion) {
        completed++;
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "?lossy"})
    void shouldAllocateNothing(String option) {
        // so small that the writer waits for the readers, and these report their positions
        try (GroupRig rig = new GroupRig(Place.DRIVERS, 2, "jfabric.shm.groupRingLengthBytes=4k")) {
            long group = rig.writer.endpoint.join(GroupRig.GROUP + option, 0, Flags.SEND).fiAddr();
            rig.readers.forEach(rig::read);
            boolean waits = option.isEmpty();
            exchange(rig, group, waits, WARM_UP_ROUNDS);
            assertEquals(0, AllocatedBytes.least(() -> exchange(rig, group, waits, ROUNDS)),
                "bytes in " + ROUNDS + " rounds");
        }
    }

    /** A batch to two readers, of different lengths; in a lossy group each message is read before the next. */
    private void exchange(GroupRig rig, long group, boolean waits, int rounds) {
        FabricNode first = rig.readers.get(0);
        FabricNode second = rig.readers.get(1);
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < BATCH; i++) {
                require(first.endpoint.recv(first.memory.address(), 256, FabricAddress.ADDR_UNSPEC, i));
                require(second.endpoint.recv(second.memory.address(), 256, FabricAddress.ADDR_UNSPEC, i));
            }
            for (int i = 0; i < BATCH; i++) {
                boolean isInjected = i % 2 == 0;
                require(isInjected ? rig.writer.endpoint.inject(injected, 0, 64, group)
                    : rig.writer.endpoint.send(rig.writer.memory.address(), 200, group, i));
                if (!waits) {
                    await(rig, isInjected ? 2 : 3);
                }
            }
            if (waits) {
                await(rig, BATCH / 2 + 2 * BATCH);
            }
        }
    }

    private void await(GroupRig rig, int entries) {
        long end = completed + entries;
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (completed < end) {
            rig.writer.cq.poll(this, 64);
            rig.readers.get(0).cq.poll(this, 64);
            rig.readers.get(1).cq.poll(this, 64);
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError(end - completed + " entries of " + entries + " are missing");
            }
        }
    }

    private static void require(int result) {
        if (result != 0) {
            throw new AssertionError("posting answered " + FabricErrno.name(result));
        }
    }
}
