package org.jfabric.driver.conformance.trigger;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AtomicRequest;
import org.jfabric.Counter;
import org.jfabric.DeferredWork;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.RemoteRequest;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.CounterAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.AllocatedBytes;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Operations that counters start allocate nothing after warm-up: neither calls, which with embedded drivers run engine
 * and link too, nor the peer.
 */
@Tag("compiled")
@Tag("conformance")
@Timeout(300)
class TriggerAllocationTest {
    private static final long ANY = -1L;
    private static final int WARM_UP_ROUNDS = 4_000;
    private static final int ROUNDS = 500;
    /** Entries of a round. */
    private static final int ENTRIES = 6;

    private final UnsafeBuffer entries = new UnsafeBuffer(new byte[8 * 48]);
    private final DeferredWork work = new DeferredWork();
    private final RemoteRequest remote = new RemoteRequest();
    private final AtomicRequest atomic = new AtomicRequest();
    private long started;

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_EMBEDDED", "SHM_EMBEDDED"})
    void shouldAllocateNothing(Setup setup) {
        try (TriggerPair pair = new TriggerPair(setup, Flags.RMA | Flags.ATOMIC)) {
            MemoryRegion target = pair.b.domain.allocate(4096, new MemoryRegionAttr()
                .access(Flags.REMOTE_READ | Flags.REMOTE_WRITE).requestedKey(0x5555_0000L));
            Counter done = pair.a.domain.openCounter(new CounterAttr());
            run(pair, done, target.key(), WARM_UP_ROUNDS);
            assertEquals(0, AllocatedBytes.least(() -> run(pair, done, target.key(), ROUNDS)),
                "bytes in " + ROUNDS + " rounds");
        }
    }

    /** Each round uses a triggered send, receive, inject and write, and a deferred send and fetch. */
    private void run(TriggerPair pair, Counter done, long key, int rounds) {
        for (int round = 0; round < rounds; round++) {
            long next = ++started;
            long buf = pair.a.memory.address(64);
            accepted(pair.sendAt(next, 1, 1));
            accepted(pair.a.endpoint.messages().trecvmsg(
                pair.receive(8, 2, 2).trigger(pair.trigger.threshold(pair.counter, next))));
            accepted(pair.a.endpoint.messages().tsendmsg(pair.message(1, 1, 3).flags(Flags.INJECT)
                .trigger(pair.trigger.threshold(pair.counter, next))));
            accepted(pair.a.endpoint.remoteMemory().writemsg(remote.clear().memory(buf, 8).destAddr(pair.toB)
                .remote(0, key).trigger(pair.trigger.threshold(pair.counter, next))));
            accepted(pair.a.domain.queueWork(work.clear().trigger(pair.counter, next).completionCounter(done)
                .tsend(pair.a.endpoint, pair.message(1, 1, 5).flags(Flags.COMPLETION))));
            accepted(pair.a.domain.queueWork(work.fetchAtomic(pair.a.endpoint, atomic.clear()
                .operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1).operands(buf).results(buf + 8)
                .destAddr(pair.toB).remote(0, key).flags(Flags.COMPLETION))));
            for (int i = 0; i < 3; i++) {
                accepted(pair.b.endpoint.trecv(pair.b.memory.address(), 8, ANY, 1, 0, 1));
            }
            accepted(pair.b.endpoint.tsend(pair.b.memory.address(), 8, pair.toA, 2, 1));
            accepted(pair.counter.add(1));
            int seen = 0;
            int other = 0;
            for (int turn = 0; seen < ENTRIES || other < 4; turn++) {
                seen += read(pair.a.cq.read(entries, 0, 8));
                other += read(pair.b.cq.read(entries, 0, 8));
                if (turn > 1_000_000) {
                    throw new AssertionError(seen + " entries and " + other);
                }
            }
        }
    }

    private static int read(int result) {
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw new AssertionError("reading answered " + result);
        }
        return Math.max(0, result);
    }

    private static void accepted(int result) {
        if (result != 0) {
            throw new AssertionError("the call answered " + result);
        }
    }
}
