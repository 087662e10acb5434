package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.LongPredicate;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Regions that are closed under an operation: it ends right, the driver's mapping goes with it and not before. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class RegionCloseTest {
    private static final int LENGTH = 1 << 20;
    private static final int OTHER = 9;
    private static final long ANY = -1L;
    private static final String MAPPED = "bytes mapped";
    private static final long DEADLINE_NS = Deadline.ns(20);

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldFinishASendWhoseRegionIsClosedBeforeItIsMatched(Setup setup) {
        // the peer driver logs that it did not find the region any more
        try (FabricPair pair = FabricPair.withOwnDaemons(setup);
            DriverView view = new DriverView(pair.directory("alpha"))) {
            // never seen by the peer, and used before, so that a peer driver has it mapped
            sendAndClose(pair, view, 0);
            sendAndClose(pair, view, 4);
        }
    }

    private static void sendAndClose(FabricPair pair, DriverView view, int earlierMessages) {
        int length = pair.setup.heldLength();
        long level = pair.setup.heldFlags();
        long atRest = view.counter(MAPPED);
        MemoryRegion region = pair.a.domain.allocate(length);
        for (int i = 0; i < earlierMessages; i++) {
            fill(region, i);
            assertEquals(0, pair.a.endpoint.messages().tsendmsg(region.address(), length, 0, pair.toB, i, 2, level));
            receive(pair, i);
        }
        long withRegion = view.counter(MAPPED);
        assertTrue(withRegion >= atRest + length, () -> atRest + " bytes mapped, then " + withRegion);
        fill(region, 77);
        assertEquals(0, pair.a.endpoint.messages().tsendmsg(region.address(), length, 0, pair.toB, 77, 2, level));
        pair.a.awaitStep();
        pair.a.assertQuiet(200);
        long closed = region.address();
        region.close();
        // another one, perhaps under the same index and at the same place, with other bytes
        MemoryRegion next = pair.a.domain.allocate(length);
        fill(next, OTHER);
        assertNotEquals(closed, next.address());
        pair.a.assertQuiet(50);
        assertEquals(withRegion + (withRegion - atRest), view.counter(MAPPED), "the message holds the closed one");
        receive(pair, 77);
        awaitMapped(pair, view, mapped -> mapped == withRegion);
        // what names the closed one from now on ends with an entry; the new one is not meant
        assertEquals(0, pair.a.endpoint.messages().tsendmsg(closed, length, 0, pair.toB, 78, 3, level));
        FabricNode.Entry refused = pair.a.await();
        assertEquals(FabricErrno.EFAULT, refused.err(), refused::toString);
        assertEquals(3, refused.context());
        assertEquals(0, pair.a.endpoint.messages().tsendmsg(next.address(), length, 0, pair.toB, OTHER, 2, level));
        receive(pair, OTHER);
        next.close();
        awaitMapped(pair, view, mapped -> mapped == atRest);
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldFinishAReceiveWhoseRegionIsClosedBeforeTheMessageComes(Setup setup) {
        try (FabricPair pair = new FabricPair(setup); DriverView view = new DriverView(pair.directory("alpha"))) {
            for (int length : new int[] {8, 4000, LENGTH}) {
                long atRest = view.counter(MAPPED);
                MemoryRegion region = pair.a.domain.allocate(LENGTH);
                UnsafeBuffer seen = region.buffer();
                long closed = region.address();
                assertEquals(0, pair.a.endpoint.trecv(closed, LENGTH, ANY, 5, 0, 1));
                pair.a.awaitStep();
                pair.a.assertQuiet(50);
                region.close();
                MemoryRegion next = pair.a.domain.allocate(LENGTH);
                pair.a.assertQuiet(50);
                pair.b.fill(0, length, length);
                assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(), length, pair.toA, 5, 2));
                pair.a.await(1);
                pair.b.await(2);
                for (int i = 0; i < length; i++) {
                    assertEquals(FabricNode.pattern(length, i), seen.getByte(i), "byte " + i + " of " + length);
                    assertEquals(0, next.buffer(i, 1).getByte(0), "the new region is another one");
                }
                assertEquals(0, pair.a.endpoint.trecv(closed, LENGTH, ANY, 5, 0, 3));
                FabricNode.Entry refused = pair.a.await();
                assertEquals(FabricErrno.EFAULT, refused.err(), refused::toString);
                next.close();
                awaitMapped(pair, view, mapped -> mapped == atRest);
            }
        }
    }

    private static void receive(FabricPair pair, int seed) {
        assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), pair.setup.heldLength(), ANY, seed, 0, 1));
        pair.b.await(1);
        pair.a.await(2);
        pair.b.assertFilled(0, pair.setup.heldLength(), seed);
    }

    private static void fill(MemoryRegion region, int seed) {
        UnsafeBuffer buffer = region.buffer();
        for (int i = 0; i < buffer.capacity(); i++) {
            buffer.putByte(i, FabricNode.pattern(seed, i));
        }
    }

    private static void awaitMapped(FabricPair pair, DriverView view, LongPredicate expected) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (!expected.test(view.counter(MAPPED))) {
            assertTrue(System.nanoTime() - deadline < 0, () -> "mapped: " + view.counter(MAPPED));
            pair.a.assertQuiet(1);
        }
    }
}
