package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.IoVec;
import org.jfabric.RemoteMemory;
import org.jfabric.RemoteRequest;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.AllocatedBytes;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Accesses allocate nothing after warm-up on the calling thread, which runs engine and link of both sides too. */
@Tag("compiled")
@Tag("conformance")
@Timeout(300)
class RemoteAllocationTest {
    private static final int WARM_UP_ROUNDS = 4_000;
    private static final int ROUNDS = 1_000;
    private static final int SMALL = 64;
    /** In several pieces. */
    private static final int LARGE = 32_768;
    private static final long DEADLINE_NS = Deadline.ns(20);

    private final UnsafeBuffer entries = new UnsafeBuffer(new byte[4 * 48]);
    private final UnsafeBuffer injected = new UnsafeBuffer(new byte[SMALL]);
    private final long[] sources = new long[4];
    private final IoVec pieces = new IoVec();
    private final RemoteRequest request = new RemoteRequest();

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_EMBEDDED", "SHM_EMBEDDED", "NETWORK_EMBEDDED"})
    void shouldAllocateNothingForAccesses(Setup setup) {
        setup.assumeNoGarbage();
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup)) {
            assertEquals(0, leastAllocated(pair), "bytes in " + ROUNDS + " rounds");
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_EMBEDDED", "SHM_EMBEDDED", "NETWORK_EMBEDDED"})
    void shouldAllocateNothingForReports(Setup setup) {
        setup.assumeNoGarbage();
        // few slots: some accesses wait for one
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, Flags.RMA_EVENT, 16)) {
            assertEquals(0, leastAllocated(pair), "bytes in " + ROUNDS + " rounds");
        }
    }

    /** A compiled method that replaces an interpreted one may be charged to the first attempts. */
    private long leastAllocated(RemoteMemoryPair pair) {
        access(pair, WARM_UP_ROUNDS);
        return AllocatedBytes.least(() -> access(pair, ROUNDS));
    }

    /** Each round makes every call, without waiting in between where the lengths are small. */
    private void access(RemoteMemoryPair pair, int rounds) {
        boolean reports = (pair.b.info.caps() & Flags.RMA_EVENT) != 0;
        RemoteMemory remote = pair.remote;
        long buf = pair.a.memory.address();
        for (int i = 0; i < rounds; i++) {
            accepted(remote.write(buf, SMALL, pair.toB, 0, pair.key, 1));
            accepted(remote.writedata(buf, SMALL, 5, pair.toB, 0, pair.key, 1));
            accepted(remote.read(buf, SMALL, pair.toB, 0, pair.key, 1));
            accepted(remote.injectWrite(injected, 0, SMALL, pair.toB, 0, pair.key));
            await(pair, 3, reports ? 4 : 1);
            accepted(remote.write(buf, LARGE, pair.toB, 0, pair.key, 1));
            accepted(remote.read(buf, LARGE, pair.toB, 0, pair.key, 1));
            accepted(remote.injectWritedata(injected, 0, SMALL, 6, pair.toB, 0, pair.key));
            await(pair, 2, reports ? 3 : 1);
            pieces.clear().add(buf, 3).add(buf + 3, SMALL);
            accepted(remote.writev(pieces, pair.toB, 0, pair.key, 1));
            accepted(remote.readv(pieces, pair.toB, 0, pair.key, 1));
            request.clear().memory(buf, SMALL).destAddr(pair.toB).remote(0, pair.key).opContext(1);
            accepted(remote.readmsg(request));
            accepted(remote.writemsg(request.flags(Flags.INJECT)));
            await(pair, 4, reports ? 4 : 0);
        }
    }

    private static void accepted(int result) {
        if (result != 0) {
            throw new AssertionError("the call answered " + result);
        }
    }

    private void await(RemoteMemoryPair pair, int entriesOfA, int entriesOfB) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        int left = entriesOfA + entriesOfB;
        while (left > 0) {
            left -= take(pair.a) + take(pair.b);
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError(left + " entries did not come");
            }
        }
        if (left < 0) {
            throw new AssertionError("more entries than expected");
        }
    }

    private int take(FabricNode node) {
        int result = node.cq.readFrom(entries, 0, 4, sources);
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw new AssertionError("reading answered " + result);
        }
        return Math.max(0, result);
    }
}
