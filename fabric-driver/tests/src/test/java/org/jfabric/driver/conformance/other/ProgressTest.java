package org.jfabric.driver.conformance.other;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Progress;
import org.jfabric.test.Deadline;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Who makes transfers go on: the driver by itself, or those who read. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class ProgressTest {
    private static final long ANY = -1L;
    private static final int LENGTH = 64;

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement({"REF-012", "EP-011"})
    void shouldNeedReadersExactlyWhereProgressIsManual(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            boolean manual = pair.b.info.domainAttr().dataProgress() == Progress.MANUAL;
            assertEquals(!setup.daemon, manual);
            pair.b.fill(0, LENGTH, 1);
            pair.a.fill(0, LENGTH, 2);
            // one message ahead, so that the two drivers know each other
            exchange(pair);
            pair.b.fill(0, LENGTH, 1);
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 1, 0, 3));
            assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), LENGTH, pair.toB, 1, 4));
            byte sent = FabricNode.pattern(2, LENGTH - 1);
            long deadline = System.nanoTime() + Deadline.ns(20);
            if (!manual) {
                // nobody reads, and the message arrives
                while (pair.b.memory.buffer().getByteVolatile(LENGTH - 1) != sent) {
                    assertTrue(System.nanoTime() - deadline < 0, "the message did not arrive by itself");
                    Thread.yield();
                }
            } else if (setup.hasTwoDrivers()) {
                // the receiver's driver has nothing but the cycles that its reader runs
                for (int i = 0; i < 1000; i++) {
                    pair.a.cq.read(null, 0, 0);
                    assertEquals(FabricNode.pattern(1, LENGTH - 1), pair.b.memory.buffer().getByte(LENGTH - 1));
                }
            }
            assertEquals(LENGTH, pair.b.await(3).len());
            pair.b.assertFilled(0, LENGTH, 2);
            pair.a.await(4);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    @Requirement("REF-038")
    void shouldGoOnWhenBothSidesAreFullAndReadBeforeTheyTryAgain(Setup setup) {
        Info hints = new Info().caps(Flags.TAGGED);
        hints.txAttr().size(4);
        hints.rxAttr().size(4);
        try (FabricPair pair = new FabricPair(setup, hints, 8)) {
            int total = 300;
            int again = 0;
            List<FabricNode> nodes = List.of(pair.a, pair.b);
            long[] dest = {pair.toB, pair.toA};
            int[] sent = new int[2];
            int[] posted = new int[2];
            int[] ended = new int[2];
            long deadline = System.nanoTime() + Deadline.ns(60);
            while (ended[0] < 2 * total || ended[1] < 2 * total) {
                assertTrue(System.nanoTime() - deadline < 0, () -> "ended " + ended[0] + " and " + ended[1]);
                for (int i = 0; i < 2; i++) {
                    FabricNode node = nodes.get(i);
                    int result = 0;
                    // sends first: without completions of receives they could block each other for ever
                    while (sent[i] < total && (result = node.endpoint.tsend(
                        node.memory.address(), 20_000, dest[i], 1, 1)) == 0) {
                        sent[i]++;
                    }
                    again += expected(result);
                    result = 0;
                    while (posted[i] < total && (result = node.endpoint.trecv(
                        node.memory.address(1 << 20), 20_000, ANY, 1, 0, 2)) == 0) {
                        posted[i]++;
                    }
                    again += expected(result);
                    FabricNode.Entry entry;
                    while ((entry = node.poll()) != null) {
                        assertEquals(0, entry.err(), entry::toString);
                        ended[i]++;
                    }
                }
                Thread.yield();
            }
            assertTrue(again > 0, "the queues were never full");
        }
    }

    private static int expected(int result) {
        assertTrue(result == 0 || result == -FabricErrno.EAGAIN, () -> "answered " + result);
        return result == 0 ? 0 : 1;
    }

    private static void exchange(FabricPair pair) {
        pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, 1, 0, 1);
        pair.a.endpoint.tsend(pair.a.memory.address(), LENGTH, pair.toB, 1, 2);
        pair.b.await(1);
        pair.a.await(2);
    }
}
