package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicBoolean;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AtomicRequest;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Many atomic operations at once: outstanding ones, and those of several initiators and the owner. */
@Tag("conformance")
@Tag("link")
@Timeout(240)
class AtomicLoadTest {
    private static final int WORDS = 128;
    private static final int BYTES = WORDS * Long.BYTES;

    /** The way back is full of the peer's writes, so that the peer has to keep old values and sends them later. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"REF-042", "TX-029"})
    void shouldBringTheOldValuesInOrderWhenTheyHadToWait(Setup setup) {
        int fetches = 400;
        int writes = 24;
        try (RemoteMemoryPair pair = new RemoteMemoryPair(setup, Flags.ATOMIC, 512)) {
            long back = RemoteMemoryPair.freshKey();
            MemoryRegion sink = pair.a.domain.allocate(
                1 << 20, new MemoryRegionAttr().access(RemoteMemoryPair.BOTH).requestedKey(back));
            for (int round = 0; round < 3; round++) {
                pair.bytes().setMemory(0, BYTES, (byte) 0);
                for (int i = 0; i < WORDS; i++) {
                    pair.a.memory.buffer().putLong(i * Long.BYTES, i + 1);
                }
                for (int i = 0; i < writes; i++) {
                    assertEquals(0, pair.b.endpoint.remoteMemory().write(
                        pair.b.memory.address(), sink.lengthBytes(), pair.pair.toA, 0, back, i));
                }
                fetchAll(pair, fetches, writes);
            }
        }
    }

    private static void fetchAll(RemoteMemoryPair pair, int fetches, int writes) {
        UnsafeBuffer local = pair.a.memory.buffer();
        AtomicRequest request = new AtomicRequest().operation(AtomicOperation.SUM, AtomicDatatype.INT64, WORDS)
            .operands(pair.a.memory.address()).destAddr(pair.toB).remote(0, pair.key);
        int posted = 0;
        int written = 0;
        while (posted < fetches) {
            request.results(pair.a.memory.address((posted + 1L) * BYTES)).opContext(posted);
            int result = pair.a.endpoint.atomics().fetchAtomicmsg(request);
            if (result == -FabricErrno.EAGAIN) {
                break;
            }
            assertEquals(0, result);
            posted++;
            // the target serves what came, while this side reads nothing
            written += pair.b.poll() == null ? 0 : 1;
        }
        assertTrue(posted > 200, "posted " + posted);
        for (int i = 0; i < posted; i++) {
            pair.a.await(i);
            for (int word = 0; word < WORDS; word += WORDS - 1) {
                assertEquals((long) i * (word + 1), local.getLong((i + 1) * BYTES + word * Long.BYTES),
                    "word " + word + " of fetch " + i);
            }
        }
        while (written < writes) {
            assertEquals(0, pair.b.await().err());
            written++;
        }
        assertNull(pair.a.poll());
        assertEquals((long) posted * WORDS, pair.bytes().getLong(BYTES - Long.BYTES));
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-042")
    void shouldBeAtomicAmongInitiatorsAndTheOwner(Setup setup) throws InterruptedException {
        int count = 5000;
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofAtomics(setup, 512);
            FabricNode other = pair.pair.sibling(pair.a, RemoteMemoryPair.atomicHints(), 0xCC)) {
            long otherToB = other.av.insert(pair.b.endpoint.name());
            UnsafeBuffer shared = pair.bytes();
            shared.setMemory(0, 64, (byte) 0);
            AtomicBoolean done = new AtomicBoolean();
            long[] own = new long[1];
            Thread owner = new Thread(() -> {
                while (!done.get()) {
                    shared.getAndAddLong(8, 1);
                    shared.getAndAddInt(20, 1);
                    own[0]++;
                }
            }, "owner");
            owner.start();
            try {
                Adder first = new Adder(pair.a, pair.toB, pair.key);
                Adder second = new Adder(other, otherToB, pair.key);
                while (first.ended < count || second.ended < count) {
                    first.step(count);
                    second.step(count);
                    pair.pair.pump();
                }
            } finally {
                done.set(true);
                owner.join();
            }
            assertEquals(count + own[0], shared.getLong(8));
            assertEquals((int) (count + own[0]), shared.getInt(20));
            assertEquals(0, shared.getLong(0) | shared.getInt(16));
        }
    }

    /** Adds 1 to a word of 8 bytes and to one of 4 in turn, as often as it may. */
    private static final class Adder {
        int ended;
        private int posted;
        private final FabricNode node;
        private final long key;
        private final AtomicRequest request = new AtomicRequest();
        private final long beginNs = System.nanoTime();

        Adder(FabricNode node, long peer, long key) {
            this.node = node;
            this.key = key;
            node.memory.buffer().putLong(0, 1);
            node.memory.buffer().putInt(8, 1);
            request.destAddr(peer).results(node.memory.address(64));
        }

        void step(int count) {
            for (int i = 0; i < 8 && posted < count && post(posted) == 0; i++) {
                posted++;
            }
            FabricNode.Entry entry = node.poll();
            if (entry != null) {
                assertEquals(0, entry.err());
                ended++;
            }
            assertTrue(System.nanoTime() - beginNs < 3 * FabricNode.DEADLINE_NS, () -> ended + " of " + posted);
        }

        private int post(int number) {
            boolean isLong = number % 2 == 0;
            request.operation(
                AtomicOperation.SUM, isLong ? AtomicDatatype.INT64 : AtomicDatatype.UINT32, 1)
                .operands(node.memory.address(isLong ? 0 : 8));
            request.remote(isLong ? 8 : 20, key);
            return number % 4 < 2 ? node.endpoint.atomics().atomicmsg(request)
                : node.endpoint.atomics().fetchAtomicmsg(request);
        }
    }
}
