package org.jfabric.driver.conformance.tagged;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

import java.lang.foreign.Arena;
import java.util.BitSet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The payload of an inject belongs to the application again at the return, however long the message waits. */
@Tag("conformance")
@Tag("link")
@Timeout(120)
@SeveralLinks
class InjectTest {
    private static final long ANY = -1L;
    private static final int INJECTS = 100;
    /** Enough to use up the peer's credit and the announcements, so that what follows waits in the driver. */
    private static final int SENDS = 110;
    private static final int SEND_LENGTH = 8192;
    private static final int INJECT_TAG = 1000;

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    void shouldKeepThePayloadWhileTheConnectionIsMade(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            inject(pair);
            receive(pair);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource(encrypted = true)
    void shouldKeepThePayloadWhileThePeerHoldsMessagesBack(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            for (int i = 0; i < SENDS; i++) {
                assertEquals(0, pair.a.endpoint.tsend(pair.a.memory.address(), SEND_LENGTH, pair.toB, i, i));
            }
            inject(pair);
            for (int i = 0; i < SENDS; i++) {
                assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), SEND_LENGTH, ANY, i, 0, i));
                pair.b.await(i);
            }
            receive(pair);
            // an announced one may end after an eager one that was sent later
            BitSet ended = new BitSet();
            for (int i = 0; i < SENDS; i++) {
                FabricNode.Entry entry = pair.a.await();
                assertEquals(0, entry.err(), entry::toString);
                ended.set((int) entry.context());
            }
            assertEquals(SENDS, ended.cardinality());
            // injects have no entries
            pair.a.assertQuiet(20);
        }
    }

    /** From native memory that is given back, and from an array that is written over; then the heap is collected. */
    private static void inject(FabricPair pair) {
        int limit = pair.a.endpoint.injectSize();
        assertTrue(limit > 0);
        for (int i = 0; i < INJECTS; i++) {
            int length = i % (limit + 1);
            if ((i & 1) == 0) {
                UnsafeBuffer array = new UnsafeBuffer(new byte[limit]);
                fill(array, i);
                assertEquals(0, pair.a.endpoint.tinject(array, 0, length, pair.toB, INJECT_TAG + i));
                array.setMemory(0, limit, (byte) 0xEE);
            } else {
                try (Arena arena = Arena.ofConfined()) {
                    UnsafeBuffer outside = new UnsafeBuffer(arena.allocate(limit, 8).asByteBuffer());
                    fill(outside, i);
                    assertEquals(0, pair.a.endpoint.tinject(outside, 0, length, pair.toB, INJECT_TAG + i));
                    outside.setMemory(0, limit, (byte) 0xEE);
                }
            }
        }
        System.gc();
        // lets everybody go on without reading the sends' entries
        pair.b.assertQuiet(50);
    }

    private static void fill(UnsafeBuffer buffer, int seed) {
        for (int i = 0; i < buffer.capacity(); i++) {
            buffer.putByte(i, FabricNode.pattern(seed, i));
        }
    }

    private static void receive(FabricPair pair) {
        int limit = pair.a.endpoint.injectSize();
        // last one first: each of them has its own copy
        for (int i = INJECTS - 1; i >= 0; i--) {
            assertEquals(0, pair.b.endpoint.trecv(pair.b.memory.address(), limit, ANY, INJECT_TAG + i, 0, i));
            assertEquals(i % (limit + 1), pair.b.await(i).len());
            pair.b.assertFilled(0, i % (limit + 1), i);
        }
    }
}
