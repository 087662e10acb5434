package org.jfabric.driver.conformance.tagged;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.BitSet;
import org.jfabric.MemoryRegion;
import org.jfabric.driver.kit.DriverView;
import org.jfabric.driver.kit.Effort;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.SeveralLinks;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Messages that are announced: their sizes, and what a cancel or a peer's death in their middle leaves. */
@Tag("conformance")
@Tag("link")
@Timeout(180)
@SeveralLinks
class LargeMessageTest {
    private static final long ANY = -1L;
    private static final Info HINTS =
        new Info().caps(Flags.TAGGED | Flags.MSG | Flags.SOURCE | Flags.DIRECTED_RECV);
    private static final int CQ_SIZE = 512;
    private static final int BLOCK = 1000;
    private static final int LARGE = 4 << 20;
    private static final String COPIED = "shm: bytes taken by single copy";

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldKeepEverySizeWholeInOneCopyAndInSegments(Setup setup) {
        int[] lengths = {
            8191, 8192, 8193, 16_383, 16_384, 16_385, 32_767, 32_769, 65_535, 65_536, 65_537, 262_143, 262_145,
            (1 << 20) - 1, (1 << 20) + 1, LARGE - 4095, LARGE + 4093, (8 << 20) - 7};
        try (FabricPair pair = new FabricPair(setup, HINTS, CQ_SIZE);
            DriverView view = new DriverView(pair.directoryOf(pair.b))) {
            boolean counts = setup.link.equals("shm");
            // the driver may have served other tests
            long before = counts ? view.counter(COPIED) : 0;
            MemoryRegion target = pair.b.domain.allocate(9 << 20);
            for (int length : lengths) {
                // a region that the peer's driver has never seen: over shm its first message comes in segments
                MemoryRegion source = pair.a.domain.allocate(length + 64);
                for (int round = 0; round < 4; round++) {
                    boolean posted = (round & 1) == 0;
                    int from = 2 * round + 1;
                    int to = 7 - round;
                    fill(source.segment(), from, length, length + round);
                    if (posted) {
                        assertEquals(0, pair.b.endpoint.trecv(target.address(to), length, ANY, 3, 0, 1));
                    }
                    assertEquals(0, pair.a.endpoint.tsend(source.address(from), length, pair.toB, 3, 2));
                    if (!posted) {
                        pair.b.assertQuiet(3);
                        assertEquals(0, pair.b.endpoint.trecv(target.address(to), length, ANY, 3, 0, 1));
                    }
                    assertEquals(length, pair.b.await(1).len());
                    pair.a.await(2);
                    assertSame(source.segment(), from, target.segment(), to, length);
                }
                source.close();
            }
            long sent = 0;
            for (int length : lengths) {
                sent += 4L * length;
            }
            long copied = counts ? view.counter(COPIED) - before : 1;
            assertTrue(copied > 0 && copied < sent, copied + " of " + sent + " in one copy");
        }
    }

    @Tag("slow")
    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = {"LOOPBACK_DAEMON", "SHM_DAEMON"})
    void shouldKeepAGibibyteWhole(Setup setup) throws IOException {
        Assumptions.assumeTrue(Effort.ALL || setup == Setup.SHM_DAEMON,
            "one driver copies as the two embedded ones do, which EmbeddedFabricsTest lets move more than that");
        long length = (1L << 30) + 12_345;
        long free = Files.getFileStore(Path.of("/dev/shm")).getUsableSpace();
        Assumptions.assumeTrue(free > 3 * length, () -> "/dev/shm has " + free + " bytes free, needed are "
            + 3 * length + "; mount it larger");
        try (FabricPair pair = new FabricPair(setup, HINTS, CQ_SIZE)) {
            assertTrue(pair.a.info.epAttr().maxMsgSize() >= length);
            MemoryRegion source = pair.a.domain.allocate(length);
            MemoryRegion target = pair.b.domain.allocate(length);
            fill(source.segment(), 0, length, 5);
            assertEquals(0, pair.b.endpoint.trecv(target.address(0), length, ANY, 3, 0, 1));
            assertEquals(0, pair.a.endpoint.tsend(source.address(0), length, pair.toB, 3, 2));
            assertEquals(length, pair.b.await(1).len());
            pair.a.await(2);
            assertSame(source.segment(), 0, target.segment(), 0, length);
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldCancelAReceiveOrCompleteItButNeverBoth(Setup setup) {
        try (FabricPair pair = new FabricPair(setup, HINTS, CQ_SIZE)) {
            MemoryRegion source = pair.a.domain.allocate(LARGE);
            MemoryRegion target = pair.b.domain.allocate(LARGE);
            fill(source.segment(), 0, LARGE, 9);
            for (int round = 0; round < 20; round++) {
                target.segment().fill((byte) 0);
                assertEquals(0, pair.b.endpoint.trecv(target.address(0), LARGE, ANY, 4, 0, 1));
                assertEquals(0, pair.a.endpoint.tsend(source.address(0), LARGE, pair.toB, 4, 2));
                for (int i = 0; i < round % 5; i++) {
                    pair.pump();
                    Thread.yield();
                }
                assertEquals(0, pair.b.endpoint.cancel(1));
                FabricNode.Entry entry = pair.b.await();
                assertEquals(1, entry.context());
                if (entry.err() != 0) {
                    // cancelled before the message came: it waits for the next receive, whole
                    assertEquals(FabricErrno.ECANCELED, entry.err());
                    assertEquals(0, pair.b.endpoint.trecv(target.address(0), LARGE, ANY, 4, 0, 3));
                    pair.b.await(3);
                }
                assertSame(source.segment(), 0, target.segment(), 0, LARGE);
                pair.a.await(2);
                pair.b.assertQuiet(3);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @SetupSource
    void shouldNotCancelASendThatThePeerWasTold(Setup setup) {
        setup.assumeAnnouncements();
        try (FabricPair pair = new FabricPair(setup, HINTS, CQ_SIZE)) {
            MemoryRegion source = pair.a.domain.allocate(LARGE);
            MemoryRegion target = pair.b.domain.allocate(LARGE);
            fill(source.segment(), 0, LARGE, 9);
            assertEquals(0, pair.a.endpoint.tsend(source.address(0), LARGE, pair.toB, 4, 2));
            while (pair.look(pair.b).announcedCount() == 0) {
                pair.pump();
            }
            assertEquals(0, pair.a.endpoint.cancel(2));
            pair.a.assertQuiet(50);
            assertEquals(0, pair.b.endpoint.trecv(target.address(0), LARGE, ANY, 4, 0, 3));
            pair.b.await(3);
            pair.a.await(2);
            assertSame(source.segment(), 0, target.segment(), 0, LARGE);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(value = Setup.class, names = "SHM_DAEMON")
    void shouldEndEachOperationOnceWhenThePeerDiesInTheMiddleOfATransfer(Setup setup) {
        for (int round = 0; round < Effort.rounds(2, 3); round++) {
            try (FabricPair pair = FabricPair.withOwnDaemons(setup, HINTS, CQ_SIZE)) {
                int count = 40;
                MemoryRegion source = pair.a.domain.allocate(LARGE);
                MemoryRegion target = pair.a.domain.allocate(LARGE);
                fill(source.segment(), 0, LARGE, 1);
                fill(pair.b.memory.segment(), 0, LARGE, 2);
                for (int i = 0; i < count; i++) {
                    assertEquals(0, pair.a.endpoint.tsend(source.address(0), LARGE, pair.toB, 1, i));
                    assertEquals(0, pair.a.endpoint.trecv(
                        target.address(0), LARGE, pair.toB, 2, 0, 100 + i));
                }
                // a receive that the driver reads behind the peer's end waits for its return
                pair.a.awaitRead(count);
                // the last ones of the peer that lives have no partner, so that they fail however late the kill is
                for (int i = 0; i < count - 1; i++) {
                    assertEquals(0, pair.b.endpoint.trecv(
                        pair.b.memory.address(LARGE), LARGE, ANY, 1, 0, i));
                    assertEquals(0, pair.b.endpoint.tsend(pair.b.memory.address(0), LARGE, pair.toA, 2, 100 + i));
                }
                BitSet ended = new BitSet();
                int failed = 0;
                for (int i = 0; i < 2 * count; i++) {
                    if (i == 3 + round) {
                        pair.killDriverOfB();
                    }
                    FabricNode.Entry entry = pair.a.await();
                    assertTrue(entry.err() == 0 || entry.err() == FabricErrno.ECONNRESET, entry::toString);
                    failed += entry.err() == 0 ? 0 : 1;
                    ended.set((int) entry.context());
                }
                assertEquals(2 * count, ended.cardinality(), ended::toString);
                assertTrue(failed >= 2, "ended well without a partner");
                pair.a.assertQuiet(20);
                FabricNode c = pair.sibling(pair.a, HINTS, 0);
                c.endpoint.trecv(c.memory.address(0), LARGE, ANY, 1, 0, 7);
                pair.a.endpoint.tsend(source.address(0), LARGE, pair.a.av.insert(c.endpoint.name()), 1, 8);
                c.await(7);
                pair.a.await(8);
                assertSame(source.segment(), 0, c.memory.segment(), 0, LARGE);
            }
        }
    }

    private static void fill(MemorySegment segment, long offset, long length, long seed) {
        byte[] block = new byte[BLOCK];
        new Random(seed).nextBytes(block);
        MemorySegment source = MemorySegment.ofArray(block);
        for (long i = 0; i < length; i += BLOCK) {
            // no block is like another one
            source.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, seed ^ i * 0xD6E8_FEB8_6659_FD93L);
            MemorySegment.copy(source, 0, segment, offset + i, Math.min(BLOCK, length - i));
        }
    }

    private static void assertSame(
        MemorySegment expected, long expectedOffset, MemorySegment actual, long actualOffset, long length) {
        assertEquals(-1, MemorySegment.mismatch(
            expected, expectedOffset, expectedOffset + length, actual, actualOffset, actualOffset + length));
    }
}
