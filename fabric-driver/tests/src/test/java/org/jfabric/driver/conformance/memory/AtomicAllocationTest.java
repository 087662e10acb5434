package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.AllocatedBytes;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Atomic operations and fetches allocate nothing after warm-up: neither calls, which with embedded drivers run engine
 * and link too, nor the target.
 */
@Tag("compiled")
@Tag("conformance")
@Timeout(300)
class AtomicAllocationTest {
    private static final int WARM_UP_ROUNDS = 4_000;
    private static final int ROUNDS = 1_000;

    private final UnsafeBuffer entries = new UnsafeBuffer(new byte[4 * 48]);
    private final UnsafeBuffer injected = new UnsafeBuffer(new byte[8]);

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_EMBEDDED", "SHM_EMBEDDED", "NETWORK_EMBEDDED"})
    void shouldAllocateNothing(Setup setup) {
        setup.assumeNoGarbage();
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, Flags.ATOMIC, 512)) {
            WordAccess access = new WordAccess(pair.a, pair.toB, pair.key);
            run(pair, access, WARM_UP_ROUNDS);
            assertEquals(0, AllocatedBytes.least(() -> run(pair, access, ROUNDS)), "bytes in " + ROUNDS + " rounds");
        }
    }

    /** Each round uses every kind of access and an inject. */
    private void run(RemoteMemoryPair pair, WordAccess access, int rounds) {
        for (int round = 0; round < rounds; round++) {
            for (int kind = 0; kind < WordAccess.KINDS; kind++) {
                accepted(access.tryPost(kind, 0, round, kind));
            }
            accepted(pair.a.endpoint.atomics().injectAtomic(
                injected, 0, 1, pair.toB, 8, pair.key, AtomicDatatype.INT64, AtomicOperation.SUM));
            int seen = 0;
            for (int turn = 0; seen < WordAccess.KINDS; turn++) {
                int read = pair.a.cq.read(entries, 0, 4);
                if (read < 0 && read != -FabricErrno.EAGAIN || turn > 1_000_000) {
                    throw new AssertionError("reading answered " + read + " behind " + seen + " entries");
                }
                seen += Math.max(0, read);
                pair.b.cq.read(entries, 0, 4);
            }
        }
    }

    private static void accepted(int result) {
        if (result != 0) {
            throw new AssertionError("the call answered " + result);
        }
    }
}
