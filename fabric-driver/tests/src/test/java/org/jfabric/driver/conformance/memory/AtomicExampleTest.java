package org.jfabric.driver.conformance.memory;

import static org.jfabric.driver.conformance.memory.RemoteMemoryExampleTest.check;
import static org.jfabric.driver.conformance.memory.RemoteMemoryExampleTest.next;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.jfabric.AtomicRequest;
import org.jfabric.Atomics;
import org.jfabric.CompletionQueue;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The code of docs/atomic-operations.md: it runs, and the page shows it as it is here. */
@Tag("conformance")
@Timeout(120)
class AtomicExampleTest {
    private final AtomicRequest request = new AtomicRequest();

    // example: sequence
    static final int SEQUENCE = 0;

    /** Draws the next number from the peer's region. No two callers get the same one, and none is left out. */
    long draw(Atomics atomics, CompletionQueue queue, MemoryRegion memory, long peer, long key) {
        memory.buffer().putLong(0, 1);
        request.clear().operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1)
            .operands(memory.address(0)).results(memory.address(8)).destAddr(peer).remote(SEQUENCE, key);
        check(atomics.fetchAtomicmsg(request));
        check(-next(queue));
        return memory.buffer().getLong(8);
    }
    // end of example

    // example: lock
    static final int LOCK = 8;

    /** Takes the lock if it is free: the word is 0, or the number of its holder. */
    boolean tryLock(Atomics atomics, CompletionQueue queue, MemoryRegion memory, long me, long peer, long key) {
        memory.buffer().putLong(0, me);
        memory.buffer().putLong(16, 0);
        request.clear().operation(AtomicOperation.CSWAP, AtomicDatatype.INT64, 1)
            .operands(memory.address(0)).results(memory.address(8)).compares(memory.address(16))
            .destAddr(peer).remote(LOCK, key);
        check(atomics.compareAtomicmsg(request));
        check(-next(queue));
        return memory.buffer().getLong(8) == 0;
    }

    /** Gives it back. What its holder has written to the peer before is in place then. */
    void unlock(Atomics atomics, CompletionQueue queue, MemoryRegion memory, long peer, long key) {
        memory.buffer().putLong(0, 0);
        check(atomics.atomic(memory.address(0), 1, peer, LOCK, key,
            AtomicDatatype.INT64, AtomicOperation.ATOMIC_WRITE, 2));
        check(-next(queue));
    }

    /** The owner of the memory takes it by a compare-and-set of its own. */
    static boolean tryLockHere(MemoryRegion region, long me) {
        return region.buffer().compareAndSetLong(LOCK, 0, me);
    }
    // end of example

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_EMBEDDED", "LOOPBACK_DAEMON", "SHM_DAEMON"})
    void shouldDrawNumbersAndTakeTurns(Setup setup) {
        Info hints = new Info().caps(Flags.ATOMIC | Flags.RMA | Flags.TAGGED);
        try (FabricPair pair = new FabricPair(setup, hints, 64)) {
            MemoryRegion region = RemoteMemoryExampleTest.register(pair.b.domain, 4096, 78);
            Atomics atomics = pair.a.endpoint.atomics();
            for (int i = 0; i < 5; i++) {
                assertEquals(i, draw(atomics, pair.a.cq, pair.a.memory, pair.toB, 78));
            }
            assertEquals(5, region.buffer().getAndAddLong(SEQUENCE, 1));
            assertEquals(6, draw(atomics, pair.a.cq, pair.a.memory, pair.toB, 78));

            assertTrue(tryLock(atomics, pair.a.cq, pair.a.memory, 1, pair.toB, 78));
            assertFalse(tryLock(atomics, pair.a.cq, pair.a.memory, 1, pair.toB, 78));
            assertFalse(tryLockHere(region, 2));
            unlock(atomics, pair.a.cq, pair.a.memory, pair.toB, 78);
            assertTrue(tryLockHere(region, 2));
            assertFalse(tryLock(atomics, pair.a.cq, pair.a.memory, 1, pair.toB, 78));
            assertEquals(2, pair.a.memory.buffer().getLong(8));
        }
    }

    @Test
    void shouldBeShownOnThePageAsItIsHere() throws IOException {
        ExamplePage.assertShows("docs/atomic-operations.md", AtomicExampleTest.class, 2);
    }
}
