package org.jfabric.driver.conformance.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jfabric.CompletionBatch;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.Threading;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** Entries that an application holds keep their slots, whatever the driver has to tell meanwhile. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
class InPlaceReadTest {
    private static final long ANY = FabricAddress.ADDR_UNSPEC;
    private static final long DEADLINE_NS = Deadline.ns(20);
    private static final int SIZE = 16;
    private static final int LENGTH = 64;

    private final CompletionBatch batch = new CompletionBatch();

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldNotReuseTheSlotsOfEntriesThatAreHeld(Setup setup) {
        try (FabricPair pair = new FabricPair(setup, new Info().caps(Flags.TAGGED), SIZE)) {
            int next = 0;
            for (int round = 0; round < 20; round++) {
                int first = next;
                while (next < first + SIZE / 2) {
                    transfer(pair, next++);
                }
                int held = hold(pair, SIZE / 2);
                // the other half of the share is there, then no more
                while (pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, next, 0, next) == 0) {
                    send(pair, next++);
                }
                assertEquals(first + SIZE, next);
                assertEquals(-FabricErrno.EAGAIN,
                    pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, next, 0, next));
                for (int i = 0; i < held; i++) {
                    assertEquals(first + i, batch.entry(i).opContext());
                    assertEquals(first + i, batch.entry(i).tag());
                }
                batch.release();
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, next, 0, next));
                send(pair, next);
                for (int context = first + held; context <= next; context++) {
                    pair.b.await(context);
                }
                next++;
            }
            pair.b.assertQuiet(20);
        }
    }

    /** The next reading call, which gives the entries back, could be another thread's. */
    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldBeRefusedWhereSeveralThreadsMayRead(Setup setup) {
        Info hints = new Info().caps(Flags.TAGGED);
        hints.domainAttr().threading(Threading.SAFE);
        try (FabricPair pair = new FabricPair(setup, hints, SIZE)) {
            transfer(pair, 1);
            assertEquals(-FabricErrno.EOPNOTSUPP, pair.b.cq.readInPlace(batch, 1));
            assertEquals(0, batch.size());
            pair.b.await(1);
        }
    }

    /** Holds what is there of that many entries, at least one. */
    private int hold(FabricPair pair, int count) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (pair.b.cq.read(null, 0, 0) != 0) {
            assertTrue(System.nanoTime() - deadline < 0, "no entry");
            pair.a.assertQuiet(1);
        }
        return pair.b.cq.readInPlace(batch, count);
    }

    private static void transfer(FabricPair pair, int context) {
        assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), LENGTH, ANY, context, 0, context));
        send(pair, context);
    }

    private static void send(FabricPair pair, int context) {
        assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), LENGTH, pair.toB, context, context));
        pair.a.await(context);
    }
}
