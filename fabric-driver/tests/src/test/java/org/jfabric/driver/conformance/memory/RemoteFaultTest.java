package org.jfabric.driver.conformance.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import org.jfabric.MemoryRegion;
import org.jfabric.MemoryRegionAttr;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Regions that their owner closes while peers write to them and read from them. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
@SeveralLinks
class RemoteFaultTest {
    private static final int ACCESSES = 8;
    private static final int LENGTH = RemoteMemoryPair.LENGTH;
    private static final byte UNTOUCHED = 0x5C;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-033")
    void shouldEndAccessesOfARegionThatIsClosedWithAnErrorAndTouchNoOther(Setup setup) {
        try (RemoteMemoryPair pair = RemoteMemoryPair.ofRefusals(setup, 0)) {
            int refused = 0;
            int refusal = setup.isForeign() ? FabricErrno.ECONNRESET : FabricErrno.EKEYREJECTED;
            MemoryRegion region = pair.target;
            long key = pair.key;
            for (int round = 0; round < 10; round++) {
                post(pair, key, 0);
                for (int i = 0; i < round * 2; i++) {
                    pair.pair.pump();
                }
                region.close();
                key = RemoteMemoryPair.freshKey();
                region = exposed(pair, key);
                refused += assertAllEnd(pair, refusal);
                // later ones with the old key, and the new region as it was
                post(pair, key - 1, 0);
                assertEquals(ACCESSES, assertAllEnd(pair, refusal));
                pair.b.assertQuiet(20);
                FabricNode.assertAll(UNTOUCHED, region, 0, LENGTH);
                post(pair, key, LENGTH / 2);
                assertEquals(0, assertAllEnd(pair, 0));
                region.buffer().setMemory(0, LENGTH, UNTOUCHED);
            }
            assertTrue(refused > 0 || !setup.hasTwoDrivers(), "no region was closed under an access");
        }
    }

    private static MemoryRegion exposed(RemoteMemoryPair pair, long key) {
        MemoryRegion region = pair.b.domain.allocate(
            LENGTH, new MemoryRegionAttr().access(RemoteMemoryPair.BOTH).requestedKey(key));
        region.buffer().setMemory(0, LENGTH, UNTOUCHED);
        return region;
    }

    private static void post(RemoteMemoryPair pair, long key, int offset) {
        int length = LENGTH - offset;
        for (int i = 0; i < ACCESSES; i++) {
            long local = pair.a.memory.address(i % 2 == 0 ? 0 : 2L * LENGTH);
            assertEquals(0, i % 2 == 0 ? pair.remote.write(local, length, pair.toB, offset, key, i)
                : pair.remote.read(local, length, pair.toB, offset, key, i));
        }
    }

    /** Each once, those behind one that was refused are refused too; how many were. */
    private static int assertAllEnd(RemoteMemoryPair pair, int errno) {
        BitSet refused = new BitSet();
        BitSet ended = new BitSet();
        for (int i = 0; i < ACCESSES; i++) {
            FabricNode.Entry entry = pair.a.await();
            assertTrue(entry.err() == 0 || entry.err() == errno, () -> FabricErrno.name(entry.err()));
            assertEquals(Flags.RMA | (entry.context() % 2 == 0 ? Flags.WRITE : Flags.READ), entry.flags());
            ended.set((int) entry.context());
            refused.set((int) entry.context(), entry.err() != 0);
        }
        assertEquals(ACCESSES, ended.cardinality());
        if (!pair.pair.setup.isForeign()) {
            // elsewhere a write may be in place before an earlier read is answered
            assertEquals(refused.isEmpty() ? 0 : ACCESSES - refused.nextSetBit(0), refused.cardinality());
        }
        pair.a.assertQuiet(20);
        return refused.cardinality();
    }
}
